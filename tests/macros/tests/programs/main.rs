//! Programs that use the macros as they are meant, a module each. Those whose subject is an attribute of a crate, or that
//! count calls of macros in it, are tests of their own beside this one. `tests/ui` has the programs that must not build.

#![allow(missing_docs, unreachable_pub, clippy::all, reason = "each program has its own lints")]

macro_rules! programs {
    ($($name:ident)*) => {
        $(pub mod $name;)*

        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! {
    alternatives
    constants_around
    derive_crate_path
    derive_deprecated
    derive_enums
    derive_hygiene
    derive_nested
    derive_packed
    derive_phantom
    derive_structs
    derive_transparent
    derive_zero
    every_index_and_rank
    from_another_macro
    kernels_attributes
    kernels_no_prelude
    kernels_several
    kernels_shadowed_names
    kernels_visibility
    maps
    reductions
    registry
    rows_shadowed
    specialize
    specialize_anywhere
}

#[test]
fn every_program_is_a_module_and_says_what_it_shows() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of programs") {
        let path = entry.expect("an entry of the folder").path();
        let text = std::fs::read_to_string(&path).expect("a text file");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//") && first.len() > 12, "{} begins with {first:?}", path.display());
        found.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
    }
    found.retain(|name| name != "main");
    found.sort_unstable();
    assert_eq!(found, PROGRAMS);
}
