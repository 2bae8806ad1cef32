// Declarations in an `impl`, beside statics of the names of variables, and under expectations.
#![deny(warnings)]

use gather_core::Element;

/// A model with functions of its own.
struct Model;

impl Model {
    const DIM: usize = 2;

    gather_core::specialize! {
        /// Rows of a table.
        fn embed = gather(axis = 0) (f32[3, 2], u32[2]);
        fn any<T: Element> = gather(axis = 0, out_of_bounds = zero) (T[3], i8[2]);
    }
}

mod beside_a_static {
    #[allow(non_upper_case_globals, dead_code)]
    static run: u8 = 1;
    #[allow(non_upper_case_globals, dead_code)]
    static error: u8 = 1;

    gather_core::specialize! {
        pub fn image = batch_to_space(block = [1, 2]) (u8[2, 2]);
        pub fn pick = gather(axis = 0) (u8[4], u8[1]);
    }
}

mod unused {
    gather_core::specialize! {
        #[expect(dead_code)]
        fn never = gather(axis = 0) (u8[4], u8[2]);
        #[expect(dead_code)]
        fn open = gather(axis = 0) (u8[_], u8[_]);
        /// Called on arrays alone.
        pub fn on_arrays = gather(axis = 0, out_of_bounds = wrap) (u8[4], u8[2]);
    }

    gather_core::map_kernels! {
        #[expect(dead_code)]
        static MAP = |value: u8| -> u16 { u16::from(value) };
    }

    gather_core::reduce_kernels! {
        #[expect(dead_code, reason = "for another program")]
        static LAST = |_kept: u8, new: u8| -> u8 { new };
    }
}

#[test]
fn builds_and_runs() -> Result<(), gather_core::Error> {
    let _ = Model;
    let table = [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]];
    assert_eq!(Model::embed_array(&table, &[2, 0])?, [[2.0, 2.5], [0.0, 0.5]]);
    let mut rows = [0.0; 2 * Model::DIM];
    Model::embed(table.as_flattened(), &[1, 1], &mut rows)?;
    assert_eq!(rows, [1.0, 1.5, 1.0, 1.5]);
    assert_eq!(Model::any_array(&[[1u8; 3], [2; 3], [3; 3]], &[-1, 5]), [[3; 3], [0; 3]]);
    assert_eq!(beside_a_static::image_array(&[[1, 2], [3, 4]]), [[1, 3, 2, 4]]);
    assert_eq!(beside_a_static::pick_array(&[1, 2, 3, 4], &[3])?, [4]);
    assert_eq!(unused::on_arrays_array(&[1, 2, 3, 4], &[5, 6]), [2, 3]);
    Ok(())
}
