//! Gather with a map: methods that convert each element on its way.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::alloc_out;
use crate::element::{Element, bytes_of};
use crate::error::Error;
use crate::exec::{self, Conversion, Operands};
use crate::index::Index;
use crate::map::{Erased, MOST, Map, Params};
use crate::ops::Gather;
use crate::ops::face::{IndexOperator, check_output};
use crate::plan::{IndexLowered, MapPlan, Sizes};
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use crate::view::{View, ViewMut};

impl Gather {
    /// Gathers, and converts each element on its way by a [`Map`]: the result has the map's output type, and is what
    /// converting the result of [`Gather::run`] would give, to the bit, in one pass over the bytes.
    ///
    /// `params` is a tuple with a [`Param`](crate::Param) for each parameter of the map: one value for the call, or one
    /// for each row of the table, that is, for each position along the axis. Shapes, negative indices and indices out of
    /// range are as for [`Gather::run`]; [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes the zero of the output
    /// type, unconverted. The map may be called for elements whose results are not kept.
    ///
    /// # Errors
    /// Errors of attributes and shapes, [`Error::MapParameterLength`], [`Error::LevelUnavailable`],
    /// [`Error::TooManyBytes`], [`Error::StrategyUnavailable`] for any strategy but
    /// [`Direct`](crate::Strategy::Direct), [`Error::Allocation`], then [`Error::IndexOutOfRange`] for the first such
    /// index in row-major order.
    ///
    /// # Panics
    /// When the map does.
    ///
    /// # Cost
    /// One pass over the indices and one over the bytes of the result, one allocation. A run of elements that is contiguous
    /// in data and in the result is converted by one loop, compiled for the level.
    ///
    /// # Examples
    /// Two rows of a table that is stored in bytes, with a scale for each row and one zero point:
    /// ```
    /// use gather_core::{Gather, Param, View, maps};
    ///
    /// let table = [128u8, 130, 126, 255, 0, 128];
    /// let scales = [0.5f32, 0.25, 2.0];
    /// let rows = Gather::new(0).run_map(
    ///     &maps::DEQUANTIZE_U8,
    ///     &View::new(&table, &[3, 2])?,
    ///     &View::new(&[2i64, 0], &[2])?,
    ///     (Param::PerRow(&scales), Param::Value(128)),
    /// )?;
    /// assert_eq!(rows.as_slice(), [-256.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), gather_core::Error>(())
    /// ```
    pub fn run_map<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
    ) -> Result<Tensor<U>, Error> {
        let (zero, lookups) = (U::ZERO, P::lookups(&params));
        let call = Call::new(self, map, data, indices, P::rows(&params), &lookups, &zero);
        let mut values = Vec::new();
        let mut room = 0;
        let mut allocate = |len| {
            values = alloc_out::reserve::<U>(len)?;
            room = len;
            Ok(values.as_mut_ptr().cast())
        };
        // SAFETY: the memory is fresh, aligned for the output's type, and has room for `len` elements.
        let shape = unsafe { call.run_allocated(&mut allocate) }?;
        // SAFETY: there is room for so many elements, and the run has written every element of the result (X3).
        unsafe { values.set_len(room) };
        Ok(Tensor::from_parts(values, shape))
    }

    /// As [`Gather::run_map`], into a given output of any strides. Allocates nothing.
    ///
    /// # Errors
    /// As for [`Gather::run_map`], and [`Error::OutputShape`] before the levels. The output is untouched but for
    /// [`Error::IndexOutOfRange`]: it then holds a mix of results and what it held before.
    ///
    /// # Panics
    /// When the map does; the output then holds a mix of results and what it held before.
    pub fn run_map_into<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut ViewMut<'_, U>,
    ) -> Result<(), Error> {
        let (zero, lookups) = (U::ZERO, P::lookups(&params));
        let call = Call::new(self, map, data, indices, P::rows(&params), &lookups, &zero);
        // SAFETY: a mutable view may be written along its layout, and being borrowed mutably it overlaps no input.
        unsafe { call.run_given(out.origin().cast(), out.layout()) }
    }

    /// As [`Gather::run_map`], into memory that holds no values yet. On success every element of the output is
    /// initialised. Allocates nothing.
    ///
    /// # Errors
    /// As for [`Gather::run_map_into`]; after an error nothing may be assumed of the output.
    ///
    /// # Panics
    /// When the map does; nothing may be assumed of the output then.
    pub fn run_map_uninit<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut ViewMut<'_, MaybeUninit<U>>,
    ) -> Result<(), Error> {
        let (zero, lookups) = (U::ZERO, P::lookups(&params));
        let call = Call::new(self, map, data, indices, P::rows(&params), &lookups, &zero);
        // SAFETY: as in `run_map_into`.
        unsafe { call.run_given(out.origin().cast(), out.layout()) }
    }
}

/// A call without its types.
struct Call<'a> {
    gather: &'a Gather,
    map: Erased,
    sizes: Sizes,
    data: *const u8,
    data_layout: &'a Layout,
    indices: *const u8,
    indices_layout: &'a Layout,
    /// The lengths of the parameters that are given per row.
    rows: [Option<usize>; MOST],
    /// The lookups of the parameters, which live for `'a`.
    params: *const (),
    /// An element of the output for indices out of range.
    fill: &'a [u8],
}

impl<'a> Call<'a> {
    /// Invariant: the pointers are those of views (V1) of the map's input and of the index type, and of lookups of the
    /// map's parameters with these lengths.
    fn new<T: Element, U: Element, P: Params, I: Index>(
        gather: &'a Gather,
        map: &Map<T, U, P>,
        data: &'a View<'_, T>,
        indices: &'a View<'_, I>,
        rows: [Option<usize>; MOST],
        lookups: &'a P::Lookups<'_>,
        zero: &'a U,
    ) -> Self {
        Call {
            gather,
            map: map.erased(),
            sizes: Sizes { data: size_of::<T>(), out: size_of::<U>(), index: I::TYPE },
            data: data.origin().cast(),
            data_layout: data.layout(),
            indices: indices.origin().cast(),
            indices_layout: indices.layout(),
            rows,
            params: core::ptr::from_ref(lookups).cast(),
            fill: bytes_of(zero),
        }
    }

    /// Checks attributes and parameters against the shapes.
    fn lower(&self) -> Result<IndexLowered, Error> {
        let mut lowered = IndexLowered::new(Gather::OP);
        self.gather.lower(self.data_layout, self.indices_layout, &mut lowered)?;
        for axis in &lowered.axes {
            for (&parameter, len) in self.map.params.iter().zip(self.rows) {
                if let Some(len) = len.filter(|&len| len != axis.dim) {
                    let (op, map) = (Gather::OP, self.map.name);
                    return Err(Error::MapParameterLength { op, map, parameter, len, axis: axis.axis, dim: axis.dim });
                }
            }
        }
        Ok(lowered)
    }

    fn plan(&self, lowered: &IndexLowered, out: &Layout) -> Result<MapPlan, Error> {
        MapPlan::new_map(lowered, self.sizes, out, self.gather.rules(), self.gather.tuning())
    }

    /// Runs into a given output.
    ///
    /// # Safety
    /// `out` is aligned for the map's output, may be written along its layout, and overlaps no input.
    #[inline(never)]
    unsafe fn run_given(&self, out: *mut u8, out_layout: &Layout) -> Result<(), Error> {
        let lowered = self.lower()?;
        check_output(Gather::OP, &lowered.output, out_layout.shape())?;
        let plan = self.plan(&lowered, out_layout)?;
        // SAFETY: the plan was made for these layouts and sizes; the rest is the caller's promise.
        unsafe { self.execute(&plan, out) }
    }

    /// Runs into memory for as many elements as `allocate` is asked for; returns the shape.
    ///
    /// # Safety
    /// The memory is fresh, aligned for the map's output, and has room for them.
    #[inline(never)]
    unsafe fn run_allocated(&self, allocate: &mut dyn FnMut(usize) -> Result<*mut u8, Error>) -> Result<Shape, Error> {
        let lowered = self.lower()?;
        let out = Layout::contiguous(&lowered.output)?;
        let plan = self.plan(&lowered, &out)?;
        let memory = allocate(out.len())?;
        // SAFETY: the plan was made for these layouts and sizes; the rest is the caller's promise.
        unsafe { self.execute(&plan, memory) }?;
        Ok(lowered.output)
    }

    /// Runs a plan.
    ///
    /// # Safety
    /// The plan was made by [`Call::plan`] for what [`Call::lower`] returned and for the layout of `out`, which is as
    /// [`Call::run_given`] wants it.
    unsafe fn execute(&self, plan: &MapPlan, out: *mut u8) -> Result<(), Error> {
        let operands =
            Operands { out, data: self.data, index: self.indices, indices: self.indices_layout, fill: self.fill };
        let conversion = Conversion { mover: self.map.mover(plan.level), params: self.params, size: self.sizes.out };
        // SAFETY: views are aligned and may be read along their layouts (V1); the output is the caller's promise; the
        // mover is the map's at the plan's level, and its lookups, which are `Sync`, have been checked to reach a value
        // for every position along the axis.
        unsafe { exec::run_map(plan, &conversion, &operands) }
    }
}
