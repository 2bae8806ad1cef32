//! Maps of quantised tables, against values of other implementations (`tests/data/tables`).

use gather_core::maps::{self, Block};
use gather_core::{Element, Gather, Given, Map, OutOfBounds, Params, View};
use half::{bf16, f16};
use serde_json::Value;

use crate::support::{levels, lines, unhex};

/// A line of the reference values.
struct Case {
    format: String,
    origin: String,
    bytes: Vec<u8>,
    values: Vec<f32>,
}

fn cases(file: &str) -> Vec<Case> {
    let case = |line: &Value| {
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        let values = line["f32"].as_array().unwrap().iter();
        let value = |bits: &Value| f32::from_bits(bits.as_u64().unwrap().try_into().unwrap());
        let values = values.map(value).collect();
        Case { format: text("format"), origin: text("origin"), bytes: unhex(&text("bytes")), values }
    };
    lines(&format!("tables/{file}")).iter().map(case).collect()
}

/// The values of every code of a format, by the package `ml_dtypes`.
fn every_code(format: &str) -> Vec<f32> {
    cases("floats.jsonl").into_iter().find(|case| case.format == format).unwrap().values
}

/// A number by its bits, as `f32`.
trait Number: Copy {
    fn of(value: f32) -> Self;
    /// The bits, and whether this is NaN.
    fn bits(self) -> (u32, bool);
}

impl Number for f32 {
    fn of(value: f32) -> Self {
        value
    }
    fn bits(self) -> (u32, bool) {
        (self.to_bits(), self.is_nan())
    }
}

impl Number for f16 {
    fn of(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn bits(self) -> (u32, bool) {
        (self.to_bits().into(), self.is_nan())
    }
}

impl Number for bf16 {
    fn of(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn bits(self) -> (u32, bool) {
        (self.to_bits().into(), self.is_nan())
    }
}

/// Elements as the numbers in them.
trait Flat {
    type Number: Number;
    fn flat(values: &[Self]) -> Vec<Self::Number>
    where
        Self: Sized;
}

macro_rules! flat {
    ($($number:ty),*) => {$(
        impl Flat for $number {
            type Number = $number;
            fn flat(values: &[Self]) -> Vec<$number> {
                values.to_vec()
            }
        }
        impl<const N: usize> Flat for [$number; N] {
            type Number = $number;
            fn flat(values: &[Self]) -> Vec<$number> {
                values.as_flattened().to_vec()
            }
        }
    )*};
}
flat!(f32, f16, bf16);

/// Checks a map on elements, whose results are `expected`, at every level: in one row and in many, alone and out of
/// range.
fn gives<T: Element, U: Element + Flat, P: Params>(
    map: &Map<T, U, P>,
    table: &[T],
    given: P::Given<'_>,
    expected: &[f32],
    what: &str,
) {
    let count = table.len();
    assert!(count > 0 && expected.len().is_multiple_of(count), "{what}");
    let per = expected.len() / count;
    let same = |got: &[U], expected: &[f32], doing: &str| {
        let got = U::flat(got);
        assert_eq!(got.len(), expected.len(), "{} of {what}, {doing}", map.name());
        for (at, (got, &expected)) in got.iter().zip(expected).enumerate() {
            let (got, expected) = (got.bits(), <U as Flat>::Number::of(expected).bits());
            let equal = got.0 == expected.0 || got.1 && expected.1;
            assert!(equal, "{} of {what}, {doing}: value {at} is {got:x?} and not {expected:x?}", map.name());
        }
    };
    for level in levels() {
        let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level);
        let whole = View::new(table, &[1, count]).unwrap();
        let got = op.run(&whole.map(map, given), &View::new(&[0u8], &[1]).unwrap()).unwrap();
        same(got.as_slice(), expected, "in one row");

        // The parameters of these tests hold for the call, so that rows may be cut anywhere.
        let rows = View::new(table, &[count]).unwrap();
        let ids: Vec<i32> = (0..count as i32 + 1).rev().collect();
        let got = op.run(&rows.map(map, given), &View::new(&ids, &[count + 1]).unwrap()).unwrap();
        let reversed: Vec<f32> = expected.chunks(per).rev().flatten().copied().collect();
        same(&got.as_slice()[..1], &vec![0.0; per], "out of range");
        same(&got.as_slice()[1..], &reversed, "one by one");
    }
}

/// Checks the three maps of a format.
macro_rules! give {
    ($maps:tt, $table:expr, $given:expr, $expected:expr, $what:expr) => {
        give!(@ $maps, $table, $given, $expected, $what)
    };
    (@ [$($map:ident)*], $table:expr, $given:expr, $expected:expr, $what:expr) => {
        $(
            gives(&maps::$map::<f32>(), $table, $given, $expected, $what);
            gives(&maps::$map::<f16>(), $table, $given, $expected, $what);
            gives(&maps::$map::<bf16>(), $table, $given, $expected, $what);
        )*
    };
}

#[test]
fn gguf_blocks_are_read_as_the_package_gguf_reads_them() {
    let mut formats = std::collections::BTreeSet::new();
    for case in cases("gguf.jsonl") {
        let what = format!("{}, {}", case.format, case.origin);
        macro_rules! check {
            ($($block:ident,)*) => {
                match case.format.as_str() {
                    $(stringify!($block) => {
                        let (table, rest) = maps::$block::from_bytes(&case.bytes);
                        assert!(rest.is_empty(), "{what}");
                        assert_eq!(table.len() * maps::$block::LEN, case.values.len(), "{what}");
                        gives(&maps::convert::<_, f32>(), table, (), &case.values, &what);
                        gives(&maps::convert::<_, f16>(), table, (), &case.values, &what);
                        gives(&maps::convert::<_, bf16>(), table, (), &case.values, &what);
                        for (block, values) in table.iter().zip(case.values.chunks(maps::$block::LEN)) {
                            assert!(block.to_f32().iter().map(|value| value.bits()).eq(values.iter().map(|value| {
                                value.bits()
                            })) || values.iter().any(|value| value.is_nan()), "{what}");
                        }
                    })*
                    other => panic!("{other}"),
                }
            };
        }
        check! {
            Q8_0,
            Q4_0,
            Q4_1,
            Q4_K,
            Q6_K,
            IQ4_NL,
            MXFP4,
            NVFP4,
            Q5_0,
            Q5_1,
            Q2_K,
            Q3_K,
            Q5_K,
            IQ4_XS,
        }
        formats.insert(case.format);
    }
    assert_eq!(formats.len(), 14);
}

#[test]
fn bytes_are_cut_into_blocks() {
    let bytes: Vec<u8> = (0..=100).collect();
    let (blocks, rest) = maps::Q8_0::from_bytes(&bytes);
    assert_eq!(blocks, [&bytes[..34], &bytes[34..68]].map(|block| maps::Q8_0::from(*block.first_chunk().unwrap())));
    assert_eq!(rest, &bytes[68..]);
    assert_eq!(maps::Q4_0::from_bytes(&bytes[1..18]).0, []);
    assert_eq!(maps::Q4_0::from_bytes(&[]), (&[][..], &[][..]));
}

#[test]
fn every_code_of_8_bits_and_less() {
    let codes: Vec<u8> = (0..=255).collect();
    let same = |got: f32, expected: f32, what: &str| {
        assert_eq!(got.to_bits(), expected.to_bits(), "{what}: {got} and {expected}");
    };
    let (e4m3, e5m2, e8m0, e2m1) = (every_code("E4M3"), every_code("E5M2"), every_code("E8M0"), every_code("E2M1"));
    assert_eq!([e4m3.len(), e5m2.len(), e8m0.len(), e2m1.len()], [256, 256, 256, 16]);
    for code in 0..=255u8 {
        let at = usize::from(code);
        same(maps::e4m3_to_f32(code), e4m3[at], &format!("E4M3 {code:#x}"));
        same(maps::e5m2_to_f32(code), e5m2[at], &format!("E5M2 {code:#x}"));
        same(maps::e8m0_to_f32(code), e8m0[at], &format!("E8M0 {code:#x}"));
        // The high bits do not count.
        same(maps::e2m1_to_f32(code), e2m1[at % 16], &format!("E2M1 {code:#x}"));
    }
    give!([e4m3], &codes, (), &e4m3, "every code");
    give!([e5m2], &codes, (), &e5m2, "every code");
    gives(&maps::e8m0(), &codes, (), &e8m0, "every code");
    for scale in [1.0, -0.37, 0.0, f32::INFINITY, 1e-38] {
        let scaled = |values: &[f32]| values.iter().map(|value| value * scale).collect::<Vec<_>>();
        let given = (Given::All(scale),);
        give!([e4m3_scaled], &codes, given, &scaled(&e4m3), "scaled");
        give!([e5m2_scaled], &codes, given, &scaled(&e5m2), "scaled");
    }
}

#[test]
fn microscaling_blocks_by_every_scale() {
    let (e4m3, e5m2, e8m0, e2m1) = (every_code("E4M3"), every_code("E5M2"), every_code("E8M0"), every_code("E2M1"));
    let codes: Vec<u8> = (0..=255).collect();
    let eights: Vec<[u8; 32]> = codes.as_chunks().0.to_vec();
    let fours: Vec<[u8; 16]> = codes.as_chunks().0.to_vec();
    for (scale, &factor) in e8m0.iter().enumerate() {
        let given = (Given::All(scale as u8),);
        let scaled = |values: &[f32]| values.iter().map(|value| value * factor).collect::<Vec<_>>();
        give!([mxfp8_e4m3], &eights, given, &scaled(&e4m3), "blocks");
        give!([mxfp8_e5m2], &eights, given, &scaled(&e5m2), "blocks");
        let pairs: Vec<f32> =
            codes.iter().flat_map(|&pair| [pair & 15, pair >> 4]).map(|code| e2m1[code as usize]).collect();
        give!([mxfp4_pairs], &fours, given, &scaled(&pairs), "4");
    }
}

#[test]
fn pairs_of_four_bits() {
    let codes: Vec<u8> = (0..=255).collect();
    let blocks: Vec<[u8; 32]> = codes.as_chunks().0.to_vec();
    for scale in [1.0f32, -0.3, 1e-39, f32::INFINITY] {
        for zero in 0..16u8 {
            let value = |code: u8| (f32::from(code) - f32::from(zero)) * scale;
            let expected: Vec<f32> = codes.iter().flat_map(|&pair| [value(pair % 16), value(pair / 16)]).collect();
            let given = (Given::All(scale), Given::All(zero));
            give!([u4], &codes, given, &expected, "pairs");

            let zero = zero as i8 - 8;
            let signed = |code: u8| if code < 8 { code as i8 } else { code as i8 - 16 };
            let value = |code: u8| (f32::from(signed(code)) - f32::from(zero)) * scale;
            let expected: Vec<f32> = codes.iter().flat_map(|&pair| [value(pair % 16), value(pair / 16)]).collect();
            let given = (Given::All(scale), Given::All(zero));
            give!([i4], &codes, given, &expected, "pairs");
        }
        let expected: Vec<f32> = codes
            .iter()
            .flat_map(|&pair| [pair / 16, pair % 16])
            .map(|code| maps::NF4[code as usize] * scale)
            .collect();
        give!([nf4], &blocks, (Given::All(scale),), &expected, "pairs");
    }
    // Zero is exact, the values go up, and their ends are -1 and 1.
    assert_eq!([maps::NF4[0], maps::NF4[7], maps::NF4[15]], [-1.0, 0.0, 1.0]);
    assert!(maps::NF4.is_sorted());
}

#[test]
fn halves_with_a_scale() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let halves: Vec<f16> = all.iter().map(|&bits| f16::from_bits(bits)).collect();
    let brains: Vec<bf16> = all.iter().map(|&bits| bf16::from_bits(bits)).collect();
    for scale in [1.0f32, -0.3] {
        let given = (Given::All(scale),);
        let expected: Vec<f32> = halves.iter().map(|value| value.to_f32() * scale).collect();
        gives(&maps::scaled::<_, f32>(), &halves, given, &expected, "every half");
        let expected: Vec<f32> = brains.iter().map(|value| value.to_f32() * scale).collect();
        gives(&maps::scaled::<_, f32>(), &brains, given, &expected, "every bfloat16");
    }
}
