//! Rows of bits by ids: booleans, and the nulls inside of lists.

#![forbid(unsafe_code)]

use crate::call::source::Source;
use crate::call::source::checked::{Checked, Position, by_positions};
use crate::call::source::kind::IndexKind;
use crate::kernels::prefetch;
use crate::tensor::bitmap::{BitWriter, Bitmap, Validity, WORD};
use crate::types::caches::Caches;
use crate::types::error::Error;
use crate::types::level::Level;

/// Rows of a bitmap by their ids: id `i` names bits `i * columns..(i + 1) * columns`. With one column these are the
/// values of a list of booleans, with `k` columns the validity of the values inside lists of the fixed size `k`.
///
/// Ids are indices of any type, negative ones counted from the end, or [`Checked`] positions of `bits.len() / columns`
/// rows, where a missing position gives bits 0.
///
/// Cost: one pass over the ids, and one allocation for the result; another one and a pass for ids that
/// [`Checked::new`] does not borrow.
///
/// # Errors
/// [`Error::NotWholeRows`] if `bits.len()` is no multiple of `columns`, the errors of [`Checked::new`] under
/// [`OutOfBounds::Error`](crate::OutOfBounds), [`Error::TooManyElements`] for the bits of the result, and
/// [`Error::AllocationFailed`].
///
/// ```
/// use gather_core::{Bitmap, gather_bits};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // The values true, false, true, true; and three lists of two.
///     let is_open = gather_bits(Bitmap::new(&[0b1101], 0, 4)?, 1, &[1i64, -1])?;
///     assert_eq!((is_open.len(), is_open.as_bytes()), (2, &[0b10][..]));
///     let lists = gather_bits(Bitmap::new(&[0b01_10_11], 0, 6)?, 2, &[2u32, 0, 1])?;
///     assert_eq!(lists.as_bytes(), [0b10_11_01]);
///     Ok(())
/// }
/// ```
#[doc(alias("take", "BooleanArray", "packed", "bool"))]
pub fn gather_bits<X>(bits: Bitmap<'_>, columns: usize, ids: &X) -> Result<Validity, Error>
where
    X: Source<Kind: IndexKind> + ?Sized,
{
    let rows = bits.len().checked_div(columns).unwrap_or(0);
    if rows * columns != bits.len() {
        return Err(Error::NotWholeRows { len: bits.len(), columns });
    }
    by_positions!(ids, rows, |positions| rows_of_bits(bits, columns, &positions))
}

/// # Errors
/// [`Error::TooManyElements`], [`Error::LevelUnavailable`], then [`Error::AllocationFailed`].
fn rows_of_bits<P: Position>(bits: Bitmap<'_>, columns: usize, ids: &Checked<'_, P>) -> Result<Validity, Error> {
    let positions = ids.as_slice();
    let all = positions.len().checked_mul(columns);
    let all = all.ok_or_else(|| Error::TooManyElements { shape: [positions.len(), columns].into() })?;
    let look_up = P::BITS.look_up.at(Level::resolve(None)?);
    Validity::write(all, |out| {
        let (mut writer, first) = (BitWriter::new(out), |position: &P| position.widen().max(0) as usize * columns);
        let is_far = bits.len() / 8 > Caches::get().second;
        if bits.is_empty() {
            // All positions are missing, or rows have no bits.
        } else if columns == 1 {
            let mut ahead = positions.chunks(WORD).skip(1);
            for block in positions.chunks(WORD) {
                for position in ahead.next().filter(|_| is_far).unwrap_or_default() {
                    prefetch(bits.bytes_from(first(position)).0.as_ptr(), 1);
                }
                let [word, missing] = look_up((&bits, 0, block));
                writer.push(word & !missing, block.len());
            }
        } else {
            // Short rows side by side in one word; long rows in several words each. Rows of `WORD` bits are not shifted.
            let n = columns.min(WORD);
            for block in positions.chunks(WORD / n) {
                for done in (0..columns).step_by(WORD) {
                    let n = n.min(columns - done);
                    let row = |position: &P| match position.widen() {
                        ..0 => 0,
                        _ => bits.word(first(position) + done, n),
                    };
                    let word = block.iter().rev().fold(0, |word: u64, position| word << (n % WORD) | row(position));
                    writer.push(word, n * block.len());
                }
            }
        }
        Ok(all - writer.finish())
    })
}
