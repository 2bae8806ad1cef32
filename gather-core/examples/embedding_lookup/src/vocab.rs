//! A vocabulary and the ids of a text in it.

use std::collections::HashMap;

/// Tokens in the order of their rows. The first one stands for all words that are not there.
pub(crate) struct Vocabulary {
    tokens: Vec<&'static str>,
    ids: HashMap<&'static str, i64>,
}

/// A text as rows of the table.
pub(crate) struct Encoded {
    pub(crate) ids: Vec<i64>,
    /// How many of them are the unknown token.
    pub(crate) unknown: usize,
}

impl Vocabulary {
    /// A vocabulary of one token a line.
    pub(crate) fn new(lines: &'static str) -> Self {
        let tokens: Vec<&str> = lines.lines().collect();
        let ids = tokens.iter().zip(0..).map(|(&token, id)| (token, id)).collect();
        Vocabulary { tokens, ids }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn id(&self, token: &str) -> Option<i64> {
        self.ids.get(token).copied()
    }

    pub(crate) fn token(&self, row: usize) -> &'static str {
        self.tokens.get(row).copied().unwrap_or("?")
    }

    /// Cuts each word, in lower case, into the longest tokens there are, from the left. `##` marks tokens inside a
    /// word. A word with a part that is no token is unknown as a whole.
    pub(crate) fn encode(&self, text: &str) -> Encoded {
        let mut encoded = Encoded { ids: Vec::new(), unknown: 0 };
        let lower = text.to_lowercase();
        for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            match self.pieces(word) {
                Some(pieces) => encoded.ids.extend(pieces),
                None => {
                    encoded.ids.push(0);
                    encoded.unknown += 1;
                }
            }
        }
        encoded
    }

    fn pieces(&self, word: &str) -> Option<Vec<i64>> {
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < word.len() {
            let mark = if start == 0 { "" } else { "##" };
            let ends = (start + 1..=word.len()).rev().filter(|&end| word.is_char_boundary(end));
            let longest = ends.filter_map(|end| Some((end, self.id(&format!("{mark}{}", &word[start..end]))?))).next();
            let (end, id) = longest?;
            pieces.push(id);
            start = end;
        }
        Some(pieces)
    }
}
