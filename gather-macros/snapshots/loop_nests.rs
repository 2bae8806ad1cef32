
/// The loop nest of rank 4 of the operators on indices: 2 loops around a plane.
///
/// # Safety
/// The kernel contract for `args`, of whose method the body is: the loops step to the cursors of planes.
#[inline(never)]
pub unsafe fn index_nest_r4(
    args: &private::IndexArgs<'_>,
    body: private::Body,
) -> private::Outcome {
    let [loop0, loop1, ..] = args.loops::<4>();
    let mut state = private::State::new(args);
    let mut at0 = *args.origin();
    for _ in 0..loop0.n {
        let mut at1 = at0;
        for _ in 0..loop1.n {
            unsafe { body(&mut state, args, &at1) };
            at1 = at1.step(loop1);
        }
        at0 = at0.step(loop0);
    }
    state.outcome()
}

/// The loop nest of rank 4 of the operators that rearrange space: 2 loops around a plane.
///
/// # Safety
/// The kernel contract for `args`: the loops step to the cursors of planes.
#[inline(never)]
pub unsafe fn space_nest_r4(
    args: &private::SpaceArgs<'_>,
    body: unsafe fn(&private::SpaceArgs<'_>, private::SpaceCursor),
) {
    let [loop0, loop1, ..] = args.loops::<4>();
    let mut at0 = args.origin().enter(loop0);
    for _ in 0..loop0.n {
        let mut at1 = at0.at().enter(loop1);
        for _ in 0..loop1.n {
            unsafe { body(args, at1.at()) };
            at1 = at1.step(loop1);
        }
        at0 = at0.step(loop0);
    }
}
