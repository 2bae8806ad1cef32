//! Quantised tables: every ready-made map and every conversion, on every byte, from safe code alone.

use gather_core::maps::{self, Block};
use gather_core::{
    Codes, Element, Gather, GatherNd, Given, Level, Map, NegativeIndex, OutOfBounds, Par, Params, Spec, View, ViewMut,
};

/// Runs a map on a table of any bytes: in rows, one by one, with an index out of range.
fn runs<T: Element, U: Element, P: Params>(map: &Map<T, U, P>, table: &[T], given: P::Given<'_>) {
    let (data, rows) = (View::new(table, &[1, table.len()]).unwrap(), View::new(table, &[table.len()]).unwrap());
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let got = op.run(&data.map(map, given), &View::new(&[0u64, u64::MAX], &[2]).unwrap()).unwrap();
    assert_eq!(got.shape(), [2, table.len()], "{}", map.name());
    let got = op.run(&rows.map(map, given), &View::new(&[i64::MIN, 0, -1], &[3]).unwrap()).unwrap();
    assert_eq!(got.len(), 3, "{}", map.name());
}

/// Every byte, at every position of a block.
fn bytes() -> Vec<u8> {
    (0..256 * 210).map(|at| (at + at / 210) as u8).collect()
}

/// Maps to every type of floats.
macro_rules! all {
    ($table:expr, $given:expr, $($map:ident)*) => {$(
        runs(&maps::$map::<f32>(), $table, $given);
        runs(&maps::$map::<half::f16>(), $table, $given);
        runs(&maps::$map::<half::bf16>(), $table, $given);
    )*};
}

#[test]
fn maps_of_blocks() {
    let bytes = bytes();
    macro_rules! blocks {
        ($($block:ident)*) => {$(
            let (blocks, rest) = maps::$block::from_bytes(&bytes[1..]);
            assert_eq!(blocks.len() * size_of::<maps::$block>() + rest.len(), bytes.len() - 1);
            assert_eq!(blocks[0].to_f32().len(), maps::$block::LEN);
            runs(&maps::convert::<_, f32>(), blocks, ());
            runs(&maps::convert::<_, half::f16>(), blocks, ());
            runs(&maps::convert::<_, half::bf16>(), blocks, ());
        )*};
    }
    blocks!(Q8_0 Q4_0 Q4_1 Q4_K Q6_K IQ4_NL MXFP4 NVFP4 Q5_0 Q5_1 Q2_K Q3_K Q5_K IQ4_XS);
}

#[test]
fn maps_with_parameters() {
    let bytes = bytes();
    for scale in [0.0, f32::MAX, f32::NAN] {
        let given = (Given::All(scale), Given::All(255));
        all!(&bytes, given, u4);
        let given = (Given::All(scale), Given::All(-128));
        all!(&bytes, given, i4);
        let given = (Given::All(scale),);
        all!(&bytes, given, e4m3_scaled);
        all!(&bytes, given, e5m2_scaled);
        let blocks: &[[u8; 32]] = bytes.as_chunks().0;
        all!(blocks, given, nf4);
        let halves: Vec<half::f16> = (0..=u16::MAX).map(half::f16::from_bits).collect();
        runs(&maps::scaled::<_, f32>(), &halves, given);
        runs(&maps::scaled::<_, half::bf16>(), &halves, given);
        let brains: Vec<half::bf16> = (0..=u16::MAX).map(half::bf16::from_bits).collect();
        runs(&maps::scaled::<_, f32>(), &brains, given);
    }
    let (eights, fours): (&[[u8; 32]], &[[u8; 16]]) = (bytes.as_chunks().0, bytes.as_chunks().0);
    for scale in [0, 127, 255] {
        let given = (Given::All(scale),);
        all!(eights, given, mxfp8_e4m3);
        all!(eights, given, mxfp8_e5m2);
        all!(fours, given, mxfp4_pairs);
    }
}

#[test]
fn maps_and_functions_of_codes() {
    let bytes = bytes();
    all!(&bytes, (), e4m3 e5m2);
    runs(&maps::e8m0(), &bytes, ());
    for code in 0..=u8::MAX {
        let values = [maps::e4m3_to_f32(code), maps::e5m2_to_f32(code), maps::e8m0_to_f32(code)];
        assert!(values.iter().all(|value| value.is_nan() || value.abs() <= f32::INFINITY));
        assert!(maps::e2m1_to_f32(code).abs() <= 6.0);
    }
    for bits in 0..=u16::MAX {
        let (half, brain) = (maps::f16_to_f32(bits), maps::bf16_to_f32(bits));
        assert!(half.is_nan() || maps::f32_to_f16(half) == bits);
        assert!(brain.is_nan() || maps::f32_to_bf16(brain) == bits);
    }
}

#[test]
fn pages_that_are_needed() {
    // Whatever is asked for, nothing is read and nothing fails.
    let table = bytes();
    let data = View::new(&table, &[256, 210]).unwrap();
    let ids = View::new(&[0i64, i64::MIN, i64::MAX, -1], &[4]).unwrap();
    for op in [Gather::new(0), Gather::new(1), Gather::new(-7), Gather::new(0).out_of_bounds(OutOfBounds::Wrap)] {
        let told = op.will_need(&data, &ids);
        assert!(told.rows <= 4 * 256 && told.ranges <= told.rows, "{told:?}");
        let Ok(plan) = op.plan(&data, &ids) else { continue };
        assert_eq!(plan.will_need(&data, &ids), told);
        let numbers = data.map(&maps::e4m3::<f32>(), ());
        assert_eq!(op.plan(&numbers, &ids).unwrap().will_need(&numbers, &ids), told);
        // Tensors that the plan was not made for.
        assert_eq!(plan.will_need(&data, &View::new(&[1i64], &[1]).unwrap()).rows, 0);
    }
    // Tuples without components name all of data, and read no index.
    let none: [u8; 0] = [];
    let told = GatherNd::new().will_need(&data, &View::new(&none, &[0]).unwrap());
    assert!(told.rows <= 1, "{told:?}");
    let strided = View::strided(&table, &[5, 7], &[0, -3], 700).unwrap();
    assert!(Gather::new(0).out_of_bounds(OutOfBounds::Clamp).will_need(&strided, &ids).rows <= 28);
}

#[test]
fn block_quantized_data() {
    let bytes = bytes();
    for &codes in Codes::ALL {
        let values = 33 * codes.per_byte();
        assert!(codes.default_zero_point() <= 128);
        for block_size in [16, 1 << (usize::BITS - 1)] {
            let blocks = values.div_ceil(block_size);
            let scales = vec![f32::NAN; 5 * blocks];
            let zero_shape = match codes {
                Codes::U4 | Codes::I4 => vec![(5 * blocks).div_ceil(2)],
                codes if codes.is_float() => vec![0],
                _ => vec![5, blocks.div_ceil(codes.per_byte())],
            };
            let count: usize = zero_shape.iter().product();
            let (data, scales) =
                (View::new(&bytes[1..166], &[5, 33]).unwrap(), View::new(&scales, &[5, blocks]).unwrap());
            let zeros = View::new(&bytes[..count], &zero_shape).unwrap();
            let ids = View::new(&[4, -1, i64::MIN, i64::MAX], &[4]).unwrap();
            let op = Gather::new(-2).par(Par::Threads(2)).level(Level::Scalar);
            let op = op.out_of_bounds(OutOfBounds::Wrap).negative_index(NegativeIndex::FromEnd);
            let blocks = data.blocks(codes, block_size, &scales);
            let got = op.run(&blocks.zero_points(&zeros), &ids).unwrap();
            assert!(got.as_slice().iter().all(|value| value.is_nan()));
            let plan = op.plan(&Spec::from_layout(data.layout()).blocks::<f32>(codes, block_size), &ids).unwrap();
            assert_eq!(plan.output_shape(), [4, values]);
            assert!(!plan.explain().to_string().is_empty());
            assert_eq!(plan.run(&blocks, &ids).unwrap().len(), got.len());
            assert!(plan.will_need(&blocks, &ids).rows <= 4);
            let mut out = vec![0.0; got.len()];
            plan.run_into(&blocks, &ids, &mut ViewMut::new(&mut out, &[4, values]).unwrap()).unwrap();
            op.run_into(&blocks, &ids, &mut ViewMut::new(&mut out, &[4, values]).unwrap()).unwrap();
            let mut short = ViewMut::new(&mut out, &[values, 4]).unwrap();
            assert!(op.run_into(&blocks, &ids, &mut short).is_err());
            let wrong = View::new(&bytes[..5], &[5]).unwrap();
            assert!(op.run(&blocks.zero_points(&wrong), &ids).is_err() || codes.per_byte() == 1 && !codes.is_float());
        }
    }
}
