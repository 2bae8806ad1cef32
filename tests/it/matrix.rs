//! Every choice against every other: method x operator and number of components x layout of the indices x index type x
//! policy x width of an element x level, in full. Numbers of lanes and sizes of tables take turns, so that every method
//! meets all of them. What is expected comes from the oracle.
//!
//! A forced method either gives the oracle's answer or says that it is not available. Each method must run at least
//! once for each operator that it is meant for, so that the matrix cannot become empty.

mod call;
mod coverage;
mod indices;
mod regressions;
mod variants;

use std::collections::BTreeSet;

use gather_core::{Error, Level, Method, Op};
use gather_tests::oracle::{BadIndex, Dense, Rule, numbered};
use gather_tests::support::{METHODS, available_levels, same_bits};

use self::call::Call;
use self::coverage::Coverage;
use self::indices::{Bytes, IndexLayout, Values};
use self::variants::{COUNTS, Form, VARIANTS, Variant};
use crate::support::RULES;

/// Bytes of an element, or of a row of bytes.
const WIDTHS: [usize; 10] = [1, 2, 3, 4, 8, 12, 16, 24, 64, 100];
/// Those for which an element of the library's own has as many bytes: the type-erased door takes no arrays.
const DYN_WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];
/// Data of a wide element and many lanes would take long to make and show no more.
const MOST_DATA: usize = 256 << 10;

/// A table and a number of lanes, by their places in the lists.
struct Turn {
    table: usize,
    lanes: usize,
}

/// Turns that each combination of a layout, an index type and a policy has.
const TURNS: usize = 2;

impl Turn {
    /// The index types of one layout and policy meet every table and every number of lanes. So do the policies of one
    /// layout and index type.
    fn of(variant: &Variant, layout: usize, ty: usize, case: usize, turn: usize) -> Self {
        Turn {
            table: (ty + case + layout + 5 * turn) % variant.tables.len(),
            lanes: (ty + 2 * case + 3 * layout + 2 * turn) % COUNTS.len(),
        }
    }
}

/// Bytes of the elements that a variant is run with.
fn widths(variant: &Variant, layout: IndexLayout) -> &'static [usize] {
    if layout.is_unaligned() && variant.form == Form::Elements { &DYN_WIDTHS } else { &WIDTHS }
}

/// A policy, and where the indices that it does not take lie.
fn cases(components: usize) -> Vec<(usize, Values)> {
    let mut cases = Vec::new();
    for (at, (_, _, rules)) in RULES.iter().enumerate() {
        if rules.out_of_range == Rule::Error {
            cases.push((at, Values::InRange));
            cases.extend((0..components).map(|component| (at, Values::OneBad(component))));
        } else {
            cases.push((at, Values::SomeBad));
        }
    }
    cases
}

/// What one index tensor is made of.
struct Cell<'a> {
    variant: &'a Variant,
    layout: IndexLayout,
    values: &'a Dense<i128>,
    /// Which of [`RULES`].
    rule: usize,
    turn: &'a Turn,
    data_shape: &'a [usize],
}

/// Runs every method, level and width on the same indices.
fn run_cell<I: Bytes>(cell: &Cell<'_>, levels: &[Level], coverage: &mut Coverage) {
    let &Cell { variant, layout, values, rule, data_shape, .. } = cell;
    let (negative, out_of_bounds, rules) = RULES[rule];
    let positions = Dense::from_fn(data_shape, |at| at as u32 + 1);
    let expected: Result<Dense<u32>, BadIndex> = variant.expected(&positions, values, rules);
    let laid = layout.lay::<I>(values);
    let data_len = positions.values.len();
    let in_memory = numbered::numbers(data_shape, variant.transposed);
    for &width in widths(variant, layout).iter().filter(|&&width| width == 1 || width * data_len <= MOST_DATA) {
        let data = numbered::elements(&in_memory, width);
        let bytes = expected.as_ref().map(|found| numbered::elements(&found.values, width)).map_err(|bad| *bad);
        for &level in levels {
            for method in std::iter::once(None).chain(METHODS.iter().copied().map(Some)) {
                let call = Call { variant, data: &data, data_shape, width, negative, out_of_bounds, level, method };
                let got = if layout.is_unaligned() { call.run_dyn(&laid) } else { call.run(&laid) };
                let what = || {
                    let name = method.map_or("the plan's choice", Method::name);
                    format!(
                        "{} by {name} at {level}: data {data_shape:?} of {width} bytes, {} indices {:?} {layout:?}, \
                         {negative:?}, {out_of_bounds:?}",
                        variant.name,
                        I::TYPE,
                        values.shape
                    )
                };
                let refused = same(variant.op(), method, &bytes, got, what);
                coverage.note(cell, method, refused, width, level, I::TYPE);
            }
        }
    }
}

/// Compares what came out; whether the method was refused.
fn same(
    op: Op,
    forced: Option<Method>,
    expected: &Result<Vec<u8>, BadIndex>,
    got: Result<Vec<u8>, Error>,
    what: impl Fn() -> String,
) -> bool {
    if let Err(Error::MethodUnavailable { op: by, method }) = got {
        assert_eq!((by, Some(method)), (op, forced), "{}", what());
        return true;
    }
    same_bits(expected.as_deref(), got.as_deref(), what);
    false
}

fn run_type<I: Bytes>(variant: &Variant, ty: usize, levels: &[Level], coverage: &mut Coverage) {
    let turns = (0..IndexLayout::ALL.len()).flat_map(|layout| (0..TURNS).map(move |turn| (layout, turn)));
    for (at, (rule, values)) in cases(variant.components).into_iter().enumerate() {
        for (layout_at, turn) in turns.clone() {
            let layout = IndexLayout::ALL[layout_at];
            let turn = Turn::of(variant, layout_at, ty, at, turn);
            let (data_shape, index_shape) = variant.shapes(turn.table, COUNTS[turn.lanes]);
            let dims = variant.dims(&data_shape);
            let from_end = RULES[rule].2.from_end;
            let Some(made) = values.make::<I>(layout, &index_shape, &dims, from_end, at + ty) else {
                coverage.note_impossible(I::TYPE);
                continue;
            };
            let (values, turn, data_shape) = (&made, &turn, &data_shape);
            run_cell::<I>(&Cell { variant, layout, values, rule, turn, data_shape }, levels, coverage);
        }
    }
}

/// Runs the variants of an operator and a form.
fn run(op: Op, form: Form) {
    let levels = available_levels();
    let mut coverage = Coverage::default();
    for variant in VARIANTS.iter().filter(|variant| variant.op() == op && variant.form == form) {
        run_type::<i8>(variant, 0, &levels, &mut coverage);
        run_type::<i16>(variant, 1, &levels, &mut coverage);
        run_type::<i32>(variant, 2, &levels, &mut coverage);
        run_type::<i64>(variant, 3, &levels, &mut coverage);
        run_type::<u8>(variant, 4, &levels, &mut coverage);
        run_type::<u16>(variant, 5, &levels, &mut coverage);
        run_type::<u32>(variant, 6, &levels, &mut coverage);
        run_type::<u64>(variant, 7, &levels, &mut coverage);
    }
    coverage.check(op, &levels);
}

#[test]
fn gather_of_elements() {
    run(Op::Gather, Form::Elements);
}

#[test]
fn gather_of_rows() {
    run(Op::Gather, Form::Rows);
}

#[test]
fn gather_elements() {
    run(Op::GatherElements, Form::Elements);
}

#[test]
fn gather_nd_of_elements() {
    run(Op::GatherNd, Form::Elements);
}

#[test]
fn gather_nd_of_rows() {
    run(Op::GatherNd, Form::Rows);
}

/// Tables and lanes are met in full by what the turns say, whatever the library takes.
#[test]
fn turns_meet_everything() {
    for variant in &VARIANTS {
        let cases = cases(variant.components).len();
        for layout in 0..IndexLayout::ALL.len() {
            let (mut tables, mut lanes) = (BTreeSet::new(), BTreeSet::new());
            for (ty, case) in (0..8).flat_map(|ty| (0..cases).map(move |case| (ty, case))) {
                let turn = Turn::of(variant, layout, ty, case, 0);
                tables.insert(turn.table);
                lanes.insert(turn.lanes);
            }
            let met = (tables.len(), lanes.len());
            assert_eq!(met, (variant.tables.len(), COUNTS.len()), "{} {layout}", variant.name);
        }
    }
}
