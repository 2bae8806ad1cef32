// #[derive(Clone, Copy, Element)]
// #[repr(u8)]
// #[element(zero = Unknown)]
// enum Base {
//     Adenine = b'A',
//     Cytosine = b'C',
//     Unknown = b'N',
// }

#[allow(unused_qualifications)]
const _: () = {
    use ::gather_core::private as __g;
    #[automatically_derived]
    unsafe impl __g::Element for Base {
        const DTYPE: __g::DType = __g::DType::of::<Self>("Base");
        const ZERO: Self = Self::Unknown;
    }
    const _: () = __g::assert_has_bytes::<Base>();
};
