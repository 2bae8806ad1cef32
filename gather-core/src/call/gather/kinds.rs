//! A gather by the kind of its data. Calls of typed kinds name neither the registry nor what converts.

use crate::call::attributes::IndexAttributes;
use crate::call::gather::erased::{self, Request};
use crate::call::gather::plan::{GatherPlan, Reads};
use crate::call::gather::planned::Planned;
use crate::call::gather::{IndexOperator, Operation};
use crate::call::source::kind::{IndexKind, Kind, Unconverted};
use crate::call::source::{Described, Opened, Reading, Source};
use crate::exec::Operands;
use crate::kernels::registry::Registry;
use crate::plan::IndexRequest;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target};
use crate::tensor::typing::Any;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::IndexType;

/// A kind of data that gathers read. Sealed.
pub trait Gathered: Kind {
    /// Runs a call, whose operands are data that is read thus, and indices of the kind.
    ///
    /// # Errors
    /// Those of [`Gather::run_into`](crate::IndexOperator::run_into), and those of the kind's adaptor.
    #[doc(hidden)]
    fn run<I: IndexKind>(
        op: &Operation<'_>,
        data: &Reading<'_, Self>,
        operands: Operands<'_, Target<'_>>,
    ) -> Result<(), Error>;

    /// Makes a plan for outputs.
    ///
    /// # Errors
    /// Those of [`Gather::plan`](crate::IndexOperator::plan), and those of the outputs.
    #[doc(hidden)]
    fn plan<I: IndexKind>(
        op: &Operation<'_>,
        data: Described<'_, Self>,
        indices: (IndexType, &Layout),
        outputs: Outputs<'_>,
    ) -> Result<GatherPlan, Error>;

    /// Runs a plan of this kind on operands of its types: data that is read thus, and indices.
    ///
    /// # Errors
    /// Those of [`Plan::run_into`](crate::Plan::run_into) behind its checks of data types.
    #[doc(hidden)]
    fn run_plan(plan: &GatherPlan, data: &Reading<'_, Self>, operands: Operands<'_, Target<'_>>) -> Result<(), Error>;

    /// Whether rows are read whole, and not element by element.
    #[doc(hidden)]
    const READS_ROWS: bool = false;

    /// Checks what does not depend on attributes and shapes: that there are kernels for data of a type which the
    /// compiler does not know, and the sizes of a format.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], [`Error::KernelsNotCompiled`], [`Error::BlockSizeOutOfRange`].
    #[doc(hidden)]
    #[inline(always)]
    fn check_data(_op: &Operation<'_>, _data: &Described<'_, Self>) -> Result<(), Error> {
        Ok(())
    }

    /// The shape of results for elements that are gathered into a shape, whose last dimensions are a row of data;
    /// `None` where it is that shape.
    #[doc(hidden)]
    #[inline]
    fn results(_data: &Described<'_, Self>, _output: &[usize], _row: &[usize]) -> Option<Shape> {
        None
    }
}

/// The outputs that a plan is made for.
#[derive(Clone, Copy)]
pub enum Outputs<'a> {
    /// Row-major.
    RowMajor,
    /// Of a layout.
    Of(&'a Layout),
    /// Row-major, of any size of the first dimension of indices.
    AnyCount,
}

/// A kind of data that an operator with attributes `A` gathers: every kind, except that whole rows are named by
/// [`Gather`](crate::Gather) alone. Sealed.
#[diagnostic::on_unimplemented(
    message = "an operator with `{A}` does not gather `{Self}`",
    label = "not gathered by this operator",
    note = "row functions and fused rows need the operator that names whole rows, `Gather`; several tables need bags",
    note = "a function of your own takes any source as `&impl TableOf<Gather, f32>`"
)]
pub trait GatheredBy<A>: Gathered {}

/// An operator that gathers, by its attributes. Sealed: [`Gather`](crate::Gather),
/// [`GatherElements`](crate::GatherElements) and [`GatherNd`](crate::GatherNd).
pub trait Gathers: crate::call::Sealed {
    #[doc(hidden)]
    type Attributes: IndexAttributes;
}

impl<A: IndexAttributes> crate::call::Sealed for IndexOperator<A> {}

impl<A: IndexAttributes> Gathers for IndexOperator<A> {
    type Attributes = A;
}

/// A source that the operator `O` gathers, and of which it makes elements `U`: what a function of your own takes, to
/// run on elements, on what a map makes of them, on fused rows and so on. Every such source is one.
///
/// ```
/// use gather_core::{Error, Gather, Given, TableOf, View, maps};
///
/// /// The sums of rows, of whatever kind the table is.
/// fn sums(table: &impl TableOf<Gather, f32>, ids: &[u32]) -> Result<Vec<f32>, Error> {
///     let rows = Gather::new(0).run(table, ids)?;
///     let columns: usize = rows.shape()[1..].iter().product();
///     Ok(rows.as_slice().chunks_exact(columns).map(|row| row.iter().sum()).collect())
/// }
///
/// fn main() -> Result<(), Error> {
///     let (floats, bytes) = ([1.0f32, 2.0, 3.0, 4.0], [129u8, 130, 131, 132]);
///     let (floats, bytes) = (View::new(&floats, &[2, 2])?, View::new(&bytes, &[2, 2])?);
///     assert_eq!(sums(&floats, &[1, 0])?, [7.0, 3.0]);
///     let numbers = bytes.map(&maps::dequantize(), (Given::All(0.5), Given::All(128)));
///     assert_eq!(sums(&numbers, &[1, 0])?, [3.5, 1.5]);
///     Ok(())
/// }
/// ```
pub trait TableOf<O: Gathers, U>: Source<Kind: GatheredBy<O::Attributes> + Kind<Out = U>> {}

impl<O: Gathers, U, S> TableOf<O, U> for S where S: Source<Kind: GatheredBy<O::Attributes> + Kind<Out = U>> + ?Sized {}

/// The operands of a call on sources.
///
/// # Errors
/// [`Error::NotAnIndexType`], then [`Error::DTypeMismatch`] of the output, for types that are known at run time.
#[inline(always)]
pub(super) fn operands<'a, 'o, S, X, O>(
    data: &'a Opened<'_, S>,
    indices: &'a Opened<'_, X>,
    out: &'o mut O,
) -> Result<Operands<'a, Target<'o>>, Error>
where
    S: Source + ?Sized,
    X: Source<Kind: IndexKind> + ?Sized,
    O: Output<<S::Kind as Kind>::Out>,
{
    let of = X::Kind::index(indices.dtype())?;
    let dtype = data.dtype();
    let out = out.target_of(dtype)?;
    let (index, layout) = indices.parts();
    // SAFETY: V1, V3: both are sources, each with its own layout, and `of` is the index type of the indices' kind, or
    // of their data type. O1: the output takes the elements of data's kind, or of its data type, and is borrowed
    // mutably, so that it overlaps neither.
    Ok(unsafe { Operands::new(data.parts(), (index, layout, of), out, dtype) })
}

/// The request for elements that are moved as they are.
#[inline(always)]
fn request<K: Unconverted, I: IndexKind>(
    op: &Operation<'_>,
    dtype: DType,
    index: IndexType,
) -> Result<IndexRequest, Error> {
    let found = |registry: &'static Registry, op, dtype| registry.index_kernels(op, dtype, index);
    let kernels = K::kernels(op.registry.0, (op.op(), dtype, Some(index)), || I::gathers::<K>(index), found)?;
    Ok(op.request((kernels, index), dtype, None))
}

/// Implements both traits for kinds that are moved as they are.
macro_rules! plain {
    ($([$($generics:tt)*] $Kind:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Gathered for $Kind {
            #[inline(always)]
            fn run<I: IndexKind>(
                op: &Operation<'_>,
                data: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                let planned = request::<Self, I>(op, data.described.dtype, operands.indices().1)?;
                erased::run(op.attributes, &planned, operands)
            }

            #[inline(always)]
            fn plan<I: IndexKind>(
                op: &Operation<'_>,
                data: Described<'_, Self>,
                (index, indices): (IndexType, &Layout),
                outputs: Outputs<'_>,
            ) -> Result<GatherPlan, Error> {
                let planned = request::<Self, I>(op, data.dtype, index)?;
                let request = Request { attributes: op.attributes, planned: &planned, data: data.layout, indices };
                let (planned, dtype) = (Planned::new(&request, outputs)?, data.dtype);
                Ok(GatherPlan { planned, dtype, index, reads: Reads::PLAIN })
            }

            #[inline(always)]
            fn run_plan(
                plan: &GatherPlan,
                _: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                plan.planned.run(operands)
            }

            #[inline(always)]
            fn check_data(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
                request::<Self, i32>(op, data.dtype, IndexType::I32).map(drop)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<A: IndexAttributes, $($generics)*> GatheredBy<A> for $Kind {}
    )*};
}
plain! {
    [T: Element] T;
    [] Any;
}
