//! Times the workloads of gathers, scatters and operators that rearrange space into every kind of output, and prints a
//! table of medians: `outputs [FILTER] [--seconds S]`.
//!
//! Milliseconds that one thread has a CPU, the ways in turn. All outputs are compared with each other first.
//!
//! - `planned, line`: a planned call into memory that begins at a cache line.
//! - `planned`: the same into the memory of a `Tensor`, where the allocator put it.
//! - `planned, again`: a planned call into a `Tensor` that takes the result's shape each time.
//! - `planned, pooled`: a planned call into a tensor of a `Pool`, which is dropped after the call.
//! - `again`: unplanned, into a `Tensor` that is used again.
//! - `fresh`: unplanned, a new tensor each time; it is dropped before the next.
//!
//! The last columns are ratios of times: `planned` to the next three, and to `fresh`. Below 1, the other is slower.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use gather_benches::buffer::Buffer;
use gather_benches::clock::{ROUNDS, middle, thread_time};
use gather_benches::options::filter_and_seconds;
use gather_benches::outputs::{Calls, Visitor, each};
use gather_core::{Element, Pool, Tensor};

fn main() -> ExitCode {
    let (filter, seconds) = match filter_and_seconds() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("outputs: {error} (usage: outputs [FILTER] [--seconds S])");
            return ExitCode::from(2);
        }
    };
    println!(
        "| workload | planned, line | planned | planned, again | planned, pooled | again | fresh | to planned, again | \
         to pooled | to again | to fresh |"
    );
    println!("|{}", "---|".repeat(11));
    each(&filter, &mut Table(Duration::from_secs_f64(seconds)));
    ExitCode::SUCCESS
}

/// Prints a row for each workload, which takes at least this time.
struct Table(Duration);

impl Visitor for Table {
    fn visit<T: Element + Pod>(&mut self, name: &str, calls: &impl Calls<T>) {
        let shape = calls.shape();
        let pool = Pool::new();
        let zeros = || Tensor::full(&shape, T::ZERO).expect("a tensor that fits");
        let (mut on_line, mut memory) = (Buffer::<T>::zeroed(&shape), zeros());
        let (mut planned_again, mut again, mut fresh) = (Tensor::default(), Tensor::default(), None);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        calls.planned(&mut on_line.view_mut());
        let expected = on_line.as_bytes().to_vec();
        calls.planned(&mut memory.view_mut());
        calls.planned(&mut planned_again);
        calls.again(&mut again);
        let mut pooled = pool.tensor();
        calls.planned(&mut pooled);
        let outputs = [
            memory.as_slice(),
            planned_again.as_slice(),
            again.as_slice(),
            pooled.as_slice(),
            calls.fresh().as_slice(),
        ]
        .map(bytes);
        assert!(outputs.iter().all(|bytes| *bytes == expected), "{name}: outputs differ");
        drop(pooled);
        let mut ways: [Box<dyn FnMut() + '_>; 6] = [
            Box::new(|| calls.planned(&mut on_line.view_mut())),
            Box::new(|| calls.planned(&mut memory.view_mut())),
            Box::new(|| calls.planned(&mut planned_again)),
            Box::new(|| calls.planned(&mut pool.tensor())),
            Box::new(|| calls.again(&mut again)),
            Box::new(|| {
                fresh = None;
                fresh = Some(calls.fresh());
            }),
        ];
        let mut times: [Vec<f64>; 6] = Default::default();
        let start = Instant::now();
        while times[0].len() < ROUNDS || start.elapsed() < self.0 {
            for (times, way) in times.iter_mut().zip(&mut ways) {
                times.push(thread_time(way));
            }
        }
        let times = times.map(middle);
        let [_, planned, others @ ..] = times;
        let times = times.map(|time| format!("{time:.6}")).join(" | ");
        let ratios = others.map(|other| format!("{:.2}", planned / other)).join(" | ");
        println!("| {name} | {times} | {ratios} |");
    }
}
