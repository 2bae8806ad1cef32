//! Unique ids, and the position of each id among them.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::call::source::checked::Checked;
use crate::tensor::memory;
use crate::types::declare::{accessors, debug_by};
use crate::types::error::Error;
use crate::types::index::Index;

mod sealed {
    /// Implemented for the types of ids of [`Unique`](super::Unique).
    pub trait Sealed {}
}

/// A type of ids of [`Unique`]: `i32`, `i64` or `u32`. Sealed.
pub trait UniqueId: Index + Ord + sealed::Sealed {}

macro_rules! ids {
    ($($I:ty)*) => {$(
        impl sealed::Sealed for $I {}
        impl UniqueId for $I {}
    )*};
}
ids!(i32 i64 u32);

/// The different ids of a list in ascending order, and the position of each id among them:
/// `ids()[inverse[i]] == list[i]`.
///
/// Gradients of a batch touch each row of a table as often as the batch names it. An optimiser and a cache handle each
/// row once: the adjoint by [`Unique::inverse`] sums the gradients of each unique id. The
/// [guide](crate::guide::scatter) has the step of an optimiser.
///
/// ```
/// use gather_core::Unique;
///
/// fn main() -> Result<(), gather_core::Error> {
///     let unique = Unique::new(&[70u32, 3, 70, 9])?;
///     assert_eq!(unique.ids(), [3, 9, 70]);
///     let positions = unique.inverse().positions();
///     assert_eq!([0, 1, 2, 3].map(|at| positions.get(&[at])), [Some(&2), Some(&0), Some(&2), Some(&1)]);
///     Ok(())
/// }
/// ```
#[derive(Clone)]
#[doc(alias("return_inverse", "dedup", "distinct"))]
pub struct Unique<I> {
    ids: Vec<I>,
    inverse: Checked<'static, i32>,
}

/// Maximum bits of a bitmap of ids for each id: ids that are further apart are sorted (bench `columns`).
const SPREAD: u64 = 512;

impl<I: UniqueId> Unique<I> {
    /// The unique ids of a list.
    ///
    /// Cost: if the greatest id is at most `512 · n` above the least of `n` ids, linear, with a bitmap of the ids between
    /// them; else a sort. One allocation for each of both results, and scratch.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] for more than `i32::MAX` ids, then [`Error::AllocationFailed`].
    pub fn new(list: &[I]) -> Result<Self, Error> {
        if i32::try_from(list.len()).is_err() {
            return Err(Error::TooManyElements { shape: [list.len()].into() });
        }
        let ids = list.iter().map(|id| id.widen());
        let (Some(least), Some(most)) = (ids.clone().min(), ids.max()) else {
            return Ok(Unique { ids: Vec::new(), inverse: Checked::of_positions(0, 0, |_| Ok(0))? });
        };
        let spread = most.wrapping_sub(least) as u64;
        if spread / SPREAD < list.len() as u64 { by_bitmap(list, least, spread) } else { by_sort(list) }
    }

    accessors! { self:
        /// The unique ids, in ascending order.
        pub fn ids() -> &[I] => &self.ids;
        /// The number of unique ids.
        pub fn len() -> usize => self.ids.len();
        /// Whether there is no id.
        pub fn is_empty() -> bool => self.ids.is_empty();
        /// The position of each id of the list among the unique ids: checked indices along an axis of size
        /// [`Unique::len`].
        pub fn inverse() -> &Checked<'static, i32> => &self.inverse;
    }
}

debug_by!(self: [I] Unique<I> { ids: self.ids.len(), inverse: self.inverse });

/// Marks each id in a bitmap from `least` on. The rank of an id is the number of bits before its own.
fn by_bitmap<I: UniqueId>(list: &[I], least: i64, spread: u64) -> Result<Unique<I>, Error> {
    let place = |id: I| {
        let bit = id.widen().wrapping_sub(least) as usize;
        (bit / 64, 1u64 << (bit % 64))
    };
    let mut words = memory::zeros::<[u64; 2]>(spread as usize / 64 + 1)?;
    for &id in list {
        let (word, bit) = place(id);
        words[word][0] |= bit;
    }
    let mut count = 0;
    for [bits, before] in &mut words {
        *before = count;
        count += u64::from(bits.count_ones());
    }
    let mut ids = memory::reserve(count as usize)?;
    for (word, &[mut bits, _]) in words.iter().enumerate() {
        while bits != 0 {
            ids.push(I::truncated(least.wrapping_add((word * 64) as i64 + i64::from(bits.trailing_zeros()))));
            bits &= bits - 1;
        }
    }
    let inverse = Checked::of_positions(ids.len(), list.len(), |at| {
        let (word, bit) = place(list[at]);
        let [bits, before] = words[word];
        Ok(before as i64 + i64::from((bits & (bit - 1)).count_ones()))
    })?;
    Ok(Unique { ids, inverse })
}

/// Sorts the ids with their numbers.
fn by_sort<I: UniqueId>(list: &[I]) -> Result<Unique<I>, Error> {
    let mut sorted = memory::reserve(list.len())?;
    sorted.extend(list.iter().zip(0u32..).map(|(&id, at)| (id, at)));
    sorted.sort_unstable();
    let mut ids = memory::reserve(sorted.chunk_by(|a, b| a.0 == b.0).count())?;
    let mut ranks = memory::zeros::<u32>(list.len())?;
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        same.iter().for_each(|&(_, at)| ranks[at as usize] = ids.len() as u32);
        ids.push(same[0].0);
    }
    let inverse = Checked::of_positions(ids.len(), list.len(), |at| Ok(ranks[at].into()))?;
    Ok(Unique { ids, inverse })
}
