//! The conformance cases: JSON Lines, one case per line (see `tests/data/README.md`).

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::values::TensorData;

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name, unique in all files.
    pub id: String,
    /// The operator's name.
    pub op: String,
    /// Where it comes from: a project's own tests or text, or `oracle`.
    pub source: String,
    /// The specification whose rules apply.
    pub profile: String,
    /// The attributes that are numbers.
    pub attrs: BTreeMap<String, i64>,
    /// The attributes that are words.
    pub words: BTreeMap<String, String>,
    /// The inputs by name.
    pub inputs: BTreeMap<String, TensorData>,
    /// The expected result.
    pub expected: Expected,
    /// Whether the case breaks nothing but a type constraint of its specification.
    pub strict: bool,
}

/// The expected result of a case.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This tensor, to the bit.
    Tensor(TensorData),
    /// A tensor of this dtype and shape; inputs may have no values.
    Shape(TensorData),
    /// An error, at this stage, for this reason.
    Error {
        /// Whether shapes and attributes decide it.
        from_shapes: bool,
        /// The reason.
        reason: String,
    },
}

impl Case {
    /// Reads a line.
    ///
    /// # Errors
    /// When the line does not have this format.
    pub fn parse(line: &str) -> Result<Self, String> {
        let case: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let text = |key: &str| case[key].as_str().map(str::to_owned).ok_or_else(|| format!("no `{key}`"));
        let given = || case["attrs"].as_object().into_iter().flatten();
        let attrs = given().filter_map(|(key, value)| Some((key.clone(), value.as_i64()?))).collect();
        let words = given().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
        let inputs = case["inputs"].as_object().ok_or("no `inputs`")?;
        let inputs = inputs
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), TensorData::parse(tensor)?)))
            .collect::<Result<_, String>>()?;
        let expected = if let Some(reason) = case["error"].as_str() {
            Expected::Error { from_shapes: case["stage"] == "shape", reason: reason.to_owned() }
        } else if case["check"] == "shape" {
            Expected::Shape(TensorData::parse(&case["output"])?)
        } else {
            Expected::Tensor(TensorData::parse(&case["output"])?)
        };
        let strict = case["strict"].as_bool().unwrap_or(false);
        let (id, op, source, profile) = (text("id")?, text("op")?, text("source")?, text("profile")?);
        Ok(Case { id, op, source, profile, attrs, words, inputs, expected, strict })
    }

    /// An attribute; 0 when the case does not give it.
    #[must_use]
    pub fn attr(&self, name: &str) -> i64 {
        self.attrs.get(name).copied().unwrap_or(0)
    }

    /// An attribute that is a word; empty when the case does not give it.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.words.get(name).map_or("", String::as_str)
    }

    /// An input by name.
    ///
    /// # Errors
    /// When there is none.
    pub fn input(&self, name: &str) -> Result<&TensorData, String> {
        self.inputs.get(name).ok_or_else(|| format!("no input `{name}`"))
    }
}

/// The cases of every `.jsonl` file of a folder, by file name.
///
/// # Errors
/// When the folder or a file cannot be read, or a line does not have this format.
pub fn read_folder(folder: &Path) -> Result<Vec<(String, Vec<Case>)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(format!("{}: no .jsonl file", folder.display()));
    }
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let cases = lines
            .map(|(at, line)| Case::parse(line).map_err(|error| format!("{}:{}: {error}", path.display(), at + 1)))
            .collect::<Result<Vec<_>, _>>()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, cases))
    };
    paths.iter().map(read).collect()
}
