//! Names and codes of data types in file formats and other libraries.

#![forbid(unsafe_code)]

use crate::types::element::{DType, Element};

/// A data type and its foreign names; `None` if a format lacks it.
struct NameRow {
    dtype: DType,
    safetensors: Option<&'static str>,
    onnx: Option<(i32, &'static str)>,
    /// Code and bits.
    dlpack: Option<(u8, u8)>,
    gguf: Option<u32>,
    /// Kind and bytes.
    numpy: Option<(u8, usize)>,
}

mod dlpack {
    pub(super) const INT: u8 = 0;
    pub(super) const UINT: u8 = 1;
    pub(super) const FLOAT: u8 = 2;
    #[cfg(feature = "half")]
    pub(super) const BFLOAT: u8 = 4;
    #[cfg(feature = "num-complex")]
    pub(super) const COMPLEX: u8 = 5;
    pub(super) const BOOL: u8 = 6;
}

const fn row<T: Element>(
    safetensors: Option<&'static str>,
    onnx: Option<(i32, &'static str)>,
    dlpack: Option<(u8, u8)>,
    gguf: Option<u32>,
    numpy: Option<(u8, usize)>,
) -> NameRow {
    NameRow { dtype: T::DTYPE, safetensors, onnx, dlpack, gguf, numpy }
}

#[rustfmt::skip]
static ROWS: &[NameRow] = &[
    row::<bool>(Some("BOOL"), Some((9, "BOOL")), Some((dlpack::BOOL, 8)), None, Some((b'b', 1))),
    row::<i8>(Some("I8"), Some((3, "INT8")), Some((dlpack::INT, 8)), Some(24), Some((b'i', 1))),
    row::<i16>(Some("I16"), Some((5, "INT16")), Some((dlpack::INT, 16)), Some(25), Some((b'i', 2))),
    row::<i32>(Some("I32"), Some((6, "INT32")), Some((dlpack::INT, 32)), Some(26), Some((b'i', 4))),
    row::<i64>(Some("I64"), Some((7, "INT64")), Some((dlpack::INT, 64)), Some(27), Some((b'i', 8))),
    row::<u8>(Some("U8"), Some((2, "UINT8")), Some((dlpack::UINT, 8)), None, Some((b'u', 1))),
    row::<u16>(Some("U16"), Some((4, "UINT16")), Some((dlpack::UINT, 16)), None, Some((b'u', 2))),
    row::<u32>(Some("U32"), Some((12, "UINT32")), Some((dlpack::UINT, 32)), None, Some((b'u', 4))),
    row::<u64>(Some("U64"), Some((13, "UINT64")), Some((dlpack::UINT, 64)), None, Some((b'u', 8))),
    row::<isize>(None, None, None, None, None),
    row::<usize>(None, None, None, None, None),
    row::<f32>(Some("F32"), Some((1, "FLOAT")), Some((dlpack::FLOAT, 32)), Some(0), Some((b'f', 4))),
    row::<f64>(Some("F64"), Some((11, "DOUBLE")), Some((dlpack::FLOAT, 64)), Some(28), Some((b'f', 8))),
    #[cfg(feature = "half")]
    row::<half::f16>(Some("F16"), Some((10, "FLOAT16")), Some((dlpack::FLOAT, 16)), Some(1), Some((b'f', 2))),
    #[cfg(feature = "half")]
    row::<half::bf16>(Some("BF16"), Some((16, "BFLOAT16")), Some((dlpack::BFLOAT, 16)), Some(30), None),
    #[cfg(feature = "num-complex")]
    row::<num_complex::Complex<f32>>(
        Some("C64"), Some((14, "COMPLEX64")), Some((dlpack::COMPLEX, 64)), None, Some((b'c', 8))),
    #[cfg(feature = "num-complex")]
    row::<num_complex::Complex<f64>>(
        None, Some((15, "COMPLEX128")), Some((dlpack::COMPLEX, 128)), None, Some((b'c', 16))),
];

fn find(is_it: impl Fn(&NameRow) -> bool) -> Option<DType> {
    ROWS.iter().find(|row| is_it(row)).map(|row| row.dtype)
}

/// Lookup of data types by name or code; `None` for types of disabled features and types that this crate lacks.
///
/// ```
/// use gather_core::{DType, Element};
///
/// assert_eq!(DType::from_name("u16"), Some(u16::DTYPE));
/// assert_eq!(DType::from_safetensors("I64"), Some(i64::DTYPE));
/// assert_eq!(DType::from_onnx(1), Some(f32::DTYPE));
/// assert_eq!(DType::from_dlpack(1, 8, 1), Some(u8::DTYPE));
/// assert_eq!(DType::from_gguf(28), Some(f64::DTYPE));
/// assert_eq!(DType::from_numpy("|b1"), Some(bool::DTYPE));
/// ```
impl DType {
    /// The data type with this [`DType::name`]: `bool`, `i8..i64`, `u8..u64`, `isize`, `usize`, `f16`, `bf16`, `f32`,
    /// `f64`, `complex64` or `complex128`. Arrays and derived types cannot be found by name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        find(|row| row.dtype.name() == name)
    }

    /// The data type of a name in a safetensors header, such as `BF16`. GGUF's tools print the same names.
    #[must_use]
    pub fn from_safetensors(name: &str) -> Option<Self> {
        find(|row| row.safetensors == Some(name))
    }

    /// The data type of a number of ONNX's `TensorProto.DataType`.
    #[must_use]
    pub fn from_onnx(code: i32) -> Option<Self> {
        find(|row| row.onnx.is_some_and(|(own, _)| own == code))
    }

    /// The data type of a name of ONNX's `TensorProto.DataType`, such as `FLOAT`.
    #[must_use]
    pub fn from_onnx_name(name: &str) -> Option<Self> {
        find(|row| row.onnx.is_some_and(|(_, own)| own == name))
    }

    /// The data type of DLPack's `DLDataType`. Vectors (`lanes != 1`) are `None`: view them as a dimension.
    #[must_use]
    pub fn from_dlpack(code: u8, bits: u8, lanes: u16) -> Option<Self> {
        find(|row| lanes == 1 && row.dlpack == Some((code, bits)))
    }

    /// The data type of a number of GGUF's `ggml_type`. Blocks of quantised numbers are `None`: use types of your own
    /// for them, such as arrays of bytes.
    #[must_use]
    pub fn from_gguf(code: u32) -> Option<Self> {
        find(|row| row.gguf == Some(code))
    }

    /// The data type of a NumPy type string (`dtype.str`, and `descr` in `.npy` files), such as `<f4` and `|b1`, in
    /// the machine's byte order. Types in the other order are `None`.
    #[must_use]
    pub fn from_numpy(text: &str) -> Option<Self> {
        let &[order, kind, ref size @ ..] = text.as_bytes() else {
            return None;
        };
        let size = match size {
            [digit @ b'1'..=b'9'] => usize::from(digit - b'0'),
            b"16" => 16,
            _ => return None,
        };
        let fits = match order {
            b'|' => size == 1,
            b'<' => cfg!(target_endian = "little") || size == 1,
            b'>' => cfg!(target_endian = "big") || size == 1,
            b'=' => true,
            _ => false,
        };
        find(|row| fits && row.numpy == Some((kind, size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: bool = cfg!(feature = "half");
    const COMPLEX: bool = cfg!(feature = "num-complex");

    /// Checks a table of keys and data type names, in the order of `ROWS`, and that no other key has a data type.
    fn check<K: Copy + PartialEq + core::fmt::Debug>(
        expected: &[(K, &str)],
        keys: impl IntoIterator<Item = K>,
        find: impl Fn(K) -> Option<DType>,
    ) {
        let has = |name: &str| match name {
            "f16" | "bf16" => HALF,
            "complex64" | "complex128" => COMPLEX,
            _ => true,
        };
        let mut found = 0;
        for key in keys {
            let name = expected.iter().find(|(own, _)| *own == key).map(|&(_, name)| name).filter(|name| has(name));
            assert_eq!(find(key).map(|dtype| dtype.name()), name, "{key:?}");
            found += usize::from(name.is_some());
        }
        assert_eq!(found, expected.iter().filter(|(_, name)| has(name)).count());
    }

    #[test]
    fn own_names() {
        let names = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "isize", "usize", "f32", "f64"];
        let more = ["f16", "bf16", "complex64", "complex128"];
        let all: Vec<_> = names.into_iter().chain(more).map(|name| (name, name)).collect();
        let keys =
            all.iter().map(|&(key, _)| key).chain(["", "F32", "f32 ", "[u8; 2]", "array", "string", "f8", "i128"]);
        check(&all, keys, DType::from_name);
    }

    #[test]
    fn names_of_safetensors() {
        let table = [
            ("BOOL", "bool"),
            ("U8", "u8"),
            ("I8", "i8"),
            ("I16", "i16"),
            ("U16", "u16"),
            ("F16", "f16"),
            ("BF16", "bf16"),
            ("I32", "i32"),
            ("U32", "u32"),
            ("F32", "f32"),
            ("C64", "complex64"),
            ("F64", "f64"),
            ("I64", "i64"),
            ("U64", "u64"),
        ];
        let others =
            ["F4", "F6_E2M3", "F6_E3M2", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "f32", ""];
        check(&table, table.map(|(key, _)| key).into_iter().chain(others), DType::from_safetensors);
    }

    #[test]
    fn codes_and_names_of_onnx() {
        let table = [
            (1, "f32"),
            (2, "u8"),
            (3, "i8"),
            (4, "u16"),
            (5, "i16"),
            (6, "i32"),
            (7, "i64"),
            (9, "bool"),
            (10, "f16"),
            (11, "f64"),
            (12, "u32"),
            (13, "u64"),
            (14, "complex64"),
            (15, "complex128"),
            (16, "bf16"),
        ];
        check(&table, (-2..40).chain([i32::MIN, i32::MAX]), DType::from_onnx);
        // In numeric order, from 0.
        let names = [
            "UNDEFINED",
            "FLOAT",
            "UINT8",
            "INT8",
            "UINT16",
            "INT16",
            "INT32",
            "INT64",
            "STRING",
            "BOOL",
            "FLOAT16",
            "DOUBLE",
            "UINT32",
            "UINT64",
            "COMPLEX64",
            "COMPLEX128",
            "BFLOAT16",
            "FLOAT8E4M3FN",
        ];
        for (code, name) in names.into_iter().enumerate() {
            assert_eq!(DType::from_onnx_name(name), DType::from_onnx(code as i32), "{name}");
        }
        assert_eq!(DType::from_onnx_name("float"), None);
    }

    #[test]
    fn codes_of_dlpack() {
        let table = [
            ((0, 8), "i8"),
            ((0, 16), "i16"),
            ((0, 32), "i32"),
            ((0, 64), "i64"),
            ((1, 8), "u8"),
            ((1, 16), "u16"),
            ((1, 32), "u32"),
            ((1, 64), "u64"),
            ((2, 16), "f16"),
            ((2, 32), "f32"),
            ((2, 64), "f64"),
            ((4, 16), "bf16"),
            ((5, 64), "complex64"),
            ((5, 128), "complex128"),
            ((6, 8), "bool"),
        ];
        let keys = || (0..=u8::MAX).flat_map(|code| (0..=u8::MAX).map(move |bits| (code, bits)));
        check(&table, keys(), |(code, bits)| DType::from_dlpack(code, bits, 1));
        for lanes in [0, 2, 4, u16::MAX] {
            check(&[], keys(), |(code, bits)| DType::from_dlpack(code, bits, lanes));
        }
    }

    #[test]
    fn codes_of_gguf() {
        let table =
            [(0, "f32"), (1, "f16"), (24, "i8"), (25, "i16"), (26, "i32"), (27, "i64"), (28, "f64"), (30, "bf16")];
        check(&table, (0..64).chain([u32::MAX]), DType::from_gguf);
    }

    #[test]
    fn type_strings_of_numpy() {
        let table = [
            ("|b1", "bool"),
            ("|i1", "i8"),
            ("=i2", "i16"),
            ("=i4", "i32"),
            ("=i8", "i64"),
            ("|u1", "u8"),
            ("=u2", "u16"),
            ("=u4", "u32"),
            ("=u8", "u64"),
            ("=f2", "f16"),
            ("=f4", "f32"),
            ("=f8", "f64"),
            ("=c8", "complex64"),
            ("=c16", "complex128"),
        ];
        let others = [
            "", "<", "f4", "|f4", "=f16", "=i16", "=f04", "=f+4", "=c1", "=c32", "|S5", "<U3", "|O", "<M8", "|V2",
            "=f4 ",
        ];
        check(&table, table.map(|(key, _)| key).into_iter().chain(others), DType::from_numpy);
        let (own, other) = if cfg!(target_endian = "little") { ("<i4", ">i4") } else { (">i4", "<i4") };
        assert_eq!((DType::from_numpy(own), DType::from_numpy(other)), (Some(i32::DTYPE), None));
        assert_eq!((DType::from_numpy("<u1"), DType::from_numpy(">u1")), (Some(u8::DTYPE), Some(u8::DTYPE)));
    }
}
