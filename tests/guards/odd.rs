//! Odd addresses: packed types, whose fields are not aligned, and bytes at any alignment through the type-erased doors,
//! with kernel sets of this crate.

use gather_core::{BatchToSpace, DynView, Element, Gather, GatherElements, GatherNd, Index, Registry, View};
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{self, Dense};
use gather_tests::values::bytes;

use crate::{IndexOp, PLACES, Pages, Picks, Place, Sample, lengths, levels, samples};

macro_rules! packed {
    ($($name:ident { $($field:ident: $ty:ty = $value:expr),* })*) => {$(
        #[derive(Clone, Copy, Debug, Element)]
        #[repr(C, packed)]
        struct $name {
            $($field: $ty),*
        }

        impl Sample for $name {
            fn sample(at: usize) -> Self {
                let at = at as u64 + 1;
                $name { $($field: $value(at) as $ty),* }
            }
        }
    )*};
}

fn one(at: u64) -> u64 {
    at
}

fn mixed(at: u64) -> u64 {
    at.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

packed! {
    Two { value: u16 = one }
    Four { value: u32 = mixed }
    Five { tag: u8 = one, value: u32 = mixed }
    Eight { value: u64 = mixed }
    Eleven { id: u16 = one, tag: u8 = one, value: u64 = mixed }
    Sixteen { value: u64 = mixed, id: u64 = one }
    Thirteen { value: u64 = mixed, tag: u8 = one, id: u32 = mixed }
}

gather_core::kernels! {
    /// Kernels for packed types, some of sizes that no built-in type has.
    static PACKED;
    elements: [Two as x16, Four as x32, Five, Eight as x64, Eleven, Sixteen as x128, Thirteen];
    indices: [u8, i32, i64];
    ranks: 1..=2, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

/// Every place, next to the guard and a few bytes away from it.
fn places() -> Vec<Place> {
    [0, 1, 3].into_iter().flat_map(|shift| PLACES.map(|place| Place { shift, ..place })).collect()
}

/// Compares a packed type with the oracle through the typed doors. Only data and output can lie at odd addresses there.
fn typed<T: Sample>() {
    let (mut pages, places) = (Pages::new(), places());
    let (table, list) = (samples::<T>(&[3, 7]), samples::<T>(&[9]));
    for (number, count) in lengths().enumerate() {
        let (picks, tuples) = (Picks::<i32>::new(&[count], 9, number), Picks::<i64>::new(&[count, 2], 3, number + 1));
        let along = Picks::<u8>::new(&[2, count.min(7)], 3, number + 2);
        let gathered = oracle::gather(&list, &picks.exact, 0, 0, picks.rules, &T::ZERO).unwrap();
        let found = oracle::gather_nd(&table, &tuples.exact, 0, tuples.rules, &T::ZERO).unwrap();
        let elements = oracle::gather_elements(&table, &along.exact, 0, along.rules, &T::ZERO).unwrap();
        for level in levels() {
            pages.index(&places, &Gather::new(0).tuned(&picks, level), (&list, &picks, &gathered));
            pages.index(&places, &GatherNd::new().tuned(&tuples, level), (&table, &tuples, &found));
            pages.index(&places, &GatherElements::new(0).tuned(&along, level), (&table, &along, &elements));
        }
    }
    for block in [1, 2, 3, 4] {
        let data = samples::<T>(&[block, 2, 33]);
        let expected = oracle::batch_to_space(&data, &[1, 1, block], &[0, 0, 1], &[0; 3]);
        for level in levels() {
            let op = BatchToSpace::new(&[1, 1, block as i64], &[0, 0, 1], &[0; 3]).level(level);
            pages.copy(&places, &op, (&data, &expected));
        }
    }
}

#[test]
fn packed_types_at_odd_addresses() {
    typed::<Two>();
    typed::<Four>();
    typed::<Five>();
    typed::<Eight>();
    typed::<Eleven>();
    typed::<Sixteen>();
    typed::<Thirteen>();
}

static BUILTIN: Registry = Registry::builtin();
static WITH_PACKED: Registry = Registry::builtin().with(&PACKED);

/// Guarded memory for data and indices, and where they lie in it.
struct Erased {
    data: Guarded,
    indices: Guarded,
    registry: &'static Registry,
}

impl Erased {
    fn new(registry: &'static Registry) -> Self {
        Erased { data: Guarded::new(1), indices: Guarded::new(1), registry }
    }

    /// Checks Gather through the type-erased door, with indices at odd addresses and data where `place` puts it.
    fn hold<T: Sample, I: Index + TryFrom<i128>>(
        &mut self,
        place: impl for<'a> Fn(&'a mut Guarded, Side, usize, &Dense<T>) -> DynView<'a>,
    ) {
        let data = samples::<T>(&[9]);
        for (number, count) in lengths().enumerate() {
            let picks = Picks::<I>::new(&[count], 9, number);
            let expected = oracle::gather(&data, &picks.exact, 0, 0, picks.rules, &T::ZERO).unwrap();
            for (side, shift) in Side::ALL.into_iter().flat_map(|side| [0, 1, 3].map(|shift| (side, shift))) {
                let view = place(&mut self.data, side, shift, &data);
                let list = bytes(&picks.narrow.values);
                let list = self.indices.place(side, shift, list.len(), |at| list[at]);
                let indices = DynView::from_bytes(I::TYPE.dtype(), list, &[count]).unwrap();
                for level in levels() {
                    let op = Gather::new(0).tuned(&picks, level);
                    let got = op.registry(self.registry).run(&view, &indices).unwrap().downcast::<T>().unwrap();
                    let what = format!("{op:?} {} x {count} {}, {side:?} {shift}", T::DTYPE, I::TYPE);
                    assert_eq!(bytes(got.as_slice()), bytes(&expected.values), "{what}");
                }
            }
        }
    }

    /// With data at any alignment, given as bytes.
    fn bytes<T: Sample, I: Index + TryFrom<i128>>(&mut self) {
        self.hold::<T, I>(|memory, side, shift, data| {
            let from = bytes(&data.values);
            let from = memory.place(side, shift, from.len(), |at| from[at]);
            DynView::from_bytes(T::DTYPE, from, &data.shape).unwrap()
        });
    }

    /// With data of a type without alignment.
    fn packed<T: Sample, I: Index + TryFrom<i128>>(&mut self) {
        self.hold::<T, I>(|memory, side, shift, data| {
            let from = memory.place(side, shift, data.values.len(), |at| data.values[at]);
            DynView::from(&View::new(from, &data.shape).unwrap())
        });
    }
}

#[test]
fn bytes_at_odd_addresses() {
    let mut erased = Erased::new(&BUILTIN);
    erased.bytes::<f32, i16>();
    erased.bytes::<f32, i64>();
    erased.bytes::<u64, i32>();
    erased.bytes::<u64, u64>();
}

#[test]
fn kernels_of_ones_own() {
    let mut erased = Erased::new(&WITH_PACKED);
    erased.packed::<Two, i32>();
    erased.packed::<Four, i64>();
    erased.packed::<Five, u8>();
    erased.packed::<Eight, i32>();
    erased.packed::<Eleven, i64>();
    erased.packed::<Sixteen, u8>();
    erased.packed::<Thirteen, i32>();
}
