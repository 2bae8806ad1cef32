//! Looks words up in an embedding table: the main job of Gather, on real data.
//!
//! ```text
//! cargo run --release -p embedding_lookup
//! cargo run --release -p embedding_lookup --features files -- \
//!     --table FILE.safetensors --tensor NAME --indices FILE.npy [--out FILE.npy]
//! cargo run --release -p embedding_lookup --features files -- \
//!     --table FILE.gguf --tensor token_embd.weight --ids 1,17,-1
//! cargo run --release -p embedding_lookup --features files -- \
//!     --table FILE.safetensors --tensor CODES --scales SCALES --ids 1,17
//! ```
//!
//! Without arguments, the table is 2,048 rows of a real model's word embeddings (`../data`). A text is turned
//! into ids of its vocabulary, one planned Gather looks them up, and the nearest neighbours of a few words show what
//! for. Then come three calls on tables beyond the caches: rows, rows of 8-bit codes, and sums of rows. The example fails
//! if a plain loop has another result, or if neighbours differ from the expected words.
//!
//! With the feature `files` and `--table`, the same lookup runs on files of yours, of any size, mapped into memory. Rows of `.gguf` files, and
//! with `--ids` or `--scales` those of FP8 and packed codes of four bits in `.safetensors` files, are printed as `f32`.
//! Codes of four bits lie in `U8` or `I32`, the lowest first, and mean `(code - zero point) * scale`; without
//! `--zero-points` the zero point is 8.

#[macro_use]
#[path = "../../common/print.rs"]
mod print;
#[cfg(feature = "files")]
#[path = "../../common/mod.rs"]
mod common;
#[cfg(feature = "files")]
mod files;
mod large;
mod lookup;
mod neighbours;
#[cfg(feature = "files")]
mod numbers;
mod vocab;

use std::process::ExitCode;

/// Words of the text, and the three that are nearest to each.
const NEIGHBOURS: [(&str, [&str; 3]); 4] = [
    ("war", ["battle", "military", "army"]),
    ("nation", ["nations", "country", "national"]),
    ("never", ["ever", "always", "not"]),
    ("government", ["federal", "political", "administration"]),
];

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
    if std::env::args_os().len() == 1 {
        return shipped();
    }
    #[cfg(feature = "files")]
    {
        files::run()
    }
    #[cfg(not(feature = "files"))]
    Err("files take a feature: cargo run --release -p embedding_lookup --features files -- --help".into())
}

/// The lookup on the data that comes with the repository.
fn shipped() -> Result<(), String> {
    let table = lookup::table(include_bytes!("../../data/word_embeddings.safetensors"))?;
    let vocab = vocab::Vocabulary::new(include_str!("../../data/vocab.txt"));
    let text = vocab.encode(include_str!("../../data/text.txt"));
    if !table.len().is_multiple_of(vocab.len()) {
        return Err(format!("{} tokens for a table of {} numbers", vocab.len(), table.len()));
    }
    let shape = [vocab.len(), table.len() / vocab.len()];
    say!("table  f16 {shape:?}: word embeddings of all-MiniLM-L6-v2, {} tokens", vocab.len());
    say!("text   the Gettysburg Address: {} tokens, {} of them unknown to this slice", text.ids.len(), text.unknown);
    say!("");

    let found = lookup::shipped(table, shape, &text.ids)?;
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
    say!("");
    large::run()
}
