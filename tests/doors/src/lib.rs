//! Every public door of gather-core, from a crate that forbids unsafe code.
//!
//! The tests go through the doors with elements of every kind and with every setting. They answer or they refuse; they
//! never crash. Here stand the programs that must not compile: calls on elements without bytes, and on a type of which
//! somebody promises that it is plain, and which has padding. Its data type says nothing of that: its bytes do. Each
//! stands with elements of no byte, of padding, and of one byte, so that nothing but the type can be what is refused.
//! They are documentation tests, as those are compiled to the end: an element is looked at where a generic function is
//! instantiated.

#![forbid(unsafe_code)]

/// Three programs that differ in the element type alone: two must not compile, the last must run.
#[cfg(doctest)]
macro_rules! needs_bytes {
    ($($name:ident: $code:literal;)*) => {$(
        #[doc = concat!("```compile_fail\ntype T = [u8; 0];\n", prelude!(), $code, "\n# Ok::<(), Error>(())\n```")]
        #[doc = concat!("```compile_fail,E0080\n", holes!(), prelude!(), $code, "\n# Ok::<(), Error>(())\n```")]
        #[doc = concat!("```\ntype T = [u8; 1];\n", prelude!(), $code, "\n# Ok::<(), Error>(())\n```")]
        pub struct $name;
    )*};
}

/// A type with padding, and a promise that it has none.
#[cfg(doctest)]
macro_rules! holes {
    () => {
        "#[derive(Clone, Copy)]
        #[repr(C)]
        struct T(u8, u16);
        // SAFETY: it is not so, and a value shows it.
        unsafe impl gather_core::Element for T {
            const DTYPE: gather_core::DType = gather_core::DType::new::<Self>(\"holes\");
            type Number = Self;
            const ZERO: Self = T(0, 0);
        }
        "
    };
}

/// Data of three elements, an output for two of them, and indices.
#[cfg(doctest)]
macro_rules! prelude {
    () => {
        "use gather_core::*;
        use std::mem::MaybeUninit;
        const ZERO: T = <T as Element>::ZERO;
        let values = [ZERO; 3];
        let data = View::new(&values, &[3])?;
        let indices = View::new(&[1i64, 2], &[2])?;
        let tuples = View::new(&[1i64, 2], &[2, 1])?;
        let mut written = [ZERO; 2];
        let out = &mut ViewMut::new(&mut written, &[2])?;
        let mut fresh = [MaybeUninit::new(ZERO); 2];
        let uninit = &mut ViewMut::new(&mut fresh, &[2])?;
        let (three, two, pair) = (Layout::contiguous(&[3])?, Layout::contiguous(&[2])?, Layout::contiguous(&[2, 1])?);
        let square = View::new(&values[..2], &[2, 1])?;
        let blocks = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]);
        let mut row_values = [ZERO; 2];
        let row = &mut ViewMut::new(&mut row_values, &[1, 2])?;
        let mut fresh_row = [MaybeUninit::new(ZERO); 2];
        let uninit_row = &mut ViewMut::new(&mut fresh_row, &[1, 2])?;
        "
    };
}

#[cfg(doctest)]
needs_bytes! {
    GatherRun: "Gather::new(0).run(&data, &indices)?;";
    GatherRunInto: "Gather::new(0).run_into(&data, &indices, out)?;";
    GatherRunUninit: "Gather::new(0).run_into(&data, &indices, uninit)?;";
    GatherPlan: "Gather::new(0).plan(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&two))?;";
    GatherFunction: "gather(&data, &indices, 0)?;";
    GatherElementsRun: "GatherElements::new(0).run(&data, &indices)?;";
    GatherElementsRunInto: "GatherElements::new(0).run_into(&data, &indices, out)?;";
    GatherElementsRunUninit: "GatherElements::new(0).run_into(&data, &indices, uninit)?;";
    GatherElementsPlan: "GatherElements::new(0)
        .plan(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&two))?;";
    GatherElementsFunction: "gather_elements(&data, &indices, 0)?;";
    GatherNdRun: "GatherNd::new().run(&data, &tuples)?;";
    GatherNdRunInto: "GatherNd::new().run_into(&data, &tuples, out)?;";
    GatherNdRunUninit: "GatherNd::new().run_into(&data, &tuples, uninit)?;";
    GatherNdPlan: "GatherNd::new().plan(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&pair))?;";
    GatherNdFunction: "gather_nd(&data, &tuples)?;";
    BatchToSpaceRun: "blocks.run(&square)?;";
    BatchToSpaceRunInto: "blocks.run_into(&square, row)?;";
    BatchToSpaceRunUninit: "blocks.run_into(&square, uninit_row)?;";
    BatchToSpacePlan: "blocks.plan(&Spec::<T>::from_layout(&pair))?;";
    BatchToSpaceFunction: "batch_to_space(&square, &[1, 2], &[0, 0], &[0, 0])?;";
    MapFrom: "map_kernels! { static MAP = |_value: T| -> u8 { 1 }; }
        Gather::new(0).run(&data.map(&MAP, ()), &indices)?;";
    MapTo: "map_kernels! { static MAP = |_value: u8| -> T { ZERO }; }
        Gather::new(0).run(&View::new(&[1, 2, 3], &[3])?.map(&MAP, ()), &indices)?;";
    MapInto: "map_kernels! { static MAP = |value: T| -> T { value }; }
        Gather::new(0).run_into(&data.map(&MAP, ()), &indices, out)?;";
    MapUninit: "map_kernels! { static MAP = |value: T| -> T { value }; }
        Gather::new(0).run_into(&data.map(&MAP, ()), &indices, uninit)?;";
    Erased: "DynView::from(&data);";
    ErasedOwned: "DynTensor::from(Tensor::full(&[2], ZERO)?);";
    Empty: "DynTensor::empty(<T as Element>::DTYPE);";
    Zeros: "DynTensor::zeros::<T>(&[2])?;";
    DataType: "let dtype = <T as Element>::DTYPE; assert_eq!(dtype.size(), 1);";
    Named: "assert_eq!(DType::new::<T>(\"mine\").size(), 1);";
    NamedArray: "assert_eq!(DType::new::<[T; 1]>(\"mine\").size(), 1);";
    Derived: "#[derive(Clone, Copy, Element)] #[repr(C)] struct Mine(T); assert_eq!(size_of::<Mine>(), 1);";
    Kernels: "kernels! { static MINE; elements: [[T; 2]]; indices: [i64]; ranks: any; ops: [batch_to_space]; }
        assert!(MINE.function_count() > 0);";
    Downcast: "let erased = Gather::new(0).run(&DynView::from(&View::new(&[1u8, 2, 3], &[3])?), &DynView::from(&indices))?;
        assert!(erased.downcast::<T>().is_err());";
}

/// What has no door to a kernel takes elements without bytes: borrowing, and cloning one by one.
///
/// ```
/// use gather_core::*;
///
/// let values = [[0u8; 0]; 3];
/// let data = View::new(&values, &[3])?;
/// assert_eq!(data.get(&[2]), Some(&[]));
/// let picked = Gather::new(0).run_cloned(&data, &View::new(&[1i64, 2], &[2])?)?;
/// assert_eq!(picked.shape(), [2]);
/// let units = Tensor::full(&[4], ())?;
/// assert_eq!(units.view().len(), 4);
/// # Ok::<(), Error>(())
/// ```
#[cfg(doctest)]
pub struct Borrowed;

// After the macros that it uses.
#[cfg(doctest)]
mod plans_and_maps;
