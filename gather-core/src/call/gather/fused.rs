//! Gathering fused rows, as floats: a row function decodes them.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::call::checks::mismatch;
use crate::call::gather::Operation;
use crate::call::gather::decoded::Encoding;
use crate::call::gather::kinds::{Gathered, GatheredBy, Outputs};
use crate::call::gather::plan::GatherPlan;
use crate::call::gather::rows::{self, RowAttributes, Rows};
use crate::call::source::kind::{Fused, IndexKind};
use crate::call::source::rows::{GivenToRows, RowLookups};
use crate::call::source::{Described, Reading};
use crate::exec::Operands;
use crate::kernels::convert::DecodeFns;
use crate::kernels::convert::fused::InFusedRows;
use crate::kernels::convert::row::{Erased, Function, Misfit, Placed, RowShapes};
use crate::tensor::dynamic::check_aligned;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::tensor::typing::Any;
use crate::types::codes::{Float, by_scale};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::fused::{Coding, FusedFormat, FusedRow, by_coding};
use crate::types::index::IndexType;
use crate::types::op::Argument;

/// The floats that fused rows become: of a type that the compiler knows, or of one known at run time.
trait Decoded {
    /// The row function that decodes rows.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for a type that is no [`Float`].
    fn decoder(dtype: DType, row: FusedRow) -> Result<Function<'static>, Error>;
}

impl<U: Float> Decoded for U {
    fn decoder(_: DType, row: FusedRow) -> Result<Function<'static>, Error> {
        Ok(decoder::<U>(row))
    }
}

impl Decoded for Any {
    // Compiled where it is called: it names the decoders of all formats.
    #[inline]
    fn decoder(dtype: DType, row: FusedRow) -> Result<Function<'static>, Error> {
        by_scale!(dtype, U => U::decoder(dtype, row), Err(Error::DTypeMismatch { expected: f32::DTYPE, got: dtype }))
    }
}

/// Implements both traits for fused rows.
macro_rules! fused {
    ($([$($generics:tt)*] $U:ty;)*) => {$(
        impl<A: RowAttributes, $($generics)*> GatheredBy<A> for Fused<$U> {}

        impl<$($generics)*> Gathered for Fused<$U> {
            fn run<I: IndexKind>(
                op: &Operation<'_>,
                data: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                let Described { layout, dtype, facts: table } = data.described;
                let row = table.row();
                check_axis(op, layout)?;
                let function = <$U>::decoder(dtype, row)?;
                check_target(operands.out(), dtype)?;
                rows::run::<I>(op, Rows::as_they_are(function, &GivenFormat(row)), operands)
            }

            fn plan<I: IndexKind>(
                op: &Operation<'_>,
                Described { layout, dtype, facts: table }: Described<'_, Self>,
                indices: (IndexType, &Layout),
                outputs: Outputs<'_>,
            ) -> Result<GatherPlan, Error> {
                check_axis(op, layout)?;
                let row = table.row();
                let function = <$U>::decoder(dtype, row)?;
                let mut plan = rows::plan::<I>(op, function, None, layout, indices, outputs)?;
                plan.reads.encoding = Encoding::Fused(row);
                Ok(plan)
            }

            #[inline]
            fn run_plan(
                plan: &GatherPlan,
                data: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                let Encoding::Fused(row) = &plan.reads.encoding else { unreachable!("a plan of fused rows") };
                check_same(row, data.described.facts.row(), data.described.layout)?;
                let function = <$U>::decoder(plan.dtype, *row)?;
                check_target(operands.out(), plan.dtype)?;
                rows::run_plan(plan, Rows::as_they_are(function, &GivenFormat(*row)), operands)
            }

            const READS_ROWS: bool = true;

            fn results(data: &Described<'_, Self>, output: &[usize], row: &[usize]) -> Option<Shape> {
                let lead = &output[..output.len() - row.len()];
                Some(lead.iter().copied().chain([data.facts.row().columns()]).collect())
            }
        }
    )*};
}
fused! {
    [U: Float] U;
    [] Any;
}

/// Checks that rows lie along the axis: axis 0.
pub(super) fn check_axis(op: &Operation<'_>, data: &Layout) -> Result<(), Error> {
    match op.attributes.dims_before_row(data)? {
        1 => Ok(()),
        dims => Err(Error::QuantizedAxis { op: op.op(), axis: dims - 1 }),
    }
}

/// Checks that a fixed output is aligned for a data type: one whose type is known at run time may not be.
fn check_target(out: &Target<'_>, dtype: DType) -> Result<(), Error> {
    if let Target::Fixed(out, _) = out { check_aligned(dtype, *out) } else { Ok(()) }
}

/// Checks that a table has the format and the columns that a plan was made for.
pub(super) fn check_same(expected: &FusedRow, got: FusedRow, data: &Layout) -> Result<(), Error> {
    if got.format() != expected.format() {
        return Err(Error::FusedFormatMismatch { expected: expected.format(), got: got.format() });
    }
    if got != *expected {
        // Of as many bytes, and fewer or more columns.
        let [expected, got] = [expected, &got].map(|row| [data.shape()[0], row.columns()]);
        return Err(mismatch(Argument::Data, &expected, &got));
    }
    Ok(())
}

/// The parameters of what decodes rows.
const DECODER_PARAMS: &[&str] = &["format"];

/// What decodes fused rows to `U`, as a row function.
struct DecodesRows<U, C>(PhantomData<(U, C)>);

impl<U: Float, C: Coding> DecodesRows<U, C> {
    const ERASED: &'static Erased = &Erased {
        name: "fused rows",
        params: DECODER_PARAMS,
        rows: DecodeFns::of::<InFusedRows<U, C>>().rows,
        one: false,
        types: (u8::DTYPE, U::DTYPE),
    };
}

/// The function that decodes rows.
fn decoder<U: Float>(row: FusedRow) -> Function<'static> {
    let erased = by_coding!(row.format(), C => DecodesRows::<U, C>::ERASED);
    Function { erased, len: Some(row.columns()), fill: None }
}

/// A row's format, given as to a row function.
struct GivenFormat(FusedRow);

impl GivenToRows for GivenFormat {
    fn with(
        &self,
        _: &RowShapes<'_>,
        run: &mut dyn FnMut(&mut dyn RowLookups) -> Result<(), Error>,
    ) -> Result<Result<(), Error>, (usize, Misfit)> {
        Ok(run(&mut GivenFormat(self.0)))
    }
}

impl RowLookups for GivenFormat {
    fn by_index(&self) -> bool {
        false
    }

    fn place(&mut self, _: Placed) -> *const () {
        (&raw const self.0).cast()
    }
}

/// Checks that a table has the format that a plan was made for.
pub(in crate::call) fn check_format(expected: FusedFormat, table: &FusedRows<'_>) -> Result<(), Error> {
    let got = table.format();
    if got == expected { Ok(()) } else { Err(Error::FusedFormatMismatch { expected, got }) }
}
