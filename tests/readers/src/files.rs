//! Draws files: well-formed ones, some with one false claim, and arbitrary bytes.

use arbitrary::{Result, Unstructured};

/// The name of the tensor to read.
pub(crate) const TENSOR: &str = "t";

/// Type descriptions of `.npy` headers.
const NPY_TYPES: [&str; 26] = [
    "<f4",
    "|u1",
    "<i8",
    "|b1",
    "<f2",
    ">f8",
    ">i4",
    "|i1",
    "<c8",
    ">c16",
    "=u4",
    "<u2",
    "<i2",
    ">u8",
    "<f16",
    "|O",
    "|S5",
    "<U3",
    "<M8[ns]",
    "f4",
    "",
    "<",
    "|V8",
    "\u{e9}4",
    "<f99999999999999999999",
    "[('a', '<f4'), ('b', '<i2', (2,))]",
];

/// Types of `.safetensors` headers.
const SAFETENSORS_TYPES: [&str; 20] = [
    "F32", "U8", "I64", "BOOL", "F16", "BF16", "I8", "I16", "U16", "I32", "U32", "F64", "U64", "C64", "F8_E4M3", "F4",
    "F6_E2M3", "", "f32", "E8M0",
];

/// Arbitrary bytes, mostly after a valid beginning of a file.
fn raw(u: &mut Unstructured<'_>, start: &[u8]) -> Result<Vec<u8>> {
    let mut file = if u.arbitrary()? { start.to_vec() } else { Vec::new() };
    file.extend_from_slice(u.bytes(u.len())?);
    Ok(file)
}

/// Sizes, mostly small.
fn shape(u: &mut Unstructured<'_>) -> Result<Vec<u64>> {
    let rank = u.int_in_range(0..=4)?;
    let size = |u: &mut Unstructured<'_>| Ok(if u.ratio(1, 12)? { u.arbitrary()? } else { u.int_in_range(0..=5)? });
    (0..rank).map(|_| size(u)).collect()
}

/// The bytes that a shape takes. Another number when that is too many, and now and then.
fn body(u: &mut Unstructured<'_>, shape: &[u64], element: u64) -> Result<Vec<u8>> {
    let bytes = shape.iter().try_fold(element, |bytes, &dim| bytes.checked_mul(dim)).unwrap_or(3);
    let bytes = if u.ratio(1, 12)? { bytes.saturating_sub(1) } else { bytes };
    let fill: u8 = u.arbitrary()?;
    Ok(vec![fill; bytes.min(1 << 14) as usize])
}

/// A `.npy` file.
pub(crate) fn npy(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if u.ratio(1, 4)? {
        return raw(u, b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (");
    }
    let descr = *u.choose(&NPY_TYPES)?;
    let shape = shape(u)?;
    let mut dims: String = shape.iter().map(|dim| format!("{dim}, ")).collect();
    if u.ratio(1, 12)? {
        dims += u.choose(&["-1", "1.5", "(2,)", "99999999999999999999", "True", "\"", "'", "))", "\\x"])?;
    }
    let quoted = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let order = *u.choose(&["False", "True", "None", "1"])?;
    let mut header = format!("{{'descr': {quoted}, 'fortran_order': {order}, 'shape': ({dims}), }}\n");
    if u.ratio(1, 8)? {
        // One byte of the header is changed.
        let at = u.choose_index(header.len())?;
        let mut bytes = header.into_bytes();
        bytes[at] = u.arbitrary()?;
        header = String::from_utf8_lossy(&bytes).into_owned();
    }
    let version: u8 = u.int_in_range(1..=4)?;
    let len = if u.ratio(1, 12)? { u.arbitrary::<u32>()? } else { header.len() as u32 };
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    file.extend(&len.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
    file.extend(header.bytes());
    let element: u64 = descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(1);
    file.extend(body(u, &shape, element)?);
    Ok(file)
}

/// A `.safetensors` file.
pub(crate) fn safetensors(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if u.ratio(1, 4)? {
        return raw(u, b"\x40\0\0\0\0\0\0\0{\"t\":{\"dtype\":\"F32\",\"shape\":[");
    }
    let dtype = *u.choose(&SAFETENSORS_TYPES)?;
    let shape = shape(u)?;
    let bits: u64 = dtype.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8);
    let body = body(u, &shape, bits / 8)?;
    let end = if u.ratio(1, 12)? { u.arbitrary()? } else { body.len() as u64 };
    let begin = if u.ratio(1, 12)? { u.arbitrary()? } else { 0u64 };
    let mut header =
        format!("{{\"{TENSOR}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{begin},{end}]}}}}");
    if u.ratio(1, 8)? {
        let at = u.choose_index(header.len())?;
        let mut bytes = header.into_bytes();
        bytes[at] = u.arbitrary()?;
        header = String::from_utf8_lossy(&bytes).into_owned();
    }
    let len = if u.ratio(1, 12)? { u.arbitrary::<u64>()? } else { header.len() as u64 };
    let mut file = len.to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(body);
    Ok(file)
}
