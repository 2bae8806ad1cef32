// #[derive(Clone, Copy, Element)]
// #[repr(C)]
// struct Particle {
//     position: [f32; 3],
//     id: u32,
// }

#[automatically_derived]
#[allow(deprecated, unused_qualifications)]
unsafe impl private::Element for Particle {
    const DTYPE: private::DType = {
        #[allow(dead_code)]
        fn __value() {}
        let _ = |Self { position: _, id: _ }: Self| ();
        <private::u8 as private::Element>::__PROOF
            .begin::<Self>()
            .field(
                |__value: Self| __value.position,
                <_ as private::Element>::__PROOF,
                "position",
                private::offset_of!(Self, position),
            )
            .field(
                |__value: Self| __value.id,
                <_ as private::Element>::__PROOF,
                "id",
                private::offset_of!(Self, id),
            )
            .dtype("Particle")
    };
    type Number = Self;
    const ZERO: Self = Self {
        position: <_ as private::Element>::ZERO,
        id: <_ as private::Element>::ZERO,
    };
}
#[allow(deprecated)]
const _: () = <private::u8 as private::Element>::__PROOF.holds_for::<Particle>();
