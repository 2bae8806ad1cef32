//! The calls that are counted: each operator, width, index type, policy and method once or twice, at every level.

use std::fmt;
use std::hint::black_box;

use gather_core::{
    BatchToSpace, Element, Gather, GatherElements, GatherNd, Index, Layout, Level, Method, OutOfBounds, Par, Plan,
    RearrangePlan, Spec, ViewMut,
};

use crate::buffer::Buffer;
use crate::inputs::{Position, Value, inputs};
use crate::naive;
use crate::workloads::{Data, Distribution, Indices, Kind, Workload};

/// A planned call whose instructions are counted.
pub struct Kernel {
    workload: Workload,
    /// Bytes of an element. They take the place of the workload's data type.
    bytes: usize,
    /// The type of indices. It takes the place of the workload's.
    ids: Ids,
    policy: OutOfBounds,
    /// The method that is asked for; without one the plan chooses.
    method: Option<Method>,
}

/// The type of indices.
#[derive(Clone, Copy, Debug)]
enum Ids {
    I64,
    I32,
    U64,
    U32,
    U16,
    U8,
}

const fn gather(name: &'static str, bytes: usize, shape: &'static [usize], index_shape: &'static [usize]) -> Kernel {
    let kind = Kind::Gather { axis: shape.len() - 1, batch_dims: 0 };
    let (data, indices, distribution) = (Data::U8, Indices::I64, Distribution::Uniform);
    let workload = Workload { name, kind, data, shape, indices, index_shape, distribution };
    Kernel { workload, bytes, ids: Ids::I64, policy: OutOfBounds::Error, method: None }
}

const fn space(name: &'static str, bytes: usize, shape: &'static [usize], block: [i64; 4]) -> Kernel {
    gather(name, bytes, shape, &[0]).kind(Kind::BatchToSpace { block, begin: [0; 4], end: [0; 4] })
}

impl Kernel {
    const fn kind(mut self, kind: Kind) -> Self {
        self.workload.kind = kind;
        self
    }

    const fn index(self, ids: Ids) -> Self {
        Kernel { ids, ..self }
    }

    const fn policy(self, policy: OutOfBounds) -> Self {
        Kernel { policy, ..self }
    }

    const fn method(self, method: Method) -> Self {
        Kernel { method: Some(method), ..self }
    }
}

const ROWS: Kind = Kind::Gather { axis: 0, batch_dims: 0 };
const ELEMENTS_0: Kind = Kind::GatherElements { axis: 0 };
const ELEMENTS_1: Kind = Kind::GatherElements { axis: 1 };
const ND: Kind = Kind::GatherNd { batch_dims: 0 };

/// All of them.
pub const KERNELS: [Kernel; 56] = [
    gather("gather/take", 1, &[1000], &[4096]),
    gather("gather/take", 2, &[1000], &[4096]).index(Ids::I32),
    gather("gather/take", 4, &[1000], &[4096]),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::I32),
    gather("gather/take", 8, &[1000], &[4096]).index(Ids::I32),
    gather("gather/take", 16, &[1000], &[4096]),
    gather("gather/take", 4, &[1000], &[4096]).policy(OutOfBounds::Zero),
    gather("gather/take", 4, &[1000], &[4096]).policy(OutOfBounds::Clamp),
    gather("gather/take", 4, &[1000], &[4096]).policy(OutOfBounds::Wrap),
    gather("gather/table", 1, &[256], &[4096]).index(Ids::U8),
    gather("gather/table", 4, &[16], &[4096]).index(Ids::I32).method(Method::Table),
    gather("gather/rows_of_3", 4, &[200, 3], &[1024]).kind(ROWS),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS),
    gather("gather/few_rows_of_16", 4, &[32, 16], &[8]).kind(ROWS),
    gather("gather/rows_of_75", 4, &[200, 75], &[512]).kind(ROWS),
    gather("gather/last_axis", 4, &[32, 256], &[128]),
    gather("gather_elements/last", 4, &[32, 128], &[32, 128]).kind(ELEMENTS_1),
    gather("gather_elements/axis_0", 4, &[64, 128], &[64, 128]).kind(ELEMENTS_0),
    gather("gather_elements/axis_0", 4, &[64, 128], &[64, 128]).kind(ELEMENTS_0).method(Method::Panels),
    gather("gather_nd/k2", 4, &[64, 64], &[4096, 2]).kind(ND),
    gather("gather_nd/k3_rows_of_6", 8, &[8, 8, 8, 6], &[512, 3]).kind(ND).index(Ids::I32),
    // Indices that are read as they lie, and those that are widened first.
    gather("gather/take", 4, &[200], &[4096]).index(Ids::U8),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U16),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U32),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U64),
    gather("gather/take", 1, &[1000], &[4096]).index(Ids::U16),
    gather("gather/take", 8, &[1000], &[4096]).index(Ids::U32),
    gather("gather/take", 4, &[100], &[4096]).index(Ids::U8).policy(OutOfBounds::Clamp),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U16).policy(OutOfBounds::Zero),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U32).policy(OutOfBounds::Wrap),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U32).policy(OutOfBounds::Clamp),
    gather("gather/take", 4, &[1000], &[4096]).index(Ids::U64).policy(OutOfBounds::Zero),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::U8),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::U16),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::U32),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::U64),
    gather("gather_elements/last", 4, &[32, 128], &[32, 128]).kind(ELEMENTS_1).index(Ids::U8),
    gather("gather_elements/last", 4, &[32, 128], &[32, 128]).kind(ELEMENTS_1).index(Ids::U16),
    gather("gather_elements/last", 4, &[32, 128], &[32, 128]).kind(ELEMENTS_1).index(Ids::U32),
    gather("gather_elements/last", 4, &[32, 128], &[32, 128]).kind(ELEMENTS_1).index(Ids::U64),
    gather("gather_nd/k2", 4, &[64, 64], &[4096, 2]).kind(ND).index(Ids::U16),
    gather("gather_nd/k2", 4, &[64, 64], &[4096, 2]).kind(ND).index(Ids::U32),
    // Rows of a fill among others, and what 8 and 16 bits resolve a block at a time.
    gather("gather/few_rows_of_16", 4, &[32, 16], &[32]).kind(ROWS).policy(OutOfBounds::Zero),
    gather("gather/rows_of_3", 4, &[200, 3], &[1024]).kind(ROWS).policy(OutOfBounds::Zero),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).policy(OutOfBounds::Zero),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::I32).policy(OutOfBounds::Zero),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::U32).policy(OutOfBounds::Zero),
    gather("gather/rows_of_16", 4, &[100, 16], &[1024]).kind(ROWS).index(Ids::U8).policy(OutOfBounds::Zero),
    gather("gather/rows_of_75", 4, &[200, 75], &[512]).kind(ROWS).policy(OutOfBounds::Zero),
    gather("gather/rows_of_16", 4, &[200, 16], &[1024]).kind(ROWS).index(Ids::I32),
    gather("gather/take", 2, &[1000], &[4096]).index(Ids::U32).policy(OutOfBounds::Zero),
    gather("gather/take", 8, &[1000], &[4096]).index(Ids::U16),
    gather("gather/take", 8, &[1000], &[4096]).index(Ids::U16).policy(OutOfBounds::Zero),
    gather("gather_elements/last", 8, &[32, 128], &[32, 128]).kind(ELEMENTS_1).index(Ids::U16),
    space("batch_to_space/2x2_zipped", 4, &[4, 4, 8, 32], [1, 1, 2, 2]),
    space("batch_to_space/2x2_rows", 4, &[4, 8, 8, 16], [1, 2, 2, 1]),
];

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kernel { workload: Workload { name, kind, .. }, bytes, ids, policy, method } = self;
        match kind {
            Kind::BatchToSpace { .. } => write!(f, "{name}/{bytes}B"),
            _ => {
                let [index, policy] = [format!("{ids:?}"), format!("{policy:?}")].map(|word| word.to_lowercase());
                write!(f, "{name}/{bytes}B/{index}/{policy}")?;
                method.map_or(Ok(()), |method| write!(f, "/{method}"))
            }
        }
    }
}

/// The levels of this machine.
pub(super) fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.iter().copied().filter(|level| level.is_available())
}

/// Makes every call, kernel by kernel and level by level: prints its name, and runs it in [`gather_counted_call`].
///
/// # Panics
/// When a call fails or its output is wrong.
pub fn run() {
    for kernel in &KERNELS {
        for level in levels() {
            // Only levels with vectors have the registers and shuffles for tables.
            if kernel.method != Some(Method::Table) || level != Level::Scalar {
                println!("{kernel}/{level}");
                kernel.run(level);
            }
        }
    }
}

/// Runs the call that is counted. Callgrind knows this function by its symbol.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn gather_counted_call(call: &mut dyn FnMut()) {
    call();
    // With nothing after it the call would become a jump, and this function would not be on the stack.
    black_box(());
}

/// One index in this number is out of range, if the policy allows that.
const WILD: usize = 16;

impl Kernel {
    fn run(&self, level: Level) {
        match self.bytes {
            1 => self.run_with::<u8>(level),
            2 => self.run_with::<u16>(level),
            4 => self.run_with::<u32>(level),
            8 => self.run_with::<u64>(level),
            16 => self.run_with::<[u64; 2]>(level),
            bytes => unreachable!("no element of {bytes} bytes"),
        }
    }

    fn run_with<T: Element + Value>(&self, level: Level) {
        match self.ids {
            Ids::I64 => self.run_typed::<T, i64>(level),
            Ids::I32 => self.run_typed::<T, i32>(level),
            Ids::U64 => self.run_typed::<T, u64>(level),
            Ids::U32 => self.run_typed::<T, u32>(level),
            Ids::U16 => self.run_typed::<T, u16>(level),
            Ids::U8 => self.run_typed::<T, u8>(level),
        }
    }

    fn run_typed<T: Element + Value, I: Index + Position>(&self, level: Level) {
        let (data, mut indices) = inputs::<T, I>(&self.workload);
        let expected = self.expected(&data, &indices);
        for index in self.wild(indices.as_mut_slice()) {
            *index = I::new(index.position() + self.workload.reach()[0]);
        }
        let plan = self.plan::<T, I>(level);
        let mut out = Buffer::<T>::zeroed(&self.workload.output_shape());
        let call = |out: &mut ViewMut<'_, T>| match &plan {
            AnyPlan::Index(plan) => plan.run_into(&data.view(), &indices.view(), out).expect("a legal call"),
            AnyPlan::Copy(plan) => plan.run_into(&data.view(), out).expect("a legal call"),
        };
        // The first call finds out about the machine, and may ask for memory.
        call(&mut out.view_mut());
        out.as_mut_slice().fill(T::ZERO);
        let mut view = out.view_mut();
        gather_counted_call(&mut || call(&mut view));
        assert!(out.as_slice() == expected.as_slice(), "{self}/{level}: the output is wrong");
    }

    /// The indices that are put out of range.
    fn wild<'a, I>(&self, indices: &'a mut [I]) -> impl Iterator<Item = &'a mut I> {
        let step = if self.policy == OutOfBounds::Error { usize::MAX } else { WILD };
        indices.iter_mut().skip(step - 1).step_by(step)
    }

    /// The output of the plain loop. Indices out of range are replaced by what the policy makes of them.
    fn expected<T: Value, I: Position>(&self, data: &Buffer<T>, indices: &Buffer<I>) -> Buffer<T> {
        let mut inside = indices.as_slice().to_vec();
        if self.policy == OutOfBounds::Clamp {
            self.wild(&mut inside).for_each(|index| *index = I::new(self.workload.reach()[0] - 1));
        }
        let mut out = Buffer::zeroed(&self.workload.output_shape());
        naive::run(&self.workload, data.as_slice(), &inside, out.as_mut_slice());
        if self.policy == OutOfBounds::Zero {
            // Policies other than `Error` run on calls whose output is a row, or an element, for each index.
            let row = out.as_slice().len() / inside.len();
            let mut rows: Vec<&mut [T]> = out.as_mut_slice().chunks_exact_mut(row).collect();
            self.wild(&mut rows).for_each(|row| row.fill(T::zeroed()));
        }
        out
    }

    fn plan<T: Element, I: Index>(&self, level: Level) -> AnyPlan<T, I> {
        let Kernel { workload: Workload { kind, shape, index_shape, .. }, policy, method, .. } = *self;
        let data = Layout::contiguous(shape).expect("a small shape");
        let indices = Layout::contiguous(index_shape).expect("a small shape");
        macro_rules! planned {
            ($op:expr) => {{
                let op = $op.out_of_bounds(policy).level(level).par(Par::Seq);
                let op = if let Some(method) = method { op.method(method) } else { op };
                AnyPlan::Index(Box::new(
                    op.plan(&Spec::<T>::from_layout(&data), &Spec::<I>::from_layout(&indices)).expect("a legal call"),
                ))
            }};
        }
        match kind {
            Kind::Gather { axis, .. } => planned!(Gather::new(axis as i64)),
            Kind::GatherElements { axis } => planned!(GatherElements::new(axis as i64)),
            Kind::GatherNd { .. } => planned!(GatherNd::new()),
            Kind::BatchToSpace { block, begin, end } => {
                let op = BatchToSpace::new(&block, &begin, &end).level(level).par(Par::Seq);
                AnyPlan::Copy(Box::new(op.plan(&Spec::from_layout(&data)).expect("a legal call")))
            }
        }
    }
}

enum AnyPlan<T, I> {
    Index(Box<Plan<T, I>>),
    Copy(Box<RearrangePlan<T>>),
}
