//! Ids out of `.npy` files: their order, their types, and what is no id.

use gather_tests_readers::npy_ids;

/// A file of a type, an order and a shape, as NumPy writes them.
fn file(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let len = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes(), data].concat()
}

#[test]
fn ids_come_in_the_order_of_their_shape() {
    let numbers: Vec<u8> = [1i32, 2, 3, 4, 5, -6].iter().flat_map(|id| id.to_le_bytes()).collect();
    assert_eq!(npy_ids(&file("<i4", false, "(2, 3)", &numbers)), Ok(vec![1, 2, 3, 4, 5, -6]));
    // The same bytes column by column: rows are 1, 3, 5 and 2, 4, -6.
    assert_eq!(npy_ids(&file("<i4", true, "(2, 3)", &numbers)), Ok(vec![1, 3, 5, 2, 4, -6]));
    assert_eq!(npy_ids(&file("<i4", true, "(3, 1, 2)", &numbers)), Ok(vec![1, 4, 2, 5, 3, -6]));
    assert_eq!(npy_ids(&file("<i4", true, "(6,)", &numbers)), Ok(vec![1, 2, 3, 4, 5, -6]));
    assert_eq!(npy_ids(&file("<i4", true, "()", &numbers[..4])), Ok(vec![1]));
    assert_eq!(npy_ids(&file("<i4", true, "(0, 3)", &[])), Ok(vec![]));
}

#[test]
fn ids_are_whole_numbers_of_either_byte_order() {
    assert_eq!(npy_ids(&file(">u2", true, "(2, 2)", &[0, 1, 1, 0, 0, 2, 2, 0])), Ok(vec![1, 2, 256, 512]));
    assert_eq!(npy_ids(&file("|i1", false, "(2,)", &[7, 0xff])), Ok(vec![7, -1]));
    let huge = npy_ids(&file("<u8", false, "(1,)", &u64::MAX.to_le_bytes())).unwrap_err();
    assert!(huge.contains("18446744073709551615"), "{huge}");
    let no_id = npy_ids(&file("<f4", false, "(1,)", &[0; 4])).unwrap_err();
    assert!(no_id.contains("no type of ids"), "{no_id}");
}

#[test]
fn types_that_are_not_supported_are_named_beside_those_that_are() {
    for (descr, shown) in [("<M8[ns]", "<M8[ns]"), ("|O", "|O"), ("<f16", "<f16")] {
        let refused = npy_ids(&file(descr, false, "(1,)", &[0; 16])).unwrap_err();
        let expected = format!("the data type {shown} is not supported; bool, integers of 8 to 64 bits");
        assert!(refused.contains(&expected), "{refused}");
    }
    let header = "{'descr': [('a', '<f4'), ('b', '<i2')], 'fortran_order': False, 'shape': (1,), }\n";
    let len = (header.len() as u16).to_le_bytes();
    let refused = npy_ids(&[&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes(), &[0; 6]].concat()).unwrap_err();
    assert!(refused.contains("structured data type [('a', '<f4')") && refused.contains("bool, integers"), "{refused}");
}
