//! Rows that are decoded before a row function reads them: elements that a map makes others of, fused rows, codes in
//! blocks.
//!
//! ```text
//! the kind      what decodes its rows, and checks that need no plan     `GatheredByRow::decoder`
//! a plan        the shapes of what is given for it                      `Encoding`
//! a call        the parameters against these, and what the kernel reads `GatheredByRow::give`
//! ```

#![forbid(unsafe_code)]

use alloc::boxed::Box;

use crate::call::gather::Operation;
use crate::call::gather::blocks::BlockShapes;
use crate::call::gather::kinds::Gathered;
use crate::call::gather::planned::Params;
use crate::call::gather::{fused, maps};
use crate::call::source::blocks::BlockFacts;
use crate::call::source::kind::{Blocks, Fused, Mapped, ReadByRow};
use crate::call::source::{Described, Reading};
use crate::kernels::convert::map::Erased as Map;
use crate::kernels::convert::{DecodeFns, ErasedParams, RowFn, fused as decode_fused, quantized};
use crate::plan::{Decoding, IndexPlan};
use crate::tensor::layout::Layout;
use crate::types::codes::Float;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::fused::FusedRow;
use crate::types::level::Available;
use crate::types::op::Op;

/// What decodes rows for a row function.
#[derive(Clone, Copy)]
pub struct Decoder {
    format: Format,
    fns: &'static DecodeFns,
    /// Bytes of an element of data, and of a number.
    size_in: usize,
    size: usize,
}

/// The map or the format of a decoder.
#[derive(Clone, Copy)]
enum Format {
    /// A map, and the numbers that it makes of an element.
    Mapped(&'static Map, usize),
    Fused(FusedRow),
    Blocks(BlockFacts),
}

impl Decoder {
    /// The numbers of a row of `elements` elements.
    pub(super) fn numbers(&self, elements: usize) -> usize {
        match &self.format {
            Format::Mapped(_, per) => elements.saturating_mul(*per),
            Format::Fused(row) => row.columns(),
            Format::Blocks(facts) => elements.saturating_mul(facts.codes.per_byte()),
        }
    }

    /// For rows of `elements` elements.
    pub(super) fn of(self, elements: usize) -> Decoding {
        let Decoder { fns, size_in, size, .. } = self;
        Decoding { fns, size_in, numbers: self.numbers(elements), size }
    }

    /// The function of a row, at a level.
    pub(super) fn row_fn(&self, level: Available) -> RowFn {
        *self.fns.row.get(*level)
    }

    /// The encoding of the rows of a plan.
    ///
    /// # Errors
    /// Those of [`BlockShapes::new`].
    pub(super) fn encoding(&self, plan: &IndexPlan, data: &Layout) -> Result<Encoding, Error> {
        Ok(match self.format {
            Format::Mapped(map, _) => Encoding::Mapped(map.params),
            Format::Fused(row) => Encoding::Fused(row),
            Format::Blocks(facts) => Encoding::Blocks(Box::new(BlockShapes::new(plan, data, facts, None)?)),
        })
    }

    /// Checks that rows are encoded as those of a plan.
    ///
    /// # Errors
    /// [`Error::PlanParametersMismatch`]; [`Error::FusedFormatMismatch`] and [`Error::PlanMismatch`];
    /// [`Error::PlanBlocksMismatch`].
    pub(super) fn check(&self, planned: &Encoding, op: Op, data: &Layout) -> Result<(), Error> {
        match (planned, &self.format) {
            (Encoding::Mapped(expected), Format::Mapped(map, _)) => {
                maps::check_names(op, (map.name, map.params), expected)
            }
            (Encoding::Fused(expected), Format::Fused(row)) => fused::check_same(expected, *row, data),
            (Encoding::Blocks(blocks), Format::Blocks(facts)) => blocks.check_facts(op, *facts),
            _ => unreachable!("a plan of another kind"),
        }
    }
}

/// How the data of a plan is encoded.
#[derive(Clone)]
pub(super) enum Encoding {
    /// Elements as they are.
    Plain,
    /// Elements of a map with these parameters.
    Mapped(Params),
    Fused(FusedRow),
    Blocks(Box<BlockShapes>),
}

/// A kind of rows that row functions read in gathers. Sealed.
pub trait GatheredByRow: ReadByRow + Gathered {
    /// Checks data and the axis of an operator, before shapes.
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`] of fused rows, [`Error::BlockSizeOutOfRange`].
    #[doc(hidden)]
    #[inline(always)]
    fn check_rows(_op: &Operation<'_>, _data: &Described<'_, Self>) -> Result<(), Error> {
        Ok(())
    }

    /// What decodes rows; `None` where the function reads them as they are.
    #[doc(hidden)]
    fn decoder(data: &Described<'_, Self>) -> Option<Decoder>;

    /// Checks what is given for decoding, and calls `run` with what the functions of the decoder read (K8).
    ///
    /// # Errors
    /// Those of what is given, then those of `run`.
    #[doc(hidden)]
    fn give(
        data: &Reading<'_, Self>,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// The data of a call whose rows are decoded.
pub struct DecodedData<'a> {
    pub(super) plan: &'a IndexPlan,
    pub(super) encoding: &'a Encoding,
    pub(super) start: *const u8,
    pub(super) layout: &'a Layout,
}

/// Gives for decoding, whatever the kind.
pub(super) trait Gives {
    /// As [`GatheredByRow::give`].
    fn give(
        &self,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

impl<K: GatheredByRow> Gives for Reading<'_, K> {
    fn give(
        &self,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        K::give(self, of, run)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> GatheredByRow for T {
    #[inline(always)]
    fn decoder(_: &Described<'_, Self>) -> Option<Decoder> {
        None
    }

    fn give(
        _: &Reading<'_, Self>,
        _: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        run(ErasedParams::NONE)
    }
}

impl<T: Element, U: Element> GatheredByRow for Mapped<T, U> {
    #[inline]
    fn decoder(data: &Described<'_, Self>) -> Option<Decoder> {
        let (map, size) = (data.facts, size_of::<U::Number>());
        let format = Format::Mapped(map, size_of::<U>() / size);
        Some(Decoder { format, fns: &map.decode_fns, size_in: size_of::<T>(), size })
    }

    fn give(
        data: &Reading<'_, Self>,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (map, plan) = (data.described.facts, of.plan);
        maps::check_params(plan.op(), (map.name, map.params), plan.axes(), of.layout, data.given.counts())?;
        data.given.with(of.start.addr(), run)
    }
}

impl<U: Float> GatheredByRow for Fused<U> {
    fn check_rows(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
        fused::check_axis(op, data.layout)
    }

    #[inline]
    fn decoder(data: &Described<'_, Self>) -> Option<Decoder> {
        let row = data.facts.row();
        let fns = decode_fused::decode_fns::<U>(row.format());
        Some(Decoder { format: Format::Fused(row), fns, size_in: 1, size: size_of::<U>() })
    }

    fn give(
        data: &Reading<'_, Self>,
        _: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        run(decode_fused::erased(&data.described.facts.row()))
    }
}

impl<U: Float> GatheredByRow for Blocks<U> {
    fn check_rows(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
        data.facts.check(op.op())
    }

    #[inline]
    fn decoder(data: &Described<'_, Self>) -> Option<Decoder> {
        let fns = quantized::decode_fns::<U>(data.facts.codes);
        Some(Decoder { format: Format::Blocks(data.facts), fns, size_in: 1, size: size_of::<U>() })
    }

    fn give(
        data: &Reading<'_, Self>,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Encoding::Blocks(blocks) = of.encoding else { unreachable!("a plan of blocks") };
        let given = blocks.given(of.plan.op(), of.start.addr(), of.layout.shape(), data.given)?;
        run(given.erased())
    }
}
