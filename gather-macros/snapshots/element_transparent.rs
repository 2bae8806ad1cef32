// #[derive(Clone, Copy, Element)]
// #[repr(transparent)]
// #[element(crate = tensors)]
// struct Metres<T: Copy>(T);

#[automatically_derived]
#[allow(deprecated, unused_qualifications)]
unsafe impl<T: Copy> tensors::__private_0_1_0::Element for Metres<T>
where
    T: tensors::__private_0_1_0::Element,
{
    const DTYPE: tensors::__private_0_1_0::DType = {
        #[allow(dead_code)]
        fn __value() {}
        let _ = |Self { 0: _ }: Self| ();
        <tensors::__private_0_1_0::u8 as tensors::__private_0_1_0::Element>::__PROOF
            .begin::<Self>()
            .field(
                |__value: Self| __value.0,
                <_ as tensors::__private_0_1_0::Element>::__PROOF,
                "0",
                tensors::__private_0_1_0::offset_of!(Self, 0),
            )
            .dtype("Metres")
    };
    type Number = Self;
    const ZERO: Self = Self {
        0: <_ as tensors::__private_0_1_0::Element>::ZERO,
    };
}
