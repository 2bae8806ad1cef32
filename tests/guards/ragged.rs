//! Rows of different lengths and rows of bits next to guard pages: copies of whole vectors end with the values, and
//! words of bits with the bytes.

use gather_core::{Bitmap, Mask, Ragged, gather_bits, ragged_pairs};
use gather_tests::guard::{Guarded, Side};
use gather_tests::support::mixed;

#[test]
fn rows_next_to_a_guard() {
    let (mut of_values, mut of_offsets, mut of_ids) = (Guarded::new(1), Guarded::new(1), Guarded::new(1));
    for most in [1, 2, 5, 9, 17, 33, 65, 130, 300] {
        let rows = (2000 / most).min(70);
        let lens: Vec<usize> = (0..rows).map(|row| (mixed(1, row) >> 7) as usize % (most + 1)).collect();
        let mut offsets = vec![0i32];
        lens.iter().for_each(|&len| offsets.push(offsets[offsets.len() - 1] + len as i32));
        let values: Vec<u8> = (0..*offsets.last().unwrap() as usize).map(|at| mixed(2, at) as u8).collect();
        let ids: Vec<u32> = (0..rows as u32).rev().chain(0..rows as u32).collect();
        let row = |row: usize| &values[offsets[row] as usize..offsets[row + 1] as usize];
        let expected: Vec<u8> = ids.iter().flat_map(|&id| row(id as usize).to_vec()).collect();
        for side in Side::ALL {
            let values = of_values.place_copy(side, 0, &values);
            let offsets = of_offsets.place_copy(side, 0, &offsets);
            let ids = of_ids.place_copy(side, 0, &ids);
            let ragged = Ragged::new(offsets, values).unwrap();
            assert_eq!(ragged.gather(&*ids).unwrap().1, expected, "rows of up to {most}");
            assert_eq!(ragged_pairs(&[ragged], &vec![0u8; ids.len()], ids).unwrap().1, expected);
            for nth in [1, 2, 40] {
                let bools: Vec<bool> = (0..rows).map(|at| at % nth == nth - 1).collect();
                let expected: Vec<u8> = (0..rows).filter(|&at| bools[at]).flat_map(|at| row(at).to_vec()).collect();
                assert_eq!(ragged.masked(&Mask::new(&bools).unwrap()).unwrap().1, expected);
            }
        }
    }
}

#[test]
fn bits_next_to_a_guard() {
    let (mut of_bits, mut of_mask) = (Guarded::new(1), Guarded::new(1));
    for len in (0..=130).chain([255, 256, 257, 1000]) {
        let bytes: Vec<u8> = (0..(len + 3usize).div_ceil(8)).map(|at| mixed(3, at) as u8).collect();
        let trues: Vec<u8> = (0..(len + 5usize).div_ceil(8)).map(|at| mixed(4, at) as u8).collect();
        let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1 == 1;
        for side in Side::ALL {
            let (bytes, trues) = (&*of_bits.place_copy(side, 0, &bytes), &*of_mask.place_copy(side, 0, &trues));
            let (bits, mask) = (Bitmap::new(bytes, 3, len).unwrap(), Bitmap::new(trues, 5, len).unwrap());
            let ids: Vec<i32> = (0..len as i32).rev().collect();
            let got = gather_bits(bits, 1, &ids).unwrap();
            assert!((0..len).all(|at| got.get(at) == Some(bit(bytes, 3 + len - 1 - at))));
            let got = Mask::from_bits(mask).select_bits(bits, 1).unwrap();
            let expected = (0..len).filter(|&at| bit(trues, 5 + at)).map(|at| bit(bytes, 3 + at));
            assert!(expected.enumerate().all(|(at, is)| got.get(at) == Some(is)), "{len} bits");
        }
    }
}
