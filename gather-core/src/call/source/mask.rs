//! Masks: true and false along one or several dimensions, as bits.

use core::borrow::Borrow;

use crate::call::source::Source;
use crate::call::source::checked::{Checked, Position, check_fits};
use crate::call::source::kind::Kind;
use crate::exec::mask_positions;
use crate::kernels::{Loop, and_bits, count_ones, nonzero_bytes, pack_bytes};
use crate::plan::fold::{Loops, for_each, merge_into};
use crate::tensor::bitmap::{BitWriter, Bitmap, Validity, WORD, word_of};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::typing::Dyn;
use crate::types::declare::{accessors, debug_by};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};

const OP: Op = Op::Gather;

/// A kind of the elements of masks: `bool`; `u8`, where 0 is false; or [`Dyn`] for either. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind of masks",
    note = "the elements of a mask are `bool`, or `u8`, where 0 is false; bits become a mask by `Mask::from_bits`"
)]
pub trait MaskKind: Kind {
    /// Checks that elements of a data type are true or false.
    ///
    /// # Errors
    /// [`Error::NotAMask`] for [`Dyn`].
    #[doc(hidden)]
    fn check_mask(_: DType) -> Result<(), Error> {
        Ok(())
    }
}

impl MaskKind for bool {}
impl MaskKind for u8 {}

impl MaskKind for Dyn {
    fn check_mask(dtype: DType) -> Result<(), Error> {
        if [bool::DTYPE, u8::DTYPE].contains(&dtype) { Ok(()) } else { Err(Error::NotAMask { dtype }) }
    }
}

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
    /// The product of the sizes is the number of bits.
    shape: Shape,
    /// M1: the number of 1 bits.
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
    /// [`Error::NotAMask`] for a type known at run time, [`Error::LevelUnavailable`], then
    /// [`Error::AllocationFailed`].
    pub fn new<S: Source<Kind: MaskKind> + ?Sized>(source: &S) -> Result<Self, Error> {
        S::Kind::check_mask(source.dtype())?;
        let held = source.held();
        // SAFETY: V1, V3: the source has elements of 1 byte along its layout: `bool` or `u8`, as `check_mask` found.
        unsafe { Self::pack(source.start(), held.borrow()) }
    }

    /// Packs bytes along a layout.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`], [`Error::AllocationFailed`].
    ///
    /// # Safety
    /// V1: bytes may be read from `start` along the layout.
    unsafe fn pack(start: *const u8, layout: &Layout) -> Result<Self, Error> {
        let (level, len) = (Level::resolve(None)?, layout.len());
        let dims = layout.shape().iter().zip(layout.strides());
        let mut loops = Loops::new();
        merge_into(&mut loops, dims.map(|(&n, &data)| Loop { n, out: data, data, index: 0 }));
        let inner = loops.pop().unwrap_or(Loop { data: 1, ..Loop::ONCE });
        let line = |at: isize, n: usize| {
            // SAFETY: V1: `n` bytes of a line of contiguous elements, from offset `at` on.
            unsafe { core::slice::from_raw_parts(start.wrapping_offset(at), n) }
        };
        let bits = Validity::write(len, |bits| {
            if len == 0 {
                return Ok(0);
            }
            if loops.is_empty() && inner.data == 1 {
                return Ok(len - pack_bytes(level, line(0, len), bits));
            }
            let mut writer = BitWriter::new(bits);
            for_each(&loops, 0, |at: isize, along| at.wrapping_add(along.data), &mut |at: isize| {
                for first in (0..inner.n).step_by(WORD) {
                    let n = WORD.min(inner.n - first);
                    let at = |lane: usize| at.wrapping_add(inner.data.wrapping_mul((first + lane) as isize));
                    let word = match inner.data {
                        1 => nonzero_bytes(line(at(0), n)),
                        _ => word_of(n, |lane| u64::from(line(at(lane), 1)[0] != 0)),
                    };
                    writer.push(word, n);
                }
            });
            Ok(len - writer.finish())
        })?;
        let shape = Shape::of_both(layout.shape(), &[]);
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

    /// The mask with false where a bit of `valid` is 0: a null is not taken.
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
    /// [`Error::BitmapLengthMismatch`] if `valid` has another number of bits, [`Error::LevelUnavailable`], then
    /// [`Error::AllocationFailed`].
    pub fn with_nulls(self, valid: Bitmap<'_>) -> Result<Mask<'static>, Error> {
        let len = self.len();
        if valid.len() != len {
            let (argument, len, rows) = (Argument::Mask, valid.len(), len);
            return Err(Error::BitmapLengthMismatch { op: OP, argument, len, rows, elements: rows });
        }
        let level = Level::resolve(None)?;
        let bits = Validity::write(len, |out| Ok(len - and_bits(level, [self.bitmap(), valid], out)))?;
        Ok(Mask { count: len - bits.null_count(), bits: Held::Owned(bits), shape: self.shape })
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
        let positions = mask_positions(Level::resolve(None)?, self.bitmap(), self.count)?;
        Ok(Checked::from_positions(positions, self.len()))
    }
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
        for (rows, columns, strides, offset) in [(9, 30, [30, 1], 5), (30, 9, [1, 31], 0), (70, 4, [-4, 1], 290)] {
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
