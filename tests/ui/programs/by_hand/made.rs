// Values of hidden types with other fields than gather-core gave them: the fields are private.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{DType, Declared, IndexRest, Kernel, KernelSet, Op, Rests, ShapedRow};
use gather_core::{Map, Reducer, RowFunction};

fn other<T>() -> T {
    panic!()
}

pub static REST: IndexRest = IndexRest { gathers: None, scatters: None };
pub static RESTS: Rests = Rests { by_repr: &[], space: None };

pub fn dtype(dtype: DType) -> DType {
    DType { name: "f64", ..dtype }
}

pub fn declared(declared: Declared) -> Declared {
    Declared { axis: 9, ..declared }
}

pub fn set(set: KernelSet) -> KernelSet {
    KernelSet { shaped: &[], ..set }
}

pub fn kernel<E>(kernel: Kernel<E>) -> Kernel<E> {
    Kernel { entry: other(), ..kernel }
}

pub fn row(row: ShapedRow) -> ShapedRow {
    ShapedRow { op: Op::GatherNd, ..row }
}

pub fn map(map: Map<u8, f32>) -> Map<u8, f32> {
    Map { erased: other(), ..map }
}

pub fn rows(rows: RowFunction<u8, f32>) -> RowFunction<u8, f32> {
    RowFunction { erased: other(), ..rows }
}

pub fn reducer(reducer: Reducer<u8>) -> Reducer<u8> {
    Reducer { scatter: other(), ..reducer }
}

fn main() {}
