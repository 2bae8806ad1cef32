// #[derive(Clone, Copy, Element)]
// #[repr(C)]
// struct Particle {
//     position: [f32; 3],
//     id: u32,
// }

#[allow(unused_qualifications)]
const _: () = {
    use ::gather_core::private as __g;
    #[automatically_derived]
    unsafe impl __g::Element for Particle {
        const DTYPE: __g::DType = __g::DType::of::<Self>("Particle");
        const ZERO: Self = Self {
            position: <[f32; 3] as __g::Element>::ZERO,
            id: <u32 as __g::Element>::ZERO,
        };
    }
    const _: () = __g::assert_has_bytes::<Particle>();
    const _: () = __g::assert_no_padding(
        "Particle",
        "position",
        __g::offset_of!(Particle, position),
        __g::size_of::<[f32; 3]>(),
        __g::offset_of!(Particle, id),
    );
    const _: () = __g::assert_no_padding(
        "Particle",
        "id",
        __g::offset_of!(Particle, id),
        __g::size_of::<u32>(),
        __g::size_of::<Particle>(),
    );
};
