//! Requests to a worker and its answers: one line of JSON each.
//!
//! An engine may print what it likes to standard output. Only a line that begins with a mark is an answer.

use serde::{Deserialize, Serialize};

use super::model::Lost;

/// What an answer's line begins with.
const MARK: &str = "@gather ";

/// What a worker is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Prepare a workload in the place of the one before, run it once and check the output.
    Prepare {
        /// Its name.
        workload: String,
        /// For how many threads.
        threads: usize,
    },
    /// Time what was prepared.
    Time {
        /// For how long.
        millis: u64,
        /// Fewest samples, however long they take.
        least: usize,
    },
    /// Free what was prepared, and its tensors.
    Drop,
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Said once without a request, when the worker has started.
    Hello {
        /// The peer's version.
        version: String,
    },
    /// The workload's output was right.
    Ready,
    /// Nanoseconds of a call, one entry a sample.
    Times(Vec<f64>),
    /// The workload cannot be timed, or no longer.
    Not(Lost),
    /// The workload is freed.
    Dropped,
}

impl Request {
    /// The line that asks it, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// What a line asks.
    ///
    /// # Errors
    /// A text: it is no request.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))
    }
}

impl Answer {
    /// The line that answers it, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{MARK}{}", serde_json::to_string(self).expect("plain data"))
    }

    /// What a line answers; `None` if it is something else that an engine prints.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line.strip_prefix(MARK)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::NotRun;

    #[test]
    fn requests_are_lines() {
        let prepare = Request::Prepare { workload: "gather/small \"8\"\n".into(), threads: 2 };
        for request in [prepare, Request::Time { millis: 40, least: 2 }, Request::Drop] {
            assert!(!request.line().contains('\n'));
            assert_eq!(Request::parse(&request.line()), Ok(request));
        }
        assert!(Request::parse("{\"time\":{\"millis\":-1,\"least\":2}}").is_err());
        assert!(Request::parse("").is_err());
    }

    #[test]
    fn answers_are_lines() {
        let not = Answer::Not(NotRun::Wrong("byte 3\nis 1".into()).into());
        let answers = [Answer::Hello { version: "1.2".into() }, Answer::Ready, Answer::Dropped, not];
        for answer in answers.into_iter().chain([Answer::Times(vec![1.5, 2e9])]) {
            assert!(!answer.line().contains('\n'));
            assert_eq!(Answer::parse(&answer.line()), Some(answer));
        }
    }

    #[test]
    fn other_output_is_no_answer() {
        for line in
            ["", "loading ...", "\"ready\"", "@gather", "@gather {}", " @gather \"ready\"", "@gather \"ready\" 1"]
        {
            assert_eq!(Answer::parse(line), None, "{line}");
        }
    }
}
