//! Decoders of data, by its kind: elements of which a map makes others, fused rows, codes in blocks.
//!
//! ```text
//! the kind      what decodes, and checks that need no plan                  `Decoded::decoder`
//! a plan        the shapes of what is given for it                          `Encoding`
//! a call        the parameters against these, and what the kernel reads     `Decoded::give`
//! ```

#![forbid(unsafe_code)]

use crate::call::gather::Operation;
use crate::call::gather::blocks::BlockShapes;
use crate::call::gather::planned::Params;
use crate::call::gather::{fused, maps};
use crate::call::source::blocks::BlockFacts;
use crate::call::source::kind::{Blocks, Fused, Kind, Mapped};
use crate::call::source::{Described, Reading};
use crate::kernels::convert::map::Erased as Map;
use crate::kernels::convert::{DecodeFns, ErasedParams, fused as decode_fused, quantized};
use crate::plan::{Decoding, IndexPlan};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::typing::Any;
use crate::types::codes::{Float, by_scale};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::fused::FusedRow;
use crate::types::op::Op;

/// The decoder of data: for a result, or for a row function.
#[derive(Clone, Copy)]
pub struct Decoder {
    format: Format,
    pub(super) fns: &'static DecodeFns,
    /// Bytes of an element of data, and of a number.
    pub(super) size_in: usize,
    size: usize,
    /// The type of what an element becomes, or of a number of fused rows.
    pub(super) made: DType,
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

    /// Whether rows are decoded whole.
    pub(super) fn takes_rows(&self) -> bool {
        matches!(self.format, Format::Fused(_))
    }

    /// Whether a byte becomes an array of values.
    pub(super) fn writes_arrays(&self) -> bool {
        matches!(self.format, Format::Blocks(_))
    }

    /// Rows of `elements` elements, for a row function.
    pub(super) fn of(self, elements: usize) -> Decoding {
        Decoding { fns: self.fns, numbers: self.numbers(elements), size: self.size }
    }

    /// The encoding of the data of a plan, whose output are `bytes` that become values, if it has them.
    ///
    /// # Errors
    /// Those of [`BlockShapes::new`].
    pub(super) fn encoding(&self, plan: &IndexPlan, data: &Layout, bytes: Option<&[usize]>) -> Result<Encoding, Error> {
        Ok(match self.format {
            Format::Mapped(map, _) => Encoding::Mapped(map.params),
            Format::Fused(row) => Encoding::Fused(row),
            Format::Blocks(facts) => Encoding::Blocks(BlockShapes::new(plan, data, facts, bytes)?),
        })
    }

    /// Checks that data is encoded as that of a plan.
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
    Blocks(BlockShapes),
}

impl Encoding {
    /// The shape of the values that the output has, where it is planned in arrays.
    pub(super) fn values(&self) -> Option<&Shape> {
        if let Encoding::Blocks(blocks) = self { Some(&blocks.output) } else { None }
    }
}

/// A kind of data that is decoded, or that row functions read as it is. Sealed.
pub trait Decoded: Kind {
    /// Checks the sizes of a format.
    ///
    /// # Errors
    /// [`Error::BlockSizeOutOfRange`].
    #[doc(hidden)]
    #[inline(always)]
    fn check_data(_op: &Operation<'_>, _data: &Described<'_, Self>) -> Result<(), Error> {
        Ok(())
    }

    /// As [`Decoded::check_data`], and checks the axis where rows lie along one alone.
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`] of fused rows, too.
    #[doc(hidden)]
    #[inline(always)]
    fn check_axis(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
        Self::check_data(op, data)
    }

    /// The decoder of data; `None` where data is read as it is.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for a type known at run time that is no [`Float`].
    #[doc(hidden)]
    fn decoder(data: &Described<'_, Self>) -> Result<Option<Decoder>, Error>;

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

/// The data of a call, which is decoded.
pub struct DecodedData<'a> {
    pub(super) plan: &'a IndexPlan,
    pub(super) encoding: &'a Encoding,
    pub(super) start: *const u8,
    pub(super) data: &'a Layout,
}

/// Gives for decoding, whatever the kind.
pub(super) trait Gives {
    /// As [`Decoded::give`].
    fn give(
        &self,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

impl<K: Decoded> Gives for Reading<'_, K> {
    fn give(
        &self,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        K::give(self, of, run)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> Decoded for T {
    #[inline(always)]
    fn decoder(_: &Described<'_, Self>) -> Result<Option<Decoder>, Error> {
        Ok(None)
    }

    fn give(
        _: &Reading<'_, Self>,
        _: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        run(ErasedParams::NONE)
    }
}

impl<T: Element, U: Element> Decoded for Mapped<T, U> {
    #[inline]
    fn decoder(data: &Described<'_, Self>) -> Result<Option<Decoder>, Error> {
        let (map, size) = (data.facts, size_of::<U::Number>());
        let format = Format::Mapped(map, size_of::<U>() / size);
        Ok(Some(Decoder { format, fns: &map.decode_fns, size_in: size_of::<T>(), size, made: U::DTYPE }))
    }

    fn give(
        data: &Reading<'_, Self>,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (map, plan) = (data.described.facts, of.plan);
        maps::check_params(plan.op(), (map.name, map.params), plan.axes(), of.data, data.given.counts())?;
        data.given.with(of.start.addr(), run)
    }
}

/// The decoder of fused rows to `U`.
#[inline]
fn of_fused<U: Float>(row: FusedRow) -> Decoder {
    let (format, fns) = (Format::Fused(row), decode_fused::decode_fns::<U>(row.format()));
    Decoder { format, fns, size_in: 1, size: size_of::<U>(), made: U::DTYPE }
}

/// Implements the trait for fused rows.
macro_rules! fused {
    ($([$($generics:tt)*] $U:ty: |$row:ident, $dtype:ident| $decoder:expr;)*) => {$(
        impl<$($generics)*> Decoded for Fused<$U> {
            fn check_axis(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
                fused::check_axis(op, data.layout)
            }

            // Compiled where it is called: of a type known at run time it names the decoders of all formats.
            #[inline]
            fn decoder(data: &Described<'_, Self>) -> Result<Option<Decoder>, Error> {
                let ($row, $dtype) = (data.facts.row(), data.dtype);
                $decoder
            }

            fn give(
                data: &Reading<'_, Self>,
                _: &DecodedData<'_>,
                run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
            ) -> Result<(), Error> {
                run(decode_fused::erased(&data.described.facts.row()))
            }
        }
    )*};
}
fused! {
    [U: Float] U: |row, _dtype| Ok(Some(of_fused::<U>(row)));
    [] Any: |row, dtype| by_scale!(
        dtype, U => Ok(Some(of_fused::<U>(row))), Err(Error::DTypeMismatch { expected: f32::DTYPE, got: dtype })
    );
}

impl<U: Float> Decoded for Blocks<U> {
    fn check_data(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
        data.facts.check(op.op())
    }

    #[inline]
    fn decoder(data: &Described<'_, Self>) -> Result<Option<Decoder>, Error> {
        let (codes, format) = (data.facts.codes, Format::Blocks(data.facts));
        let made = match codes.per_byte() {
            1 => <[U; 1]>::DTYPE,
            2 => <[U; 2]>::DTYPE,
            _ => <[U; 4]>::DTYPE,
        };
        Ok(Some(Decoder { format, fns: quantized::decode_fns::<U>(codes), size_in: 1, size: size_of::<U>(), made }))
    }

    fn give(
        data: &Reading<'_, Self>,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Encoding::Blocks(blocks) = of.encoding else { unreachable!("a plan of blocks") };
        let given = blocks.given(of.plan.op(), of.start.addr(), of.data.shape(), data.given)?;
        run(given.erased())
    }
}
