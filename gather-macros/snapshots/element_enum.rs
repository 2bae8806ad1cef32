// #[derive(Clone, Copy, Element)]
// #[repr(u8)]
// #[element(zero = Unknown)]
// enum Base {
//     Adenine = b'A',
//     Cytosine = b'C',
//     Unknown = b'N',
// }

#[automatically_derived]
#[allow(deprecated, unused_qualifications)]
unsafe impl private::Element for Base {
    const DTYPE: private::DType = {
        #[allow(dead_code)]
        fn __value() {}
        <private::u8 as private::Element>::__PROOF
            .begin::<Self>()
            .tag(|__value: Self| __value as _, 1, "Base")
            .dtype("Base")
    };
    type Number = Self;
    const ZERO: Self = Self::Unknown;
    const __SAMPLE: Self = Self::Adenine {};
}
#[allow(deprecated)]
const _: () = <private::u8 as private::Element>::__PROOF.holds_for::<Base>();
