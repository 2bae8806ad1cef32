//! Gathering fused rows, as floats: a row function decodes them.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::call::checks::mismatch;
use crate::call::gather::Operation;
use crate::call::gather::kinds::{Gathered, GatheredBy, Outputs};
use crate::call::gather::plan::{GatherPlan, Reads};
use crate::call::gather::rows::{self, RowAttributes};
use crate::call::source::kind::{Fused, IndexKind};
use crate::call::source::rows::RowsParams;
use crate::call::source::{Described, Reading};
use crate::exec::Operands;
use crate::kernels::convert::given::Given;
use crate::kernels::convert::row::{Function, RowFunction, Rowwise};
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
        let Function { erased, len, .. } = decoder::<U>(row).erased();
        Ok(Function { erased, len, fill: None })
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
                rows::run::<I>(op, function, &RowsParams::<(FusedRow,)>((Given::All(row),)), operands)
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
                rows::plan::<I>(op, function, layout, indices, outputs, |shape| Reads::Fused(row, shape))
            }

            #[inline]
            fn run_plan(
                plan: &GatherPlan,
                data: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                let Reads::Fused(row, shape) = &plan.reads else { unreachable!("a plan of fused rows") };
                check_same(row, data.described.facts.row(), data.described.layout)?;
                let function = <$U>::decoder(plan.dtype, *row)?;
                check_target(operands.out(), plan.dtype)?;
                let given = RowsParams::<(FusedRow,)>((Given::All(*row),));
                rows::run_plan(&plan.planned, (DECODER_PARAMS, shape), function, &given, operands)
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
fn check_axis(op: &Operation<'_>, data: &Layout) -> Result<(), Error> {
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
fn check_same(expected: &FusedRow, got: FusedRow, data: &Layout) -> Result<(), Error> {
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

/// Decodes a row of a coding.
struct DecodeFused<U, C>(PhantomData<(U, C)>);

impl<U: Float, C: Coding> Rowwise for DecodeFused<U, C> {
    type In = u8;
    type Out = U;
    type Params = (FusedRow,);
    const NAME: &'static str = "fused rows";
    const PARAMS: &'static [&'static str] = DECODER_PARAMS;
    const ONE: bool = false;

    #[inline(always)]
    fn write(row: &[u8], out: &mut [U], (format,): (FusedRow,)) {
        format.decode::<C, U>(row, 0, out);
    }
}

/// The function that decodes rows.
fn decoder<U: Float>(row: FusedRow) -> RowFunction<u8, U, (FusedRow,)> {
    let function = by_coding!(row.format(), C => RowFunction::new::<DecodeFused<U, C>>());
    function.with_len(row.columns())
}

/// Checks that a table has the format that a plan was made for.
pub(in crate::call) fn check_format(expected: FusedFormat, table: &FusedRows<'_>) -> Result<(), Error> {
    let got = table.format();
    if got == expected { Ok(()) } else { Err(Error::FusedFormatMismatch { expected, got }) }
}
