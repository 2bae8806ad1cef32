//! NumPy arrays as views.

use gather_core::{DType, DynView, DynViewMut, Element, Error, Layout};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, PY_ARRAY_API, PyArrayObject_fields};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::python;

/// An array that is read.
///
/// The interpreter is let go while a call runs. As with NumPy's own functions, no thread may write to the arrays of a
/// call meanwhile, nor resize them.
pub(crate) struct Input<'py> {
    array: Bound<'py, PyUntypedArray>,
    dtype: DType,
    layout: Layout,
}

impl<'py> Input<'py> {
    /// Data. An array whose strides are no whole elements is copied.
    pub(crate) fn data(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        Self::new("data", array)
    }

    /// Updates, or weights. They are copied where data would be.
    pub(crate) fn updates(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        Self::new("updates", array)
    }

    /// Indices: integers, and no bool, which is a mask to NumPy.
    pub(crate) fn indices(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let indices = Self::new("indices", array)?;
        if is_bool(array) { Err(python(Error::NotAnIndexType { dtype: bool::DTYPE })) } else { Ok(indices) }
    }

    fn new(name: &str, array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let dtype = dtype_of(name, array)?;
        if let Some(layout) = layout_of(array, dtype)? {
            return Ok(Input { array: array.clone(), dtype, layout });
        }
        let array = array.call_method0("copy")?.cast_into::<PyUntypedArray>()?;
        let layout = Layout::contiguous(array.shape()).map_err(python)?;
        Ok(Input { array, dtype, layout })
    }

    /// The data type. NumPy's bool is `u8`, because its bytes may hold any value, and they are moved as they are.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Shape and strides in elements.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements.
    pub(crate) fn view(&self) -> DynView<'_> {
        let origin = fields(&self.array).data.cast_const().cast::<u8>();
        // SAFETY: an array's memory holds the elements at all coordinates of its shape and strides, which are those of
        // the layout, for as long as `self` holds the array; nobody writes to it, see `Input`. Any bits are a value
        // of the types that `dtype_of` gives. `dangling` keeps null away.
        unsafe { DynView::from_raw_parts(self.dtype, dangling(origin.cast_mut()), self.layout.clone()) }
    }

    /// A fresh array of a shape and of this one's type, whose elements hold nothing of meaning.
    pub(crate) fn fresh(&self, shape: &[usize]) -> PyResult<Bound<'py, PyUntypedArray>> {
        let py = self.array.py();
        let mut dims: Vec<isize> = shape.iter().map(|&dim| dim as isize).collect();
        let rank = i32::try_from(dims.len()).map_err(|_| PyValueError::new_err("too many dimensions"))?;
        let descr = self.array.dtype().into_dtype_ptr();
        // SAFETY: `dims` has `rank` sizes; NumPy takes over the reference to the type that `into_dtype_ptr` gives up,
        // and checks the rest. It allocates with its own allocator, as it does for every array.
        let array = unsafe { PY_ARRAY_API.PyArray_Empty(py, rank, dims.as_mut_ptr(), descr, 0) };
        // SAFETY: it is a new reference, or null with an exception set.
        let array = unsafe { Bound::from_owned_ptr_or_err(py, array) }?;
        Ok(array.cast_into::<PyUntypedArray>()?)
    }
}

/// An array that is written.
pub(crate) struct Output<'py> {
    array: Bound<'py, PyUntypedArray>,
    dtype: DType,
    layout: Layout,
}

impl<'py> Output<'py> {
    /// An array of the type of data, the first input, that can be written, has each element once, and overlaps no
    /// input.
    pub(crate) fn new<'a>(
        array: &Bound<'py, PyUntypedArray>,
        inputs: impl Iterator<Item = &'a Input<'py>>,
    ) -> PyResult<Self>
    where
        'py: 'a,
    {
        let refused = |why: String| Err(PyValueError::new_err(format!("out: {why}")));
        let mut inputs = inputs.peekable();
        let data = *inputs.peek().expect("every call has data");
        let (own, theirs) = (array.dtype(), data.array.dtype());
        if !own.is_equiv_to(&theirs) {
            return refused(format!("elements of {own}, where data has {theirs}"));
        }
        let dtype = data.dtype;
        if fields(array).flags & NPY_ARRAY_WRITEABLE == 0 {
            return refused("the array is read-only".into());
        }
        let Some(layout) = layout_of(array, dtype)? else {
            return refused(format!("strides {:?} are not all multiples of {} bytes", array.strides(), dtype.size()));
        };
        if !is_disjoint(&layout) {
            return refused(format!("with strides {:?} two coordinates can share an element", array.strides()));
        }
        let bytes = extent(array);
        if inputs.any(|input| overlap(&bytes, &extent(&input.array))) {
            return refused("the array may share memory with an input".into());
        }
        Ok(Output { array: array.clone(), dtype, layout })
    }

    /// The elements.
    pub(crate) fn view(&mut self) -> DynViewMut<'_> {
        let origin = fields(&self.array).data.cast::<u8>();
        // SAFETY: as for inputs; the array is writeable, `new` has checked that no two coordinates share an element
        // and that no input shares memory with it, and nobody else uses it meanwhile, see `Input`.
        unsafe { DynViewMut::from_raw_parts(self.dtype, dangling(origin), self.layout.clone()) }
    }
}

/// Whether the elements are NumPy's bool.
pub(crate) fn is_bool(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().kind() == b'b'
}

/// What NumPy keeps of an array.
fn fields<'a>(array: &'a Bound<'_, PyUntypedArray>) -> &'a PyArrayObject_fields {
    // SAFETY: it is an array, and we are attached to the interpreter.
    let fields = unsafe { numpy::npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
    // SAFETY: the fields are part of the object, which the reference keeps alive.
    unsafe { &*fields }
}

/// The address, or another one that is not null where there is no memory.
fn dangling(origin: *mut u8) -> *mut u8 {
    if origin.is_null() { std::ptr::NonNull::dangling().as_ptr() } else { origin }
}

/// The data type of an array's elements.
fn dtype_of(name: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<DType> {
    let descr = array.dtype();
    let text = match (descr.kind(), descr.has_fields() || descr.has_subarray()) {
        (kind, false) => format!("{}{}{}", descr.byteorder() as char, kind as char, descr.itemsize()),
        _ => String::new(),
    };
    match DType::from_numpy(&text) {
        Some(dtype) if dtype == bool::DTYPE => Ok(u8::DTYPE),
        Some(dtype) => Ok(dtype),
        None => Err(PyValueError::new_err(format!("{name}: elements of {descr} are not supported"))),
    }
}

/// Shape and strides in elements; `None` where a stride is no whole number of them.
fn layout_of(array: &Bound<'_, PyUntypedArray>, dtype: DType) -> PyResult<Option<Layout>> {
    if array.is_c_contiguous() {
        return Layout::contiguous(array.shape()).map(Some).map_err(python);
    }
    let size = dtype.size() as isize;
    let strides = array.strides();
    if strides.iter().any(|stride| stride % size != 0) {
        return Ok(None);
    }
    let strides: Vec<isize> = strides.iter().map(|stride| stride / size).collect();
    Layout::strided(array.shape(), &strides).map(Some).map_err(python)
}

/// Whether no two coordinates share an element, as far as can be told stride by stride.
fn is_disjoint(layout: &Layout) -> bool {
    if layout.is_empty() {
        return true;
    }
    let dims = layout.shape().iter().zip(layout.strides()).filter(|&(&dim, _)| dim > 1);
    let mut dims: Vec<(usize, usize)> = dims.map(|(&dim, stride)| (stride.unsigned_abs(), dim)).collect();
    dims.sort_unstable();
    // The elements from the first to the last one that the dimensions so far reach.
    let mut reached = 1usize;
    dims.into_iter().all(|(stride, dim)| {
        let apart = stride >= reached;
        reached = reached.saturating_add(stride.saturating_mul(dim - 1));
        apart
    })
}

/// The addresses from an array's first byte to its last.
fn extent(array: &Bound<'_, PyUntypedArray>) -> std::ops::Range<usize> {
    let start = fields(array).data.addr();
    if array.is_empty() {
        return start..start;
    }
    let (mut first, mut last) = (start, start);
    for (&dim, &stride) in array.shape().iter().zip(array.strides()) {
        let reach = stride.wrapping_mul(dim as isize - 1);
        let end = if stride < 0 { &mut first } else { &mut last };
        *end = end.wrapping_add_signed(reach);
    }
    first..last.wrapping_add(array.dtype().itemsize())
}

fn overlap(one: &std::ops::Range<usize>, other: &std::ops::Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}
