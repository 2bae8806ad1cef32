//! Draws `.gguf` files: well-formed ones with keys of every type, some with one false claim, and arbitrary bytes.

use arbitrary::{Result, Unstructured};

use crate::files::TENSOR;

/// Numbers of ggml's types, numbers in a block, and its bytes. The last are not read.
const TYPES: [(u32, u64, u64); 14] = [
    (0, 1, 4),
    (1, 1, 2),
    (2, 32, 18),
    (3, 32, 20),
    (8, 32, 34),
    (12, 256, 144),
    (14, 256, 210),
    (20, 32, 18),
    (30, 1, 2),
    (39, 32, 17),
    (40, 64, 36),
    (9, 32, 40),
    (26, 1, 4),
    (u32::MAX, 1, 1),
];

fn string(file: &mut Vec<u8>, text: &[u8]) {
    file.extend((text.len() as u64).to_le_bytes());
    file.extend(text);
}

/// A value of any type, arrays in arrays among them.
fn value(u: &mut Unstructured<'_>, file: &mut Vec<u8>, depth: u32) -> Result<()> {
    let kind = u.int_in_range(0..=if depth == 0 { 8 } else { 13u32 })?;
    file.extend(kind.to_le_bytes());
    values(u, file, kind, 1, depth)
}

fn values(u: &mut Unstructured<'_>, file: &mut Vec<u8>, kind: u32, count: u64, depth: u32) -> Result<()> {
    for _ in 0..count {
        match kind {
            8 => {
                let len = u.int_in_range(0..=5)?;
                string(file, u.bytes(len)?);
            }
            9 => {
                let (kind, count) = (u.int_in_range(0..=if depth == 0 { 8 } else { 9u32 })?, u.int_in_range(0..=3u64)?);
                file.extend(kind.to_le_bytes());
                let claimed = if u.ratio(1, 20)? { u.arbitrary()? } else { count };
                file.extend(claimed.to_le_bytes());
                values(u, file, kind, count, depth.saturating_sub(1))?;
            }
            _ => {
                let size = match kind {
                    0 | 1 | 7 => 1,
                    2 | 3 => 2,
                    4..=6 => 4,
                    _ => 8,
                };
                file.extend(u.arbitrary::<[u8; 8]>()?.iter().take(size));
            }
        }
    }
    Ok(())
}

/// A `.gguf` file.
pub(crate) fn gguf(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut file = b"GGUF".to_vec();
    if u.ratio(1, 6)? {
        file.extend_from_slice(u.bytes(u.len())?);
        return Ok(file);
    }
    let (keys, tensors) = (u.int_in_range(0..=3u64)?, u.int_in_range(1..=3u64)?);
    let claimed = |u: &mut Unstructured<'_>, count| Ok(if u.ratio(1, 20)? { u.arbitrary()? } else { count });
    file.extend(u32::to_le_bytes(if u.ratio(1, 20)? { u.arbitrary()? } else { u.int_in_range(2..=3)? }));
    file.extend(claimed(u, tensors)?.to_le_bytes());
    file.extend(claimed(u, keys)?.to_le_bytes());
    let mut alignment = 32u64;
    for at in 0..keys {
        if u.ratio(1, 3)? {
            alignment = if u.ratio(1, 12)? { u.arbitrary::<u32>()?.into() } else { 1 << u.int_in_range(0..=6)? };
            string(&mut file, b"general.alignment");
            file.extend(4u32.to_le_bytes());
            file.extend((alignment as u32).to_le_bytes());
        } else {
            let name = if u.ratio(1, 20)? { 0 } else { at as u8 };
            string(&mut file, &[b'k', b'0' + name]);
            value(u, &mut file, 3)?;
        }
    }
    let mut data = 0u64;
    for at in 0..tensors {
        let (kind, numbers, bytes) = *u.choose(&TYPES)?;
        let rank = u.int_in_range(0..=3u32)?;
        let blocks = u.int_in_range(1..=3u64)?;
        let mut dims = vec![blocks * numbers];
        dims.extend((1..rank).map(|_| u.int_in_range(0..=5).unwrap_or(1)));
        dims.truncate(rank as usize);
        let size = if rank == 0 { bytes } else { dims[1..].iter().fold(blocks * bytes, |size, dim| size * dim) };
        string(&mut file, if at == 0 { TENSOR.as_bytes() } else { &b"other"[at as usize..] });
        file.extend(claimed(u, rank.into())?.to_le_bytes()[..4].iter());
        for dim in dims {
            file.extend(claimed(u, dim)?.to_le_bytes());
        }
        file.extend(kind.to_le_bytes());
        file.extend(claimed(u, data)?.to_le_bytes());
        data = (data + size).next_multiple_of(alignment.clamp(1, 64));
    }
    let padded = file.len().next_multiple_of(alignment.clamp(1, 64) as usize);
    let data = if u.ratio(1, 12)? { data.saturating_sub(1) } else { data };
    file.resize(padded + data.min(1 << 14) as usize, u.arbitrary()?);
    Ok(file)
}
