//! Runs an operator on `.npy` files, whose types are known only at run time:
//!
//! ```text
//! cargo run --release -p gather-core --example npy -- gather --axis 1 DATA.npy INDICES.npy -o OUT.npy
//! cargo run --release -p gather-core --example npy -- batch_to_space --block-shape 1,2,2,1 \
//!     --crops-begin 0,0,0,0 --crops-end 0,1,1,0 DATA.npy -o OUT.npy
//! ```
//!
//! A bad file or attribute gives one line and exit status 2. A regular file is written whole or not at all.

#[macro_use]
#[path = "../common/print.rs"]
mod print;
#[path = "../common/mod.rs"]
mod common;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gather_core::{BatchToSpace, DynTensor, DynView, Gather, GatherElements, GatherNd, NegativeIndex, OutOfBounds};
use lexopt::{Arg, ValueExt};

const USAGE: &str = "usage: npy OP [--axis N] [--batch-dims N] [--out-of-bounds zero|error|clamp|wrap] \
[--negative from-end|reject] DATA.npy INDICES.npy -o OUT.npy, or \
npy batch_to_space --block-shape 1,2,2,1 --crops-begin 0,0,0,0 --crops-end 0,0,0,0 DATA.npy -o OUT.npy; \
OP is gather, gather_elements, gather_nd or batch_to_space";

/// The command line.
#[derive(Default)]
struct Options {
    help: bool,
    op: String,
    inputs: Vec<PathBuf>,
    out: Option<PathBuf>,
    axis: Option<i64>,
    batch_dims: Option<i64>,
    out_of_bounds: Option<OutOfBounds>,
    negative: Option<NegativeIndex>,
    block_shape: Option<Vec<i64>>,
    crops_begin: Option<Vec<i64>>,
    crops_end: Option<Vec<i64>>,
}

fn main() -> ExitCode {
    let line = match options(lexopt::Parser::from_env()) {
        Ok(options) if options.help => Ok(USAGE.into()),
        Ok(options) => run(&options),
        Err(message) => Err(message),
    };
    match line {
        Ok(line) => {
            say!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("npy: {message}");
            ExitCode::from(2)
        }
    }
}

fn options(mut parser: lexopt::Parser) -> Result<Options, String> {
    let mut options = Options::default();
    let mut read = || -> Result<(), lexopt::Error> {
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("axis") => options.axis = Some(parser.value()?.parse()?),
                Arg::Long("batch-dims") => options.batch_dims = Some(parser.value()?.parse()?),
                Arg::Long("out-of-bounds") => options.out_of_bounds = Some(parser.value()?.parse_with(out_of_bounds)?),
                Arg::Long("negative") => options.negative = Some(parser.value()?.parse_with(negative)?),
                Arg::Long("block-shape") => options.block_shape = Some(parser.value()?.parse_with(list)?),
                Arg::Long("crops-begin") => options.crops_begin = Some(parser.value()?.parse_with(list)?),
                Arg::Long("crops-end") => options.crops_end = Some(parser.value()?.parse_with(list)?),
                Arg::Short('o') | Arg::Long("out") => options.out = Some(parser.value()?.into()),
                Arg::Short('h') | Arg::Long("help") => options.help = true,
                Arg::Value(op) if options.op.is_empty() => options.op = op.string()?,
                Arg::Value(input) => options.inputs.push(input.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(())
    };
    read().map_err(|error| format!("{error} ({USAGE})"))?;
    Ok(options)
}

fn out_of_bounds(word: &str) -> Result<OutOfBounds, String> {
    match word {
        "error" => Ok(OutOfBounds::Error),
        "zero" => Ok(OutOfBounds::Zero),
        "clamp" => Ok(OutOfBounds::Clamp),
        "wrap" => Ok(OutOfBounds::Wrap),
        _ => Err("use zero, error, clamp or wrap".into()),
    }
}

fn negative(word: &str) -> Result<NegativeIndex, String> {
    match word {
        "from-end" => Ok(NegativeIndex::FromEnd),
        "reject" => Ok(NegativeIndex::Reject),
        _ => Err("use from-end or reject".into()),
    }
}

fn list(text: &str) -> Result<Vec<i64>, String> {
    let entry = |entry: &str| entry.trim().parse().map_err(|_| format!("`{entry}` is no integer"));
    text.split(',').map(entry).collect()
}

/// Runs the operator. Returns the line that says what was written.
fn run(options: &Options) -> Result<String, String> {
    let out = options.out.as_deref().ok_or_else(|| format!("no output; name one with -o ({USAGE})"))?;
    let wanted = if options.op == "batch_to_space" { 1 } else { 2 };
    if options.inputs.len() != wanted {
        return Err(format!("`{}` takes {wanted} input files, not {} ({USAGE})", options.op, options.inputs.len()));
    }
    let at = |path: &Path, error: String| format!("{}: {error}", path.display());
    let files = options.inputs.iter().map(|path| common::map(path)).collect::<Result<Vec<_>, _>>()?;
    let arrays = options.inputs.iter().zip(&files);
    let arrays = arrays.map(|(path, file)| common::npy::parse(file).map_err(|error| at(path, error)));
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    let views = options.inputs.iter().zip(&arrays);
    let views = views.map(|(path, array)| array.view().map_err(|error| at(path, error)));
    let views = views.collect::<Result<Vec<_>, _>>()?;

    let tensor = apply(options, &views)?;
    let line = format!("{}: {} {:?}", out.display(), tensor.dtype(), tensor.shape());
    common::write_whole(out, |file| common::npy::write(file, &tensor))?;
    Ok(line)
}

fn apply(options: &Options, inputs: &[DynView<'_>]) -> Result<DynTensor, String> {
    let axis = options.axis.unwrap_or(0);
    let batch_dims = options.batch_dims.unwrap_or(0);
    let negative = options.negative.unwrap_or_default();
    let out_of_bounds = options.out_of_bounds.unwrap_or_default();
    refuse_unused(options)?;
    let result = match (options.op.as_str(), inputs) {
        ("gather", [data, indices]) => Gather::new(axis)
            .batch_dims(batch_dims)
            .negative_index(negative)
            .out_of_bounds(out_of_bounds)
            .run(data, indices),
        ("gather_elements", [data, indices]) => {
            GatherElements::new(axis).negative_index(negative).out_of_bounds(out_of_bounds).run(data, indices)
        }
        ("gather_nd", [data, indices]) => GatherNd::new()
            .batch_dims(batch_dims)
            .negative_index(negative)
            .out_of_bounds(out_of_bounds)
            .run(data, indices),
        ("batch_to_space", [data]) => {
            let ones = vec![1; data.shape().len()];
            let zeros = vec![0; data.shape().len()];
            let block = options.block_shape.as_deref().unwrap_or(&ones);
            let begin = options.crops_begin.as_deref().unwrap_or(&zeros);
            let end = options.crops_end.as_deref().unwrap_or(&zeros);
            BatchToSpace::new(block, begin, end).run(data)
        }
        (op, _) => return Err(format!("unknown operator `{op}` ({USAGE})")),
    };
    result.map_err(|error| error.to_string())
}

/// An attribute that the operator does not have is a mistake, not a wish.
fn refuse_unused(options: &Options) -> Result<(), String> {
    let op = options.op.as_str();
    let index = op != "batch_to_space";
    let given = [
        ("--axis", options.axis.is_some(), index && op != "gather_nd"),
        ("--batch-dims", options.batch_dims.is_some(), index && op != "gather_elements"),
        ("--out-of-bounds", options.out_of_bounds.is_some(), index),
        ("--negative", options.negative.is_some(), index),
        ("--block-shape", options.block_shape.is_some(), !index),
        ("--crops-begin", options.crops_begin.is_some(), !index),
        ("--crops-end", options.crops_end.is_some(), !index),
    ];
    match given.into_iter().find(|&(_, given, taken)| given && !taken) {
        Some((name, ..)) => Err(format!("`{op}` does not take {name}")),
        None => Ok(()),
    }
}
