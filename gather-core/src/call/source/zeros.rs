//! Zeros of a shape that take no memory, for scatters to add to.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::tensor::dynamic::DynTensor;
use crate::tensor::layout::Layout;
use crate::tensor::typing::Dyn;
use crate::types::declare::debug_by;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

/// Zeros of a shape: the result of [`zeros`]. They hold one element for any shape.
pub struct Zeros<K> {
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    /// The zero; `None` if `NUMBERS` holds it.
    one: Option<DynTensor>,
    kind: PhantomData<fn() -> K>,
}

/// Zeros of a shape, as data that a scatter changes or a gather reads: elements [`Element::ZERO`].
///
/// No tensor of zeros is made: a scatter writes zeros to its output, and reads none. The zero of an element counts in
/// means and extremes, unless [`include_self(false)`](crate::ScatterOperator::include_self) skips it.
///
/// ```
/// use gather_core::{Reduction, ScatterNd, zeros};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // The number of times that each of four classes was seen.
///     let seen = gather_core::View::new(&[3u8, 0, 3], &[3, 1])?;
///     let counts = ScatterNd::new().reduction(Reduction::Add).run(&zeros(&[4])?, &seen, &[1u32; 3])?;
///     assert_eq!(counts.as_slice(), [1, 0, 0, 2]);
///     Ok(())
/// }
/// ```
///
/// # Errors
/// [`Error::TooManyElements`]; [`Error::AllocationFailed`] for elements that are not numbers, or longer than 64 bytes.
pub fn zeros<T: Element>(shape: &[usize]) -> Result<Zeros<T>, Error> {
    Zeros::new(T::DTYPE, shape)
}

/// As [`zeros`], for a type known at run time.
///
/// ```
/// use gather_core::{DynView, Gather, View, zeros_dyn};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let gradient = View::new(&[1.0f32, 2.0, 3.0], &[3])?;
///     let gradient = DynView::from(&gradient);
///     let table = Gather::new(0).adjoint().run(&zeros_dyn(gradient.dtype(), &[3])?, &[2u32, 0, 2], &gradient)?;
///     assert_eq!(table.downcast::<f32>()?.as_slice(), [2.0, 0.0, 4.0]);
///     Ok(())
/// }
/// ```
///
/// # Errors
/// As for [`zeros`].
pub fn zeros_dyn(dtype: DType, shape: &[usize]) -> Result<Zeros<Dyn>, Error> {
    Zeros::new(dtype, shape)
}

/// Numbers of any built-in type, all 0.
#[repr(align(64))]
struct ZeroNumbers(#[allow(dead_code, reason = "read by address")] [u8; 64]);

static NUMBERS: ZeroNumbers = ZeroNumbers([0; 64]);

impl<K> Zeros<K> {
    fn new(dtype: DType, shape: &[usize]) -> Result<Self, Error> {
        let layout = Layout::strided(shape, &[0].repeat(shape.len()))?;
        let number = dtype.number();
        let is_numbers = number.built_in().is_some()
            && dtype.size().is_multiple_of(number.size())
            && dtype.size() <= size_of::<ZeroNumbers>()
            && dtype.align() <= align_of::<ZeroNumbers>();
        let one = if is_numbers { None } else { Some(DynTensor::zero(dtype)?) };
        Ok(Zeros { layout, dtype, one, kind: PhantomData })
    }

    /// The address of the element at every coordinate: the tensor's, or `NUMBERS`. `NUMBERS` has at least the size and
    /// the alignment of the data type, which is `K`'s or the type at run time. An element consists of numbers of a
    /// built-in type ([`Element::Number`]), and zero bytes are numbers of any built-in type.
    #[inline(always)]
    pub(super) fn start(&self) -> *const u8 {
        self.one.as_ref().map_or((&raw const NUMBERS).cast(), DynTensor::start)
    }
}

debug_by!(self: [K] Zeros<K> { dtype: self.dtype, shape: self.layout.shape() });
