//! Absurd shapes, and what inference and planning must make of them.

use arbitrary::{Result, Unstructured};
use gather_core::{Element, Error, Method};

use super::draw;

type Shaped = std::result::Result<Vec<usize>, Error>;

/// Up to seven sizes of any kind.
pub(super) fn wild(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
    let rank = u.int_in_range(0..=7)?;
    (0..rank).map(|_| draw::wild_size(u)).collect()
}

/// The product of the sizes that are not 0; `None` when it exceeds what a tensor can have.
pub(super) fn product(dims: &[usize], element: usize) -> Option<usize> {
    let product = dims.iter().try_fold(1u128, |product, &dim| product.checked_mul(dim.max(1) as u128));
    product
        .filter(|&len| len <= isize::MAX as u128)
        .map(|len| if dims.contains(&0) { 0 } else { len as usize })
        .filter(|&len| len as u128 * element as u128 <= isize::MAX as u128)
}

fn checked(shape: &[usize]) -> std::result::Result<(), Error> {
    product(shape, 1).map(drop).ok_or_else(|| Error::TooManyElements { shape: shape.into() })
}

/// What inference must give: the shape, unless it or one of the inputs has more elements than a tensor can have.
pub(super) fn inferred(inputs: &[&[usize]], model: impl FnOnce() -> Shaped) -> Shaped {
    inputs.iter().try_for_each(|shape| checked(shape))?;
    let shape = model()?;
    checked(&shape)?;
    Ok(shape)
}

/// Checks a plan for elements of type `T` against what inference must give: its shape and its explanation.
pub(super) fn planned<T: Element>(
    inferred: &Shaped,
    method: Option<Method>,
    got: std::result::Result<(Vec<usize>, String), Error>,
) {
    match (inferred, got) {
        (Err(expected), got) => assert_eq!(got.err().as_ref(), Some(expected), "plan"),
        (Ok(shape), Ok((got, explain))) => {
            assert_eq!(*shape, got, "plan");
            assert!(product(shape, size_of::<T>()).is_some(), "a plan of more bytes than there are");
            assert!(!explain.is_empty());
        }
        (Ok(_), Err(Error::MethodUnavailable { .. })) => {
            assert!(!matches!(method, None | Some(Method::Direct)), "the method {method:?} takes any shape");
        }
        (Ok(shape), Err(Error::TooManyBytes { element, .. })) => {
            assert!(product(shape, element).is_none(), "{shape:?} fits");
        }
        (Ok(shape), Err(got)) => panic!("plan of {shape:?}: {got}"),
    }
}
