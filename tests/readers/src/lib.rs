//! The file readers of gather-core's examples as a library, and random files for them. Whatever its bytes, a file gives
//! an array or an error.

#[path = "../../../gather-core/examples/common/mod.rs"]
mod common;
mod files;

use arbitrary::{Result, Unstructured};
use gather_core::{DynView, Gather, Registry, View};

use common::Array;

/// The outcome of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It gave an array.
    Array,
    /// It was refused.
    Refused,
}

/// Reads one drawn file as `.npy` or `.safetensors`.
///
/// # Errors
/// When there are not enough bytes for a file.
pub fn read(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if u.arbitrary()? {
        let file = files::npy(u)?;
        Ok(used(common::npy::parse(&file)))
    } else {
        let file = files::safetensors(u)?;
        Ok(used(common::safetensors::parse(&file, files::TENSOR)))
    }
}

/// Checks that an operator can run on an array that was read, by taking its first row.
fn used(array: std::result::Result<Array<'_>, String>) -> Outcome {
    let Ok(array) = array else { return Outcome::Refused };
    let Ok(data) = array.view() else { return Outcome::Refused };
    let bytes = data.shape().iter().product::<usize>() * data.dtype().size();
    assert_eq!(bytes, array.bytes.len(), "{} {:?}", data.dtype(), data.shape());
    // Without rows, a row of zeros could be as large as the other dimensions claim.
    if data.shape().first().is_some_and(|&rows| rows > 0) {
        let zero = View::scalar(&0u8);
        let row = Gather::new(0).run_dyn(&Registry::builtin(), &data, &DynView::from(&zero));
        assert!(row.is_ok(), "{:?}", row.err());
    }
    Outcome::Array
}
