//! gather-core's gathers as operators of candle on CPU tensors of any strides, with their gradients.
//!
//! Copy this file. [`index_select`], [`embedding`] and [`gather`] take the place of candle's methods of these names;
//! [`index_add`] and [`scatter_add`] work in place, as those of `PyTorch`, and record no gradient. What differs:
//!
//! - The greatest id of its type is out of range, as any other; candle takes it for a row of zeros, or for nothing to
//!   add.
//! - Ids of any rank are taken, and rows of any rank.
//! - Sums of `f16` and `bf16` are made in `f32` and rounded once; candle rounds each step.
//! - Gradients have no gradients of their own.

use candle_core::{CpuStorage, CustomOp2, Error, InplaceOp3, Layout, Result, Shape, Tensor, bail};
use gather_core::{
    AdjointAttributes, Gather, GatherElements, GatherOperator, IndexAttributes, NegativeIndex, ScatterOperator, View,
    ViewMut, zeros,
};

/// Rows of `data` along `dim`, by a list of ids, as [`Tensor::index_select`].
///
/// # Errors
/// Those of the operator, and of types that candle has and this library has not.
pub fn index_select(data: &Tensor, ids: &Tensor, dim: usize) -> Result<Tensor> {
    data.apply_op2(ids, Take(strict(Gather::new(dim as i64))))
}

/// Rows of a table by ids of any shape, as [`Tensor::embedding`].
///
/// # Errors
/// As for [`index_select`].
pub fn embedding(table: &Tensor, ids: &Tensor) -> Result<Tensor> {
    index_select(table, ids, 0)
}

/// Elements along `dim`, as [`Tensor::gather`].
///
/// # Errors
/// As for [`index_select`].
pub fn gather(data: &Tensor, ids: &Tensor, dim: usize) -> Result<Tensor> {
    data.apply_op2(ids, Take(strict(GatherElements::new(dim as i64))))
}

/// Adds rows of `source` to those of `data` that `ids` name along `dim`, in place: `index_add_` of PyTorch.
///
/// # Errors
/// As for [`index_select`]. Nothing is added then.
pub fn index_add(data: &Tensor, ids: &Tensor, source: &Tensor, dim: usize) -> Result<()> {
    data.inplace_op3(ids, source, &Add(strict(Gather::new(dim as i64)).adjoint()))
}

/// Adds elements of `source` to those of `data` that `ids` name along `dim`, in place: `scatter_add_` of PyTorch.
///
/// # Errors
/// As for [`index_select`]. Nothing is added then.
pub fn scatter_add(data: &Tensor, ids: &Tensor, source: &Tensor, dim: usize) -> Result<()> {
    data.inplace_op3(ids, source, &Add(strict(GatherElements::new(dim as i64)).adjoint()))
}

/// The operator without negative ids, which candle refuses.
fn strict<A: IndexAttributes>(op: GatherOperator<A>) -> GatherOperator<A> {
    op.negative_index(NegativeIndex::Reject)
}

/// A gather.
struct Take<A>(GatherOperator<A>);

/// The gradient of its data, which has this shape.
struct Adjoint<A>(ScatterOperator<AdjointAttributes<A>>, Shape);

/// The same, added to a tensor.
struct Add<A>(ScatterOperator<AdjointAttributes<A>>);

/// A view of a tensor, whatever its strides.
fn view<'a, T>(values: &'a [T], layout: &Layout) -> Result<View<'a, T>> {
    let strides: Vec<isize> = layout.stride().iter().map(|&stride| stride as isize).collect();
    View::strided(values, layout.dims(), &strides, layout.start_offset()).map_err(Error::wrap)
}

/// Calls `$run` with a view of ids of each type that candle takes.
macro_rules! by_ids {
    ($storage:expr, $layout:expr, |$ids:ident| $run:expr) => {
        by_ids!(@ $storage, $layout, $ids, $run, U8 U32 I32 I64)
    };
    (@ $storage:expr, $layout:expr, $ids:ident, $run:expr, $($variant:ident)*) => {
        match $storage {
            $(CpuStorage::$variant(ids) => {
                let $ids = &view(ids, $layout)?;
                $run.map_err(Error::wrap)?
            })*
            _ => bail!("ids are u8, u32, i32 or i64"),
        }
    };
}

/// Runs `$run` for values of each type that is moved and added, which makes a tensor of that type.
macro_rules! by_type {
    ($storage:expr, |$values:ident| $run:expr) => {
        by_type!(@ $storage, $values, $run, U8 U32 I16 I32 I64 BF16 F16 F32 F64)
    };
    (@ $storage:expr, $values:ident, $run:expr, $($variant:ident)*) => {
        match $storage {
            $(CpuStorage::$variant($values) => {
                let out = $run;
                let shape = Shape::from(out.shape());
                Ok((CpuStorage::$variant(out.into_vec()), shape))
            })*
            _ => bail!("no gather of this type"),
        }
    };
}

impl<A: IndexAttributes + Clone + Send + Sync + 'static> CustomOp2 for Take<A> {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn cpu_fwd(&self, data: &CpuStorage, l: &Layout, ids: &CpuStorage, ids_l: &Layout) -> Result<(CpuStorage, Shape)> {
        by_type!(data, |values| by_ids!(ids, ids_l, |ids| self.0.run(&view(values, l)?, ids)))
    }

    fn bwd(&self, data: &Tensor, ids: &Tensor, _: &Tensor, grad: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let adjoint = Adjoint(self.0.clone().adjoint(), data.shape().clone());
        Ok((Some(grad.apply_op2_no_bwd(ids, &adjoint)?), None))
    }
}

impl<A: IndexAttributes> CustomOp2 for Adjoint<A> {
    fn name(&self) -> &'static str {
        "gather-adjoint"
    }

    fn cpu_fwd(&self, grad: &CpuStorage, l: &Layout, ids: &CpuStorage, ids_l: &Layout) -> Result<(CpuStorage, Shape)> {
        let Adjoint(op, shape) = self;
        by_type!(grad, |values| by_ids!(ids, ids_l, |ids| op.run(
            &zeros(shape.dims()).map_err(Error::wrap)?,
            ids,
            &view(values, l)?
        )))
    }
}

impl<A: IndexAttributes> InplaceOp3 for Add<A> {
    fn name(&self) -> &'static str {
        "gather-add"
    }

    fn cpu_fwd(
        &self,
        out: &mut CpuStorage,
        l: &Layout,
        ids: &CpuStorage,
        ids_l: &Layout,
        source: &CpuStorage,
        source_l: &Layout,
    ) -> Result<()> {
        let strides: Vec<isize> = l.stride().iter().map(|&stride| stride as isize).collect();
        macro_rules! by_type {
            ($($variant:ident)*) => {
                match (out, source) {
                    $((CpuStorage::$variant(out), CpuStorage::$variant(source)) => {
                        let out = ViewMut::strided(out, l.dims(), &strides, l.start_offset());
                        let (mut out, source) = (out.map_err(Error::wrap)?, view(source, source_l)?);
                        by_ids!(ids, ids_l, |ids| self.0.run_on(&mut out, ids, &source));
                    })*
                    _ => bail!("no sums of these types"),
                }
            };
        }
        by_type!(U8 U32 I16 I32 I64 BF16 F16 F32 F64);
        Ok(())
    }
}
