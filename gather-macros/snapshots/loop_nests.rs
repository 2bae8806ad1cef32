// unsafe

/// The loop nest of rank 1 of the operators on indices: no loop around a plane.
#[inline(never)]
fn index_nest_r1(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let [..] = args.loops_of::<1>();
    let mut state = State::new(args);
    body(&mut state, unsafe { Plane::new(args, args.origin()) });
    state.outcome()
}

/// The loop nest of rank 1 of the operators that rearrange space: no loop around a plane.
#[inline(never)]
fn space_nest_r1(args: &SpaceArgs<'_>, body: SpaceBody) {
    let [..] = args.loops::<1>();
    body(args, args.origin());
}

/// The loop nest of rank 2 of the operators on indices: no loop around a plane.
#[inline(never)]
fn index_nest_r2(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let [..] = args.loops_of::<2>();
    let mut state = State::new(args);
    body(&mut state, unsafe { Plane::new(args, args.origin()) });
    state.outcome()
}

/// The loop nest of rank 2 of the operators that rearrange space: no loop around a plane.
#[inline(never)]
fn space_nest_r2(args: &SpaceArgs<'_>, body: SpaceBody) {
    let [..] = args.loops::<2>();
    body(args, args.origin());
}

/// The loop nest of rank 3 of the operators on indices: one loop around a plane.
#[inline(never)]
fn index_nest_r3(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let [loop0, ..] = args.loops_of::<3>();
    let mut state = State::new(args);
    let mut at0 = *args.origin();
    for _ in 0..loop0.n {
        body(&mut state, unsafe { Plane::new(args, &at0) });
        at0 = at0.step(loop0);
    }
    state.outcome()
}

/// The loop nest of rank 3 of the operators that rearrange space: one loop around a plane.
#[inline(never)]
fn space_nest_r3(args: &SpaceArgs<'_>, body: SpaceBody) {
    let [loop0, ..] = args.loops::<3>();
    let mut at0 = args.origin().enter(loop0);
    for _ in 0..loop0.n {
        body(args, at0.at());
        at0 = at0.step(loop0);
    }
}

/// The loop nest of rank 4 of the operators on indices: 2 loops around a plane.
#[inline(never)]
fn index_nest_r4(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let [loop0, loop1, ..] = args.loops_of::<4>();
    let mut state = State::new(args);
    let mut at0 = *args.origin();
    for _ in 0..loop0.n {
        let mut at1 = at0;
        for _ in 0..loop1.n {
            body(&mut state, unsafe { Plane::new(args, &at1) });
            at1 = at1.step(loop1);
        }
        at0 = at0.step(loop0);
    }
    state.outcome()
}

/// The loop nest of rank 4 of the operators that rearrange space: 2 loops around a plane.
#[inline(never)]
fn space_nest_r4(args: &SpaceArgs<'_>, body: SpaceBody) {
    let [loop0, loop1, ..] = args.loops::<4>();
    let mut at0 = args.origin().enter(loop0);
    for _ in 0..loop0.n {
        let mut at1 = at0.at().enter(loop1);
        for _ in 0..loop1.n {
            body(args, at1.at());
            at1 = at1.step(loop1);
        }
        at0 = at0.step(loop0);
    }
}

/// The loop nest of a rank; 0 is any.
///
/// # Panics
/// At compile time for ranks that are not unrolled.
pub(crate) const fn index_nest(rank: u8) -> IndexNest {
    match rank {
        0 => index_nest_any,
        1 => index_nest_r1,
        2 => index_nest_r2,
        3 => index_nest_r3,
        4 => index_nest_r4,
        _ => panic!("a rank that is not unrolled"),
    }
}

/// The loop nest of a rank; 0 is any.
///
/// # Panics
/// At compile time for ranks that are not unrolled.
pub(crate) const fn space_nest(rank: u8) -> SpaceNest {
    match rank {
        0 => space_nest_any,
        1 => space_nest_r1,
        2 => space_nest_r2,
        3 => space_nest_r3,
        4 => space_nest_r4,
        _ => panic!("a rank that is not unrolled"),
    }
}
