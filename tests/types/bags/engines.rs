//! What PyTorch and OpenVINO compute (`tests/data/bags`).

use gather_core::{Bags, Element, EmbeddingBag, Reduction, View};
use half::{bf16, f16};
use serde_json::Value;

use crate::support::lines;

fn numbers(of: &Value) -> Vec<f64> {
    of.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn integers(of: &Value) -> Vec<i64> {
    of.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

fn shape(of: &Value) -> Vec<usize> {
    integers(&of["shape"]).into_iter().map(|size| size.try_into().unwrap()).collect()
}

fn operator(case: &Value, engine: &str) -> EmbeddingBag {
    let reduction = match case["reduction"].as_str().unwrap() {
        "sum" => Reduction::Add,
        "mean" => Reduction::Mean,
        _ => Reduction::Max,
    };
    match engine {
        "torch" => EmbeddingBag::torch(reduction)
            .padding_index(case["padding_index"].as_i64())
            .include_last_offset(case["include_last_offset"] == true),
        _ if case.get("offsets").is_none() => EmbeddingBag::openvino15_packed(reduction),
        _ => EmbeddingBag::openvino15_offsets(reduction, case["default_index"].as_i64()),
    }
}

/// Runs a case. Sums of its numbers are exact; engines multiply by the reciprocal of a count in place of dividing by
/// it, and round weighted sums of short types more often, so that these may differ in the last places.
fn check<T: Element<Number = T>>(
    case: &Value,
    engine: &str,
    number: fn(f64) -> T,
    value: fn(T) -> f64,
    precision: f64,
) {
    let all = |of: &Value| numbers(of).into_iter().map(number).collect::<Vec<T>>();
    let (data, data_shape) = (all(&case["data"]["values"]), shape(&case["data"]));
    let (ids, ids_shape) = (integers(&case["indices"]["values"]), shape(&case["indices"]));
    let weights = case.get("weights").map(all);
    let (data, ids) = (View::new(&data, &data_shape).unwrap(), View::new(&ids, &ids_shape).unwrap());
    let weights = weights.as_ref().map(|weights| View::new(weights, &ids_shape).unwrap());
    let offsets = case.get("offsets").map(integers);
    let offsets = offsets.as_ref().map(|offsets| View::new(offsets, &[offsets.len()]).unwrap());
    let bags = offsets.as_ref().map_or(Bags::packed(&ids), |offsets| Bags::new(&ids, offsets));
    let bags = bags.weights(weights.as_ref());
    let got = operator(case, engine).run(&data, &bags).unwrap();
    assert_eq!(got.shape(), shape(&case["output"]), "{engine}: {case}");
    let exact = case["reduction"] != "mean" && (weights.is_none() || precision < 1e-6);
    for (got, expected) in got.as_slice().iter().zip(numbers(&case["output"]["values"])) {
        let (got, allowed) = (value(*got), if exact { 0.0 } else { precision * expected.abs() });
        assert!((got - expected).abs() <= allowed, "{engine}: {got}, not {expected}: {case}");
    }
}

fn check_all(engine: &str, count: usize) {
    let cases = lines(&format!("bags/{engine}.jsonl"));
    assert_eq!(cases.len(), count);
    for case in &cases {
        match case["dtype"].as_str().unwrap() {
            "f32" => check::<f32>(case, engine, |x| x as f32, f64::from, f64::from(f32::EPSILON)),
            "f64" => check::<f64>(case, engine, |x| x, |x| x, f64::EPSILON),
            "f16" => check::<f16>(case, engine, f16::from_f64, f16::to_f64, f16::EPSILON.to_f64()),
            _ => check::<bf16>(case, engine, bf16::from_f64, bf16::to_f64, bf16::EPSILON.to_f64()),
        }
    }
}

#[test]
fn torch() {
    check_all("torch", 70);
}

#[test]
fn openvino() {
    check_all("openvino", 36);
}
