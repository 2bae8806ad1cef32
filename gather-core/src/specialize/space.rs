//! BatchToSpace.

use crate::kernels::shaped::LARGE;
use crate::kernels::shaped::blocks::{ShapedBlocks, SpaceShapeOf};
use crate::specialize::fits::space_sizes;
use crate::specialize::general;
use crate::types::declared::Declaration;
use crate::types::element::{Element, IsElement};
use crate::types::error::Error;

/// Runs the declared BatchToSpace.
///
/// # Errors
/// Errors of the operator, for slices and open sizes that do not fit.
#[inline]
pub fn batch_to_space<D: Declaration, T: Element, const ARGS: usize>(
    data: &[T],
    args: [usize; ARGS],
    out: &mut [T],
) -> Result<(), Error> {
    const {
        let () = IsElement::<T>::CHECK;
        assert!(D::DECLARED.op.rearranges(), "the declaration of an operator without indices");
        assert!(ARGS == D::DECLARED.arguments(), "an argument for each open size but the first");
        assert!(SpaceShapeOf::<D>::SHAPE.data_len.known <= isize::MAX as usize / size_of::<T>(), "too many bytes");
    }
    let sizes = space_sizes::<D, ARGS>([data.len(), out.len()], args);
    let Some(sizes) = sizes.filter(|_| size_of_val(out) < LARGE) else {
        return general::space(const { &D::DECLARED }, data, &args, out);
    };
    // SAFETY: `space_sizes` returned sizes that fit the lengths, so every loop has iterations; an open batch is given
    // as `batch / product(block)` (D4). The output is borrowed mutably, so it does not overlap data.
    unsafe { ShapedBlocks::<D, T, ARGS>::cropped(data.as_ptr(), out.as_mut_ptr(), &sizes) }.move_rows();
    Ok(())
}
