// #[derive(Clone, Copy, Element)]
// #[repr(transparent)]
// #[element(crate = tensors)]
// struct Metres<T: Copy>(T);

#[allow(unused_qualifications)]
const _: () = {
    use tensors::private as __g;
    #[automatically_derived]
    unsafe impl<T: Copy> __g::Element for Metres<T>
    where
        T: __g::Element,
    {
        const DTYPE: __g::DType = __g::DType::of::<Self>("Metres");
        const ZERO: Self = Self(<T as __g::Element>::ZERO);
    }
};
