//! One kernel: the rows that name it, its loop nest, and its bodies. Descriptions are read from the sources.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use gather_core::{KernelInfo, Level, Method, Op};

/// The head of a source file, which says what stands in it.
macro_rules! source {
    ($path:literal) => {
        ($path, include_str!(concat!("../../src/kernels/", $path)))
    };
}

/// A file under `gather-core/src/kernels`, and its text.
type Source = (&'static str, &'static str);

const NEST: &str = "gather-macros/src/loop_nest.rs, called in gather-core/src/kernels/loops.rs";
const ROW: &str = "gather-macros/src/emit/kernels.rs, called in gather-core/src/kernels/builtin.rs";

/// The bodies of a gather, as `bodies::body` chooses them by method.
const GATHER: &[(Method, Source)] = &[
    (Method::Direct, source!("bodies/direct.rs")),
    (Method::Blocks, source!("bodies/blocks.rs")),
    (Method::Chunks, source!("bodies/blocks.rs")),
    (Method::Gathered, source!("bodies/gathered.rs")),
    (Method::Prefetched, source!("bodies/prefetched.rs")),
    (Method::StridedCopy, source!("bodies/blocks.rs")),
];

/// The one-pass form of `Direct`, which takes the place of nest and body where a call is one plane.
const ONE_PASS: Source = source!("bodies/one_pass.rs");
const SCATTER: Source = source!("bodies/scattered.rs");
const SPACE: Source = source!("space/mod.rs");

/// Whether a level is the fallback of x86-64, whose kernels are few functions.
fn is_fallback(level: Level) -> bool {
    cfg!(all(target_arch = "x86_64", not(gather_whole_scalar))) && level == Level::Scalar
}

/// The name of the function that a row runs: that of its kernel, or at a level that is a fallback that of the kernel for
/// rows of any length and loop nests of any rank.
pub(crate) fn function(row: &KernelInfo) -> String {
    match (row.index, row.op) {
        _ if !is_fallback(row.level) => row.name.to_owned(),
        (None, _) => format!("rearrange_rows_rn__{}", row.level),
        (Some(index), op) => {
            // Types of the same values share kernels, whose names have the one of fixed width.
            let (index, family) = (index.fixed_width(), if scatters(op) { "scatter" } else { "gather_rows" });
            format!("{family}_{index}_rn__{}", row.level)
        }
    }
}

fn scatters(op: Op) -> bool {
    matches!(op, Op::ScatterElements | Op::ScatterNd)
}

/// Writes what a kernel is; `rows` have its name, and `all` are those of the table.
pub(crate) fn write(text: &mut String, rows: &[&KernelInfo], all: &[KernelInfo]) -> fmt::Result {
    let first = rows[0];
    let list = |of: fn(&KernelInfo) -> String| rows.iter().map(|row| of(row)).collect::<BTreeSet<_>>();
    let joined = |items: BTreeSet<String>| items.into_iter().collect::<Vec<_>>().join(", ");
    writeln!(text, "{}\n", first.name)?;
    writeln!(text, "rows     {}", rows.len())?;
    writeln!(text, "  operators    {}", joined(list(|row| row.op.to_string())))?;
    writeln!(text, "  data types   {}", joined(list(|row| row.dtype.to_string())))?;
    if first.index.is_some() {
        writeln!(text, "  index types  {}", joined(list(|row| row.index.map_or_else(String::new, |i| i.to_string()))))?;
    }
    writeln!(text, "  level        {}", first.level)?;
    writeln!(text, "  emitted by   {ROW}\n")?;
    let same: Vec<&KernelInfo> = all.iter().filter(|row| function(row) == function(first)).collect();
    let names: BTreeSet<&str> = same.iter().map(|row| row.name).collect();
    match names.len() {
        1 => writeln!(text, "function {}, of these rows alone\n", function(first))?,
        kernels => {
            writeln!(text, "function {}, of {} rows: those of {kernels} kernels\n", function(first), same.len())?
        }
    }
    if is_fallback(first.level) {
        for name in names {
            writeln!(text, "  {name}")?;
        }
        writeln!(text)?;
        return write_fallback(text, first);
    }
    write_nest(text, first, first.rank)?;
    match (first.index, first.op) {
        (None, _) => write_source(text, "body", SPACE),
        (_, op) if scatters(op) => write_source(text, "body", SCATTER),
        _ => write_gather(text, first),
    }
}

/// Writes the kernel that runs in place of one of a level that is a fallback.
fn write_fallback(text: &mut String, row: &KernelInfo) -> fmt::Result {
    writeln!(
        text,
        "The scalar level of x86-64 is a fallback for machines without AVX2. The function takes rows of any"
    )?;
    writeln!(text, "length and loop nests of any rank:\n")?;
    write_nest(text, row, None)?;
    match (row.index, row.op) {
        (None, _) => write_source(text, "body", SPACE),
        (_, op) if scatters(op) => write_source(text, "body", SCATTER),
        _ => GATHER[..2].iter().try_for_each(|&(method, source)| write_source(text, method.name(), source)),
    }
}

/// Writes the loop nest of a kernel: the body runs the two inner loops.
fn write_nest(text: &mut String, row: &KernelInfo, rank: Option<usize>) -> fmt::Result {
    let family = if row.index.is_some() { "index" } else { "space" };
    let Some(rank) = rank else {
        writeln!(text, "nest     {family}_nest_any, an odometer: gather-core/src/kernels/loops.rs\n")?;
        return Ok(());
    };
    writeln!(text, "nest     {family}_nest_r{rank}: {NEST}")?;
    let around = rank.saturating_sub(2);
    for depth in 0..around {
        writeln!(text, "  {:indent$}for each iteration of loop {depth}:", "", indent = 4 * depth)?;
    }
    writeln!(text, "  {:indent$}body(plane)    the {} inside\n", "", inner(rank), indent = 4 * around)
}

fn inner(rank: usize) -> &'static str {
    if rank == 1 { "loop" } else { "two loops" }
}

fn write_gather(text: &mut String, row: &KernelInfo) -> fmt::Result {
    for &(method, source) in GATHER {
        let gathers = matches!(row.level, Level::Avx2 | Level::Avx512);
        if method != Method::Gathered || gathers {
            write_source(text, method.name(), source)?;
        }
    }
    writeln!(text, "A row names the nest and the body. A call of one plane by `direct` runs both as one function:\n")?;
    write_source(text, "one pass", ONE_PASS)
}

/// Writes where a body stands, and the head of its file.
fn write_source(text: &mut String, name: &str, (path, source): Source) -> fmt::Result {
    writeln!(text, "{name:<14} gather-core/src/kernels/{path}")?;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if !line.starts_with("```") {
            writeln!(text, "    {line}")?;
        }
    }
    writeln!(text)
}
