// One name may have alternatives under conditions; raw identifiers are named without `r#`.
#![deny(warnings)]
#![allow(dead_code, non_upper_case_globals)]

use gather_core::{Element, Gather, ScatterElements, View, ViewMut};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
pub struct Pointer(#[cfg(target_pointer_width = "64")] u64, #[cfg(not(target_pointer_width = "64"))] u32);

#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct r#match([u8; 3]);

gather_core::kernels! {
    pub static r#static;
    elements: [
        #[cfg(target_pointer_width = "64")] Pointer as x64,
        #[cfg(not(target_pointer_width = "64"))] Pointer as x32,
        r#match,
    ];
    indices: [u32];
    ranks: 1;
    ops: [gather];
}

gather_core::map_kernels! {
    #[cfg(unix)]
    static SCALE = |value: u8, r#type: f32| -> f32 { f32::from(value) * r#type };
    #[cfg(not(unix))]
    static SCALE = |value: u8, r#type: f32| -> f32 { r#type * f32::from(value) };
    static r#move = |value: u8| -> u16 { u16::from(value) };
}

gather_core::reduce_kernels! {
    #[cfg(unix)]
    static LAST = |_kept: u8, new: u8| -> u8 { new };
    #[cfg(not(unix))]
    static LAST = |_kept: u8, new: u8| -> u8 { new };
    // One type in three ways.
    static SUM = |kept: f32, new: std::primitive::f32| -> <[f32; 1] as IntoIterator>::Item { kept + new };
}

gather_core::specialize! {
    static r#ref;
    #[cfg(unix)]
    fn r#fn = gather(axis = 0) (f32[4, 2], u32[2]);
    #[cfg(not(unix))]
    fn r#fn = gather(axis = 0, out_of_bounds = zero) (f32[4, 2], u32[2]);
}

#[test]
fn builds_and_runs() -> Result<(), gather_core::Error> {
    assert_eq!((r#static.name(), r#ref.name()), ("static", "ref"));
    let registry = gather_core::Registry::builtin().with(&r#static).with(&r#ref);
    let names: Vec<&str> = registry.kernels().map(|kernel| kernel.name).collect();
    assert!(names.iter().any(|name| name.starts_with("gather_match_u32_r1__")), "a name without `r_`");
    assert!(names.contains(&"fn f32[4, 2] u32[2]"));
    assert!(names.iter().all(|name| !name.contains("r#")));
    assert_eq!(fn_array(&[[0.0; 2], [1.0; 2], [2.0; 2], [3.0; 2]], &[3, 1])?, [[3.0; 2], [1.0; 2]]);
    let mut rows = [0.0; 4];
    r#fn(&[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5], &[3, 1], &mut rows)?;
    assert_eq!(rows, [3.0, 3.5, 1.0, 1.5]);

    let bytes = View::new(&[1u8, 2], &[2])?;
    let ids = View::new(&[1u8], &[1])?;
    let scaled = Gather::new(0).run(&bytes.map(&SCALE, (gather_core::Given::All(0.5),)), &ids)?;
    assert_eq!(scaled.as_slice(), [1.0]);
    assert_eq!(Gather::new(0).run(&bytes.map(&r#move, ()), &ids)?.as_slice(), [2]);
    let (scales, three) = ([0.5f32; 3], gather_core::Given::PerRow(&[0.5f32; 3][..]));
    let refused = Gather::new(0).run(&bytes.map(&SCALE, (three,)), &ids).unwrap_err().to_string();
    assert!(refused.contains("parameter type of SCALE has 3 values"), "{refused}");

    let mut sums = [1.0f32, 2.0];
    let (at, updates) = (View::new(&[1u8, 1, 0], &[3])?, View::new(&scales, &[3])?);
    ScatterElements::new(0).reduce_by(&SUM).run_on(&mut ViewMut::new(&mut sums, &[2])?, &at, &updates)?;
    assert_eq!(sums, [1.5, 3.0]);
    let mut last = [0u8];
    let (at, updates) = (View::new(&[0u8], &[1])?, View::new(&[7u8], &[1])?);
    ScatterElements::new(0).reduce_by(&LAST).run_on(&mut ViewMut::new(&mut last, &[1])?, &at, &updates)?;
    assert_eq!(last, [7]);
    Ok(())
}
