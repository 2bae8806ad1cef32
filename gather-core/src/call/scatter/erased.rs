//! A scatter without its types: what every door of the scatters makes, and the one pipeline behind it.
//!
//! ```text
//! lower (attributes against shapes)  ->  plan (loops, method, kernel)  ->  check indices, copy data, run
//! ```

use core::marker::PhantomData;

use crate::call::gather::IndexAttributes;
use crate::call::scatter::ScatterAttributes;
use crate::call::{check_output, other_count};
use crate::exec::{self, Check, Original, ScatterOperands};
use crate::kernels::reduce::reducer::Reducer;
use crate::kernels::reduce::{Reductions, ScatterFns};
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::plan::{CountedReducePlan, Dim, IndexLowered, ReducePlan, ReduceRequest};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, Target};
use crate::tensor::typing::{Any, Input, Typing};
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::op::{Argument, Op};
use crate::types::policy::{IndexPolicy, Options};
use crate::types::reduction::Reduction;

/// The attributes of a scatter, or those of the gather whose adjoint it is.
#[derive(Clone, Copy)]
pub(super) enum Attributes<'a> {
    Scatter(&'a dyn ScatterAttributes),
    Adjoint(&'a dyn IndexAttributes),
}

impl Attributes<'_> {
    fn op(self) -> Op {
        match self {
            Attributes::Scatter(attributes) => attributes.op(),
            Attributes::Adjoint(attributes) => attributes.op(),
        }
    }

    /// Checks the attributes against the shapes.
    ///
    /// # Errors
    /// Those of the operator; [`Error::ShapeMismatch`] for a gradient that has not the shape of the gather's
    /// result.
    #[inline(always)]
    pub(super) fn lower(self, destination: &Layout, indices: &Layout, updates: &Layout) -> Result<IndexLowered, Error> {
        let mut lowered = IndexLowered::new(self.op());
        self.lower_into(destination, indices, updates, &mut lowered)?;
        Ok(lowered)
    }

    /// As [`Attributes::lower`], into what is empty.
    fn lower_into(
        self,
        destination: &Layout,
        indices: &Layout,
        updates: &Layout,
        lowered: &mut IndexLowered,
    ) -> Result<(), Error> {
        match self {
            Attributes::Scatter(attributes) => attributes.lower(destination, indices, updates, lowered),
            Attributes::Adjoint(attributes) => {
                attributes.lower(destination, indices, lowered)?;
                if lowered.output[..] == *updates.shape() {
                    return Ok(());
                }
                let (expected, got) = (lowered.output[..].into(), updates.shape().into());
                Err(Error::ShapeMismatch { op: lowered.op, argument: Argument::Updates, expected, got })
            }
        }
    }
}

/// The settings of an operator that hold for all its calls.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) attributes: Attributes<'a>,
    pub(super) reduction: Reduction,
    pub(super) include_self: bool,
    pub(super) policy: IndexPolicy,
    pub(super) options: Options,
}

/// The types of a call, known to the compiler or [`Any`], and the kernels for them.
///
/// Invariant Y1: `dtype`, `index`, the kernels and a reduction of the caller's own are those of `T` and `I`, where these
/// are known. Where they are [`Any`], there is no such reduction.
#[derive(Clone, Copy)]
pub(super) struct Types<T, I> {
    dtype: DType,
    index: IndexType,
    /// The built-in reductions of the type, or one of the caller's own.
    reductions: Reductions<ScatterFns>,
    own: Option<&'static ScatterFns>,
    /// `None` for a data type that a registry does not have.
    kernels: Option<Kernels>,
    types: PhantomData<fn(T, I)>,
}

impl<T: Element, I: Index> Types<T, I> {
    /// Types that are known to the compiler, which links no other kernels.
    #[inline(always)]
    pub(super) fn known() -> Self {
        const { IsElement::<T>::CHECK };
        let (reductions, kernels) = (Reductions::<ScatterFns>::of::<T>(), Some(Kernels::scatters_of::<I>()));
        Types { dtype: T::DTYPE, index: I::TYPE, reductions, own: None, kernels, types: PhantomData }
    }

    /// The same with a reduction of the caller's own.
    #[inline(always)]
    pub(super) fn reduced_by(reducer: &Reducer<T>) -> Self {
        Types { reductions: Reductions::NONE, own: Some(reducer.scatter_fns()), ..Self::known() }
    }
}

impl Types<Any, Any> {
    /// Types that are known at run time, with the kernels of a registry.
    pub(super) fn erased(registry: &Registry, op: Op, dtype: DType, index: IndexType) -> Self {
        let reductions = Reductions::<ScatterFns>::of_dtype(dtype);
        let kernels = registry.scatter_kernels(op, dtype, index);
        Types { dtype, index, reductions, own: None, kernels, types: PhantomData }
    }
}

impl<T: Typing, I: Typing> Types<T, I> {
    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where indices and updates of these types begin.
    #[inline(always)]
    pub(super) fn read(&self, indices: &impl Input<I>, updates: &impl Input<T>) -> Result<Tensors, Error> {
        indices.check(self.index.dtype())?;
        updates.check(self.dtype)?;
        Ok(Tensors { index: indices.start(), updates: updates.start() })
    }
}

impl<'a> Settings<'a> {
    /// Runs on a copy of data, in an output.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], those of [`Settings::request`], then those of [`Request::run`].
    #[inline(always)]
    pub(super) fn run_into<T: Typing, I: Typing>(
        self,
        types: Types<T, I>,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        updates: &impl Input<T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let (tensors, data) = (types.read(indices, updates)?, data.read(types.dtype)?);
        let out = out.target_of(types.dtype)?;
        let request = self.request(types, indices.layout(), updates.layout())?;
        // SAFETY: the tensors are of the request's types (`Input`, Y1) and layouts; O1; the output is borrowed mutably,
        // so that it overlaps no input.
        unsafe { request.run(data, tensors, out) }
    }

    /// Runs in place.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], those of [`Settings::request`], then those of [`Request::run_on`].
    #[inline(always)]
    pub(super) fn run_on<T: Typing, I: Typing>(
        self,
        types: Types<T, I>,
        destination: &mut T::ViewMut<'_>,
        indices: &impl Input<I>,
        updates: &impl Input<T>,
    ) -> Result<(), Error> {
        let (tensors, destination) = (types.read(indices, updates)?, T::write(destination, types.dtype)?);
        let request = self.request(types, indices.layout(), updates.layout())?;
        // SAFETY: the tensors are of the request's types (`Input`, `Typing`, Y1) and layouts; a mutable view may be
        // written along its layout, and overlaps no input. It holds values, or initialised bytes where the type is known
        // at run time: the built-in reductions take any, and by Y1 there is no other one then.
        unsafe { request.run_on(tensors, destination) }
    }

    /// A request for types, and for indices and updates of layouts.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], [`Error::ReductionUnavailable`].
    #[inline(always)]
    pub(super) fn request<T, I>(
        self,
        Types { dtype, index, reductions, own, kernels, .. }: Types<T, I>,
        indices: &'a Layout,
        updates: &'a Layout,
    ) -> Result<Request<'a>, Error> {
        let Settings { attributes, reduction, include_self, policy, options } = self;
        let op = attributes.op();
        let kernels = kernels.ok_or(Error::UnknownDType { op, dtype })?;
        let found = own.map_or_else(|| reductions.scatters(reduction), |own| Some((own, 1)));
        let (reducer, values) = found.ok_or(Error::ReductionUnavailable { op, reduction, dtype: Some(dtype) })?;
        // What is replaced does not count in any case.
        let include_self = include_self || (own.is_none() && reduction == Reduction::None);
        let planned = ReduceRequest { op, dtype, index, kernels, reducer, values, include_self, policy, options };
        Ok(Request { attributes, planned, indices, updates })
    }
}

/// The call to plan, without its types.
pub(super) struct Request<'a> {
    attributes: Attributes<'a>,
    pub(super) planned: ReduceRequest,
    pub(super) indices: &'a Layout,
    pub(super) updates: &'a Layout,
}

/// Where indices and updates begin.
#[derive(Clone, Copy)]
pub(super) struct Tensors {
    pub(super) index: *const u8,
    pub(super) updates: *const u8,
}

impl Tensors {
    /// With the destination and the layout of the indices.
    pub(super) fn operands(self, destination: *mut u8, indices: &Layout) -> ScatterOperands<'_> {
        ScatterOperands { destination, updates: self.updates, index: self.index, indices }
    }
}

impl<'a> Request<'a> {
    /// Plans for a destination.
    ///
    /// # Errors
    /// Those of the operator and of [`ReducePlan::new`].
    #[inline(always)]
    pub(super) fn plan(&self, destination: &Layout) -> Result<ReducePlan, Error> {
        let mut lowered = IndexLowered::new(self.planned.op);
        self.attributes.lower_into(destination, self.indices, self.updates, &mut lowered)?;
        ReducePlan::new(&lowered, &self.planned, destination, self.updates)
    }

    /// A plan for a destination with any size of the first dimension of indices and updates.
    ///
    /// # Errors
    /// [`Error::FixedCount`].
    pub(super) fn counted(&self, plan: &ReducePlan, destination: &Layout) -> Result<CountedReducePlan, Error> {
        let fixed = || Error::FixedCount { op: plan.op() };
        let resized = |layout: &Layout, count| layout.resized(count).ok_or_else(fixed)?;
        let both = |count| Ok::<_, Error>((resized(self.indices, count)?, resized(self.updates, count)?));
        let plan_for = |count| {
            let (indices, updates) = both(count)?;
            Request { indices: &indices, updates: &updates, ..*self }.plan(destination)
        };
        let (&[expected, ..], &[update, ..]) = (self.indices.shape(), self.updates.strides()) else {
            return Err(fixed());
        };
        // A dimension that is tied to one of data has no other size.
        let other = other_count(expected);
        let (indices, updates) = both(other)?;
        let lowered = self.attributes.lower(destination, &indices, &updates).map_err(|_| fixed())?;
        let size = |n: usize| n as isize;
        let changes = ReducePlan::changes(&lowered, self.planned.policy);
        // Indices without elements are counted only where nothing is changed by them.
        let counted = |dim: &Dim| dim.n == other && (dim.index != 0 || indices.is_empty() && !changes);
        match lowered.dims.first() {
            Some(&dim) if lowered.merged == 1 && counted(&dim) => {
                let index = dim.index.wrapping_mul(size(self.planned.index.size()));
                let strides = (index, update.wrapping_mul(size(self.planned.dtype.size())));
                CountedReducePlan::new(plan_for, (plan.op(), expected, changes), dim, strides)
            }
            _ => Err(fixed()),
        }
    }

    /// Runs in place.
    ///
    /// # Errors
    /// Those of [`Request::plan`] and of the run. The destination is untouched then.
    ///
    /// # Safety
    /// Indices and updates may be read along the request's layouts as values of its types. The destination may be read
    /// and written along its layout, overlaps neither, and holds values of the data type, or bytes where that takes
    /// any.
    pub(super) unsafe fn run_on(
        &self,
        tensors: Tensors,
        (destination, layout): (*mut u8, &Layout),
    ) -> Result<(), Error> {
        // Not moved out of the result: to move hundreds of bytes takes as long as a short call.
        let planned = self.plan(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        // SAFETY: X1: the plan was made for these layouts and types; the rest is the caller's promise.
        unsafe { exec::run_scatter(plan, tensors.operands(destination, self.indices), Check::First, None) }
    }

    /// Runs on a copy of data, in an output.
    ///
    /// # Errors
    /// As for [`Request::run_on`], with [`Error::ShapeMismatch`] for a fixed output after errors of shapes.
    ///
    /// # Safety
    /// Data, indices and updates may be read along their layouts as values of the request's types. O1 for its data
    /// type; a fixed output overlaps no input.
    pub(super) unsafe fn run(
        &self,
        data: (*const u8, &Layout),
        tensors: Tensors,
        out: Target<'_>,
    ) -> Result<(), Error> {
        let row_major;
        let (layout, check) = match &out {
            Target::Fixed(_, layout) => {
                if layout.shape() != data.1.shape() {
                    // Errors of attributes and shapes come first.
                    let lowered = self.attributes.lower(data.1, self.indices, self.updates)?;
                    check_output(lowered.op, data.1.shape(), layout.shape())?;
                }
                (*layout, Check::First)
            }
            Target::Resized(_) => {
                row_major = Layout::contiguous(data.1.shape())?;
                (&row_major, Check::OnTheWay)
            }
        };
        let planned = self.plan(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        let original = Original::new(&self.planned, data, layout);
        let run = |out| {
            let operands = tensors.operands(out, self.indices);
            // SAFETY: X1: the plan was made for these layouts and types; data has the destination's shape, as just
            // checked; memory that is not fixed is fresh and row-major; the rest is the caller's promise.
            unsafe { exec::run_scatter(plan, operands, check, Some(&original)) }
        };
        // SAFETY: a run that succeeds has copied every element.
        unsafe { out.write(|| Ok((layout.shape(), layout.len())), run) }
    }
}
