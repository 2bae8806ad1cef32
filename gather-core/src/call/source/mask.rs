//! Masks: true and false along one or several dimensions, as bits.

use alloc::vec::Vec;
use core::borrow::Borrow;

use crate::call::source::Source;
use crate::call::source::checked::{Checked, Position, check_fits};
use crate::call::source::kind::Kind;
use crate::exec::mask_positions;
use crate::kernels::{Loop, count_ones, select_bits};
use crate::plan::fold::{Loops, for_each, merge_into};
use crate::tensor::bitmap::{BitWriter, Bitmap, Validity, WORD, word_of};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::typing::Dyn;
use crate::types::declare::{accessors, debug_by};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};

const OP: Op = Op::Gather;

/// A kind of the elements of masks: `bool`; `u8`, where 0 is false; or [`Dyn`] for either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind of masks",
    note = "the elements of a mask are `bool`, or `u8`, where 0 is false; bits become a mask by `Mask::from_bits`"
)]
pub trait MaskKind: Kind {}

impl MaskKind for bool {}
impl MaskKind for u8 {}
impl MaskKind for Dyn {}

/// A mask: true or false along one or several dimensions, held as bits, with the number of trues, counted once.
///
/// [`Gather::masked`](crate::GatherOperator::masked) takes the elements or rows of data where a mask is true. For any
/// other use, [`Mask::positions`] gives the positions of the trues: they gather, scatter and are reduced as indices
/// are.
///
/// ```
/// use gather_core::{Bitmap, Mask};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let mask = Mask::new(&[true, false, true, true])?;
///     assert_eq!((mask.len(), mask.count(), mask.shape()), (4, 3, &[4][..]));
///     assert_eq!(mask.positions::<i32>()?.positions().get(&[1]), Some(&2));
///
///     // The same as bits of Arrow, from bit 2 on, without a copy.
///     let bits = Mask::from_bits(Bitmap::new(&[0b11_0100], 2, 4)?);
///     assert_eq!((bits.count(), bits.bitmap().get(1)), (3, Some(false)));
///     Ok(())
/// }
/// ```
#[derive(Clone)]
#[doc(alias("boolean", "filter", "nonzero"))]
pub struct Mask<'a> {
    bits: Held<'a>,
    /// G1: the product of the sizes is the number of bits, `count` of which are 1.
    shape: Shape,
    count: usize,
}

#[derive(Clone)]
enum Held<'a> {
    Lent(Bitmap<'a>),
    Owned(Validity),
}

impl Mask<'static> {
    /// A mask of the shape of a source of `bool`, or of `u8`, where 0 is false: a view of any strides, a tensor, a
    /// list, or a [`DynView`](crate::DynView). Elements are packed to bits.
    ///
    /// Cost: one pass over the elements, one allocation of a bit for each.
    ///
    /// # Errors
    /// [`Error::NotAMask`] for a type known at run time, then [`Error::AllocationFailed`].
    pub fn new<S: Source<Kind: MaskKind> + ?Sized>(source: &S) -> Result<Self, Error> {
        let (held, dtype) = (source.held(), source.dtype());
        if ![bool::DTYPE, u8::DTYPE].contains(&dtype) {
            return Err(Error::NotAMask { dtype });
        }
        let (start, layout) = (source.start(), held.borrow());
        let shape = Shape::of_both(layout.shape(), &[]);
        // SAFETY: V1, V3: the source has elements of 1 byte along its layout: its data type is `bool` or `u8`.
        Self::write(shape, layout.len(), |writer| unsafe { pack(start, layout, writer) })
    }

    /// A mask of a shape of `len` elements, whose bits `write` appends.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    #[inline]
    fn write(shape: Shape, len: usize, write: impl FnOnce(&mut BitWriter<'_>)) -> Result<Self, Error> {
        let bits = Validity::write(len, |bits| {
            let mut writer = BitWriter::new(bits);
            if len > 0 {
                write(&mut writer);
            }
            Ok(len - writer.finish())
        })?;
        Ok(Mask { count: len - bits.null_count(), bits: Held::Owned(bits), shape })
    }
}

impl<'a> Mask<'a> {
    /// A mask of one dimension whose trues are the 1 bits of a bitmap, which is borrowed.
    ///
    /// Cost: one pass over the bits, which counts them.
    #[must_use]
    pub fn from_bits(bits: Bitmap<'a>) -> Self {
        let len = bits.len();
        let count = match Level::resolve(None) {
            Ok(level) => count_ones(level, &bits, 0, len),
            Err(_) => len - bits.null_count(),
        };
        Mask { bits: Held::Lent(bits), shape: Shape::of_both(&[len], &[]), count }
    }

    /// The mask with false where a bit of `valid` is 0: a null is not taken. By the bits of another mask
    /// ([`Mask::bitmap`]), it is the `and` of two masks.
    ///
    /// ```
    /// use gather_core::{Bitmap, Mask};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // true, null, true, false.
    ///     let (bits, valid) = (Bitmap::new(&[0b0111], 0, 4)?, Bitmap::new(&[0b1101], 0, 4)?);
    ///     let mask = Mask::from_bits(bits).with_nulls(valid)?;
    ///     assert_eq!((mask.count(), mask.bitmap().get(1)), (2, Some(false)));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::BitmapLengthMismatch`] if `valid` has another number of bits, then [`Error::AllocationFailed`].
    pub fn with_nulls(self, valid: Bitmap<'_>) -> Result<Mask<'static>, Error> {
        let len = self.len();
        if valid.len() != len {
            let (argument, len, rows) = (Argument::Mask, valid.len(), len);
            return Err(Error::BitmapLengthMismatch { op: OP, argument, len, rows, elements: rows });
        }
        let bits = self.bitmap();
        Mask::write(self.shape.clone(), len, |writer| {
            for at in (0..len).step_by(WORD) {
                let n = WORD.min(len - at);
                writer.push(bits.word(at, n) & valid.word(at, n), n);
            }
        })
    }

    /// The same bits, in row-major order, as a mask of another shape.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::LengthMismatch`] if `shape` has another number of elements.
    pub fn with_shape(self, shape: &[usize]) -> Result<Self, Error> {
        let (len, expected) = (self.len(), Shape::checked_len(shape)?);
        if len != expected {
            return Err(Error::LengthMismatch { len, expected, shape: shape.into() });
        }
        Ok(Mask { shape: Shape::of_both(shape, &[]), ..self })
    }

    accessors! { self:
        /// The number of elements, true or false.
        pub fn len() -> usize => match &self.bits {
            Held::Lent(bits) => bits.len(),
            Held::Owned(bits) => bits.len(),
        };
        /// Whether there is no element.
        pub fn is_empty() -> bool => self.len() == 0;
        /// The number of trues.
        pub fn count() -> usize => self.count;
        /// The sizes of the dimensions.
        pub fn shape() -> &[usize] => &self.shape;
        /// The elements in row-major order, 1 for true.
        pub fn bitmap() -> Bitmap<'_> => match &self.bits {
            Held::Lent(bits) => *bits,
            Held::Owned(bits) => bits.bitmap(),
        };
    }

    /// The positions of the trues in row-major order, as [checked indices](Checked) along an axis of size
    /// [`Mask::len`]: NumPy's `flatnonzero`. For gathers, scatters and bags along an axis with this mask.
    ///
    /// Elements are set where a mask is true (`masked_fill`, `np.place`), or replaced one after the other
    /// (`masked_scatter`), by a scatter on the positions:
    /// ```
    /// # #[cfg(feature = "scatter")]
    /// fn main() -> Result<(), gather_core::Error> {
    ///     use gather_core::{Gather, Mask, View};
    ///
    ///     let mask = Mask::new(&[false, true, false, true])?.positions::<i32>()?;
    ///     let mut column = [1.0, 2.0, 3.0, 4.0];
    ///     Gather::new(0).writer().run_on(&mut column, &mask, &[20.0, 40.0])?;
    ///     assert_eq!(column, [1.0, 20.0, 3.0, 40.0]);
    ///
    ///     // One value for all: a view whose stride is 0.
    ///     let zero = View::strided(&[0.0], &[2], &[0], 0)?;
    ///     Gather::new(0).writer().run_on(&mut column, &mask, &zero)?;
    ///     assert_eq!(column, [1.0, 0.0, 3.0, 0.0]);
    ///     Ok(())
    /// }
    /// # #[cfg(not(feature = "scatter"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::CheckedAxisTooLong`] if [`Mask::len`] exceeds the greatest `I`, [`Error::LevelUnavailable`], then
    /// [`Error::AllocationFailed`].
    #[doc(alias("nonzero", "flatnonzero", "argwhere", "where"))]
    pub fn positions<I: Position>(&self) -> Result<Checked<'static, I>, Error> {
        check_fits::<I>(self.len())?;
        let level = Level::resolve(None)?;
        let positions = if self.count == 0 { Vec::new() } else { mask_positions(level, self.bitmap())? };
        Ok(Checked::from_positions(positions, self.len()))
    }
}

impl Mask<'_> {
    /// The rows of bits where the mask is true, in row-major order: row `i` is bits `i * columns..(i + 1) * columns`.
    /// With one column these are the values of a list of booleans: Arrow's `filter`. By ids,
    /// [`gather_bits`](crate::gather_bits).
    ///
    /// Cost: one pass over the bits, 64 at a time, and one allocation.
    ///
    /// ```
    /// use gather_core::{Bitmap, Mask};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let mask = Mask::new(&[true, false, true, true])?;
    ///     let values = mask.select_bits(Bitmap::new(&[0b1001], 0, 4)?, 1)?;
    ///     assert_eq!((values.len(), values.as_bytes()), (3, &[0b101][..]));
    ///     let pairs = mask.select_bits(Bitmap::new(&[0b11_10_01_00], 0, 8)?, 2)?;
    ///     assert_eq!(pairs.as_bytes(), [0b11_10_00]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::BitmapLengthMismatch`] if there are not `columns` bits for each element of the mask, then
    /// [`Error::LevelUnavailable`] and [`Error::AllocationFailed`].
    #[doc(alias("filter", "pext", "compress"))]
    pub fn select_bits(&self, bits: Bitmap<'_>, columns: usize) -> Result<Validity, Error> {
        let (len, rows) = (bits.len(), self.len().checked_mul(columns));
        if rows != Some(len) {
            let rows = rows.unwrap_or(usize::MAX);
            return Err(Error::BitmapLengthMismatch { op: OP, argument: Argument::Data, len, rows, elements: rows });
        }
        let (level, all) = (Level::resolve(None)?, self.count * columns);
        Validity::write(all, |out| {
            if columns == 1 {
                return Ok(all - select_bits(level, self.bitmap(), bits, out));
            }
            let mut writer = BitWriter::new(out);
            for (first, n) in self.bitmap().runs::<false>() {
                let (first, end) = (first * columns, (first + n) * columns);
                for at in (first..end).step_by(WORD) {
                    let n = WORD.min(end - at);
                    writer.push(bits.word(at, n), n);
                }
            }
            Ok(all - writer.finish())
        })
    }
}

/// Packs bytes along a layout, which is not empty.
///
/// # Safety
/// V1: bytes may be read from `start` along the layout.
#[inline(never)]
unsafe fn pack(start: *const u8, layout: &Layout, writer: &mut BitWriter<'_>) {
    let mut loops = Loops::new();
    let dims = layout.shape().iter().zip(layout.strides());
    merge_into(&mut loops, dims.map(|(&n, &data)| Loop { n, out: data, data, index: 0 }));
    let inner = loops.pop().unwrap_or(Loop { data: 1, ..Loop::ONCE });
    // Bits of short lines are collected to words.
    let (mut word, mut filled) = (0, 0);
    for_each(&loops, 0, |at: isize, along| at.wrapping_add(along.data), &mut |at: isize| {
        let mut lane = 0;
        while lane < inner.n {
            let n = (inner.n - lane).min(WORD - filled);
            let from = |i: usize| start.wrapping_offset(at.wrapping_add(inner.data.wrapping_mul((lane + i) as isize)));
            let bits = match inner.data {
                // SAFETY: V1: `n` bytes of a line of contiguous elements.
                1 => nonzero_bytes(unsafe { core::slice::from_raw_parts(from(0), n) }),
                // SAFETY: V1: an element of this line: `i < n`.
                _ => word_of(n, |i| u64::from(unsafe { from(i).read() } != 0)),
            };
            (word, filled, lane) = (word | bits << filled, filled + n, lane + n);
            if filled == WORD {
                writer.push(word, WORD);
                (word, filled) = (0, 0);
            }
        }
    });
    writer.push(word, filled);
}

/// The bytes, up to [`WORD`], that are not 0, as bits.
#[inline]
fn nonzero_bytes(bytes: &[u8]) -> u64 {
    let of = |eight: [u8; 8]| {
        const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
        let bytes = u64::from_le_bytes(eight);
        // Bit 7 of each byte: whether the byte is not 0. No carry leaves a byte.
        let ones = (((bytes & LOW) + LOW) | bytes) & !LOW;
        // Moves bit `8 i` to bit `56 + i`, for each byte `i`.
        (ones >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let (eights, rest) = bytes.as_chunks::<8>();
    let last = word_of(rest.len(), |lane| u64::from(rest[lane] != 0)) << (8 * eights.len() % WORD);
    (0..eights.len()).fold(last, |word, at| word | of(eights[at]) << (8 * at))
}

debug_by!(self: [] Mask<'_> { shape: self.shape(), count: self.count });

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::tensor::dynamic::DynView;
    use crate::tensor::view::View;

    fn byte(at: usize) -> u8 {
        ((at as u32).wrapping_mul(2_654_435_761) >> 29) as u8 & 5
    }

    fn check(mask: &Mask<'_>, expected: &[bool]) {
        let ones = expected.iter().filter(|&&is| is).count();
        assert_eq!((mask.len(), mask.count()), (expected.len(), ones));
        assert!(expected.iter().enumerate().all(|(at, &is)| mask.bitmap().get(at) == Some(is)));
    }

    #[test]
    fn bytes_and_bools_of_any_strides_become_bits() {
        let bytes: Vec<u8> = (0..300).map(byte).collect();
        let bools: Vec<bool> = bytes.iter().map(|&byte| byte != 0).collect();
        for n in (0..140).chain([255, 256, 300]) {
            check(&Mask::new(&bytes[..n]).unwrap(), &bools[..n]);
            check(&Mask::new(&bools[..n]).unwrap(), &bools[..n]);
        }
        for (rows, columns, strides, offset) in
            [(9, 30, [30, 1], 5), (30, 9, [1, 31], 0), (70, 4, [-4, 1], 290), (4, 70, [75, 1], 0), (3, 70, [1, 3], 2)]
        {
            let view = View::strided(&bytes, &[rows, columns], &strides, offset).unwrap();
            let expected: Vec<bool> =
                (0..rows * columns).map(|at| *view.get(&[at / columns, at % columns]).unwrap() != 0).collect();
            let mask = Mask::new(&view).unwrap();
            check(&mask, &expected);
            assert_eq!(mask.shape(), [rows, columns]);
            check(&Mask::new(&DynView::from(&view)).unwrap(), &expected);
        }
        check(&Mask::new(&View::scalar(&true)).unwrap(), &[true]);
        let refused = Mask::new(&DynView::from(&View::scalar(&1i8))).unwrap_err();
        assert_eq!(refused, Error::NotAMask { dtype: i8::DTYPE });
    }

    #[test]
    fn bits_are_counted_from_any_offset() {
        let bytes: Vec<u8> = (0..70).map(|at| byte(at) * 37).collect();
        for offset in 0..=70 {
            for len in [0, 1, 5, 63, 64, 65, 128, 200, 489] {
                let bits = Bitmap::new(&bytes, offset, len).unwrap();
                let mask = Mask::from_bits(bits);
                let expected: Vec<bool> = (0..len).map(|at| bits.get(at).unwrap()).collect();
                check(&mask, &expected);
                let positions = mask.positions::<i64>().unwrap();
                let trues = (0..len).filter(|&at| expected[at]).map(|at| at as i64);
                assert!((0..mask.count()).map(|at| *positions.positions().get(&[at]).unwrap()).eq(trues));
                assert_eq!(positions.n(), len);
            }
        }
    }

    #[test]
    fn shapes_and_nulls_of_other_lengths_are_refused() {
        let mask = Mask::new(&[1u8, 0, 1, 0, 0, 1]).unwrap();
        let refused = mask.clone().with_shape(&[2, 2]).unwrap_err();
        assert_eq!(refused, Error::LengthMismatch { len: 6, expected: 4, shape: [2, 2].into() });
        assert_eq!(mask.clone().with_shape(&[2, 1, 3]).unwrap().shape(), [2, 1, 3]);
        let valid = Bitmap::new(&[0xff], 1, 5).unwrap();
        let (argument, op) = (Argument::Mask, OP);
        let refused = mask.clone().with_nulls(valid).unwrap_err();
        assert_eq!(refused, Error::BitmapLengthMismatch { op, argument, len: 5, rows: 6, elements: 6 });
        let valid = Bitmap::new(&[0b0111_1100], 2, 6).unwrap();
        check(&mask.with_nulls(valid).unwrap(), &[true, false, true, false, false, false]);
        let long = vec![true; 200];
        let valid = [0xa5u8; 26];
        let nulled = Mask::new(&long).unwrap().with_nulls(Bitmap::new(&valid, 3, 200).unwrap()).unwrap();
        assert_eq!(nulled.count(), 100);
    }
}
