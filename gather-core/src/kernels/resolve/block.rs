//! Resolving all components of a block of indices.

use crate::kernels::nest::args::KernelSpec;
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::positions::{BAD_TUPLE, Block, Positions};
use crate::kernels::resolve::{ResolveFn, ResolveJob, TupleJob, TuplesFn};

/// The functions that resolve indices of a type at a level, for loops over blocks, which depend on neither.
#[derive(Clone, Copy)]
pub struct ResolveFns {
    one: ResolveFn,
    tuples: Option<TuplesFn>,
}

impl ResolveFns {
    #[inline(always)]
    pub(crate) fn new(one: ResolveFn, tuples: Option<TuplesFn>) -> Self {
        ResolveFns { one, tuples }
    }

    /// The function for contiguous tuples, if the level has one and the tuples are contiguous.
    #[inline(always)]
    pub(crate) fn of_tuples(self, spec: &KernelSpec) -> Option<TuplesFn> {
        self.tuples.filter(|_| spec.adjacent_tuples)
    }
}

impl Block {
    /// Resolves the indices of a strip of at most [`BLOCK`](crate::kernels::nest::positions::BLOCK) iterations, with
    /// all components. Returns whether an index is out of range; [`Block::is_bad`] holds for its position.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, positions: &mut Positions, strip: &Strip<'_>, fns: ResolveFns) -> bool {
        match strip.spec().components.as_slice() {
            [component] => {
                let out_of_range = (fns.one)(&ResolveJob::new(strip, component, positions));
                self.note(out_of_range);
                // SAFETY: by `ResolveFn`, each iteration of the strip has a position.
                let positions = unsafe { positions.written(strip.n()) };
                debug_assert!(positions.iter().all(|&x| (-1..component.dim).contains(&x.into())), "K2: {positions:?}");
                out_of_range
            }
            _ => self.resolve_tuples(positions, strip, fns),
        }
    }

    /// [`Block::resolve`] for several components.
    #[inline(never)]
    fn resolve_tuples(&mut self, positions: &mut Positions, strip: &Strip<'_>, fns: ResolveFns) -> bool {
        let (spec, n) = (strip.spec(), strip.n());
        if let Some(resolve_tuples) = fns.of_tuples(spec) {
            let mut out_of_range = false;
            let mut note = |_, bad| {
                out_of_range = bad;
                true
            };
            if resolve_tuples((&TupleJob::one_chunk(strip, positions), &mut note)) {
                self.note(out_of_range);
                return out_of_range;
            }
        }
        self.note(false);
        let mut next = Positions::new();
        for (k, component) in spec.components.iter().enumerate() {
            let out_of_range = (fns.one)(&ResolveJob::new(strip, component, &mut next));
            // SAFETY: by `ResolveFn`, each iteration of the strip has a position.
            let resolved = unsafe { next.written(n) };
            let scale = component.scale as i32;
            if k == 0 {
                positions.write(resolved.iter().map(|position| position.wrapping_mul(scale)));
            }
            // SAFETY: `n` sums have been written for `k == 0`.
            let sums = unsafe { positions.written(n) };
            if k > 0 && !self.has_bad() {
                sums.iter_mut().zip(&*resolved).for_each(|(sum, position)| {
                    *sum = sum.wrapping_add(position.wrapping_mul(scale));
                });
            } else if k > 0 {
                sums.iter_mut().zip(&*resolved).for_each(|(sum, position)| {
                    let next = sum.wrapping_add(position.wrapping_mul(scale));
                    *sum = if *sum == BAD_TUPLE { BAD_TUPLE } else { next };
                });
            }
            if out_of_range {
                self.note_bad_tuple();
                sums.iter_mut().zip(&*resolved).for_each(|(sum, position)| {
                    *sum = if *position < 0 { BAD_TUPLE } else { *sum };
                });
            }
        }
        self.has_bad()
    }
}
