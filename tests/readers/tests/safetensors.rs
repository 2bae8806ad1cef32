//! The reader of `.safetensors` files: names, types, and files that are none.

use gather_tests_readers::{gguf_rows, npy_ids, safetensors_array, safetensors_rows};

/// A file of tensors of one element of 4 bytes, by their names as JSON has them.
fn file(names: &[&str], dtype: &str) -> Vec<u8> {
    let tensor = |(at, name): (usize, &&str)| {
        let (begin, end) = (4 * at, 4 * at + 4);
        format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[1,1],\"data_offsets\":[{begin},{end}]}}")
    };
    let header = format!("{{{}}}", names.iter().enumerate().map(tensor).collect::<Vec<_>>().join(","));
    let values: Vec<u8> = (0..names.len()).flat_map(|at| (at as f32).to_le_bytes()).collect();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &values].concat()
}

#[test]
fn names_come_in_one_order_and_without_control_characters() {
    let names = ["z", "b\\u001b[31m", "a\\u0007", "y", "x", "w", "v", "u", "c"];
    for _ in 0..20 {
        let error = safetensors_rows(&file(&names, "F32"), "t\u{1b}", &[0]).unwrap_err();
        let expected = "no tensor `t\\u{1b}` among 9: a\\u{7}, b\\u{1b}[31m, c, u, v, w, x, y, ...";
        assert_eq!(error, expected);
    }
    let rows = safetensors_rows(&file(&names, "F32"), "b\u{1b}[31m", &[0]).unwrap();
    assert_eq!(rows.as_slice(), [1.0]);
}

#[test]
fn types_that_are_not_supported_are_named_beside_those_that_are() {
    let error = safetensors_rows(&file(&["t"], "I32"), "t", &[0]).unwrap_err();
    assert!(error.contains("the data type I32 is not supported; F32, F16, BF16, F8_E4M3, F8_E5M2 are"), "{error}");
    assert_eq!(safetensors_array(&file(&["t"], "I32"), "t").unwrap().1, [1, 1]);
    let fp8 = file(&["t"], "F8_E4M3").into_iter().collect::<Vec<_>>();
    // Four values of a byte.
    let fp8 = String::from_utf8(fp8).unwrap().replace("[1,1]", "[2,2]");
    let error = safetensors_array(fp8.as_bytes(), "t").unwrap_err();
    assert!(error.contains("the data type F8_E4M3 is not supported") && error.contains("--ids"), "{error}");
}

#[test]
fn files_that_are_no_tables_are_named() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 1638488\n";
    let page = b"\n  <!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>";
    let marked = b"\xef\xbb\xbf<HTML lang=en>";
    let archive = b"PK\x03\x04\x14\0\0\0\x08\0arr_0.npy";
    for (file, expected) in [
        (&pointer[..], "Git LFS"),
        (page, "a web page"),
        (marked, "a web page"),
        (archive, "a zip archive"),
        (b"", "the file is empty"),
    ] {
        for error in [
            gguf_rows(file, "t", &[0]).unwrap_err(),
            npy_ids(file).unwrap_err(),
            safetensors_rows(file, "t", &[0]).unwrap_err(),
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }
}
