//! The operators of a build without scatters and bags.

use gather_core::{DynView, Error, Gather, Given, OutOfBounds, Registry, View, maps};
use gather_tests_gathers::{OWN, Point, blocks, elements, pairs, rows};

static REGISTRY: Registry = Registry::builtin().with(&OWN);

const TABLE: [f32; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

#[test]
fn every_gather_runs() -> Result<(), Error> {
    let table = View::new(&TABLE, &[3, 2])?;
    assert_eq!(rows(&table, &[2, 0])?.as_slice(), [4.0, 5.0, 0.0, 1.0]);
    assert_eq!(elements(&table, &View::new(&[-1, 0], &[1, 2])?)?.as_slice(), [4.0, 1.0]);
    assert_eq!(pairs(&table, &View::new(&[1, 1, 2, 0], &[2, 2])?)?.as_slice(), [3.0, 4.0]);
    assert_eq!(blocks(&View::new(&TABLE, &[2, 1, 3])?)?.as_slice(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert!(matches!(rows(&table, &[3]), Err(Error::IndexOutOfRange { index: 3, .. })));
    Ok(())
}

#[test]
fn maps_plans_and_nulls_run() -> Result<(), Error> {
    let codes = View::new(&[1u8, 2, 3, 4], &[2, 2])?;
    let table = codes.map(&maps::dequantize(), (Given::All(0.5), Given::All(1)));
    let plan = Gather::new(0).out_of_bounds(OutOfBounds::Zero).plan_any_count(&table, &[0u32])?;
    assert_eq!(plan.run(&table, &[1, 9])?.as_slice(), [1.0, 1.5, 0.0, 0.0]);
    let (taken, validity) = Gather::new(0).nullable().run(&TABLE, &[5u8, 1], gather_core::Nulls::default())?;
    assert_eq!((taken.as_slice(), validity.is_none()), (&[5.0, 1.0][..], true));
    Ok(())
}

#[test]
fn kernels_of_this_crate_run_for_types_known_at_run_time() -> Result<(), Error> {
    let points = [Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }];
    let (points, ids) = (View::new(&points, &[2])?, View::new(&[1u32], &[1])?);
    let taken = Gather::new(0).registry(&REGISTRY).run(&DynView::from(&points), &DynView::from(&ids))?;
    assert_eq!(taken.downcast::<Point>()?.as_slice(), [Point { x: 3.0, y: 4.0 }]);
    Ok(())
}

/// Built by itself, whatever other packages ask of the library.
#[test]
#[cfg_attr(miri, ignore = "runs a compiler")]
fn what_is_not_compiled_names_its_feature() {
    trybuild::TestCases::new().compile_fail("programs/*.rs");
}
