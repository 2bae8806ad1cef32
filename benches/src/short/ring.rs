//! Ids that differ from call to call.

use crate::inputs::Position;
use crate::random::Random;

/// Ids in a ring. Lines of as many rows are twice what the caches of most machines hold.
const RING: usize = 1 << 21;

/// Ids that follow one another.
pub(super) struct Ring<I> {
    ids: Vec<I>,
    next: usize,
}

impl<I: Position> Ring<I> {
    pub(super) fn new(below: usize) -> Self {
        let mut random = Random::new(1);
        Ring { ids: (0..RING).map(|_| I::new(random.below(below))).collect(), next: 0 }
    }

    /// Goes back to the first id.
    pub(super) fn rewind(&mut self) {
        self.next = 0;
    }

    /// The next `count` ids, from the first one on where too few are left.
    pub(super) fn take(&mut self, count: usize) -> &[I] {
        if self.next + count > self.ids.len() {
            self.next = 0;
        }
        self.next += count;
        &self.ids[self.next - count..self.next]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_goes_round() {
        let mut ring = Ring::<u32>::new(100);
        assert!(ring.ids.iter().all(|&id| id < 100) && ring.ids.iter().max() == Some(&99));
        let first = ring.take(5).to_vec();
        assert_ne!(ring.take(5), first);
        ring.next = RING - 4;
        assert_eq!(ring.take(5), first);
    }
}
