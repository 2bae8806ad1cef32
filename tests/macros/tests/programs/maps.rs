// Maps under many lints, from another macro, with names that shadow, in a module, used from outside.
#![deny(warnings, missing_docs, unsafe_code, unused, unused_qualifications, single_use_lifetimes, unused_lifetimes)]
#![forbid(unsafe_op_in_unsafe_fn)]

//! A strict crate.

use gather_core::{Gather, Given, Map, View};

/// Its maps.
pub mod maps {
    fn convert(value: u8) -> u16 {
        u16::from(value) + 1
    }

    gather_core::map_kernels! {
        /// Calls a function whose name the expansion uses too.
        pub static PLUS_ONE = |value: u8| -> u16 { convert(value) };

        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        pub(crate) static early = |mut value: u8, stop: bool,| -> u8 {
            if stop {
                return value;
            }
            value += 1;
            value
        };

        /// Not there.
        #[cfg(any())]
        pub static ABSENT = |value: NotThere| -> f32 { value };
    }
}

macro_rules! scales {
    ($($name:ident: $ty:ty),*) => {
        gather_core::map_kernels! {$(
            /// By a factor.
            pub static $name = |value: $ty, factor: $ty| -> $ty { value * factor };
        )*}
    };
}
scales!(SCALE_F32: f32, SCALE_I64: i64);

#[test]
fn builds_and_runs() {
    let map: &Map<u8, u16> = &maps::PLUS_ONE;
    let (data, indices) = (View::new(&[1u8, 255], &[2]).unwrap(), View::new(&[1u8, 0], &[2]).unwrap());
    assert_eq!(Gather::new(0).run(&data.map(map, ()), &indices).unwrap().as_slice(), [256, 2]);
    let kept = Gather::new(0).run(&data.map(&maps::early, (Given::PerRow(&[false, true]),)), &indices);
    assert_eq!(kept.unwrap().as_slice(), [255, 2]);
    let data = View::new(&[2i64, 3], &[2]).unwrap();
    let scaled = Gather::new(0).run(&data.map(&SCALE_I64, (Given::All(5),)), &indices).unwrap();
    assert_eq!((scaled.as_slice(), SCALE_F32.params()), (&[15, 10][..], &["factor"][..]));
}
