//! The reader of `.gguf` files: a file of the package `gguf`, files written here, and files whose headers lie.

use gather_tests_readers::gguf_rows;

/// Made by `tests/data/tables/make_gguf.py`.
const FILE: &[u8] = include_bytes!("../../data/tables/tiny.gguf");

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn header(tensors: u64, keys: u64) -> Vec<u8> {
    [b"GGUF".to_vec(), 3u32.to_le_bytes().to_vec(), tensors.to_le_bytes().to_vec(), keys.to_le_bytes().to_vec()]
        .concat()
}

/// A file of one tensor `t`.
fn file(keys: &[Vec<u8>], dims: &[u64], kind: u32, offset: u64, alignment: usize, data: &[u8]) -> Vec<u8> {
    let mut file = header(1, keys.len() as u64);
    keys.iter().for_each(|key| file.extend(key));
    file.extend(string("t"));
    file.extend((dims.len() as u32).to_le_bytes());
    dims.iter().for_each(|dim| file.extend(dim.to_le_bytes()));
    file.extend(kind.to_le_bytes());
    file.extend(offset.to_le_bytes());
    file.resize(file.len().next_multiple_of(alignment), 0);
    file.extend(data);
    file
}

fn key(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [string(name), kind.to_le_bytes().to_vec(), value.to_vec()].concat()
}

fn refused(file: &[u8], part: &str) {
    let error = gguf_rows(file, "t", &[0]).unwrap_err();
    assert!(error.contains(part), "{error} does not say {part}");
}

#[test]
fn a_file_of_the_package_gguf() {
    // Values of the package, as the script computes them: rows 2 and 0 of each tensor, their first and last number.
    for (tensor, shape, numbers) in EXPECTED {
        let rows = gguf_rows(FILE, tensor, &[2, -3]).unwrap();
        assert_eq!(rows.shape(), *shape, "{tensor}");
        let row = rows.len() / 2;
        let got = [0, row - 1, row, 2 * row - 1].map(|at| rows.as_slice()[at].to_bits());
        assert_eq!(got, *numbers, "{tensor}");
    }
    let error = gguf_rows(FILE, "absent", &[0]).unwrap_err();
    assert!(error.contains("no tensor `absent` among") && error.contains("q8_0"), "{error}");
    assert!(gguf_rows(FILE, "q8_0", &[3]).unwrap_err().contains("index 3"));
}

include!("gguf/expected.rs");

#[test]
fn every_beginning_of_a_file_is_refused() {
    let end = FILE.len();
    for len in 0..end {
        // Rows behind the cut may be whole; nothing panics, and the last tensor is not.
        let _ = gguf_rows(&FILE[..len], "q8_0", &[0]);
        assert!(gguf_rows(&FILE[..len], EXPECTED[EXPECTED.len() - 1].0, &[0]).is_err() || len + 64 > end, "{len}");
    }
}

#[test]
fn alignment_and_values_of_every_type() {
    let data: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let deep = [
        &9u32.to_le_bytes()[..],
        &2u64.to_le_bytes(),
        &[8, 0, 0, 0],
        &[0; 8],
        &[0, 0, 0, 0],
        &1u64.to_le_bytes(),
        &[7],
    ];
    let mut keys: Vec<Vec<u8>> =
        [(0, 1), (1, 1), (7, 1), (2, 2), (3, 2), (4, 4), (5, 4), (6, 4), (10, 8), (11, 8), (12, 8)]
            .map(|(kind, size)| key(&format!("k{kind}"), kind, &vec![0xff; size]))
            .to_vec();
    keys.push(key("s", 8, &string("text")));
    keys.push(key("a", 9, &deep.concat()));
    keys.push(key("general.alignment", 4, &64u32.to_le_bytes()));
    let read = gguf_rows(&file(&keys, &[1, 2], 0, 0, 64, &data), "t", &[1]).unwrap();
    assert_eq!((read.shape(), read.as_slice()), (&[1, 1][..], &[-2.0][..]));
}

/// Read as 32, the alignment of files without the key, its data would begin elsewhere.
#[test]
fn an_alignment_of_another_type_is_refused() {
    for (kind, size) in [(0, 1), (2, 2), (5, 4), (6, 4), (7, 1), (10, 8), (11, 8)] {
        let mut value = vec![0; size];
        value[0] = 64;
        let keys = [key("general.alignment", kind, &value)];
        let expected = format!("general.alignment is a value of type {kind}, not of type 4 (u32)");
        refused(&file(&keys, &[4], 0, 0, 64, &[0; 16]), &expected);
    }
}

#[test]
fn names_that_stand_twice_are_refused() {
    let once = key("general.alignment", 4, &64u32.to_le_bytes());
    let other = key("general.alignment", 4, &32u32.to_le_bytes());
    refused(&file(&[once, other], &[4], 0, 0, 64, &[0; 16]), "the key `general.alignment` stands twice");
    let keys = [key("a\u{1b}[2J", 0, &[1]), key("a\u{1b}[2J", 0, &[1])];
    refused(&file(&keys, &[4], 0, 0, 32, &[0; 16]), "the key `a\\u{1b}[2J` stands twice");

    let mut twice = header(2, 0);
    for offset in [0u64, 32] {
        twice.extend(string("t"));
        twice.extend([1u32.to_le_bytes().to_vec(), 4u64.to_le_bytes().to_vec(), 0u32.to_le_bytes().to_vec()].concat());
        twice.extend(offset.to_le_bytes());
    }
    twice.resize(twice.len().next_multiple_of(32) + 48, 0);
    refused(&twice, "two tensors are named `t`");
}

#[test]
fn a_type_that_is_not_supported_is_named_beside_those_that_are() {
    let error = gguf_rows(&file(&[], &[256], 15, 0, 32, &[0; 292]), "t", &[0]).unwrap_err();
    assert!(error.starts_with("ggml's type 15 (Q8_K) is not supported; F32, F16, Q4_0, "), "{error}");
    assert!(!error.contains(", Q8_K"), "{error}");
    let error = gguf_rows(&file(&[], &[1], 99, 0, 32, &[0; 4]), "t", &[0]).unwrap_err();
    assert!(error.contains("type 99 (unknown)"), "{error}");
}

#[test]
fn headers_that_lie_are_refused() {
    let fits = |dims: &[u64], kind, offset| file(&[], dims, kind, offset, 32, &[0; 64]);
    assert!(gguf_rows(&fits(&[4, 4], 0, 0), "t", &[3]).is_ok());
    refused(b"GGML", "does not begin");
    refused(b"", "the file is empty");
    refused(&[&b"GGUF"[..], &[0, 0, 0, 3], &[0; 16]].concat(), "big-endian");
    refused(&[&b"GGUF"[..], &[1, 0, 0, 0], &[0; 16]].concat(), "version 1");
    // Counts that the file cannot hold.
    refused(&header(u64::MAX, 0), "bytes at");
    refused(&header(0, u64::MAX), "bytes at");
    let huge_string = [header(0, 1), u64::MAX.to_le_bytes().to_vec()].concat();
    refused(&huge_string, "18446744073709551615 bytes");
    for (kind, len) in [(0u32, u64::MAX), (12, u64::MAX / 4), (8, u64::MAX), (9, u64::MAX)] {
        let array = [kind.to_le_bytes().to_vec(), len.to_le_bytes().to_vec()].concat();
        assert!(gguf_rows(&[header(0, 1), key("a", 9, &array)].concat(), "t", &[0]).is_err(), "{kind}");
    }
    // Arrays in arrays in arrays.
    let nested: Vec<u8> = (0..1000).flat_map(|_| [&9u32.to_le_bytes()[..], &1u64.to_le_bytes()].concat()).collect();
    refused(&[header(0, 1), key("a", 9, &nested)].concat(), "arrays in arrays");
    refused(&[header(0, 1), key("a", 13, &[0; 8])].concat(), "type 13");
    for alignment in [0u32, 3, 48] {
        let keys = [key("general.alignment", 4, &alignment.to_le_bytes())];
        refused(&file(&keys, &[4], 0, 0, 32, &[0; 64]), "no power of two");
    }
    refused(&fits(&[1, 1, 1, 1, 1], 0, 0), "5 dimensions");
    refused(&fits(&[4], 9, 0), "ggml's type 9");
    refused(&fits(&[33], 8, 0), "rows of 33 numbers");
    refused(&fits(&[1 << 40, 1 << 40], 0, 0), "exceeds the address space");
    refused(&fits(&[u64::MAX], 0, 0), "exceeds the address space");
    refused(&fits(&[4, 5], 0, 0), "80 bytes from 0");
    refused(&fits(&[4, 4], 0, 1), "64 bytes from 1");
    refused(&fits(&[4, 4], 0, u64::MAX), "64 bytes from 18446744073709551615");
    refused(&fits(&[4, 4], 0, u64::MAX - 100), "of the data on");
}

#[test]
fn rows_without_numbers_may_be_too_many() {
    // One row has a shape that can be; two have more numbers than memory, the dimension of 0 left aside.
    let numbers = isize::MAX as usize / 3 * 2 / 32 * 32;
    let empty = file(&[], &[numbers as u64, 0, 2], 2, 0, 32, &[]);
    assert_eq!(gguf_rows(&empty, "t", &[1]).unwrap().shape(), [1, 0, numbers]);
    let error = gguf_rows(&empty, "t", &[0, 1]).unwrap_err();
    assert!(error.contains("elements"), "{error}");
}
