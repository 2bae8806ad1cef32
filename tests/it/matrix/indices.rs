//! Indices of the matrix: their values, and how they lie in memory.

use gather_core::{DynView, Index, IndexType, View};
use gather_tests::oracle::{self, Dense};

/// An index type whose values can be laid out as bytes.
pub(super) trait Bytes: Index + TryFrom<i128> {
    const LEAST: i128;
    const MOST: i128;
    fn push(self, bytes: &mut Vec<u8>);
}

macro_rules! bytes {
    ($($ty:ty)*) => {$(
        impl Bytes for $ty {
            const LEAST: i128 = <$ty>::MIN as i128;
            const MOST: i128 = <$ty>::MAX as i128;

            fn push(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}
bytes! { i8 i16 i32 i64 u8 u16 u32 u64 }

/// How indices lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum IndexLayout {
    /// In row-major order: the components of a tuple are contiguous.
    SideBySide,
    /// Column by column: the first components of all tuples, then the second.
    Columns,
    /// From the last to the first.
    Reversed,
    /// With a gap after every index.
    Gaps,
    /// One tuple for all: stride 0 along the first dimension.
    Broadcast,
    /// One index for all components: stride 0 along the last dimension.
    OneIndex,
    /// In row-major order from an odd address on.
    Unaligned,
    /// Column by column from an odd address on.
    UnalignedColumns,
}

impl IndexLayout {
    pub(super) const ALL: [IndexLayout; 8] = [
        IndexLayout::SideBySide,
        IndexLayout::Columns,
        IndexLayout::Reversed,
        IndexLayout::Gaps,
        IndexLayout::Broadcast,
        IndexLayout::OneIndex,
        IndexLayout::Unaligned,
        IndexLayout::UnalignedColumns,
    ];

    /// Whether only the type-erased door takes such indices.
    pub(super) fn is_unaligned(self) -> bool {
        matches!(self, IndexLayout::Unaligned | IndexLayout::UnalignedColumns)
    }

    /// Lays indices out. Where a stride is 0 the values along it must be equal.
    pub(super) fn lay<I: Bytes>(self, dense: &Dense<i128>) -> Laid<I> {
        let shape = &dense.shape;
        let rank = shape.len();
        let mut strides = vec![0isize; rank];
        let columns = matches!(self, IndexLayout::Columns | IndexLayout::UnalignedColumns);
        let mut step = if self == IndexLayout::Gaps { 2 } else { 1isize };
        for at in 0..rank {
            let d = if columns { at } else { rank - 1 - at };
            let still = match self {
                IndexLayout::Broadcast => d == 0,
                IndexLayout::OneIndex => d == rank - 1,
                _ => false,
            };
            if !still {
                strides[d] = step;
                step = step * shape[d].max(1) as isize + isize::from(self == IndexLayout::Gaps);
            }
        }
        let mut memory = vec![None; step as usize];
        let mut offset = 0;
        if self == IndexLayout::Reversed {
            strides.iter_mut().for_each(|stride| *stride = -*stride);
            offset = memory.len() - 1;
        }
        for (place, &value) in oracle::strided(shape, &strides, offset).into_iter().zip(&dense.values) {
            let place = &mut memory[place];
            assert!(place.is_none_or(|before| before == value), "indices that share memory must be equal");
            *place = Some(value);
        }
        // Gaps hold indices that are out of range wherever the type allows: none may be read.
        let typed = |value: Option<i128>| I::try_from(value.unwrap_or(I::MOST)).ok().expect("a value of the type");
        let memory: Vec<I> = memory.into_iter().map(typed).collect();
        let mut bytes = Vec::new();
        let mut begin = 0;
        if self.is_unaligned() {
            bytes.reserve_exact(1 + memory.len() * size_of::<I>());
            begin = usize::from((bytes.as_ptr() as usize).is_multiple_of(2));
            bytes.resize(begin, 0);
            memory.iter().for_each(|&value| value.push(&mut bytes));
            assert_eq!(bytes[begin..].as_ptr() as usize % 2, 1, "indices begin at an odd address");
        }
        Laid { layout: self, memory, shape: shape.clone(), strides, offset, bytes, begin }
    }
}

/// Indices in memory.
pub(super) struct Laid<I> {
    layout: IndexLayout,
    memory: Vec<I>,
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    /// The same indices, from an odd address on.
    bytes: Vec<u8>,
    begin: usize,
}

impl<I: Bytes> Laid<I> {
    pub(super) fn view(&self) -> View<'_, I> {
        View::strided(&self.memory, &self.shape, &self.strides, self.offset).expect("laid out in this memory")
    }

    /// The indices at an odd address.
    pub(super) fn unaligned(&self) -> DynView<'_> {
        let rank = self.shape.len();
        let columns = self.layout == IndexLayout::UnalignedColumns;
        let mut shape = self.shape.clone();
        if columns {
            shape.reverse();
        }
        let len = self.shape.iter().product::<usize>() * size_of::<I>();
        let bytes = &self.bytes[self.begin..self.begin + len];
        let view = DynView::from_bytes(I::DTYPE, bytes, &shape).expect("as many bytes as the shape says");
        let axes: Vec<usize> = if columns { (0..rank).rev().collect() } else { (0..rank).collect() };
        view.permuted(&axes).expect("an order of the dimensions")
    }
}

/// Which indices are out of range.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values {
    /// None.
    InRange,
    /// One, in this component.
    OneBad(usize),
    /// Every fifth tuple has one, each time in the next component.
    SomeBad,
}

impl Values {
    /// Indices of a shape for axes of the sizes `dims`; `None` where the type has no value that is out of range. For
    /// operators with an axis every index has one component.
    pub(super) fn make<I: Bytes>(
        self,
        layout: IndexLayout,
        shape: &[usize],
        dims: &[usize],
        from_end: bool,
        seed: usize,
    ) -> Option<Dense<i128>> {
        let components = dims.len().max(1);
        let tuples = shape.iter().product::<usize>() / components;
        // One index for all components must be in range for each.
        let one = layout == IndexLayout::OneIndex;
        let least = dims.iter().copied().min().unwrap_or(1);
        // Where a dimension has stride 0, what differs lies along the others.
        let period = match layout {
            IndexLayout::Broadcast => tuples / shape[0].max(1),
            _ => tuples,
        };
        let along = |at: usize| match layout {
            IndexLayout::OneIndex => at / shape.last().copied().unwrap_or(1).max(1),
            IndexLayout::Broadcast => at / components % period.max(1),
            _ => at / components,
        };
        let distinct = match layout {
            IndexLayout::OneIndex => (tuples * components / shape.last().copied().unwrap_or(1).max(1)).max(1),
            _ => period.max(1),
        };
        let bad_at = [0, distinct / 2, distinct - 1][seed % 3];
        let is_bad = |tuple: usize, component: usize| match self {
            Values::InRange => false,
            Values::OneBad(bad) => tuple == bad_at && (one || component == bad),
            Values::SomeBad => tuple % 5 == seed % 5 && (one || component == tuple / 5 % components),
        };
        let mut possible = true;
        let dense = Dense::from_fn(shape, |at| {
            let (tuple, component) = (along(at), if one { 0 } else { at % components });
            let dim = if one { least } else { dims.get(component).copied().unwrap_or(1) } as i128;
            if is_bad(tuple, component) {
                let widest = if one { dims.iter().copied().max().unwrap_or(1) as i128 } else { dim };
                if let Some(bad) = out_of_range::<I>(widest, from_end, tuple + seed) {
                    return bad;
                }
                possible = false;
            }
            in_range::<I>(dim, from_end, tuple * 7 + component * 3 + seed)
        });
        let wanted = matches!(self, Values::OneBad(_));
        (possible || !wanted).then_some(dense)
    }
}

/// A value that names one of `dim` elements, from the end at times.
fn in_range<I: Bytes>(dim: i128, from_end: bool, at: usize) -> i128 {
    let most = I::MOST.min(dim - 1);
    let value = (at as i128 * 7919) % (most + 1);
    let negative = value - dim;
    if from_end && at % 3 == 1 && I::try_from(negative).is_ok() { negative } else { value }
}

/// A value of the type that names none of `dim` elements; `None` where it has none.
fn out_of_range<I: Bytes>(dim: i128, from_end: bool, at: usize) -> Option<i128> {
    let below = if from_end { -dim - 1 } else { -1 };
    let wraps = [1 << 8, 1 << 16, 1 << 32].map(|step: i128| step + at as i128 % dim);
    let known = [dim, below, I::MOST, I::LEAST, dim + 3, wraps[0], wraps[1], wraps[2]];
    let is_bad = |value: i128| value >= dim || value <= below;
    let known = known.into_iter().filter(|&value| is_bad(value) && I::try_from(value).is_ok()).collect::<Vec<_>>();
    (!known.is_empty()).then(|| known[at % known.len()])
}

/// The index types of the matrix.
pub(super) const TYPES: [IndexType; 8] = [
    IndexType::I8,
    IndexType::I16,
    IndexType::I32,
    IndexType::I64,
    IndexType::U8,
    IndexType::U16,
    IndexType::U32,
    IndexType::U64,
];
