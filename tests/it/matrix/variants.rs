//! The operators of the matrix with the shapes that they run on.

use gather_core::Op;
use gather_tests::oracle::{self, BadIndex, Dense, Rules};

/// Numbers of lanes: below, at and above a vector, the 64 from which on tables pay, and a block.
pub(super) const COUNTS: [usize; 7] = [1, 7, 63, 64, 65, 200, 600];

/// What stands for an element of the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An element of as many bytes.
    Elements,
    /// A row of as many elements of one byte, in a last dimension that the oracle does not see.
    Rows,
}

/// An operator with its axis or batch dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operator {
    Gather { axis: usize, batch: usize },
    Elements { axis: usize },
    Nd { batch: usize },
}

/// Shapes of data and of indices for the sizes of a table and a number of lanes.
type Shapes = fn(&[usize], usize) -> (Vec<usize>, Vec<usize>);

/// An operator and the shapes that it runs on.
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) operator: Operator,
    pub(super) form: Form,
    /// Components of an index tuple; 1 for the operators with an axis.
    pub(super) components: usize,
    /// The sizes that a tuple indexes.
    pub(super) tables: &'static [&'static [usize]],
    /// Whether data lies in memory with its dimensions in the reverse order.
    pub(super) transposed: bool,
    shapes: Shapes,
}

/// Sizes below, at and above what registers hold: 8, 16, 64, 128 and 256 entries.
const TABLES: [&[usize]; 9] = [&[8], &[12], &[16], &[64], &[70], &[128], &[140], &[256], &[300]];
const PAIRS: [&[usize]; 9] = [&[3, 2], &[6, 2], &[4, 4], &[8, 8], &[13, 5], &[16, 8], &[5, 26], &[16, 16], &[20, 15]];
const TRIPLES: [&[usize]; 9] =
    [&[2, 2, 2], &[2, 3, 2], &[4, 2, 2], &[4, 4, 4], &[5, 2, 7], &[8, 4, 4], &[3, 9, 5], &[4, 8, 8], &[6, 7, 7]];
const QUADS: [&[usize]; 9] = [
    &[2, 1, 2, 2],
    &[2, 3, 1, 2],
    &[2, 2, 2, 2],
    &[4, 2, 4, 2],
    &[3, 3, 2, 4],
    &[4, 4, 2, 4],
    &[3, 3, 4, 4],
    &[4, 4, 4, 4],
    &[5, 4, 4, 4],
];
/// Without components a tuple takes all of data.
const NONE: [&[usize]; 1] = [&[]];

const fn gather(name: &'static str, axis: usize, batch: usize, form: Form, shapes: Shapes) -> Variant {
    let operator = Operator::Gather { axis, batch };
    Variant { name, operator, form, components: 1, tables: &TABLES, transposed: false, shapes }
}

const fn elements(name: &'static str, axis: usize, shapes: Shapes) -> Variant {
    let operator = Operator::Elements { axis };
    Variant { name, operator, form: Form::Elements, components: 1, tables: &TABLES, transposed: false, shapes }
}

const fn nd(name: &'static str, form: Form, tables: &'static [&'static [usize]], components: usize) -> Variant {
    let shapes: Shapes = |table, n| (table.to_vec(), vec![n, table.len()]);
    Variant { name, operator: Operator::Nd { batch: 0 }, form, components, tables, transposed: false, shapes }
}

const fn nd_batch(name: &'static str, form: Form, tables: &'static [&'static [usize]], components: usize) -> Variant {
    let shapes: Shapes = |table, n| ([&[3], table].concat(), vec![3, n, table.len()]);
    Variant { name, operator: Operator::Nd { batch: 1 }, form, components, tables, transposed: false, shapes }
}

/// Few tuples, each of which takes a column of data whose dimensions lie in the reverse order.
const fn columns(name: &'static str, tables: &'static [&'static [usize]], components: usize) -> Variant {
    let shapes: Shapes = |table, n| ([table, &[n]].concat(), vec![5, table.len()]);
    let (operator, form) = (Operator::Nd { batch: 0 }, Form::Elements);
    Variant { name, operator, form, components, tables, transposed: true, shapes }
}

pub(super) const VARIANTS: [Variant; 33] = [
    gather("gather, axis 0", 0, 0, Form::Elements, |table, n| (table.to_vec(), vec![n])),
    gather("gather, axis 0, two dimensions of indices", 0, 0, Form::Elements, |table, n| (table.to_vec(), vec![n, 2])),
    gather("gather, axis 1 of 3", 1, 0, Form::Elements, |table, n| (vec![2, table[0], 3], vec![n])),
    gather("gather, axis 1 with a batch", 1, 1, Form::Elements, |table, n| (vec![3, table[0]], vec![3, n])),
    Variant {
        transposed: true,
        ..gather("gather, few indices of long columns", 0, 0, Form::Elements, |table, n| (vec![table[0], n], vec![5]))
    },
    gather("gather, axis 0, rows", 0, 0, Form::Rows, |table, n| (table.to_vec(), vec![n])),
    gather("gather, axis 0, rows, two dimensions", 0, 0, Form::Rows, |table, n| (table.to_vec(), vec![n, 2])),
    gather("gather, axis 1 of 3, rows", 1, 0, Form::Rows, |table, n| (vec![2, table[0]], vec![n])),
    gather("gather, axis 1 with a batch, rows", 1, 1, Form::Rows, |table, n| (vec![3, table[0]], vec![3, n])),
    elements("gather_elements, last axis", 1, |table, n| (vec![3, table[0]], vec![3, n])),
    elements("gather_elements, first axis", 0, |table, n| (vec![table[0], n], vec![4, n])),
    elements("gather_elements, axis 1 of 3", 1, |table, n| (vec![2, table[0], n], vec![2, 3, n])),
    elements("gather_elements, one dimension", 0, |table, n| (table.to_vec(), vec![n])),
    elements("gather_elements, indices trimmed", 0, |table, n| (vec![table[0], n + 1], vec![3, n])),
    nd("gather_nd, no component", Form::Elements, &NONE, 0),
    nd("gather_nd, 1 component", Form::Elements, &TABLES, 1),
    nd("gather_nd, 2 components", Form::Elements, &PAIRS, 2),
    nd("gather_nd, 3 components", Form::Elements, &TRIPLES, 3),
    nd("gather_nd, 4 components", Form::Elements, &QUADS, 4),
    columns("gather_nd, few tuples of 1 component of long columns", &TABLES, 1),
    columns("gather_nd, few tuples of 2 components of long columns", &PAIRS, 2),
    Variant {
        shapes: |table, n| ([&[3], table, &[n]].concat(), vec![3, 2, table.len()]),
        operator: Operator::Nd { batch: 1 },
        ..columns("gather_nd, a batch, few tuples of long columns", &TABLES, 1)
    },
    nd_batch("gather_nd, a batch, no component", Form::Elements, &NONE, 0),
    nd_batch("gather_nd, a batch, 1 component", Form::Elements, &TABLES, 1),
    nd_batch("gather_nd, a batch, 2 components", Form::Elements, &PAIRS, 2),
    nd("gather_nd, no component, slices", Form::Rows, &NONE, 0),
    nd("gather_nd, 1 component, slices", Form::Rows, &TABLES, 1),
    nd("gather_nd, 2 components, slices", Form::Rows, &PAIRS, 2),
    nd("gather_nd, 3 components, slices", Form::Rows, &TRIPLES, 3),
    nd("gather_nd, 4 components, slices", Form::Rows, &QUADS, 4),
    nd_batch("gather_nd, a batch, no component, slices", Form::Rows, &NONE, 0),
    nd_batch("gather_nd, a batch, 1 component, slices", Form::Rows, &TABLES, 1),
    nd_batch("gather_nd, a batch, 2 components, slices", Form::Rows, &PAIRS, 2),
];

impl Variant {
    pub(super) const fn op(&self) -> Op {
        match self.operator {
            Operator::Gather { .. } => Op::Gather,
            Operator::Elements { .. } => Op::GatherElements,
            Operator::Nd { .. } => Op::GatherNd,
        }
    }

    /// Shapes of data, without the dimension of rows, and of indices.
    pub(super) fn shapes(&self, table: usize, lanes: usize) -> (Vec<usize>, Vec<usize>) {
        (self.shapes)(self.tables[table], lanes)
    }

    /// The sizes of data that the components of an index name.
    pub(super) fn dims(&self, data: &[usize]) -> Vec<usize> {
        match self.operator {
            Operator::Gather { axis, .. } | Operator::Elements { axis } => vec![data[axis]],
            Operator::Nd { batch } => data[batch..batch + self.components].to_vec(),
        }
    }

    /// What the oracle has; 0 where an index is out of range.
    pub(super) fn expected(
        &self,
        data: &Dense<u32>,
        indices: &Dense<i128>,
        rules: Rules,
    ) -> Result<Dense<u32>, BadIndex> {
        match self.operator {
            Operator::Gather { axis, batch } => oracle::gather(data, indices, axis, batch, rules, &0),
            Operator::Elements { axis } => oracle::gather_elements(data, indices, axis, rules, &0),
            Operator::Nd { batch } => oracle::gather_nd(data, indices, batch, rules, &0),
        }
    }
}
