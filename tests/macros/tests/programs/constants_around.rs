// Constants and statics by the names of variables that the macros emit: in patterns they would come first.
#![allow(dead_code, non_camel_case_types, non_upper_case_globals, unused_imports)]

use gather_core::{Element, specialize};

const __value: u8 = 7;
static __out: u8 = 8;
const __error: u8 = 9;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair(u16, u16);

#[derive(Clone, Copy, Element)]
#[repr(transparent)]
struct Wrap<T>(T);

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Marked {
    value: u8,
    marker: std::marker::PhantomData<Pair>,
}

#[derive(Clone, Copy, Element)]
#[repr(u8)]
#[element(zero = Off)]
enum Switch {
    Off,
    On,
}

mod by_variant {
    use self::Names::*;
    use gather_core::Element;

    #[derive(Clone, Copy, Element)]
    #[repr(u8)]
    #[element(zero = __value)]
    pub(crate) enum Names {
        __value,
        Other,
    }
}

mod by_parameter {
    use gather_core::Element;

    #[derive(Clone, Copy, Element)]
    #[repr(transparent)]
    pub(crate) struct Some<const __value: usize>(pub(crate) [u8; __value]);
}

specialize! {
    fn picked = gather(axis = 0) (f32[3], u8[2]);
    fn clamped = gather(axis = 0, out_of_bounds = clamp) (f32[3], u8[2]);
}

#[test]
fn builds_and_runs() {
    assert_eq!((Pair::DTYPE.size(), Wrap::<Pair>::DTYPE.size()), (4, 4));
    assert_eq!((Marked::DTYPE.size(), Switch::DTYPE.size()), (1, 1));
    assert_eq!((by_variant::Names::DTYPE.size(), by_parameter::Some::<3>::DTYPE.size()), (1, 3));
    assert_eq!(picked_array(&[1.0, 2.0, 3.0], &[2, 0]).ok(), Some([3.0, 1.0]));
    assert_eq!(clamped_array(&[1.0, 2.0, 3.0], &[9, 0]), [3.0, 1.0]);
    assert_eq!((__value, __out, __error), (7, 8, 9));
}

/// By the names of inputs: a constant, a static, a unit struct, and a constant that is imported.
mod inputs {
    use self::imported::{kept, out};
    use gather_core::{Gather, Given, View, map_kernels, reduce_kernels, row_kernels};

    const value: f32 = 7.0;
    static scale: f32 = 8.0;
    struct row;
    mod imported {
        pub(crate) const out: u8 = 1;
        pub(crate) const kept: i32 = 9;
    }

    map_kernels! {
        static SCALED = |mut value: f32, scale: f32| -> f32 { value *= scale; value };
        const NAMED = |r#out: u8| -> u8 { r#out + 1 };
    }

    row_kernels! {
        static SUM = |row: &[f32], scale: f32| -> f32 { row.iter().sum::<f32>() * scale };
        static TWICE = |row: &[f32], out: &mut [f32], #[any_len] value: &[f32]| {
            out.iter_mut().zip(row).for_each(|(out, x)| *out = x * value[0]);
        };
    }

    reduce_kernels! {
        static LATER = |kept: i32, value: i32| -> i32 { kept * 10 + value };
    }

    #[test]
    fn inputs_come_before_constants() -> Result<(), gather_core::Error> {
        let (table, ids) = ([1.0f32, 2.0, 3.0, 4.0], [1u32, 0]);
        let table = View::new(&table, &[2, 2])?;
        let gather = Gather::new(0);
        let scaled = gather.run(&table.map(&SCALED, (Given::All(2.0),)), &ids)?;
        assert_eq!(scaled.as_slice(), [6.0, 8.0, 2.0, 4.0]);
        assert_eq!(gather.run(&View::new(&[1u8, 2], &[2])?.map(&NAMED, ()), &ids)?.as_slice(), [3, 2]);
        assert_eq!(gather.run(&table.rows(&SUM, (Given::All(2.0),)), &ids)?.as_slice(), [14.0, 6.0]);
        let twice = gather.run(&table.rows(&TWICE, (Given::All(&[2.0f32][..]),)), &ids)?;
        assert_eq!(twice.as_slice(), [6.0, 8.0, 2.0, 4.0]);
        let later = Gather::new(0).adjoint().reduce_by(&LATER).run(&[0, 0], &[1u8, 1], &[3, 4])?;
        assert_eq!(later.as_slice(), [0, 34]);
        assert_eq!((value, scale, out, kept), (7.0, 8.0, 1, 9));
        let row = row;
        let _: row = row;
        Ok(())
    }
}
