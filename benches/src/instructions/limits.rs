//! Limits of counts, whatever their baselines say: a baseline keeps what was reached, a limit says what must be.

/// Eight rows of 64 bytes take a plain loop about as long as 250 instructions of a call: with more, the loop is
/// quicker.
const EIGHT_ROWS: u64 = 250 + COUNTING;

/// What counting adds: the function that callgrind knows, and a closure that passes four arguments on and looks at the
/// result.
const COUNTING: u64 = 17;

/// The limits. A call that is not counted on this machine, since it lacks the level, has none.
pub const LIMITS: Limits<'static> = Limits {
    most: &[("short/gather_8x64B/u32/avx2", EIGHT_ROWS), ("short/gather_8x64B/i64/avx2", EIGHT_ROWS)],
    enforced: true,
};

/// The most instructions that calls may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Calls and limits.
    pub most: &'a [(&'a str, u64)],
    /// Whether the gate fails when a call is over its limit; otherwise it only says so.
    pub enforced: bool,
}

impl Limits<'_> {
    /// The limit of a call.
    #[must_use]
    pub fn of(&self, call: &str) -> Option<u64> {
        self.most.iter().find(|(name, _)| *name == call).map(|&(_, most)| most)
    }
}
