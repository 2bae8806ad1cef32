//! Tensors of DLPack, by the crate `dlpark`: views of those that others made, and results for others to take. Nothing
//! is copied.
//!
//! Copy this file. The ABI is that of `DLManagedTensorVersioned`; for `DLManagedTensor`, which older libraries use, put
//! `legacy` in the place of `versioned`.

use dlpark::ffi::{DLDataType, DLDevice};
use dlpark::metadata::Dynamic;
use dlpark::{DlpackElement, TensorRef, versioned};
use gather_core::{DType, DynView, Element, Layout, Tensor};

/// A tensor of another library where it lies: any strides and offset, any data type that gather-core has.
///
/// # Errors
/// A tensor of another device, or of a data type that gather-core has not.
///
/// # Safety
/// The producer keeps DLPack's promises: the memory of all elements may be read for `'a`, and nothing writes to it.
/// Those of `bool` are 0 or 1.
#[allow(unsafe_code)]
pub unsafe fn view<'a>(tensor: &TensorRef<'a>) -> Result<DynView<'a>, String> {
    let (DLDataType { code, bits, lanes }, device) = (tensor.dtype(), tensor.device());
    if device != DLDevice::CPU {
        return Err(format!("a tensor of {device:?}"));
    }
    let dtype = DType::from_dlpack(code.0, bits, lanes);
    let dtype = dtype.ok_or_else(|| format!("no data type of code {}, {bits} bits and {lanes} lanes", code.0))?;
    let shape: Result<Vec<usize>, _> = tensor.shape().iter().map(|&size| size.try_into()).collect();
    let strides = tensor.strides_or_compact().map_err(|error| error.to_string())?;
    let strides: Result<Vec<isize>, _> = strides.iter().map(|&stride| stride.try_into()).collect();
    let (Ok(shape), Ok(strides)) = (shape, strides) else { return Err("sizes beyond the address space".into()) };
    let layout = Layout::strided(&shape, &strides).map_err(|error| error.to_string())?;
    let origin = if layout.is_empty() {
        // The address of no elements may be null.
        std::ptr::dangling()
    } else {
        // SAFETY: the caller's promise: the memory of a tensor that has elements lies there.
        unsafe { tensor.offset_bytes_ptr() }.map_err(|error| error.to_string())?
    };
    // SAFETY: the caller's promise, for the elements at all coordinates; bytes of all other types are values of theirs.
    Ok(unsafe { DynView::from_raw_parts(dtype, origin, layout) })
}

/// A result for another library. Its memory is freed when that library calls the deleter, on any thread.
///
/// # Errors
/// A rank or sizes that DLPack's numbers do not hold.
#[allow(unsafe_code)]
pub fn export<T: Element + DlpackElement>(tensor: Tensor<T>) -> Result<versioned::Dlpack, String> {
    let shape = tensor.shape().to_vec();
    let mut values = Box::new(tensor.into_vec());
    let data = values.as_mut_ptr().cast();
    let mut managed = Dynamic::compact(shape).initialize(values).map_err(|error| error.to_string())?;
    managed.set_data(data).set_dtype(<T as DlpackElement>::DTYPE).set_device(DLDevice::CPU);
    // SAFETY: the memory holds as many elements as the shape has, row-major, of the type that is named; the context
    // owns it until the deleter is called, and nothing else refers to it.
    Ok(unsafe { managed.finish() })
}
