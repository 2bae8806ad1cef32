//! Looks words up in an embedding table: the main job of Gather, on real data.
//!
//! ```text
//! cargo run --release --example embedding_lookup
//! cargo run --release --example embedding_lookup -- --table FILE.safetensors --tensor NAME --indices FILE.npy [--out FILE.npy]
//! ```
//!
//! Without arguments, the table is 2,048 rows of a real model's word embeddings (`examples/data`). A text is turned into
//! ids of its vocabulary, one planned Gather looks them up, and the nearest neighbours of a few words show what for.
//! With `--table`, the same lookup runs on files of yours, of any size, mapped into memory.

#[path = "../common/mod.rs"]
mod common;
mod lookup;
mod neighbours;
mod vocab;

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, ValueExt};

const USAGE: &str =
    "usage: embedding_lookup [--table FILE.safetensors --tensor NAME --indices FILE.npy [--out FILE.npy]]";

/// The command line.
#[derive(Default)]
struct Options {
    table: Option<PathBuf>,
    tensor: Option<String>,
    indices: Option<PathBuf>,
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("embedding_lookup: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let options = options().map_err(|error| format!("{error} ({USAGE})"))?;
    match (options.table, options.tensor, options.indices) {
        (None, None, None) if options.out.is_none() => shipped(),
        (Some(table), Some(tensor), Some(indices)) => {
            lookup::on_files(&table, &tensor, &indices, options.out.as_deref())
        }
        _ => Err(format!("--table, --tensor and --indices go together ({USAGE})")),
    }
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("table") => options.table = Some(parser.value()?.into()),
            Arg::Long("tensor") => options.tensor = Some(parser.value()?.string()?),
            Arg::Long("indices") => options.indices = Some(parser.value()?.into()),
            Arg::Long("out") | Arg::Short('o') => options.out = Some(parser.value()?.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

/// The lookup on the data that comes with the repository.
fn shipped() -> Result<(), String> {
    let table = common::safetensors::parse(include_bytes!("../data/word_embeddings.safetensors"), "word_embeddings")?;
    let vocab = vocab::Vocabulary::new(include_str!("../data/vocab.txt"));
    let text = vocab.encode(include_str!("../data/text.txt"));
    println!("table  {} {:?}: word embeddings of all-MiniLM-L6-v2, {} tokens", table.dtype, table.shape, vocab.len());
    println!(
        "text   the Gettysburg Address: {} tokens, {} of them unknown to this slice",
        text.ids.len(),
        text.unknown
    );
    println!();

    let found = lookup::shipped(&table, &text.ids)?;
    println!();
    for word in ["war", "nation", "never", "fathers"] {
        let Some(id) = vocab.id(word) else { continue };
        let Some(at) = text.ids.iter().position(|&token| token == id) else {
            continue;
        };
        let nearest = neighbours::nearest(&found.table, found.dim, found.rows.row(at), 6);
        let named: Vec<String> = nearest
            .iter()
            .filter(|&&(row, _)| row != id as usize)
            .map(|&(row, cosine)| format!("{} {cosine:.2}", vocab.token(row)))
            .collect();
        println!("{word:<8} {}", named.join("  "));
    }
    Ok(())
}
