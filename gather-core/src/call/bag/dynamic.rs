//! EmbeddingBag on tensors whose types are known at run time.

use crate::call::bag::EmbeddingBag;
use crate::call::bag::erased::{self, Erased, Request, Tensors};
use crate::call::dynamic::{check_dtype, index_type};
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::types::error::Error;

/// As [`Bags`](crate::Bags), of types that are known at run time.
#[derive(Clone, Copy, Debug)]
pub struct DynBags<'a> {
    indices: &'a DynView<'a>,
    offsets: Option<&'a DynView<'a>>,
    weights: Option<&'a DynView<'a>>,
}

impl<'a> DynBags<'a> {
    /// Bags of any lengths, as [`Bags::new`](crate::Bags::new).
    #[must_use]
    pub fn new(indices: &'a DynView<'a>, offsets: &'a DynView<'a>) -> Self {
        DynBags { indices, offsets: Some(offsets), weights: None }
    }

    /// Bags of one length, as [`Bags::packed`](crate::Bags::packed).
    #[must_use]
    pub fn packed(indices: &'a DynView<'a>) -> Self {
        DynBags { indices, offsets: None, weights: None }
    }

    /// The same bags, with a weight for each index.
    #[must_use]
    pub fn weights(self, weights: &'a DynView<'a>) -> Self {
        DynBags { weights: Some(weights), ..self }
    }
}

impl<'a> From<&'a DynView<'_>> for Erased<'a> {
    fn from(view: &'a DynView<'_>) -> Self {
        Erased { origin: view.origin(), layout: view.layout() }
    }
}

impl EmbeddingBag {
    /// Runs the operator on tensors whose types are known at run time.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices and for offsets, [`Error::DTypeMismatch`] for weights, then as for
    /// [`Self::run`].
    pub fn run_dyn(&self, data: &DynView<'_>, bags: &DynBags<'_>) -> Result<DynTensor, Error> {
        let (request, tensors) = self.dyn_request(data, bags)?;
        // SAFETY: the tensors are views of these types.
        let plan = unsafe { request.plan(&tensors) }?;
        let write = |out: *mut u8| {
            // SAFETY: X1: the plan was made for these layouts and types; the memory is fresh, row-major, long enough.
            unsafe { erased::run(&plan, &tensors, out) }
        };
        // SAFETY: a run that succeeds has initialised every element of its output (X3) with values of the data type.
        unsafe { DynTensor::fill(data.dtype(), plan.output(), write) }
    }

    /// As [`Self::run_dyn`], into a given output of any strides.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], with [`Error::DTypeMismatch`] for the output too, and [`Error::ShapeMismatch`] after
    /// errors of shapes. The output is then as after [`Self::run_into`].
    pub fn run_dyn_into(&self, data: &DynView<'_>, bags: &DynBags<'_>, out: &mut DynViewMut<'_>) -> Result<(), Error> {
        let (request, tensors) = self.dyn_request(data, bags)?;
        check_dtype(data.dtype(), out.dtype())?;
        // SAFETY: the tensors are views of these types; a mutable view may be written along its layout as elements of
        // its data type, and being borrowed mutably it overlaps no input.
        unsafe { request.run_into(&tensors, (out.origin(), out.layout())) }
    }

    fn dyn_request<'a>(
        &'a self,
        data: &'a DynView<'_>,
        bags: &DynBags<'a>,
    ) -> Result<(Request<'a>, Tensors<'a>), Error> {
        let index = index_type(bags.indices.dtype())?;
        let offsets = bags.offsets.map(|offsets| Ok((offsets.into(), index_type(offsets.dtype())?))).transpose()?;
        bags.weights.map_or(Ok(()), |weights| check_dtype(data.dtype(), weights.dtype()))?;
        let request = Request::erased(self, (data.dtype(), index))?;
        let (data, indices, weights) = (data.into(), bags.indices.into(), bags.weights.map(Into::into));
        Ok((request, Tensors { data, indices, offsets, weights, params: core::ptr::null() }))
    }
}
