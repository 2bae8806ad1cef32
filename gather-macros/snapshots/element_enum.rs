// #[derive(Clone, Copy, Element)]
// #[repr(u8)]
// #[element(zero = Unknown)]
// enum Base {
//     Adenine = b'A',
//     Cytosine = b'C',
//     Unknown = b'N',
// }

#[automatically_derived]
#[allow(unused_qualifications)]
unsafe impl private::Element for Base {
    const DTYPE: private::DType = {
        <private::u8 as private::Element>::__PROOF
            .begin::<Self>()
            .tag(|__value: Self| __value as private::u8, "Base")
            .dtype("Base")
    };
    const ZERO: Self = Self::Unknown;
}
const _: () = <private::u8 as private::Element>::__PROOF.holds_for::<Base>();
