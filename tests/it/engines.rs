//! The calls that stand for those of other engines, against what the engines answer (`tests/data/engines`).

use std::collections::BTreeMap;

use gather_core::{
    Bags, BatchToSpace, DepthMode, DepthToSpace, EmbeddingBag, Error, Gather, GatherElements, GatherNd, GatherOperator,
    IndexAttributes, NegativeIndex, OutOfBounds, Reduction, ScatterAttributes, ScatterElements, ScatterNd,
    ScatterOperator, SpaceAttributes, SpaceOperator, SpaceToBatch, SpaceToDepth, Tensor, View, zeros,
};
use serde_json::Value;

use crate::support::lines;

const X: [f32; 3] = [10.0, 20.0, 30.0];
const UPDATES: [f32; 2] = [1.0, 2.0];
const TABLE: [f32; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// What a call answers to a list of indices.
type Call = Box<dyn Fn(&[i64]) -> Result<Vec<f32>, Error>>;

/// The calls, by engine and by what it calls them.
#[derive(Default)]
struct Calls(BTreeMap<(&'static str, String), Call>);

impl Calls {
    fn add(&mut self, engine: &'static str, name: impl Into<String>, call: Call) {
        assert!(self.0.insert((engine, name.into()), call).is_none());
    }
}

/// A gather of elements of `x`.
fn of_x<A: IndexAttributes + Copy + 'static>(op: GatherOperator<A>) -> Call {
    Box::new(move |ids| op.run(&X, ids).map(Tensor::into_vec))
}

/// A gather of rows of the table.
fn of_rows(op: Gather) -> Call {
    Box::new(move |ids| op.run(&View::new(&TABLE, &[3, 2])?, ids).map(Tensor::into_vec))
}

/// A gather of elements of `x` by tuples of one index.
fn of_tuples(op: GatherNd) -> Call {
    Box::new(move |ids| op.run(&X, &View::new(ids, &[ids.len(), 1])?).map(Tensor::into_vec))
}

/// The indices and the columns 1 and 0, as tuples.
fn pairs(ids: &[i64]) -> [i64; 4] {
    [ids[0], 1, ids[1], 0]
}

/// A scatter of the updates, `scale` times, into `x`.
fn into_x<A: ScatterAttributes + Copy + 'static>(op: ScatterOperator<A>, scale: f32) -> Call {
    Box::new(move |ids| {
        let mut x = X;
        op.run_on(&mut x, ids, &UPDATES.map(|update| update * scale)).map(|()| x.to_vec())
    })
}

/// A scatter of the updates into `x` by tuples of one index.
fn into_tuples(op: ScatterNd) -> Call {
    Box::new(move |ids| op.run(&X, &View::new(ids, &[ids.len(), 1])?, &UPDATES).map(Tensor::into_vec))
}

/// A scatter of the updates into zeros.
fn into_zeros<A: ScatterAttributes + Copy + 'static>(op: ScatterOperator<A>) -> Call {
    Box::new(move |ids| op.run(&zeros(&[3])?, ids, &UPDATES).map(Tensor::into_vec))
}

/// Bags of rows of the table, by their offsets, or packed into one.
fn of_bags(op: EmbeddingBag, offsets: Option<&'static [i64]>) -> Call {
    Box::new(move |ids| {
        let table = View::new(&TABLE, &[3, 2])?;
        let sums = match offsets {
            Some(offsets) => op.run(&table, &Bags::new(ids, offsets))?,
            None => op.run(&table, &Bags::packed(&View::new(ids, &[1, ids.len()])?))?,
        };
        Ok(sums.into_vec())
    })
}

/// An operator without indices on the numbers from 0 to 15 in a shape; `order` permutes data before, and `back` the
/// result.
fn of_image<A: SpaceAttributes + Clone + 'static>(op: SpaceOperator<A>, shape: &'static [usize]) -> Call {
    Box::new(move |_| {
        let image: Vec<f32> = (0u8..16).map(f32::from).collect();
        op.run(&View::new(&image, shape)?).map(Tensor::into_vec)
    })
}

fn numpy(calls: &mut Calls) {
    let mut add = |name: &str, call| calls.add("NumPy", name, call);
    let rejecting = Gather::new(0).negative_index(NegativeIndex::Reject);
    add("a[ids]", of_x(Gather::new(0)));
    add("np.take(a, ids, axis=0)", of_x(Gather::new(0)));
    add("np.take(a, ids, axis=0, mode='clip')", of_x(rejecting.out_of_bounds(OutOfBounds::Clamp)));
    add("np.take(a, ids, axis=0, mode='wrap')", of_x(Gather::new(0).out_of_bounds(OutOfBounds::Wrap)));
    add("np.take_along_axis(a, ids, axis=0)", of_x(GatherElements::new(0)));
    add("a[i0, i1]", by_pairs());
    add("a[ids] = v", into_x(Gather::new(0).adjoint().reduction(Reduction::None), 1.0));
    add("np.add.at(a, ids, v)", into_x(Gather::new(0).adjoint(), 1.0));
    add("np.maximum.at(a, ids, v)", into_x(Gather::new(0).adjoint().reduction(Reduction::Max), 12.0));
    add("np.put_along_axis(a, ids, v, axis=0)", into_x(ScatterElements::new(0), 1.0));
    let counts = ScatterElements::new(0).reduction(Reduction::Add).negative_index(NegativeIndex::Reject);
    let bins = move |ids: &[i64]| counts.run(&[0.0; 3], ids, &[1.0f32; 2]).map(Tensor::into_vec);
    add("np.bincount(ids, minlength=3)", Box::new(bins));
}

/// `a[i0, i1]`, of the table.
fn by_pairs() -> Call {
    let of = |ids: &[i64]| GatherNd::new().run(&View::new(&TABLE, &[3, 2])?, &View::new(&pairs(ids), &[2, 2])?);
    Box::new(move |ids| of(ids).map(Tensor::into_vec))
}

fn torch(calls: &mut Calls) {
    let mut add = |name: &str, call| calls.add("PyTorch", name, call);
    add("x[ids]", of_x(Gather::new(0)));
    add("x.index_select(0, ids)", of_x(Gather::torch(0)));
    add("F.embedding(ids, weight)", of_rows(Gather::new(0).negative_index(NegativeIndex::Reject)));
    add("torch.gather(x, 0, ids)", of_x(GatherElements::torch(0)));
    add("torch.take_along_dim(x, ids, 0)", of_x(GatherElements::new(0).out_of_bounds(OutOfBounds::Wrap)));
    add("torch.take(x, ids)", of_x(Gather::new(0)));
    add("x[i0, i1]", by_pairs());
    add("x.scatter(0, ids, src)", into_x(ScatterElements::torch(0, Reduction::None), 1.0));
    add("x.scatter_add_(0, ids, src)", into_x(ScatterElements::torch(0, Reduction::Add), 1.0));
    for name in ["sum", "prod", "amin", "amax", "mean"] {
        let op = ScatterElements::torch(0, name.parse().expect("a reduction"));
        add(&format!("x.scatter_reduce(0, ids, src, '{name}')"), into_x(op, 1.0));
        let without = into_x(op.include_self(false), 1.0);
        add(&format!("x.scatter_reduce(0, ids, src, '{name}', include_self=False)"), without);
    }
    add("x.index_add_(0, ids, src)", into_x(Gather::torch(0).adjoint(), 1.0));
    add("x.index_copy_(0, ids, src)", into_x(Gather::torch(0).adjoint().reduction(Reduction::None), 1.0));
    add("x.index_put_((ids,), v)", into_tuples(ScatterNd::new()));
    let accumulate = |ids: &[i64]| {
        let (table, ids) = (View::new(&TABLE, &[3, 2])?, pairs(ids));
        ScatterNd::new().reduction(Reduction::Add).run(&table, &View::new(&ids, &[2, 2])?, &UPDATES)
    };
    let accumulate = move |ids: &[i64]| accumulate(ids).map(Tensor::into_vec);
    add("x.index_put_((i0, i1), v, accumulate=True)", Box::new(accumulate));
    for (name, mode) in [("sum", Reduction::Add), ("mean", Reduction::Mean), ("max", Reduction::Max)] {
        for (text, offsets) in [("[0, 1, 1]", &[0, 1, 1][..]), ("[0]", &[0])] {
            let name = format!("F.embedding_bag(ids, weight, {text}, mode='{name}')");
            add(&name, of_bags(EmbeddingBag::torch(mode), Some(offsets)));
        }
    }
    add("F.pixel_shuffle(x, 2)", of_image(DepthToSpace::new(2, DepthMode::Crd), &[1, 4, 2, 2]));
    // In two dimensions of 2 there is one block.
    add("F.pixel_unshuffle(x, 2)", of_image(SpaceToDepth::new(2, DepthMode::Crd), &[1, 4, 2, 2]));
}

fn tensorflow(calls: &mut Calls) {
    let mut add = |name: &str, call| calls.add("TensorFlow", name, call);
    add("tf.gather(x, ids, axis=0)", of_x(Gather::tensorflow(0, 0)));
    add("tf.gather_nd(x, ids)", of_tuples(GatherNd::tensorflow(0)));
    add("tf.nn.embedding_lookup(x, ids)", of_rows(Gather::tensorflow(0, 0)));
    for (name, combiner) in [("sum", Reduction::Add), ("mean", Reduction::Mean)] {
        let op = EmbeddingBag::new(combiner).negative_index(NegativeIndex::Reject);
        let name = format!("tf.nn.embedding_lookup_sparse(x, ids, None, combiner='{name}')");
        add(&name, of_bags(op, Some(&[0])));
    }
    let kinds = [Reduction::None, Reduction::Add, Reduction::Sub, Reduction::Min, Reduction::Max];
    for (name, reduction) in ["update", "add", "sub", "min", "max"].into_iter().zip(kinds) {
        add(&format!("tf.tensor_scatter_nd_{name}(x, ids, v)"), into_tuples(ScatterNd::tensorflow(reduction)));
    }
    let scatter =
        |ids: &[i64]| GatherNd::tensorflow(0).adjoint().run(&zeros(&[3])?, &View::new(ids, &[ids.len(), 1])?, &UPDATES);
    add("tf.scatter_nd(ids, v, shape)", Box::new(move |ids| scatter(ids).map(Tensor::into_vec)));
    let segments = Gather::new(0).adjoint().skip_negative(true);
    add("tf.math.unsorted_segment_sum(x, ids, n)", into_zeros(segments));
    let crops = of_image(BatchToSpace::tensorflow(&[2, 2], &[[0, 1], [1, 0]]), &[4, 2, 2, 1]);
    add("tf.batch_to_space(x, [2, 2], [[0, 1], [1, 0]])", crops);
    let pads = of_image(SpaceToBatch::tensorflow(&[2, 2], &[[0, 2], [2, 0]]), &[1, 4, 4, 1]);
    add("tf.space_to_batch(x, [2, 2], [[0, 2], [2, 0]])", pads);
    let channels_last = |_: &[i64]| {
        let image: Vec<f32> = (0u8..16).map(f32::from).collect();
        let image = View::new(&image, &[1, 2, 2, 4])?.permuted(&[0, 3, 1, 2])?;
        DepthToSpace::new(2, DepthMode::Dcr).run(&image).map(Tensor::into_vec)
    };
    add("tf.nn.depth_to_space(x, 2)", Box::new(channels_last));
}

fn onnx(calls: &mut Calls) {
    let mut add = |name: &str, call| calls.add("ONNX Runtime", name, call);
    add("Gather-11", of_x(Gather::onnx11(0)));
    add("Gather-13", of_x(Gather::onnx13(0)));
    add("GatherElements-11", of_x(GatherElements::onnx11(0)));
    add("GatherElements-13", of_x(GatherElements::onnx13(0)));
    add("GatherND-11", of_tuples(GatherNd::onnx11()));
    add("GatherND-12", of_tuples(GatherNd::onnx12(0)));
    add("GatherND-13", of_tuples(GatherNd::onnx13(0)));
    add("ScatterElements-11", into_x(ScatterElements::onnx11(0), 1.0));
    add("ScatterElements-13", into_x(ScatterElements::onnx13(0), 1.0));
    add("ScatterND-11", into_tuples(ScatterNd::onnx11()));
    add("ScatterND-13", into_tuples(ScatterNd::onnx13()));
    let reductions = ["none", "add", "mul", "min", "max"].map(|name| (name, name.parse().expect("a reduction")));
    for (at, (name, reduction)) in reductions.into_iter().enumerate() {
        add(&format!("ScatterElements-18 {name}"), into_x(ScatterElements::onnx18(0, reduction), 1.0));
        add(&format!("ScatterND-18 {name}"), into_tuples(ScatterNd::onnx18(reduction)));
        if at < 3 {
            add(&format!("ScatterElements-16 {name}"), into_x(ScatterElements::onnx16(0, reduction), 1.0));
            add(&format!("ScatterND-16 {name}"), into_tuples(ScatterNd::onnx16(reduction)));
        }
    }
    add("DepthToSpace-13 DCR", of_image(DepthToSpace::onnx13(2, DepthMode::Dcr), &[1, 4, 2, 2]));
    add("DepthToSpace-13 CRD", of_image(DepthToSpace::onnx13(2, DepthMode::Crd), &[1, 4, 2, 2]));
    add("SpaceToDepth-13", of_image(SpaceToDepth::onnx13(2), &[1, 4, 2, 2]));
}

fn openvino(calls: &mut Calls) {
    let mut add = |name: &str, call| calls.add("OpenVINO", name, call);
    add("Gather-8", of_x(Gather::openvino8(0, 0)));
    add("GatherElements-6", of_x(GatherElements::openvino6(0)));
    add("GatherND-5", of_tuples(GatherNd::openvino5(0)));
    add("GatherND-8", of_tuples(GatherNd::openvino8(0)));
    for name in ["none", "sum", "prod", "min", "max", "mean"] {
        for own in [true, false] {
            let op = ScatterElements::openvino12(0, name.parse().expect("a reduction"), own);
            add(&format!("ScatterElementsUpdate-12 {name} {own}"), into_x(op, 1.0));
        }
    }
    for name in ["none", "sum", "sub", "prod", "min", "max"] {
        let op = ScatterNd::openvino15(name.parse().expect("a reduction"));
        add(&format!("ScatterNDUpdate-15 {name}"), into_tuples(op));
    }
    for (name, reduction) in [("sum", Reduction::Add), ("mean", Reduction::Mean)] {
        let bags = |default| of_bags(EmbeddingBag::openvino15_offsets(reduction, default), Some(&[0, 1, 1]));
        add(&format!("EmbeddingBagOffsets-15 {name} [0, 1, 1]"), bags(None));
        add(&format!("EmbeddingBagOffsets-15 {name} [0, 1, 1] 2"), bags(Some(2)));
        let packed = of_bags(EmbeddingBag::openvino15_packed(reduction), None);
        add(&format!("EmbeddingBagPacked-15 {name}"), packed);
    }
    let crops = BatchToSpace::openvino2(&[1, 1, 2, 2], &[0, 0, 0, 1], &[0, 0, 1, 0]);
    add("BatchToSpace-2", of_image(crops, &[4, 1, 2, 2]));
    let pads = SpaceToBatch::openvino2(&[1, 1, 2, 2], &[0, 0, 0, 2], &[0, 0, 2, 0]);
    add("SpaceToBatch-2", of_image(pads, &[1, 1, 4, 4]));
    for (name, mode) in [("blocks_first", DepthMode::Dcr), ("depth_first", DepthMode::Crd)] {
        add(&format!("DepthToSpace-1 {name}"), of_image(DepthToSpace::openvino1(2, mode), &[1, 4, 2, 2]));
        add(&format!("SpaceToDepth-1 {name}"), of_image(SpaceToDepth::openvino1(2, mode), &[1, 4, 2, 2]));
    }
}

/// The indices of each list, or none.
fn lists(line: &Value) -> Vec<Vec<i64>> {
    let list = |list: &Value| list.as_array().expect("a list").iter().map(|id| id.as_i64().expect("an id")).collect();
    line["ids"].as_array().map_or_else(|| vec![Vec::new()], |lists| lists.iter().map(list).collect())
}

#[test]
fn calls_answer_as_those_of_engines() {
    let mut calls = Calls::default();
    for of_engine in [numpy, torch, tensorflow, onnx, openvino] {
        of_engine(&mut calls);
    }
    let mut differences = Vec::new();
    for line in lines("engines/answers.jsonl") {
        let (engine, name) = (line["engine"].as_str().unwrap(), line["call"].as_str().unwrap());
        let (engine, _version) = engine.rsplit_once(' ').unwrap();
        let found = calls.0.keys().find(|key| key.0 == engine && key.1 == name).cloned();
        let Some(call) = found.and_then(|key| calls.0.remove(&key)) else {
            panic!("{engine} has a call that is not compared: {name}");
        };
        let answers = line["answers"].as_array().unwrap();
        let lists = lists(&line);
        assert_eq!(lists.len(), answers.len(), "{engine}: {name}");
        for (ids, answer) in lists.iter().zip(answers) {
            let number = |number: &Value| number.as_f64().unwrap() as f32;
            let expected = answer.as_array().map(|list| list.iter().map(number).collect::<Vec<_>>());
            let got = call(ids);
            assert!(!matches!(got, Err(ref error) if !matches!(error, Error::IndexOutOfRange { .. })), "{got:?}");
            // NumPy makes more bins; PyTorch multiplies by the reciprocal of a count.
            let is_close = |a: &[f32], b: &[f32]| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= b.abs() * f32::EPSILON)
            };
            let agrees = match (&got, &expected) {
                (Ok(got), Some(expected)) => is_close(got, expected),
                (Err(_), Some(_)) => name.starts_with("np.bincount") && ids[0] > 2,
                (got, None) => got.is_err(),
            };
            if !agrees {
                differences.push(format!("{engine}: {name} of {ids:?}: {expected:?}, here {got:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(calls.0.is_empty(), "no answers for {:?}", calls.0.keys());
}
