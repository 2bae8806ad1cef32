//! Elements that do not fit on a stack: no door may hold one there, under no policy.
//!
//! A stack that overflows ends the process, so that each door runs in a process of its own, on a thread with a small
//! stack. Doors that take or give an element by value are not among these: `Tensor::full`, and what clones
//! other elements than those that are copied. Closures of maps and reductions take and give values too, which are
//! bounded.

mod named;

use std::io::Write;
use std::process::Command;

use gather_core::{
    BatchToSpace, DynView, Error, Gather, GatherElements, GatherNd, KernelSet, OutOfBounds, Spec, View, ViewMut,
};

use self::named::NAMED;

/// Less than the smallest of these elements.
const STACK: usize = 256 << 10;
/// Half of what threads have by default.
const STACK_OF_CLOSURES: usize = 1 << 20;
/// The variable that tells a process which door it is for.
const DOOR: &str = "GATHER_TESTS_DOOR";

const SMALL: usize = 1 << 20;
const LARGE: usize = 16 << 20;

gather_core::kernels! {
    /// Kernels for elements of 1 MiB.
    static OF_SMALL;
    elements: [[u8; SMALL]];
    indices: [i32];
    ranks: any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

gather_core::kernels! {
    /// Kernels for elements of 16 MiB.
    static OF_LARGE;
    elements: [[u8; LARGE]];
    indices: [i32];
    ranks: any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

const OPS: [&str; 4] = ["gather", "gather_elements", "gather_nd", "batch_to_space"];
const DOORS: [&str; 7] = ["run", "run_into", "run_uninit", "plan.run", "plan.run_into", "plan.run_uninit", "run_dyn"];

/// Rows of data, numbered from 1; 3 of them are out of a range of 3.
const ROWS: usize = 3;

/// What a door gives: the bytes of the result, or nothing where safe code cannot read them.
type Given = Result<Option<Vec<u8>>, Error>;

/// A call on tensors whose types are known at run time.
macro_rules! dynamic {
    ($op:expr, $set:expr, $data:expr) => {
        $op.registry(crate::common::registry($set)).run(&$data)
    };
    ($op:expr, $set:expr, $data:expr, $indices:expr) => {
        $op.registry(crate::common::registry($set)).run(&$data, &$indices)
    };
}

/// A plan of a call on these tensors.
macro_rules! planned {
    ($op:expr, $ty:ty, $data:expr) => {
        $op.plan(&Spec::<$ty>::from_layout($data.layout()))
    };
    ($op:expr, $ty:ty, $data:expr, $index:ty, $indices:expr) => {
        $op.plan($data, $indices)
    };
}

/// Goes through a door of an operator with two indices of the shape that it takes.
macro_rules! through {
    ($door:expr, $set:expr, $op:expr, $data:expr, $out:expr $(, $indices:expr, $index:ty)?) => {{
        let (op, data, out): (_, &View<'_, [u8; N]>, &[usize]) = ($op, $data, $out);
        let len = out.iter().product::<usize>();
        let mut bytes = vec![0xee; len * N];
        let mut fresh: Vec<[u8; N]> = Vec::with_capacity(len);
        let given = |out: Result<gather_core::Tensor<[u8; N]>, Error>| -> Given {
            Ok(Some(out?.into_vec().into_flattened()))
        };
        match $door {
            "run" => given(op.run(data $(, $indices)?)),
            "run_into" => {
                let values = bytes.as_chunks_mut().0;
                op.run_into(data $(, $indices)?, &mut ViewMut::new(values, out)?).map(|()| Some(bytes))
            }
            "run_uninit" => {
                let values = &mut fresh.spare_capacity_mut()[..len];
                op.run_into(data $(, $indices)?, &mut ViewMut::new(values, out)?).map(|()| None)
            }
            "run_dyn" => {
                let out = dynamic!(op, $set, DynView::from(data) $(, DynView::from($indices))?)?;
                Ok(Some(out.as_bytes().to_vec()))
            }
            planned => {
                let plan = planned!(op, [u8; N], data $(, $index, $indices)?)?;
                match planned {
                    "plan.run" => given(plan.run(data $(, $indices)?)),
                    "plan.run_into" => {
                        let values = bytes.as_chunks_mut().0;
                        plan.run_into(data $(, $indices)?, &mut ViewMut::new(values, out)?).map(|()| Some(bytes))
                    }
                    "plan.run_uninit" => {
                        let values = &mut fresh.spare_capacity_mut()[..len];
                        plan.run_into(data $(, $indices)?, &mut ViewMut::new(values, out)?).map(|()| None)
                    }
                    _ => panic!("no door {planned}"),
                }
            }
        }
    }};
}

/// Goes through a door on elements of `N` bytes.
fn enter<const N: usize>(
    op: &str,
    door: &str,
    out_of_bounds: OutOfBounds,
    indices: [i32; 2],
    set: &'static KernelSet,
) -> Given {
    let mut bytes = vec![0u8; ROWS * N];
    for (row, bytes) in bytes.chunks_exact_mut(N).enumerate() {
        bytes.fill(row as u8 + 1);
    }
    let data = View::new(bytes.as_chunks::<N>().0, &[ROWS])?;
    let flat = View::new(&indices, &[2])?;
    let tuples = View::new(&indices, &[2, 1])?;
    match op {
        "gather" => {
            through!(door, set, Gather::new(0).out_of_bounds(out_of_bounds), &data, &[2], &flat, i32)
        }
        "gather_elements" => {
            through!(door, set, GatherElements::new(0).out_of_bounds(out_of_bounds), &data, &[2], &flat, i32)
        }
        "gather_nd" => {
            through!(door, set, GatherNd::new().out_of_bounds(out_of_bounds), &data, &[2], &tuples, i32)
        }
        _ => {
            let data = View::new(&bytes.as_chunks::<N>().0[..2], &[2, 1])?;
            through!(door, set, BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]), &data, &[1, 2])
        }
    }
}

/// Holds a door to what it must give, policy by policy.
fn check<const N: usize>(op: &str, door: &str, set: &'static KernelSet) {
    let policies = [
        (OutOfBounds::Error, [2, 0], Some([3, 1])),
        (OutOfBounds::Error, [2, 3], None),
        (OutOfBounds::Zero, [2, 3], Some([3, 0])),
        (OutOfBounds::Clamp, [9, 0], Some([3, 1])),
        (OutOfBounds::Wrap, [5, 3], Some([3, 1])),
    ];
    for (out_of_bounds, indices, expected) in policies {
        let expected = if op == "batch_to_space" { Some([1, 2]) } else { expected };
        // The last line shows where a process ended.
        drop(writeln!(std::io::stderr(), "{out_of_bounds:?}"));
        match (enter::<N>(op, door, out_of_bounds, indices, set), expected) {
            (Ok(None), Some(_)) => {}
            (Ok(Some(bytes)), Some(expected)) => {
                let rows = bytes.chunks_exact(N).zip(expected);
                assert_eq!(bytes.len(), 2 * N);
                assert!(
                    rows.into_iter().all(|(row, value)| row.iter().all(|&byte| byte == value)),
                    "{out_of_bounds:?}"
                );
            }
            (Err(Error::IndexOutOfRange { position: 1, index: 3, .. }), None) => {}
            (got, expected) => panic!("{out_of_bounds:?}: expected {expected:?}, got {:?}", got.err()),
        }
    }
}

#[test]
#[ignore = "run by the test below, in a process for each door"]
fn one_door() {
    let door = std::env::var(DOOR).expect("the name of a door, set by the test that runs this one");
    let stack = if door.starts_with("closures") { STACK_OF_CLOSURES } else { STACK };
    let run: Box<dyn FnOnce() + Send> = match door.split(' ').collect::<Vec<_>>()[..] {
        [op, door, "small"] => Box::new(move || check::<SMALL>(op, door, &OF_SMALL)),
        [op, door, "large"] => Box::new(move || check::<LARGE>(op, door, &OF_LARGE)),
        [name] => {
            let named = NAMED.iter().find(|(known, _)| *known == name).expect("a door of the list");
            Box::new(named.1)
        }
        _ => panic!("no door: {door}"),
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, run).expect("a thread");
        thread.join().expect("the door gives what it must");
    });
}

#[test]
fn no_door_holds_a_huge_element_on_the_stack() {
    let program = std::env::current_exe().expect("this program");
    let mut failed = Vec::new();
    let sizes = ["small", "large"].into_iter();
    let sized = sizes.flat_map(|size| OPS.map(|op| DOORS.map(|door| format!("{op} {door} {size}")))).flatten();
    let named = NAMED.iter().map(|(name, _)| (*name).to_owned());
    // Frames of closures differ from level to level.
    let closures = NAMED.iter().map(|(name, _)| (*name).to_owned()).filter(|name| name.starts_with("closures"));
    let doors = sized.chain(named).map(|name| (name, None)).chain(closures.map(|name| (name, Some("scalar"))));
    for (name, level) in doors {
        let mut command = Command::new(&program);
        command.args(["--exact", "huge::one_door", "--ignored", "--nocapture"]).env(DOOR, &name);
        command.envs(level.map(|level| ("GATHER_LEVEL", level)));
        let output = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !said.contains("1 passed") {
            let errors = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = errors.lines().filter(|line| !line.is_empty()).take(3).collect();
            failed.push(format!("{name}: {}: {}", output.status, lines.join("; ")));
        }
    }
    assert!(failed.is_empty(), "{} doors:\n{}", failed.len(), failed.join("\n"));
}
