//! `Reduction::None`: rows are stored in order, so the last one wins.

#![forbid(unsafe_code)]

use crate::kernels::by_level::by_level;
use crate::kernels::level_fn::{self, LevelFn, Token};
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::reduce::scatter::by_index::{Elements, FusedScatterFns, TakeFew};
use crate::kernels::reduce::scatter::read::Exact;
use crate::kernels::reduce::scatter::rows::{ReduceJob, TakeRow};
use crate::kernels::reduce::scatter::values::RowPair;
use crate::kernels::reduce::scatter::{RowFns, ScatterFns};

pub(in crate::kernels::reduce) static STORE: ScatterFns = ScatterFns {
    rows: Some(RowFns { resolved: by_level!(fn StoreRows), by_index: choose }),
    replaces: true,
    ..ScatterFns::NONE
};

/// The functions that store rows of a few sizes by indices of 4 or 8 bytes.
fn choose(row: Elements, index: usize) -> Option<&'static FusedScatterFns> {
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match (row.n * row.size, index) {
                $(($bytes, 4) => Some(const { &FusedScatterFns::hot::<StoredElement<$bytes>, Exact<4>, false>(level_fn::scalar::<StoreRows>) }),
                ($bytes, 8) => Some(const { &FusedScatterFns::hot::<StoredElement<$bytes>, Exact<8>, false>(level_fn::scalar::<StoreRows>) }),)*
                _ => None,
            }
        };
    }
    fixed!(1 2 4 8 12 16 24 32)
}

type StoredElement<const BYTES: usize> = StoredAs<Exactly<BYTES>>;

impl<const BYTES: usize> TakeFew for StoredElement<BYTES> {
    const BYTES: usize = BYTES;

    #[inline(always)]
    fn of(_: usize) -> Self {
        StoredAs(Exactly)
    }
}

/// Stores rows in order.
enum StoreRows {}

impl LevelFn for StoreRows {
    type Args<'a> = &'a ReduceJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, &job: &ReduceJob<'_>) {
        let row = job.row();
        macro_rules! fixed {
            ($($bytes:literal)*) => {
                match row.bytes {
                    $($bytes => job.each(&StoredAs(Exactly::<$bytes>)),)*
                    _ => by_size!(RowSize::of(row.bytes), |Strategy| job.each(&StoredAs(Strategy::of(row.bytes)))),
                }
            };
        }
        fixed!(1 2 4 8 16 32 64);
    }
}

struct StoredAs<C>(C);

impl<C: CopyRow> TakeRow for StoredAs<C> {
    #[inline(always)]
    fn take(&self, row: RowPair) {
        row.copy(self.0);
    }
}
