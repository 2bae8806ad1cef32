// `Waker::new`, which is unsafe, under the name that loop nests called, in a crate that forbids unsafe code.
#![forbid(unsafe_code)]
#![allow(dead_code)]

use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker as Plane};

type IndexArgs<'a> = ();
type SpaceArgs<'a> = ();
type Cursor = &'static RawWakerVTable;
type Body = fn(&mut State, Plane);
type SpaceBody = fn(&(), Cursor);
type IndexNest = fn(&(), Body);
type SpaceNest = fn(&(), SpaceBody);
type Outcome = ();

#[derive(Clone, Copy)]
struct Loop {
    n: usize,
}
struct State;

impl State {
    fn new(_: &()) -> State {
        State
    }
    fn outcome(&self) {}
}

/// What the loop nests call on arguments and cursors.
trait LooksAlike {
    fn loops<const R: usize>(&self) -> &[Loop; R] {
        const { &[Loop { n: 1 }; R] }
    }
    fn loops_of<const R: usize>(&self) -> &[Loop; R] {
        self.loops()
    }
    fn origin(&self) -> &Cursor {
        // Dropping such a waker frees what was never allocated.
        const { &&RawWakerVTable::new(cloned, woken, woken, Arc::<()>::decrement_strong_count) }
    }
    fn enter(&self, _: &Loop) -> Cursor {
        self.origin()
    }
    fn step(&self, _: &Loop) -> Cursor {
        self.origin()
    }
    fn at(&self) -> Cursor {
        self.origin()
    }
}
impl<T> LooksAlike for T {}

fn cloned(data: *const ()) -> RawWaker {
    RawWaker::new(data, ().origin())
}
fn woken(_: *const ()) {}
fn index_nest_any(_: &(), _: Body) {}
fn space_nest_any(_: &(), _: SpaceBody) {}

gather_macros::loop_nests! { unsafe }

fn main() {
    index_nest_r1(&(), |_, waker| drop(waker));
}
