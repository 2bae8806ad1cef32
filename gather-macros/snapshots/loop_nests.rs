/// The loop nest of rank 1 of the operators on indices: no loop around a plane.
#[inline(never)]
fn index_nest_r1(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let mut state = State::new(args);
    let planes = Planes::<0>::of::<1>(args);
    body(&mut state, planes.plane());
    state.outcome()
}

/// The loop nest of rank 1 of the operators that rearrange space: no loop around a plane.
#[inline(never)]
fn space_nest_r1(args: &SpaceArgs<'_>, body: SpaceBody) {
    let planes = SpacePlanes::<0>::of::<1>(args);
    body(planes.plane());
}

/// The loop nest of rank 2 of the operators on indices: no loop around a plane.
#[inline(never)]
fn index_nest_r2(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let mut state = State::new(args);
    let planes = Planes::<0>::of::<2>(args);
    body(&mut state, planes.plane());
    state.outcome()
}

/// The loop nest of rank 2 of the operators that rearrange space: no loop around a plane.
#[inline(never)]
fn space_nest_r2(args: &SpaceArgs<'_>, body: SpaceBody) {
    let planes = SpacePlanes::<0>::of::<2>(args);
    body(planes.plane());
}

/// The loop nest of rank 3 of the operators on indices: one loop around a plane.
#[inline(never)]
fn index_nest_r3(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let mut state = State::new(args);
    let planes = Planes::<1>::of::<3>(args);
    planes.along(|planes: Planes<'_, 0>| body(&mut state, planes.plane()));
    state.outcome()
}

/// The loop nest of rank 3 of the operators that rearrange space: one loop around a plane.
#[inline(never)]
fn space_nest_r3(args: &SpaceArgs<'_>, body: SpaceBody) {
    let planes = SpacePlanes::<1>::of::<3>(args);
    planes.along(|planes: SpacePlanes<'_, 0>| body(planes.plane()));
}

/// The loop nest of rank 4 of the operators on indices: 2 loops around a plane.
#[inline(never)]
fn index_nest_r4(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let mut state = State::new(args);
    let planes = Planes::<2>::of::<4>(args);
    planes
        .along(|planes: Planes<'_, 1>| {
            planes.along(|planes: Planes<'_, 0>| body(&mut state, planes.plane()))
        });
    state.outcome()
}

/// The loop nest of rank 4 of the operators that rearrange space: 2 loops around a plane.
#[inline(never)]
fn space_nest_r4(args: &SpaceArgs<'_>, body: SpaceBody) {
    let planes = SpacePlanes::<2>::of::<4>(args);
    planes
        .along(|planes: SpacePlanes<'_, 1>| {
            planes.along(|planes: SpacePlanes<'_, 0>| body(planes.plane()))
        });
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
