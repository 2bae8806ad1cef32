//! The part of TensorFlow's C interface that eager calls need (`c_api.h`, `eager/c_api.h`), loaded at run time.
//!
//! Contract. T1: the pointer in a [`Handle`], [`Context`], [`Op`] or [`Tensor`] came from the function that makes such
//! an object, is not null, and is freed once, in `drop`. T2: all arguments of a function are alive during the call; a
//! function that keeps one takes a reference count of its own. T3: strings end in a zero; lengths are those of the
//! slices they belong to.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use libloading::Library;

/// A pointer to an object of the library.
type Raw = *mut c_void;

macro_rules! api {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, by their own names.
        #[allow(non_snake_case)]
        pub(super) struct Api {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            _library: Library,
        }

        impl Api {
            fn load(path: &Path) -> Result<Self, libloading::Error> {
                // SAFETY: loading runs the initialisers of the file, which the user has named as TensorFlow's library.
                let library = unsafe { Library::new(path) }?;
                Ok(Api {
                    $($name: {
                        // SAFETY: the type is that of the declaration of this name in the headers.
                        *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

api! {
    TF_Version: fn() -> *const c_char;
    TF_NewStatus: fn() -> Raw;
    TF_DeleteStatus: fn(Raw);
    TF_GetCode: fn(Raw) -> c_int;
    TF_Message: fn(Raw) -> *const c_char;
    TF_AllocateTensor: fn(c_int, *const i64, c_int, usize) -> Raw;
    TF_TensorData: fn(Raw) -> Raw;
    TF_TensorByteSize: fn(Raw) -> usize;
    TF_DeleteTensor: fn(Raw);
    TFE_NewContextOptions: fn() -> Raw;
    TFE_ContextOptionsSetConfig: fn(Raw, *const u8, usize, Raw);
    TFE_DeleteContextOptions: fn(Raw);
    TFE_NewContext: fn(Raw, Raw) -> Raw;
    TFE_DeleteContext: fn(Raw);
    TFE_NewTensorHandle: fn(Raw, Raw) -> Raw;
    TFE_DeleteTensorHandle: fn(Raw);
    TFE_TensorHandleResolve: fn(Raw, Raw) -> Raw;
    TFE_NewOp: fn(Raw, *const c_char, Raw) -> Raw;
    TFE_DeleteOp: fn(Raw);
    TFE_OpAddInput: fn(Raw, Raw, Raw);
    TFE_OpSetAttrInt: fn(Raw, *const c_char, i64);
    TFE_OpSetAttrType: fn(Raw, *const c_char, c_int);
    TFE_Execute: fn(Raw, *mut Raw, *mut c_int, Raw);
}

impl Api {
    /// The library, loaded once.
    pub(super) fn loaded(path: &Path) -> Result<&'static Self, String> {
        static API: OnceLock<Result<Api, String>> = OnceLock::new();
        API.get_or_init(|| Api::load(path).map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
    }

    pub(super) fn version(&self) -> String {
        // SAFETY: it takes nothing and reads a constant.
        let text = unsafe { (self.TF_Version)() };
        // SAFETY: a constant string of the library, which is never unloaded (the one `Api` is a static).
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// Calls a function that reports by a status.
    fn checked<R>(&self, call: impl FnOnce(Raw) -> R) -> Result<R, String> {
        // SAFETY: it takes nothing.
        let status = unsafe { (self.TF_NewStatus)() };
        let result = call(status);
        // SAFETY: T2, the status lives until the last line.
        let outcome = match unsafe { (self.TF_GetCode)(status) } {
            0 => Ok(result),
            _ => {
                // SAFETY: T2, the same.
                let message = unsafe { (self.TF_Message)(status) };
                // SAFETY: T3; the string is the status's, which is alive.
                Err(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
            }
        };
        // SAFETY: T1, made above and freed here only.
        unsafe { (self.TF_DeleteStatus)(status) };
        outcome
    }

    /// Like [`Api::checked`], for a function that returns a new object.
    fn made(&self, call: impl FnOnce(Raw) -> Raw) -> Result<NonNull<c_void>, String> {
        self.checked(call).and_then(|made| NonNull::new(made).ok_or_else(|| "null without an error".into()))
    }
}

macro_rules! owned {
    ($(#[$doc:meta])* $name:ident, $delete:ident) => {
        $(#[$doc])*
        pub(super) struct $name {
            raw: NonNull<c_void>,
            api: &'static Api,
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: T1.
                unsafe { (self.api.$delete)(self.raw.as_ptr()) }
            }
        }
    };
}
owned!(
    /// Threads and devices.
    Context,
    TFE_DeleteContext
);
owned!(
    /// A tensor that operations take.
    Handle,
    TFE_DeleteTensorHandle
);
owned!(
    /// A tensor in memory.
    Tensor,
    TF_DeleteTensor
);
owned!(
    /// An operation before it runs.
    Op,
    TFE_DeleteOp
);

/// `TF_DataType`.
#[derive(Clone, Copy)]
#[repr(i32)]
pub(super) enum DataType {
    F32 = 1,
    I32 = 3,
    U8 = 4,
    I64 = 9,
    F16 = 19,
}

/// An attribute of an operation that does not follow from its inputs.
pub(super) enum Attribute<'a> {
    Int(&'a CStr, i64),
    Type(&'a CStr, DataType),
}

impl Context {
    /// A context whose operations run on a number of threads.
    pub(super) fn new(api: &'static Api, threads: usize) -> Result<Self, String> {
        // A `ConfigProto`: field 2, `intra_op_parallelism_threads`, and field 5, `inter_op_parallelism_threads`.
        let config = [2 << 3, u8::try_from(threads).map_err(|error| error.to_string())?.min(127), 5 << 3, 1];
        // SAFETY: it takes nothing.
        let options = unsafe { (api.TFE_NewContextOptions)() };
        let configured = api.checked(|status| {
            // SAFETY: T2; T3, the length is the array's.
            unsafe { (api.TFE_ContextOptionsSetConfig)(options, config.as_ptr(), config.len(), status) }
        });
        let context = configured.and_then(|()| {
            api.made(|status| {
                // SAFETY: T2, options are freed below.
                unsafe { (api.TFE_NewContext)(options, status) }
            })
        });
        // SAFETY: T1, made above and freed here only.
        unsafe { (api.TFE_DeleteContextOptions)(options) };
        Ok(Context { raw: context?, api })
    }

    /// A tensor with a copy of the bytes.
    pub(super) fn tensor(&self, element: DataType, shape: &[usize], bytes: &[u8]) -> Result<Handle, String> {
        let dims: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
        // SAFETY: T3; the shape is not kept.
        let raw =
            unsafe { (self.api.TF_AllocateTensor)(element as c_int, dims.as_ptr(), dims.len() as c_int, bytes.len()) };
        let tensor = Tensor { raw: NonNull::new(raw).ok_or("no memory")?, api: self.api };
        // SAFETY: T2.
        let data = unsafe { (self.api.TF_TensorData)(tensor.raw.as_ptr()) };
        // SAFETY: as many bytes were allocated, just now, so that nobody else has them.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len()) };
        let raw = self.api.made(|status| {
            // SAFETY: T2; the handle counts a reference of its own.
            unsafe { (self.api.TFE_NewTensorHandle)(tensor.raw.as_ptr(), status) }
        })?;
        Ok(Handle { raw, api: self.api })
    }

    /// Runs an operation of one output.
    pub(super) fn execute(
        &self,
        name: &CStr,
        inputs: &[&Handle],
        attributes: &[Attribute<'_>],
    ) -> Result<Handle, String> {
        let api = self.api;
        let raw = api.made(|status| {
            // SAFETY: T2, T3; the operation is freed before the context, which is borrowed.
            unsafe { (api.TFE_NewOp)(self.raw.as_ptr(), name.as_ptr(), status) }
        })?;
        let op = Op { raw, api };
        for input in inputs {
            api.checked(|status| {
                // SAFETY: T2; the operation counts a reference of its own.
                unsafe { (api.TFE_OpAddInput)(op.raw.as_ptr(), input.raw.as_ptr(), status) }
            })?;
        }
        for attribute in attributes {
            match *attribute {
                // SAFETY: T2, T3.
                Attribute::Int(key, value) => unsafe { (api.TFE_OpSetAttrInt)(op.raw.as_ptr(), key.as_ptr(), value) },
                // SAFETY: T2, T3.
                Attribute::Type(key, value) => unsafe {
                    (api.TFE_OpSetAttrType)(op.raw.as_ptr(), key.as_ptr(), value as c_int);
                },
            }
        }
        let (mut output, mut count) = (ptr::null_mut(), 1);
        api.checked(|status| {
            // SAFETY: T2; there is room for one output, as `count` says.
            unsafe { (api.TFE_Execute)(op.raw.as_ptr(), &mut output, &mut count, status) }
        })?;
        Ok(Handle { raw: NonNull::new(output).ok_or("no output")?, api })
    }
}

impl Handle {
    /// A copy of the tensor's bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, String> {
        let api = self.api;
        let raw = api.made(|status| {
            // SAFETY: T2.
            unsafe { (api.TFE_TensorHandleResolve)(self.raw.as_ptr(), status) }
        })?;
        let tensor = Tensor { raw, api };
        // SAFETY: T2.
        let data = unsafe { (api.TF_TensorData)(tensor.raw.as_ptr()) };
        // SAFETY: T2.
        let len = unsafe { (api.TF_TensorByteSize)(tensor.raw.as_ptr()) };
        if len == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: a tensor's data are that many bytes, which live as long as the tensor; nothing writes to them
        // meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec())
    }
}
