//! Which short calls are timed, and how long they may take beside the loop.

use std::cell::OnceCell;

use super::bags::{Codes, Sum};
use super::indexed::Indexed;
use super::scattered::Added;
use super::space::Space;
use super::{Call, Way};
use crate::buffer::Buffer;

/// Bytes of a row.
const ROW_BYTES: [usize; 10] = [4, 8, 12, 16, 32, 64, 256, 768, 1024, 3072];
/// Rows of a call.
const COUNTS: [usize; 4] = [1, 8, 64, 512];
/// Rows of the table of calls by every type of ids, their bytes, and rows of a call.
const IDS_ROWS: usize = 200;
const IDS_BYTES: [usize; 2] = [4, 64];
const IDS_COUNTS: [usize; 2] = [8, 512];
/// The shape of data and indices of GatherElements.
const ELEMENTS: [usize; 2] = [8, 8];

/// A table of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    /// It stays in the caches.
    Small,
    /// It does not.
    Large,
}

impl Table {
    fn bytes(self) -> usize {
        match self {
            Table::Small => 1_500_000,
            Table::Large => 150_000_000,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Table::Small => "1.5MB",
            Table::Large => "150MB",
        }
    }
}

/// A type of ids. All other calls have `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    U8,
    U16,
    U32,
    U64,
    I64,
}

/// The memory of the tables, made when it is needed.
#[derive(Default)]
pub struct Tables {
    small: OnceCell<Buffer<f32>>,
    large: OnceCell<Buffer<f32>>,
}

impl Tables {
    fn get(&self, table: Table) -> &[f32] {
        let memory = match table {
            Table::Small => &self.small,
            Table::Large => &self.large,
        };
        let make = || {
            let mut buffer = Buffer::zeroed(&[table.bytes() / size_of::<f32>()]);
            buffer.as_mut_slice().iter_mut().enumerate().for_each(|(at, value)| *value = at as f32);
            buffer
        };
        memory.get_or_init(make).as_slice()
    }
}

/// How long a way may take, in times of the loop, where it is limited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// With a plan.
    pub planned: Option<f64>,
    /// Without one.
    pub unplanned: Option<f64>,
}

impl Limits {
    /// The limit of a way.
    #[must_use]
    pub fn of(&self, way: Way) -> Option<f64> {
        match way {
            Way::Loop | Way::Dyn | Way::DynUnplanned => None,
            Way::Slices | Way::Planned | Way::AnyCount => self.planned,
            Way::Unplanned => self.unplanned,
        }
    }
}

/// A short call, without its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rows { table: Table, bytes: usize, count: usize },
    Ids { ids: Ids, bytes: usize, count: usize },
    Elements,
    Space,
    Scatter { count: usize },
    Bag { count: usize },
    Codes { count: usize },
}

/// All of them.
#[must_use]
pub fn grid() -> Vec<Short> {
    let tables = [Table::Small, Table::Large].into_iter();
    let rows = tables.flat_map(|table| {
        let of = move |bytes| COUNTS.map(|count| Short(Kind::Rows { table, bytes, count }));
        ROW_BYTES.into_iter().flat_map(of)
    });
    let others = [1, 8, 64]
        .into_iter()
        .flat_map(|count| [Kind::Scatter { count }, Kind::Bag { count }, Kind::Codes { count }].map(Short));
    let ids = [Ids::U8, Ids::U16, Ids::U32, Ids::U64, Ids::I64].into_iter();
    let ids = ids.flat_map(|ids| IDS_BYTES.into_iter().map(move |bytes| (ids, bytes)));
    let ids = ids.flat_map(|(ids, bytes)| IDS_COUNTS.map(|count| Short(Kind::Ids { ids, bytes, count })));
    rows.chain(ids).chain([Short(Kind::Elements), Short(Kind::Space)]).chain(others).collect()
}

impl Short {
    /// `gather/TABLE/BYTES/COUNT`, or the operator and its elements.
    #[must_use]
    pub fn name(&self) -> String {
        match self.0 {
            Kind::Rows { table, bytes, count } => format!("gather/{}/{bytes}B/{count}", table.name()),
            Kind::Ids { ids, bytes, count } => format!("gather/{ids:?}/{bytes}B/{count}").to_lowercase(),
            Kind::Elements => "gather_elements/64".into(),
            Kind::Space => "batch_to_space/256".into(),
            Kind::Scatter { count } => format!("scatter_nd/add/64B/{count}"),
            Kind::Bag { count } => format!("bag/sum/256B/{count}"),
            Kind::Codes { count } => format!("bag/codes/64B/{count}"),
        }
    }

    /// The call with its inputs.
    #[must_use]
    pub fn prepare<'a>(&self, tables: &'a Tables) -> Box<dyn Call + 'a> {
        match self.0 {
            Kind::Rows { table, bytes, count } => {
                let dim = bytes / size_of::<f32>();
                let rows = table.bytes() / bytes;
                Box::new(Indexed::<u32>::rows(&tables.get(table)[..rows * dim], [rows, dim], count))
            }
            Kind::Ids { ids, bytes, count } => {
                let shape = [IDS_ROWS, bytes / size_of::<f32>()];
                let table = &tables.get(Table::Small)[..shape.iter().product()];
                match ids {
                    Ids::U8 => Box::new(Indexed::<u8>::rows(table, shape, count)),
                    Ids::U16 => Box::new(Indexed::<u16>::rows(table, shape, count)),
                    Ids::U32 => Box::new(Indexed::<u32>::rows(table, shape, count)),
                    Ids::U64 => Box::new(Indexed::<u64>::rows(table, shape, count)),
                    Ids::I64 => Box::new(Indexed::<i64>::rows(table, shape, count)),
                }
            }
            Kind::Elements => {
                let len = ELEMENTS.iter().product();
                Box::new(Indexed::<u32>::elements(&tables.get(Table::Small)[..len], ELEMENTS))
            }
            Kind::Space => Box::new(Space::new()),
            Kind::Scatter { count } => Box::new(Added::new(count)),
            Kind::Bag { count } => Box::new(Sum::new(tables.get(Table::Small), count)),
            Kind::Codes { count } => Box::new(Codes::new(count)),
        }
    }

    /// What a call may take. One row is a call through a plan, which costs more than a loop of one turn. From eight
    /// rows on nobody should have to write the loop. Without a plan the shapes are checked too, which eight rows do
    /// not pay for.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let limits = |planned, unplanned| Limits { planned, unplanned };
        match self.0 {
            Kind::Rows { count: 1, .. } => limits(Some(2.5), None),
            Kind::Rows { count: 8, bytes: ..=1024, .. } => limits(Some(1.0), Some(3.0)),
            // Memory alone limits the longest rows, and noise decides which is quicker.
            Kind::Rows { count: 8, .. } => limits(None, Some(3.0)),
            Kind::Rows { .. } | Kind::Ids { .. } | Kind::Elements | Kind::Space => limits(Some(1.0), None),
            Kind::Bag { count: 8 } => limits(Some(1.6), None),
            Kind::Codes { count: 8 } => limits(Some(2.0), None),
            Kind::Scatter { .. } | Kind::Bag { .. } | Kind::Codes { .. } => limits(None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_limits_follow_the_count() {
        let mut names: Vec<_> = grid().iter().map(Short::name).collect();
        assert_eq!(names.len(), 2 * 10 * 4 + 5 * 2 * 2 + 2 + 9);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 111);
        let limits = |name: &str| grid().into_iter().find(|short| short.name() == name).map(|short| short.limits());
        assert_eq!(limits("gather/1.5MB/4B/1"), Some(Limits { planned: Some(2.5), unplanned: None }));
        assert_eq!(limits("gather/150MB/64B/8"), Some(Limits { planned: Some(1.0), unplanned: Some(3.0) }));
        assert_eq!(limits("gather/150MB/3072B/512"), Some(Limits { planned: Some(1.0), unplanned: None }));
        assert_eq!(limits("batch_to_space/256"), Some(Limits { planned: Some(1.0), unplanned: None }));
    }
}
