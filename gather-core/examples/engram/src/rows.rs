//! The table as the library reads it: `chunks` of blocks or maps, one a shard.

use std::error::Error;
use std::marker::PhantomData;

use gather_core::{
    AdviceStats, Element, Gather, Given, Par, Plan, Residency, Spec, TableOf, View, ViewMut, chunks, maps,
};

use crate::format::{Codes, Scales};
use crate::shards::Shards;

gather_core::map_kernels! {
    /// A code whose row has a power of two as its scale.
    static BY_ROW = |code: u8, scale: u8| -> f32 { maps::e4m3_to_f32(code) * maps::e8m0_to_f32(scale) };
    /// 128 codes that share a power of two.
    static BY_128 = |codes: [u8; 128], scale: u8| -> [f32; 128] {
        let scale = maps::e8m0_to_f32(scale);
        let mut out = [0.0; 128];
        for (out, code) in out.iter_mut().zip(codes) {
            *out = maps::e4m3_to_f32(code) * scale;
        }
        out
    };
}

/// A planned table.
pub(crate) trait Rows {
    /// Requests the pages of rows that are not known to be in memory.
    fn will_need(&self, ids: &[u64], pages: &mut Residency<'_>) -> AdviceStats;

    /// Reads rows.
    fn read(&self, ids: &[u64], out: &mut [f32]) -> Result<(), gather_core::Error>;
}

/// Elements of a result: one or several numbers.
trait Numbers: Element {
    fn of(numbers: &mut [f32]) -> &mut [Self];
}

impl Numbers for f32 {
    fn of(numbers: &mut [f32]) -> &mut [Self] {
        numbers
    }
}

impl<const N: usize> Numbers for [f32; N] {
    fn of(numbers: &mut [f32]) -> &mut [Self] {
        numbers.as_chunks_mut().0
    }
}

struct Planned<S: TableOf<Gather, U>, U> {
    table: S,
    plan: Plan<S::Kind, u64>,
    /// Elements of a row.
    columns: usize,
    of: PhantomData<fn() -> U>,
}

impl<S: TableOf<Gather, U>, U: Numbers> Rows for Planned<S, U> {
    fn will_need(&self, ids: &[u64], pages: &mut Residency<'_>) -> AdviceStats {
        self.plan.will_need_in(&self.table, ids, pages)
    }

    fn read(&self, ids: &[u64], out: &mut [f32]) -> Result<(), gather_core::Error> {
        let mut out = ViewMut::new(U::of(out), &[ids.len(), self.columns])?;
        self.plan.run_into(&self.table, ids, &mut out)
    }
}

/// Plans calls of any number of rows, and calls `run` with the plan.
fn plan<S: TableOf<Gather, U>, U: Numbers>(table: S, columns: usize, run: Run<'_>) -> Result<(), Box<dyn Error>> {
    let plan = Gather::new(0).par(Par::Seq).plan_any_count(&table, &Spec::<u64>::new(&[64])?)?;
    run(&Planned { table, plan, columns, of: PhantomData })
}

type Run<'a> = &'a mut dyn FnMut(&dyn Rows) -> Result<(), Box<dyn Error>>;

/// Makes one table of shards, and calls `run` with it.
pub(crate) fn with(of: &Shards, run: Run<'_>) -> Result<(), Box<dyn Error>> {
    let format = of.format;
    let codes =
        of.shards.iter().map(|shard| View::new(&shard.map[shard.codes.clone()], &[shard.rows, format.code_bytes()]));
    let codes: Vec<_> = codes.collect::<Result<_, _>>()?;
    let bytes = of.shards.iter().map(|shard| &shard.map[shard.scales.clone()]);
    if format.scales == Scales::F32 {
        let shapes = of.shards.iter().map(|shard| [shard.rows, format.blocks()]);
        let scales = bytes.zip(shapes).map(|(bytes, shape)| View::<f32>::from_bytes(bytes, &shape));
        let scales: Vec<_> = scales.collect::<Result<_, _>>()?;
        let (kind, block) = match format.codes {
            Codes::E4M3 if format.block == format.columns => (gather_core::Codes::E4M3, 0),
            Codes::E4M3 => (gather_core::Codes::E4M3, format.block),
            Codes::Bits4 => (gather_core::Codes::Bits4, format.block.next_power_of_two().max(16)),
        };
        let parts: Vec<_> =
            codes.iter().zip(&scales).map(|(codes, scales)| codes.blocks(kind, block, scales)).collect();
        return plan(chunks(&parts)?, format.columns, run);
    }
    if format.block == format.columns {
        let parts = codes.iter().zip(bytes).map(|(codes, scales)| codes.map(&BY_ROW, (Given::PerRow(scales),)));
        return plan(chunks(&parts.collect::<Vec<_>>())?, format.columns, run);
    }
    if format.block == 128 {
        return blocks(of, &BY_128, run);
    }
    blocks(of, &maps::mxfp8_e4m3::<f32>(), run)
}

/// As [`with`], by a map of blocks of `N` codes.
fn blocks<const N: usize>(
    of: &Shards,
    map: &gather_core::Map<[u8; N], [f32; N], (u8,)>,
    run: Run<'_>,
) -> Result<(), Box<dyn Error>> {
    let codes = of
        .shards
        .iter()
        .map(|shard| View::new(shard.map[shard.codes.clone()].as_chunks::<N>().0, &[shard.rows, of.format.blocks()]));
    let codes: Vec<_> = codes.collect::<Result<_, _>>()?;
    let scales = of.shards.iter().map(|shard| &shard.map[shard.scales.clone()]);
    let parts: Vec<_> =
        codes.iter().zip(scales).map(|(codes, scales)| codes.map(map, (Given::PerElement(scales),))).collect();
    plan(chunks(&parts)?, of.format.blocks(), run)
}
