// What the loop nests call by the names of gather-core's is unsafe here. They call it in no unsafe block.
#![allow(dead_code)]

use core::marker::PhantomData;

type IndexArgs<'a> = ();
type SpaceArgs<'a> = ();
type Body = unsafe fn(&mut State, ());
type SpaceBody = unsafe fn(());
type IndexNest = fn(&(), Body);
type SpaceNest = fn(&(), SpaceBody);
type Outcome = ();
type SpacePlanes<'a, const LOOPS: usize> = Planes<'a, LOOPS>;

struct State;
struct Planes<'a, const LOOPS: usize>(PhantomData<&'a ()>);

impl State {
    unsafe fn new(_: &()) -> State {
        State
    }
    unsafe fn outcome(&self) {}
}

impl<'a, const LOOPS: usize> Planes<'a, LOOPS> {
    unsafe fn of<const RANK: usize>(_: &'a ()) -> Self {
        Planes(PhantomData)
    }
    unsafe fn along<const REST: usize>(self, run: impl FnOnce(Planes<'_, REST>)) {
        run(Planes(PhantomData));
    }
    unsafe fn plane(self) {}
}

fn index_nest_any(_: &(), _: Body) {}
fn space_nest_any(_: &(), _: SpaceBody) {}

gather_macros::loop_nests! {}

fn main() {}
