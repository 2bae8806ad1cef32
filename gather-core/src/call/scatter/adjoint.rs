//! Adjoints: the way back of the gathers.

use alloc::vec::Vec;

use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::scatter::erased::{Attributes, Settings, Types};
use crate::call::scatter::{DynScatterPlan, ScatterPlan};
use crate::call::source::kind::index_type;
use crate::kernels::registry::Registry;
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::tensor::output::{DynOutput, Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::typing::{Any, Input, Typing};
use crate::tensor::view::{View, ViewMut};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::reduction::Reduction;

impl<A: IndexAttributes> IndexOperator<A> {
    /// The gradient of data, given the gradient of the result. It has the shape of data; each element is the sum of the
    /// gradients of its copies. As a linear map it is the transpose of [`Self::run`].
    ///
    /// Terms are added in row-major order of the gradient, which has the shape of the result: the sum is the same, to
    /// the bit, for any number of threads. `f16` and `bf16` are added in `f32`, and rounded once for each element.
    /// Gradients of rows filled by [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) are dropped; those of clamped or
    /// wrapped indices go to the row that was read.
    ///
    /// Cost: zeros of the shape of data, then one pass over indices and gradient. Allocates the result, and the scratch
    /// of the method.
    ///
    /// Of a [`Gather`](crate::Gather) along axis 0 this is `index_add_` of PyTorch, and what TensorFlow does with
    /// IndexedSlices; of [`GatherElements`](crate::GatherElements) it is `scatter_add_`.
    ///
    /// ```
    /// use gather_core::{Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // Rows 2, 0 and 2 of a table of three rows were used.
    ///     let (ids, gradient) = ([2u32, 0, 2], [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    ///     let (ids, gradient) = (View::new(&ids, &[3])?, View::new(&gradient, &[3, 2])?);
    ///     let table = Gather::new(0).adjoint(&[3, 2], &ids, &gradient)?;
    ///     assert_eq!(table.as_slice(), [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`] for what cannot be added, [`Error::TooManyElements`], errors of attributes and
    /// shapes, [`Error::ShapeMismatch`] for the gradient, [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
    /// [`Error::MethodUnavailable`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    #[doc(alias("index_add", "scatter_add", "gradient", "backward", "transpose"))]
    pub fn adjoint<T: Element, I: Index>(
        &self,
        data: &[usize],
        indices: &View<'_, I>,
        gradient: &View<'_, T>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.adjoint_into(data, indices, gradient, out))
    }

    /// As [`Self::adjoint`], into an [`Output`] of the shape of data, whatever it holds: a view of any strides,
    /// uninitialised memory, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`Self::adjoint`], and [`Error::ShapeMismatch`] for a view after errors of shapes. On an error a view is
    /// untouched.
    pub fn adjoint_into<T: Element, I: Index>(
        &self,
        data: &[usize],
        indices: &View<'_, I>,
        gradient: &View<'_, T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        self.backwards().run_on_zeros(Types::<T, I>::known(), data, indices, gradient, out)
    }

    /// As [`Self::adjoint`], for types that are known at run time, with the kernels that [`Self::adjoint_dyn_on`]
    /// takes.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::UnknownDType`], then as for [`Self::adjoint`].
    pub fn adjoint_dyn(
        &self,
        registry: &Registry,
        data: &[usize],
        indices: &DynView<'_>,
        gradient: &DynView<'_>,
    ) -> Result<DynTensor, Error> {
        written(DynTensor::empty(gradient.dtype()), |out| self.adjoint_dyn_into(registry, data, indices, gradient, out))
    }

    /// As [`Self::adjoint_dyn`], into a [`DynOutput`] of the shape of data, whatever it holds.
    ///
    /// # Errors
    /// As for [`Self::adjoint_dyn`], for a view with [`Error::DTypeMismatch`] after [`Error::NotAnIndexType`], and
    /// [`Error::ShapeMismatch`] after errors of shapes. On an error a view is untouched.
    pub fn adjoint_dyn_into(
        &self,
        registry: &Registry,
        data: &[usize],
        indices: &DynView<'_>,
        gradient: &DynView<'_>,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        let types = self.dyn_types(registry, gradient.dtype(), index_type(indices.dtype())?);
        self.backwards().run_on_zeros(types, data, indices, gradient, out)
    }

    /// As [`Self::adjoint`], and adds to a tensor of the shape of data, of any strides: the gradients of several
    /// batches.
    ///
    /// # Errors
    /// As for [`Self::adjoint`]. All indices are checked before anything is written: on an error the tensor is
    /// untouched.
    #[doc(alias("index_add_", "scatter_add_"))]
    pub fn adjoint_on<T: Element, I: Index>(
        &self,
        destination: &mut ViewMut<'_, T>,
        indices: &View<'_, I>,
        gradient: &View<'_, T>,
    ) -> Result<(), Error> {
        self.backwards().run_on(Types::<T, I>::known(), destination, indices, gradient)
    }

    /// As [`Self::adjoint_on`], for types that are known at run time, with the kernels of a registry: those of
    /// `scatter_elements` for [`GatherElements`](crate::GatherElements), and of `scatter_nd` for the others.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::DTypeMismatch`], [`Error::UnknownDType`], then as for [`Self::adjoint_on`].
    pub fn adjoint_dyn_on(
        &self,
        registry: &Registry,
        destination: &mut DynViewMut<'_>,
        indices: &DynView<'_>,
        gradient: &DynView<'_>,
    ) -> Result<(), Error> {
        let types = self.dyn_types(registry, destination.dtype(), index_type(indices.dtype())?);
        self.backwards().run_on(types, destination, indices, gradient)
    }

    /// Makes a plan: it does the shape-dependent work once, and adds gradients of one layout to tensors of another, by
    /// its [`run_on`](ScatterPlan::run_on).
    ///
    /// # Errors
    /// As for [`Self::adjoint`], without those of memory and index values.
    pub fn plan_adjoint<T: Element, I: Index>(
        &self,
        destination: &Layout,
        indices: &Layout,
        gradient: &Layout,
    ) -> Result<ScatterPlan<T, I>, Error> {
        ScatterPlan::new(&self.backwards().request(Types::<T, I>::known(), indices, gradient)?, destination)
    }

    /// As [`Self::plan_adjoint`], for types that are known at run time, with the kernels that
    /// [`Self::adjoint_dyn_on`] takes.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::plan_adjoint`].
    pub fn plan_adjoint_dyn(
        &self,
        registry: &Registry,
        dtype: DType,
        destination: &Layout,
        index: IndexType,
        indices: &Layout,
        gradient: &Layout,
    ) -> Result<DynScatterPlan, Error> {
        let types = self.dyn_types(registry, dtype, index);
        ScatterPlan::new(&self.backwards().request(types, indices, gradient)?, destination)
    }

    /// As [`Self::plan_adjoint`], for any size of the first dimension of indices and of the gradient, which are equal.
    /// The size that the layouts have is what calls are expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan_adjoint`], and [`Error::FixedCount`] as for
    /// [`ScatterOperator::plan_any_count`](crate::ScatterOperator::plan_any_count).
    pub fn plan_adjoint_any_count<T: Element, I: Index>(
        &self,
        destination: &Layout,
        indices: &Layout,
        gradient: &Layout,
    ) -> Result<ScatterPlan<T, I>, Error> {
        ScatterPlan::new_any_count(&self.backwards().request(Types::<T, I>::known(), indices, gradient)?, destination)
    }

    fn dyn_types(&self, registry: &Registry, dtype: DType, index: IndexType) -> Types<Any, Any> {
        Types::erased(registry, self.attributes().op(), dtype, index)
    }

    /// The operator run the other way.
    fn backwards(&self) -> Settings<'_> {
        Settings {
            attributes: Attributes::Adjoint(self.attributes()),
            reduction: Reduction::Add,
            include_self: true,
            policy: self.policy(),
            options: self.options(),
        }
    }
}

/// A number of any built-in type, 0.
static ZERO: [u128; 2] = [0; 2];

impl Settings<'_> {
    /// As [`Settings::run_into`], on zeros of a shape.
    ///
    /// # Errors
    /// After those of the request [`Error::TooManyElements`], and [`Error::AllocationFailed`] for an element of many
    /// numbers.
    fn run_on_zeros<T: Typing, I: Typing>(
        self,
        types: Types<T, I>,
        shape: &[usize],
        indices: &impl Input<I>,
        updates: &impl Input<T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let (tensors, out) = (types.read(indices, updates)?, out.target_of(types.dtype())?);
        let request = self.request(types, indices.layout(), updates.layout())?;
        let everywhere = Layout::strided(shape, &[0].repeat(shape.len()))?;
        let size = types.dtype().size();
        let many: Vec<u8> = if size <= size_of_val(&ZERO) { Vec::new() } else { memory::zeros(size)? };
        let zero = if many.is_empty() { ZERO.as_ptr().cast() } else { many.as_ptr() };
        // SAFETY: as in `run_into`; every coordinate of data is `zero`, whose bytes are a number of any built-in type,
        // or as many as make an element: no others are added.
        unsafe { request.run((zero, &everywhere), tensors, out) }
    }
}
