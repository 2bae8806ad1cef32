//! Looks words up in an embedding table: the main job of Gather, on real data.
//!
//! ```text
//! cargo run --release -p embedding_lookup
//! cargo run --release -p embedding_lookup -- \
//!     --table FILE.safetensors --tensor NAME --indices FILE.npy [--out FILE.npy]
//! cargo run --release -p embedding_lookup -- --table FILE.gguf --tensor token_embd.weight --ids 1,17,-1
//! cargo run --release -p embedding_lookup -- \
//!     --table FILE.safetensors --tensor CODES --scales SCALES --ids 1,17
//! ```
//!
//! Without arguments, the table is 2,048 rows of a real model's word embeddings (`../data`). A text is turned
//! into ids of its vocabulary, one planned Gather looks them up, and the nearest neighbours of a few words show what
//! for. The example fails if a plain loop finds other rows, or if neighbours are not those expected.
//!
//! With `--table`, the same lookup runs on files of yours, of any size, mapped into memory. Rows of `.gguf` files, and
//! with `--ids` or `--scales` those of FP8 and packed codes of four bits in `.safetensors` files, are printed as `f32`.
//! Codes of four bits lie in `U8` or `I32`, the lowest first, and mean `(code - zero point) * scale`; without
//! `--zero-points` the zero point is 8.

#[macro_use]
#[path = "../../common/print.rs"]
mod print;
#[path = "../../common/mod.rs"]
mod common;
mod lookup;
mod neighbours;
mod numbers;
mod vocab;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Arg, ValueExt};

const USAGE: &str = "usage: embedding_lookup [--table FILE --tensor NAME (--indices FILE.npy | --ids N,N,..) \
    [--scales NAME [--zero-points NAME]] [--out FILE.npy]]";

/// Words of the text, and the three that are nearest to each.
const NEIGHBOURS: [(&str, [&str; 3]); 4] = [
    ("war", ["battle", "military", "army"]),
    ("nation", ["nations", "country", "national"]),
    ("never", ["ever", "always", "not"]),
    ("government", ["federal", "political", "administration"]),
];

/// The command line.
#[derive(Default)]
struct Options {
    table: Option<PathBuf>,
    tensor: Option<String>,
    indices: Option<PathBuf>,
    ids: Option<Vec<i64>>,
    scales: Option<String>,
    zero_points: Option<String>,
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
    let Some(options) = options else {
        say!("{USAGE}");
        return Ok(());
    };
    let Options { table, tensor, indices, ids, scales, zero_points, out } = options;
    match (table, tensor, indices, ids) {
        (None, None, None, None) if out.is_none() && scales.is_none() && zero_points.is_none() => shipped(),
        (Some(table), Some(tensor), Some(indices), None) if scales.is_none() && !is_gguf(&table) => {
            lookup::on_files(&table, &tensor, &indices, out.as_deref())
        }
        (Some(table), Some(tensor), indices, ids) if indices.is_some() != ids.is_some() => {
            let ids = match indices {
                Some(file) => numbers::ids_of(&file)?,
                None => ids.unwrap_or_default(),
            };
            let names = numbers::Names { tensor, scales, zero_points };
            numbers::print(&table, &names, &ids, out.as_deref())
        }
        _ => Err(format!("--table and --tensor go together, with --indices or --ids ({USAGE})")),
    }
}

fn is_gguf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

/// The options, or `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("table") => options.table = Some(parser.value()?.into()),
            Arg::Long("tensor") => options.tensor = Some(parser.value()?.string()?),
            Arg::Long("indices") => options.indices = Some(parser.value()?.into()),
            Arg::Long("ids") => {
                let ids = parser.value()?.string()?;
                let ids = ids.split(',').map(|id| id.trim().parse::<i64>());
                options.ids = Some(ids.collect::<Result<_, _>>().map_err(|error| format!("--ids: {error}"))?);
            }
            Arg::Long("scales") => options.scales = Some(parser.value()?.string()?),
            Arg::Long("zero-points") => options.zero_points = Some(parser.value()?.string()?),
            Arg::Long("out") | Arg::Short('o') => options.out = Some(parser.value()?.into()),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

/// The lookup on the data that comes with the repository.
fn shipped() -> Result<(), String> {
    let table =
        common::safetensors::parse(include_bytes!("../../data/word_embeddings.safetensors"), "word_embeddings")?;
    let vocab = vocab::Vocabulary::new(include_str!("../../data/vocab.txt"));
    let text = vocab.encode(include_str!("../../data/text.txt"));
    if table.shape.first() != Some(&vocab.len()) {
        return Err(format!("{} tokens for a table of {:?}", vocab.len(), table.shape));
    }
    say!("table  {} {:?}: word embeddings of all-MiniLM-L6-v2, {} tokens", table.dtype, table.shape, vocab.len());
    say!("text   the Gettysburg Address: {} tokens, {} of them unknown to this slice", text.ids.len(), text.unknown);
    say!("");

    let found = lookup::shipped(&table, &text.ids)?;
    say!("");
    for (word, expected) in NEIGHBOURS {
        let id = vocab.id(word).ok_or_else(|| format!("`{word}` is no token"))?;
        let at =
            text.ids.iter().position(|&token| token == id).ok_or_else(|| format!("`{word}` is not in the text"))?;
        // The word itself is the nearest.
        let nearest = neighbours::nearest(&found.table, found.dim, found.rows.row(at), 6);
        let names: Vec<&str> = nearest.iter().map(|&(row, _)| vocab.token(row)).collect();
        let shown: Vec<String> =
            nearest[1..].iter().map(|&(row, cosine)| format!("{} {cosine:.2}", vocab.token(row))).collect();
        say!("{word:<10} {}", shown.join("  "));
        if names[0] != word || names[1..4] != expected {
            return Err(format!("expected {word} and then {expected:?}"));
        }
    }
    Ok(())
}
