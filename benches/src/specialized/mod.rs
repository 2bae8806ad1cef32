//! Specialised functions beside the plain loop, and beside a loop over arrays without checks.
//!
//! No two calls in a row get the same ids, and the ways of a case take their lists of ids from one ring, so that none
//! finds in the caches what the one before has fetched.

mod loops;

use std::hint::black_box;

use half::f16;

use crate::random::Random;

gather_core::specialize! {
    fn eight = gather(axis = 0) (f32[_, 16], u32[8]);
    fn any = gather(axis = 0) (f32[_, 16], u32[_]);
    fn embed = gather(axis = 0) (f16[_, 384], u32[_]);
    fn elements = gather_elements(axis = 1) (f32[8, 8], u32[8, 8]);
    fn tile = batch_to_space(block = [1, 2, 2, 1]) (f32[4, 4, 4, 3]);
    fn tile_bytes = batch_to_space(block = [1, 2, 2, 1]) (u8[4, 4, 4, 3]);
}

/// Ways of a case, in the order of columns.
pub const WAYS: [&str; 3] = ["loop", "unchecked", "specialised"];

/// A call of the specialised function, and what stands beside it.
pub struct Case {
    /// The operator and its shape.
    pub name: &'static str,
    /// How long the function may take: in times of the loop, and of the loop without checks.
    pub limits: [Option<f64>; 2],
    /// Calls that share one reading of the clock.
    pub calls: usize,
    /// As [`Case::run`].
    run: Box<dyn FnMut(usize, usize, usize) -> Vec<u8>>,
}

impl Case {
    /// Makes `calls` calls of a way, from a list of ids on; returns the bytes of the output if that is one call.
    pub fn run(&mut self, way: usize, first: usize, calls: usize) -> Vec<u8> {
        (self.run)(way, first, calls)
    }
}

/// Why a call cannot fail.
const LEGAL: &str = "a legal call";
/// Ids of a ring.
const RING: usize = 1 << 20;
/// Rows of 64 bytes in a table that stays in the caches.
const ROWS: usize = 1_500_000 / 64;
/// Rows and columns of a vocabulary, and the tokens of a text.
const VOCABULARY: [usize; 2] = [30_522, 384];
const TOKENS: usize = 366;

/// All cases.
#[must_use]
pub fn cases() -> Vec<Case> {
    vec![rows_eight(), rows_any(), elements_case(), embedding(), tile_case(), tile_of_bytes()]
}

fn ring(below: usize) -> Vec<u32> {
    let mut random = Random::new(1);
    (0..RING).map(|_| random.below(below) as u32).collect()
}

/// The list of ids of a call.
fn list(ring: &[u32], call: usize, len: usize) -> &[u32] {
    let lists = ring.len() / len;
    &ring[call % lists * len..][..len]
}

/// The bytes of numbers, whatever their type, after a single call: those are not timed.
fn bytes<T: bytemuck::NoUninit>(values: &[T], calls: usize) -> Vec<u8> {
    if calls == 1 { bytemuck::cast_slice(values).to_vec() } else { Vec::new() }
}

fn rows_eight() -> Case {
    let (table, ring) = ((0..ROWS * 16).map(|at| at as f32).collect::<Vec<_>>(), ring(ROWS));
    let mut out = vec![0.0; 8 * 16];
    let run = move |way: usize, first: usize, calls: usize| {
        for call in first..first + calls {
            let (table, ids, out) = (black_box(&table[..]), list(&ring, call, 8), &mut out[..]);
            match way {
                0 => loops::rows(table, black_box(16), ids, out),
                1 => {
                    let ids = ids.try_into().expect("eight ids");
                    let out = out.as_chunks_mut::<16>().0.try_into().expect("eight rows");
                    // SAFETY: the ids were drawn below the rows of the table.
                    unsafe { loops::rows_unchecked::<f32, 16, 8>(table.as_chunks().0, ids, out) }
                }
                _ => eight(table, ids, out).expect(LEGAL),
            }
        }
        bytes(&out, calls)
    };
    Case { name: "gather, 8 rows of 64 bytes", limits: [Some(0.6), Some(1.1)], calls: 2000, run: Box::new(run) }
}

fn rows_any() -> Case {
    const COUNT: usize = 64;
    let (table, ring) = ((0..ROWS * 16).map(|at| at as f32).collect::<Vec<_>>(), ring(ROWS));
    let mut out = vec![0.0; COUNT * 16];
    let run = move |way: usize, first: usize, calls: usize| {
        for call in first..first + calls {
            let (table, ids, out) = (black_box(&table[..]), list(&ring, call, COUNT), &mut out[..]);
            match way {
                0 => loops::rows(table, black_box(16), ids, out),
                1 => {
                    let ids = ids.try_into().expect("as many ids");
                    let out = out.as_chunks_mut::<16>().0.try_into().expect("as many rows");
                    // SAFETY: the ids were drawn below the rows of the table.
                    unsafe { loops::rows_unchecked::<f32, 16, COUNT>(table.as_chunks().0, ids, out) }
                }
                _ => any(table, ids, out).expect(LEGAL),
            }
        }
        bytes(&out, calls)
    };
    Case { name: "gather, 64 rows of 64 bytes, any count", limits: [Some(0.6), None], calls: 500, run: Box::new(run) }
}

fn elements_case() -> Case {
    let (data, ring) = ((0..64).map(|at| at as f32).collect::<Vec<_>>(), ring(8));
    let mut out = vec![0.0; 64];
    let run = move |way: usize, first: usize, calls: usize| {
        for call in first..first + calls {
            let (data, ids, out) = (black_box(&data[..]), list(&ring, call, 64), &mut out[..]);
            match way {
                0 => loops::elements(data, black_box([8, 8]), ids, out),
                1 => {
                    let data = data.as_chunks::<8>().0.try_into().expect("eight by eight");
                    let ids = ids.as_chunks::<8>().0.try_into().expect("eight by eight");
                    let out = out.as_chunks_mut::<8>().0.try_into().expect("eight by eight");
                    // SAFETY: the ids were drawn below 8.
                    unsafe { loops::elements_unchecked(data, ids, out) }
                }
                _ => elements(data, ids, out).expect(LEGAL),
            }
        }
        bytes(&out, calls)
    };
    Case { name: "gather_elements, [8, 8] of f32", limits: [Some(0.6), None], calls: 2000, run: Box::new(run) }
}

fn embedding() -> Case {
    let [rows, dim] = VOCABULARY;
    let table: Vec<f16> = (0..rows * dim).map(|at| f16::from_bits((at % 31_000) as u16)).collect();
    let ring = ring(rows);
    let mut out = vec![f16::ZERO; TOKENS * dim];
    let run = move |way: usize, first: usize, calls: usize| {
        for call in first..first + calls {
            let (table, ids, out) = (black_box(&table[..]), list(&ring, call, TOKENS), &mut out[..]);
            match way {
                0 => loops::rows(table, black_box(dim), ids, out),
                1 => {
                    let ids = ids.try_into().expect("as many ids");
                    let out = out.as_chunks_mut().0.try_into().expect("as many rows");
                    // SAFETY: the ids were drawn below the rows of the table.
                    unsafe { loops::rows_unchecked::<f16, 384, TOKENS>(table.as_chunks().0, ids, out) }
                }
                _ => embed(table, ids, out).expect(LEGAL),
            }
        }
        bytes(&out, calls)
    };
    Case { name: "gather, 366 rows of 384 f16", limits: [Some(0.9), None], calls: 40, run: Box::new(run) }
}

/// An image in four parts, and its tiles put together.
type Parts<T> = [[[[T; 3]; 4]; 4]; 4];
type Image<T> = [[[T; 3]; 8]; 8];

fn tile_case() -> Case {
    let parts: Parts<f32> = std::array::from_fn(|a| {
        std::array::from_fn(|y| std::array::from_fn(|x| [0, 1, 2].map(|z| (((a * 4 + y) * 4 + x) * 3 + z) as f32)))
    });
    let mut out: Image<f32> = [[[0.0; 3]; 8]; 8];
    let run = move |way: usize, _: usize, calls: usize| {
        for _ in 0..calls {
            let parts = black_box(&parts);
            let (data, flat) = (parts.as_flattened().as_flattened().as_flattened(), black_box(&mut out));
            match way {
                0 => {
                    loops::blocks(data, black_box([4, 4, 3]), black_box(2), flat.as_flattened_mut().as_flattened_mut())
                }
                1 => loops::blocks_unchecked(parts, flat),
                _ => tile(data, flat.as_flattened_mut().as_flattened_mut()).expect(LEGAL),
            }
        }
        bytes(out.as_flattened().as_flattened(), calls)
    };
    Case { name: "batch_to_space, [4, 4, 4, 3] of f32", limits: [Some(0.3), None], calls: 2000, run: Box::new(run) }
}

fn tile_of_bytes() -> Case {
    let parts: Parts<u8> = std::array::from_fn(|a| {
        std::array::from_fn(|y| std::array::from_fn(|x| [0, 1, 2].map(|z| (((a * 4 + y) * 4 + x) * 3 + z) as u8)))
    });
    let mut out: Image<u8> = [[[0; 3]; 8]; 8];
    let run = move |way: usize, _: usize, calls: usize| {
        for _ in 0..calls {
            let parts = black_box(&parts);
            let (data, flat) = (parts.as_flattened().as_flattened().as_flattened(), black_box(&mut out));
            match way {
                0 => {
                    loops::blocks(data, black_box([4, 4, 3]), black_box(2), flat.as_flattened_mut().as_flattened_mut())
                }
                1 => loops::blocks_unchecked(parts, flat),
                _ => tile_bytes(data, flat.as_flattened_mut().as_flattened_mut()).expect(LEGAL),
            }
        }
        bytes(out.as_flattened().as_flattened(), calls)
    };
    Case { name: "batch_to_space, [4, 4, 4, 3] of u8", limits: [Some(0.3), None], calls: 2000, run: Box::new(run) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_what_the_loop_gives() {
        for mut case in cases() {
            for call in [0, 1, 77] {
                let expected = case.run(0, call, 1);
                for (way, name) in WAYS.iter().enumerate() {
                    // The output of another call stands there before.
                    case.run(way, call + 1, 1);
                    assert_eq!(case.run(way, call, 1), expected, "{}: {name}", case.name);
                }
            }
        }
    }
}
