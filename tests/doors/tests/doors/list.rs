//! Doors and the tests that go through them.

mod operators;
mod types;

/// What stands behind a public function.
pub(super) enum Door {
    /// This test goes through it.
    Test(&'static str),
    /// It is unsafe, and so no door for this crate; its callers are elsewhere in `tests`.
    Unsafe,
}

/// Functions by name. Those that a macro writes stand under the macro's name.
pub(super) fn listed() -> impl Iterator<Item = &'static (&'static str, Door)> {
    operators::OPERATORS.iter().chain(types::TYPES)
}
