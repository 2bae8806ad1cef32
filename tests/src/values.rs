//! Tensors of the case files: every data type they know, read to the bit.

use gather_core::{DType, DynView, Element, View};
use half::{bf16, f16};
use num_complex::Complex;
use serde_json::Value;

/// A tensor of a case file. It has no values where the file gives only data type and shape.
#[derive(Clone, Debug)]
pub struct TensorData {
    /// The data type's name.
    pub dtype: String,
    /// The sizes of the dimensions.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub values: Option<Values>,
}

macro_rules! values {
    ($($name:literal $variant:ident $ty:ty;)*) => {
        /// Elements of one data type.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum Values {
            $($variant(Vec<$ty>),)*
            Str(Vec<String>),
        }

        impl Values {
            /// `len` zeros of each data type but strings.
            #[must_use]
            pub fn zeros(len: usize) -> Vec<Self> {
                vec![$(Values::$variant(vec![<$ty as Element>::ZERO; len]),)*]
            }

            fn parse(dtype: &str, items: &[Value], bits: bool) -> Result<Self, String> {
                match dtype {
                    $($name => {
                        let parse = |item: &Value| {
                            let parsed = if bits { <$ty>::from_bits_json(item) } else { <$ty>::from_json(item) };
                            parsed.ok_or_else(|| format!("{item} is no {dtype}"))
                        };
                        Ok(Values::$variant(items.iter().map(parse).collect::<Result<_, _>>()?))
                    })*
                    "string" => {
                        let parse = |item: &Value| item.as_str().map(str::to_owned).ok_or("not a string");
                        Ok(Values::Str(items.iter().map(parse).collect::<Result<_, _>>()?))
                    }
                    _ => Err(format!("unknown dtype {dtype}")),
                }
            }

            /// The number of elements.
            #[must_use]
            #[allow(clippy::len_without_is_empty)]
            pub fn len(&self) -> usize {
                match self {
                    $(Values::$variant(values) => values.len(),)*
                    Values::Str(values) => values.len(),
                }
            }

            /// Whether both have the same elements, to the bit.
            #[must_use]
            pub fn same_bits(&self, other: &Values) -> bool {
                match (self, other) {
                    $((Values::$variant(a), Values::$variant(b)) => bytes(a) == bytes(b),)*
                    (Values::Str(a), Values::Str(b)) => a == b,
                    _ => false,
                }
            }

            /// A type-erased view; `None` for strings.
            ///
            /// # Errors
            /// When the shape does not fit.
            pub fn dyn_view<'a>(&'a self, shape: &[usize]) -> Option<Result<DynView<'a>, gather_core::Error>> {
                match self {
                    $(Values::$variant(values) => Some(View::new(values, shape).map(|view| DynView::from(&view))),)*
                    Values::Str(_) => None,
                }
            }
        }

        /// The data type of a name; `None` for strings and unknown ones.
        #[must_use]
        pub fn dtype(name: &str) -> Option<DType> {
            match name {
                $($name => Some(<$ty as Element>::DTYPE),)*
                _ => None,
            }
        }

        /// A type whose elements [`Values`] may hold.
        pub trait Held: Sized {
            /// The elements, if they are of this type.
            fn of(values: &Values) -> Option<&[Self]>;
        }

        $(
            impl Held for $ty {
                fn of(values: &Values) -> Option<&[Self]> {
                    match values {
                        Values::$variant(values) => Some(values),
                        _ => None,
                    }
                }
            }
        )*

        $(
            impl From<Vec<$ty>> for Values {
                fn from(values: Vec<$ty>) -> Self {
                    Values::$variant(values)
                }
            }
        )*

        /// Calls `$body` with `$values` bound to the vector of a plain data type, or `$strings` of strings.
        macro_rules! with_values {
            ($from:expr, $plain:ident => $body:expr, $strings:ident => $text:expr) => {
                match $from {
                    $($crate::values::Values::$variant($plain) => $body,)*
                    $crate::values::Values::Str($strings) => $text,
                }
            };
        }
    };
}

values! {
    "bool" Bool bool;
    "i8" I8 i8;
    "i16" I16 i16;
    "i32" I32 i32;
    "i64" I64 i64;
    "u8" U8 u8;
    "u16" U16 u16;
    "u32" U32 u32;
    "u64" U64 u64;
    "f16" F16 f16;
    "bf16" Bf16 bf16;
    "f32" F32 f32;
    "f64" F64 f64;
    "complex64" Complex64 Complex<f32>;
    "complex128" Complex128 Complex<f64>;
}

impl Held for String {
    fn of(values: &Values) -> Option<&[Self]> {
        match values {
            Values::Str(values) => Some(values),
            _ => None,
        }
    }
}

impl From<Vec<String>> for Values {
    fn from(values: Vec<String>) -> Self {
        Values::Str(values)
    }
}

/// The bytes of plain elements.
#[must_use]
#[allow(unsafe_code)]
pub fn bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: elements have no padding and no uninitialised byte.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Reading an element from JSON.
trait FromJson: Sized {
    fn from_json(value: &Value) -> Option<Self>;

    fn from_bits_json(_: &Value) -> Option<Self> {
        None
    }
}

impl FromJson for bool {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl FromJson for $ty {
            fn from_json(value: &Value) -> Option<Self> {
                let wide = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))?;
                wide.try_into().ok()
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// A decimal, or the name of a value that JSON cannot write as a number.
fn double(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        Some("-0.0") => Some(-0.0),
        Some(_) => None,
        None => value.as_f64(),
    }
}

macro_rules! floats {
    ($($ty:ty, $bits:ty, $nan:literal, $narrow:expr;)*) => {$(
        impl FromJson for $ty {
            fn from_json(value: &Value) -> Option<Self> {
                if value.as_str() == Some("nan") {
                    return Some(<$ty>::from_bits($nan));
                }
                double(value).map($narrow)
            }

            fn from_bits_json(value: &Value) -> Option<Self> {
                Some(<$ty>::from_bits(<$bits>::from_json(value)?))
            }
        }
    )*};
}
floats! {
    f16, u16, 0x7e00, f16::from_f64;
    bf16, u16, 0x7fc0, bf16::from_f64;
    f32, u32, 0x7fc0_0000, |x| x as f32;
    f64, u64, 0x7ff8_0000_0000_0000, |x| x;
}

impl<F: FromJson> FromJson for Complex<F> {
    fn from_json(value: &Value) -> Option<Self> {
        let [re, im] = value.as_array()?.as_slice() else {
            return None;
        };
        Some(Complex { re: F::from_json(re)?, im: F::from_json(im)? })
    }
}

impl TensorData {
    /// Reads a tensor.
    ///
    /// # Errors
    /// When it is not of the format.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let dtype = value["dtype"].as_str().ok_or("a tensor without dtype")?.to_owned();
        let shape = value["shape"].as_array().ok_or("a tensor without shape")?;
        // A dimension that does not fit in `usize` becomes the largest: either way there are too many elements.
        let fitting = |dim| usize::try_from(dim).unwrap_or(usize::MAX);
        let dim = |dim: &Value| dim.as_u64().map(fitting).ok_or("a bad dimension");
        let shape = shape.iter().map(dim).collect::<Result<Vec<usize>, _>>()?;
        let items = value["data"].as_array().map(|items| (items, false));
        let items = items.or_else(|| value["bits"].as_array().map(|items| (items, true)));
        let values = items.map(|(items, bits)| Values::parse(&dtype, items, bits)).transpose()?;
        Ok(TensorData { dtype, shape, values })
    }
}
