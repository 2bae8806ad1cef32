//! Versions of the crates that we are built with, out of the lock file.

const LOCK: &str = include_str!("../../Cargo.lock");

/// The version of a crate that the lock file lists once.
///
/// # Panics
/// When it lists the crate twice, or not at all.
#[must_use]
pub fn of(name: &str) -> &'static str {
    let entry = format!("\nname = \"{name}\"\nversion = \"");
    let mut versions = LOCK.split(&*entry).skip(1).filter_map(|rest| rest.split('"').next());
    match (versions.next(), versions.next()) {
        (Some(version), None) => version,
        _ => panic!("the lock file does not have one version of {name}"),
    }
}
