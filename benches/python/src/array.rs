//! NumPy arrays as views.

use std::ffi::{c_long, c_ulong};

use gather_core::{DType, DynView, DynViewMut, Element, Error, Layout, Shape};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NPY_BYTEORDER_CHAR, NPY_TYPES, PY_ARRAY_API, PyArrayObject_fields};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::python;

/// The greatest rank of an array in NumPy 2.
const MAX_RANK: usize = 64;

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
    #[inline(always)]
    pub(crate) fn indices(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let indices = Self::new("indices", array)?;
        if is_bool(array) { Err(python(Error::NotAnIndexType { dtype: bool::DTYPE })) } else { Ok(indices) }
    }

    /// An array by its name in messages.
    #[inline(always)]
    pub(crate) fn new(name: &str, array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let dtype = dtype_of(name, array)?;
        if let Some(layout) = layout_of(array, dtype)? {
            return Ok(Input { array: array.clone(), dtype, layout });
        }
        Self::copied(array, dtype, array.shape())
    }

    /// A row-major copy of an array, with a shape of all its elements.
    fn copied(array: &Bound<'py, PyUntypedArray>, dtype: DType, shape: &[usize]) -> PyResult<Self> {
        let layout = Layout::contiguous(shape).map_err(python)?;
        assert_eq!(layout.len(), array.len(), "the layout has the elements of the array");
        Ok(Input { array: array.call_method0("copy")?.cast_into::<PyUntypedArray>()?, dtype, layout })
    }

    /// The elements in row-major order along one dimension. They are copied unless the array is row-major, or has one
    /// dimension.
    #[inline(always)]
    pub(crate) fn flat(self) -> PyResult<Self> {
        if self.layout.rank() == 1 {
            return Ok(self);
        }
        let shape = [self.layout.len()];
        if !self.layout.is_contiguous() {
            return Self::copied(&self.array, self.dtype, &shape);
        }
        Ok(Input { layout: Layout::contiguous(&shape).map_err(python)?, ..self })
    }

    /// The elements repeated to a shape, as NumPy broadcasts: along dimensions in front, and along dimensions of one
    /// element. Nothing is copied.
    pub(crate) fn broadcast(self, name: &str, shape: &[usize]) -> PyResult<Self> {
        let own = self.layout.shape();
        if own == shape {
            return Ok(self);
        }
        let fits = |(&own, &dim): (&usize, &usize)| own == dim || own == 1;
        if own.len() > shape.len() || !own.iter().rev().zip(shape.iter().rev()).all(fits) {
            return Err(PyValueError::new_err(format!("{name}: shape {own:?} cannot be broadcast to {shape:?}")));
        }
        let mut strides = vec![0; shape.len()];
        let repeated = strides.iter_mut().rev().zip(own.iter().rev().zip(self.layout.strides().iter().rev()));
        for (stride, (&dim, &own)) in repeated {
            *stride = if dim == 1 { 0 } else { own };
        }
        Ok(Input { layout: Layout::strided(shape, &strides).map_err(python)?, ..self })
    }

    /// The array itself.
    pub(crate) fn array(&self) -> &Bound<'py, PyUntypedArray> {
        &self.array
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
    #[inline(always)]
    pub(crate) fn view(&self) -> DynView<'_> {
        let origin = fields(&self.array).data.cast_const().cast::<u8>();
        // SAFETY: an array's memory holds the elements at all coordinates of its shape and strides, for as long as
        // `self` holds the array. The layout has this shape and these strides, or reaches the same elements: in one
        // dimension if they are row-major, or again and again by strides of 0. Nobody writes to it, see `Input`. Any
        // bits are a value of the types that `dtype_of` gives. `dangling` keeps null away.
        unsafe { DynView::from_raw_parts(self.dtype, dangling(origin.cast_mut()), self.layout.clone()) }
    }
}

/// An array that is written.
pub(crate) struct Output<'py> {
    array: Bound<'py, PyUntypedArray>,
    dtype: DType,
    layout: Layout,
}

impl<'py> Output<'py> {
    /// `out`, or a fresh array of a shape. `out` must have the type of data, the first input, and allow what
    /// [`Self::in_place`] asks for.
    pub(crate) fn new<'a>(
        out: Option<Bound<'py, PyUntypedArray>>,
        inputs: impl Iterator<Item = &'a Input<'py>> + Clone,
        shape: impl FnOnce() -> PyResult<Shape>,
    ) -> PyResult<Self>
    where
        'py: 'a,
    {
        let data = inputs.clone().next().expect("every call has data");
        let Some(array) = out else { return Self::fresh(data, &shape()?) };
        let (own, theirs) = (array.dtype(), data.array.dtype());
        if !own.is_equiv_to(&theirs) {
            return Err(PyTypeError::new_err(format!("out: elements of {own}, where the result has {theirs}")));
        }
        Self::in_place("out", &array, inputs)
    }

    /// A fresh array of the type of `like`. NumPy allocates it with its own allocator, as it does for every array.
    #[inline(always)]
    fn fresh(like: &Input<'py>, shape: &[usize]) -> PyResult<Self> {
        let py = like.array.py();
        let layout = Layout::contiguous(shape).map_err(python)?;
        let mut dims = [0; MAX_RANK];
        let Some(sizes) = dims.get_mut(..shape.len()) else {
            return Err(PyValueError::new_err(format!("{} dimensions; NumPy allows {MAX_RANK}", shape.len())));
        };
        sizes.iter_mut().zip(shape).for_each(|(size, &dim)| *size = dim as isize);
        let descr = like.array.dtype().into_dtype_ptr();
        // SAFETY: `dims` has `shape.len()` sizes; NumPy takes over the reference to the type that `into_dtype_ptr`
        // gives up, and checks the rest.
        let array = unsafe { PY_ARRAY_API.PyArray_Empty(py, shape.len() as i32, dims.as_mut_ptr(), descr, 0) };
        // SAFETY: it is a new reference, or null with an exception set.
        let array = unsafe { Bound::from_owned_ptr_or_err(py, array) }?;
        Ok(Output { array: array.cast_into::<PyUntypedArray>()?, dtype: like.dtype, layout })
    }

    /// An array that is changed in place: it can be written, has each element once, and shares memory with no input.
    pub(crate) fn in_place<'a>(
        name: &str,
        array: &Bound<'py, PyUntypedArray>,
        mut inputs: impl Iterator<Item = &'a Input<'py>>,
    ) -> PyResult<Self>
    where
        'py: 'a,
    {
        let dtype = dtype_of(name, array)?;
        let refused = |why: String| Err(PyValueError::new_err(format!("{name}: {why}")));
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

    /// The elements in row-major order along one dimension.
    pub(crate) fn flat(self, name: &str) -> PyResult<Self> {
        if self.layout.rank() != 1 && !self.layout.is_contiguous() {
            return Err(PyValueError::new_err(format!(
                "{name}: an array of several dimensions must be row-major here"
            )));
        }
        let len = self.layout.len();
        self.row_major(&[len])
    }

    /// The elements of a row-major array by another shape; any array by its own shape.
    pub(crate) fn row_major(self, shape: &[usize]) -> PyResult<Self> {
        if self.layout.shape() == shape {
            return Ok(self);
        }
        let layout = Layout::contiguous(shape).map_err(python)?;
        assert!(self.layout.is_contiguous() && self.layout.len() == layout.len(), "the array is row-major");
        Ok(Output { layout, ..self })
    }

    /// Shape and strides in elements.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The array itself.
    pub(crate) fn into_array(self) -> Bound<'py, PyUntypedArray> {
        self.array
    }

    /// The elements.
    #[inline(always)]
    pub(crate) fn view(&mut self) -> DynViewMut<'_> {
        let origin = fields(&self.array).data.cast::<u8>();
        // SAFETY: as for inputs, without strides of 0. The array is fresh, or `in_place` has checked that it is
        // writeable, that no two coordinates share an element, and that no input shares memory with it. Nobody else
        // uses it meanwhile, see `Input`.
        unsafe { DynViewMut::from_raw_parts(self.dtype, dangling(origin), self.layout.clone()) }
    }
}

/// Whether the elements are NumPy's bool.
pub(crate) fn is_bool(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().num() == NPY_TYPES::NPY_BOOL as i32
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

/// The data type of an array's elements. NumPy's number of the type names it; bytes in the order of another machine are
/// refused.
#[inline(always)]
pub(crate) fn dtype_of(name: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<DType> {
    const LONG: DType = c_long::DTYPE;
    const ULONG: DType = c_ulong::DTYPE;
    let descr = array.dtype();
    let native = [b'=', b'|', NPY_BYTEORDER_CHAR::NPY_NATBYTE as u8].contains(&descr.byteorder());
    let found = match descr.num() {
        _ if !native => None,
        number if number == NPY_TYPES::NPY_BOOL as i32 => Some(u8::DTYPE),
        number if number == NPY_TYPES::NPY_BYTE as i32 => Some(i8::DTYPE),
        number if number == NPY_TYPES::NPY_UBYTE as i32 => Some(u8::DTYPE),
        number if number == NPY_TYPES::NPY_SHORT as i32 => Some(i16::DTYPE),
        number if number == NPY_TYPES::NPY_USHORT as i32 => Some(u16::DTYPE),
        number if number == NPY_TYPES::NPY_INT as i32 => Some(i32::DTYPE),
        number if number == NPY_TYPES::NPY_UINT as i32 => Some(u32::DTYPE),
        number if number == NPY_TYPES::NPY_LONG as i32 => Some(LONG),
        number if number == NPY_TYPES::NPY_ULONG as i32 => Some(ULONG),
        number if number == NPY_TYPES::NPY_LONGLONG as i32 => Some(i64::DTYPE),
        number if number == NPY_TYPES::NPY_ULONGLONG as i32 => Some(u64::DTYPE),
        number if number == NPY_TYPES::NPY_FLOAT as i32 => Some(f32::DTYPE),
        number if number == NPY_TYPES::NPY_DOUBLE as i32 => Some(f64::DTYPE),
        number if number == NPY_TYPES::NPY_HALF as i32 => DType::from_numpy("=f2"),
        number if number == NPY_TYPES::NPY_CFLOAT as i32 => DType::from_numpy("=c8"),
        number if number == NPY_TYPES::NPY_CDOUBLE as i32 => DType::from_numpy("=c16"),
        _ => None,
    };
    found.ok_or_else(|| PyTypeError::new_err(format!("{name}: elements of {descr} are not supported")))
}

/// Shape and strides in elements; `None` where a stride is no whole number of them.
#[inline(always)]
fn layout_of(array: &Bound<'_, PyUntypedArray>, dtype: DType) -> PyResult<Option<Layout>> {
    if array.is_c_contiguous() {
        return Layout::contiguous(array.shape()).map(Some).map_err(python);
    }
    let size = dtype.size() as isize;
    let strides = array.strides();
    if strides.iter().any(|stride| stride % size != 0) {
        return Ok(None);
    }
    let mut elements = [0; MAX_RANK];
    elements.iter_mut().zip(strides).for_each(|(elements, &bytes)| *elements = bytes / size);
    Layout::strided(array.shape(), &elements[..strides.len()]).map(Some).map_err(python)
}

/// Whether no two coordinates share an element, as far as can be told stride by stride.
fn is_disjoint(layout: &Layout) -> bool {
    if layout.is_empty() || layout.is_contiguous() {
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
