//! What would be published: licences and a readme in each package, and no ballast.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The most bytes of a file in a package.
const MOST: u64 = 64 << 10;

/// The paths in the package of a crate, as cargo lists them.
fn listed(package: &str) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["package", "--list", "--allow-dirty", "--offline", "--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("paths in UTF-8").lines().map(str::to_owned).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn packages_have_what_they_need_and_nothing_large() {
    for package in ["gather-core", "gather-macros"] {
        let paths = listed(package);
        for needed in ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT", "src/lib.rs"] {
            assert!(paths.iter().any(|path| path == needed), "{package} lacks {needed}");
        }
        for path in &paths {
            // Files that cargo makes, and the readme, are not in the folder of the crate.
            if let Ok(file) = root().join(package).join(path).metadata() {
                assert!(file.len() <= MOST, "{package} holds {path} of {} bytes", file.len());
            }
        }
    }
}

#[test]
fn licences_are_those_of_the_repository() {
    for package in ["gather-core", "gather-macros"] {
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let [here, there] = [root().join(package).join(licence), root().join(licence)].map(std::fs::read_to_string);
            assert_eq!(here.expect("a licence"), there.expect("a licence"), "{package}/{licence}");
        }
    }
}
