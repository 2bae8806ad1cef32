//! Draws sizes, attributes and indices. When the bytes run out, every draw gives its simplest value; none fails.

use arbitrary::{Result, Unstructured};
use gather_core::{Level, Method, NegativeIndex, OutOfBounds, Par};

use super::elements::{WordKind, mixed};
use super::memory::Place;
use crate::oracle::{self, Rule, Rules};
use crate::policies::RULES;

/// Once in `n` draws.
pub(super) fn one_in(u: &mut Unstructured<'_>, n: u32) -> Result<bool> {
    Ok(u.int_in_range(1..=n)? == n)
}

/// A rank, mostly small. Loop nests are unrolled up to rank 8.
pub(super) fn rank(u: &mut Unstructured<'_>) -> Result<usize> {
    Ok(*u.choose(&[2, 1, 3, 2, 4, 3, 1, 2, 0, 5, 3, 2, 6, 1, 4, 10])?)
}

/// A size, mostly small, of at most `room`.
fn dim(u: &mut Unstructured<'_>, room: usize) -> Result<usize> {
    let range = match u.int_in_range(0..=31u8)? {
        0..=21 => 1..=8,
        22..=27 => 1..=70,
        // Around two blocks.
        28..=30 => 1..=1100,
        _ => 0..=0,
    };
    let most = (*range.end()).min(room.max(1));
    u.int_in_range(*range.start().min(&most)..=most)
}

/// Sizes of `rank` dimensions with at most `room` elements.
pub(super) fn dims(u: &mut Unstructured<'_>, rank: usize, mut room: usize) -> Result<Vec<usize>> {
    let mut dims = Vec::with_capacity(rank);
    for _ in 0..rank {
        let dim = dim(u, room)?;
        room /= dim.max(1);
        dims.push(dim);
    }
    Ok(dims)
}

/// An absurd size.
pub(super) fn wild_size(u: &mut Unstructured<'_>) -> Result<usize> {
    Ok(match u.int_in_range(0..=9)? {
        0..=4 => u.int_in_range(0..=4)?,
        5 => usize::MAX >> u.int_in_range(0..=3)?,
        6 => 1 << u.int_in_range(0..=usize::BITS - 1)?,
        7 => (1usize << u.int_in_range(0..=usize::BITS - 1)?).wrapping_sub(1),
        _ => u.arbitrary()?,
    })
}

/// An absurd stride.
pub(super) fn wild_stride(u: &mut Unstructured<'_>) -> Result<isize> {
    Ok(match u.int_in_range(0..=5)? {
        0..=1 => u.int_in_range(-2..=2)?,
        2 => isize::MIN,
        3 => isize::MAX,
        _ => u.arbitrary()?,
    })
}

/// An attribute: mostly one that is allowed, else any number.
pub(super) fn attribute(u: &mut Unstructured<'_>, least: i64, most: i64) -> Result<i64> {
    let least = least.min(most);
    if !one_in(u, 24)? {
        return u.int_in_range(least..=most);
    }
    Ok(match u.int_in_range(0..=5)? {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => most.saturating_add(1),
        3 => least.saturating_sub(1),
        4 => i64::from(u.arbitrary::<i32>()?),
        _ => u.arbitrary()?,
    })
}

/// How a call runs, and what its indices may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    pub(super) negative: NegativeIndex,
    pub(super) out_of_bounds: OutOfBounds,
    /// Both policies, as the oracle spells them.
    pub(super) rules: Rules,
    pub(super) par: Par,
    pub(super) level: Level,
    pub(super) method: Option<Method>,
}

impl Tuning {
    pub(super) fn draw(u: &mut Unstructured<'_>) -> Result<Self> {
        let (negative, out_of_bounds, rules) = *u.choose(&RULES)?;
        let method = if one_in(u, 3)? { None } else { Some(*u.choose(Method::ALL)?) };
        Ok(Tuning { negative, out_of_bounds, rules, par: par(u)?, level: level(u)?, method })
    }
}

pub(super) fn par(u: &mut Unstructured<'_>) -> Result<Par> {
    if cfg!(miri) {
        // The thread pool turns integers into pointers, which strict provenance forbids.
        return Ok(Par::Seq);
    }
    Ok(match u.int_in_range(0..=9)? {
        0..=3 => Par::Seq,
        4..=5 => Par::Auto,
        9 => Par::Threads(usize::MAX),
        _ => Par::Threads(u.int_in_range(0..=8)?),
    })
}

/// The preferred level, or any that this machine has.
pub(super) fn level(u: &mut Unstructured<'_>) -> Result<Level> {
    if !one_in(u, 3)? {
        return Ok(Level::preferred());
    }
    let level = *u.choose(Level::ALL)?;
    Ok(if level.is_available() { level } else { Level::Scalar })
}

/// What indices look like.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Random,
    Ascending,
    Constant,
}

/// Indices for a tensor in memory: most are in range, some lie around the edges of axes and types, a few are arbitrary.
/// `dim` is the size of the axis that an index refers to, by the last coordinate of the index.
pub(super) fn indices(
    u: &mut Unstructured<'_>,
    place: &Place,
    word: WordKind,
    rules: Rules,
    dim: impl Fn(usize) -> usize,
) -> Result<Vec<i128>> {
    let seed = u64::from(u.arbitrary::<u16>()?) << 32;
    let wild_every = *u.choose(&[0, 0, 0, 600, 50, 5, 1])?;
    let pattern = *u.choose(&[Pattern::Random, Pattern::Random, Pattern::Ascending, Pattern::Constant])?;
    // Where negative indices are errors, nearly every case would fail at its first index.
    let negative = (rules.from_end || rules.out_of_range != Rule::Error) && u.arbitrary()?;
    let mut memory = vec![0; place.len];
    for (at, coords) in oracle::coords(&place.shape).enumerate() {
        let dim = dim(coords.last().copied().unwrap_or(0)) as i128;
        let noise = mixed(seed + at as u64);
        let tame = match pattern {
            Pattern::Random => i128::from(noise >> 8),
            Pattern::Ascending => at as i128 + i128::from(seed >> 32),
            Pattern::Constant => i128::from(seed >> 32),
        };
        let mut value = tame % dim.max(1);
        if negative && noise.is_multiple_of(2) {
            value -= dim;
        }
        if wild_every != 0 && (noise >> 1).is_multiple_of(wild_every) {
            value = edge(noise >> 16, dim);
        }
        memory[place.position(&coords)] = word.wrap(value);
    }
    for _ in 0..u.int_in_range(0..=3)? {
        if !memory.is_empty() {
            let at = u.choose_index(memory.len())?;
            memory[at] = word.wrap(u.arbitrary::<i64>()?.into());
        }
    }
    Ok(memory)
}

/// A number near an edge of the axis, of a type, or of 32 bits.
fn edge(noise: u64, dim: i128) -> i128 {
    let edges = [0, dim, -dim, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63, 1 << 64, (1 << 32) + dim];
    let edge = edges[(noise >> 8) as usize % edges.len()];
    let by = i128::from(noise % 5) - 2;
    if noise & 0x80 == 0 { edge + by } else { by - edge }
}
