#!/usr/bin/env python
"""Writes answers.jsonl: what calls of engines answer to a few lists of indices (README.md)."""

import json
import os
import sys
import warnings
from pathlib import Path

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
warnings.filterwarnings("ignore")

import numpy as np

# Of three elements: in range, from the end, too far each way, and one twice.
LISTS = [[2, 0], [-1, 0], [-3, 0], [-4, 0], [3, 0], [1, 1]]
# Those for which OpenVINO 2026.4.1 does not read or write what is not there. Others may crash.
DEFINED, NOT_BELOW = [[2, 0], [-1, 0], [-3, 0], [1, 1]], [[2, 0], [-1, 0], [-3, 0], [3, 0], [1, 1]]
X = np.array([10, 20, 30], np.float32)
V = np.array([1, 2], np.float32)
# Three bags of two ids, one of them empty.
GAPS = np.array([0, 1, 1])
TABLE = np.array([[1, 2], [4, 8], [16, 32]], np.float32)

lines = []


def answer(call):
    try:
        return np.asarray(call()).ravel().tolist()
    except Exception as error:
        print(f"{type(error).__name__}: {str(error).strip()[:100]!r}", file=sys.stderr)
        return None


def show(engine, call, run, ids=LISTS):
    answers = [answer(run)] if ids is None else [answer(lambda: run(np.array(list_))) for list_ in ids]
    lines.append(json.dumps({"engine": engine, "call": call, "ids": ids, "answers": answers}))


def numpy():
    name = f"NumPy {np.__version__}"

    def changed(change):
        def run(ids):
            a = X.copy()
            change(a, ids)
            return a

        return run

    show(name, "a[ids]", lambda ids: X[ids])
    show(name, "np.take(a, ids, axis=0)", lambda ids: np.take(X, ids, axis=0))
    show(name, "np.take(a, ids, axis=0, mode='clip')", lambda ids: np.take(X, ids, axis=0, mode="clip"))
    show(name, "np.take(a, ids, axis=0, mode='wrap')", lambda ids: np.take(X, ids, axis=0, mode="wrap"))
    show(name, "np.take_along_axis(a, ids, axis=0)", lambda ids: np.take_along_axis(X, ids, axis=0))
    show(name, "a[i0, i1]", lambda ids: TABLE[ids, [1, 0]])
    show(name, "a[ids] = v", changed(lambda a, ids: a.__setitem__(ids, V)))
    show(name, "np.add.at(a, ids, v)", changed(lambda a, ids: np.add.at(a, ids, V)))
    show(name, "np.maximum.at(a, ids, v)", changed(lambda a, ids: np.maximum.at(a, ids, V * 12)))
    show(name, "np.put_along_axis(a, ids, v, axis=0)", changed(lambda a, ids: np.put_along_axis(a, ids, V, axis=0)))
    show(name, "np.bincount(ids, minlength=3)", lambda ids: np.bincount(ids, minlength=3))


def torch():
    import torch as t

    name, functional = f"PyTorch {t.__version__.split('+')[0]}", t.nn.functional
    tensor = lambda array: t.from_numpy(np.array(array))
    x, v, table, rows = map(tensor, (X, V, TABLE, np.array([[1, 2], [3, 4]], np.float32)))
    call = lambda text, run: show(name, text, lambda ids: run(tensor(ids)))
    call("x[ids]", lambda ids: x[ids])
    call("x.index_select(0, ids)", lambda ids: x.index_select(0, ids))
    call("F.embedding(ids, weight)", lambda ids: functional.embedding(ids, table))
    call("torch.gather(x, 0, ids)", lambda ids: t.gather(x, 0, ids))
    call("torch.take_along_dim(x, ids, 0)", lambda ids: t.take_along_dim(x, ids, 0))
    call("torch.take(x, ids)", lambda ids: t.take(x, ids))
    call("x[i0, i1]", lambda ids: table[ids, tensor([1, 0])])
    call("x.scatter(0, ids, src)", lambda ids: x.scatter(0, ids, v))
    call("x.scatter_add_(0, ids, src)", lambda ids: x.clone().scatter_add_(0, ids, v))
    for mode in ["sum", "prod", "amin", "amax", "mean"]:
        call(f"x.scatter_reduce(0, ids, src, '{mode}')", lambda ids: x.scatter_reduce(0, ids, v, mode))
        call(
            f"x.scatter_reduce(0, ids, src, '{mode}', include_self=False)",
            lambda ids: x.scatter_reduce(0, ids, v, mode, include_self=False),
        )
    call("x.index_add_(0, ids, src)", lambda ids: x.clone().index_add_(0, ids, v))
    call("x.index_copy_(0, ids, src)", lambda ids: x.clone().index_copy_(0, ids, v))
    call("x.index_put_((ids,), v)", lambda ids: x.clone().index_put_((ids,), v))
    accumulate = lambda ids: table.clone().index_put_((ids, tensor([1, 0])), v, accumulate=True)
    call("x.index_put_((i0, i1), v, accumulate=True)", accumulate)
    for mode in ["sum", "mean", "max"]:
        bag = lambda offsets: lambda ids: functional.embedding_bag(ids, table, tensor(offsets), mode=mode)
        call(f"F.embedding_bag(ids, weight, [0, 1, 1], mode='{mode}')", bag(GAPS))
        call(f"F.embedding_bag(ids, weight, [0], mode='{mode}')", bag([0]))
    image = t.arange(16, dtype=t.float32).reshape(1, 4, 2, 2)
    show(name, "F.pixel_shuffle(x, 2)", lambda: functional.pixel_shuffle(image, 2), None)
    show(name, "F.pixel_unshuffle(x, 2)", lambda: functional.pixel_unshuffle(image, 2), None)


def tensorflow():
    import tensorflow as tf

    name = f"TensorFlow {tf.__version__}"
    tuples = lambda ids: ids[:, None]
    call = lambda text, run: show(name, text, run)
    call("tf.gather(x, ids, axis=0)", lambda ids: tf.gather(X, ids, axis=0))
    call("tf.gather_nd(x, ids)", lambda ids: tf.gather_nd(X, tuples(ids)))
    call("tf.nn.embedding_lookup(x, ids)", lambda ids: tf.nn.embedding_lookup(tf.constant(TABLE), ids))
    for combiner in ["sum", "mean"]:
        def lookup(ids):
            found = tf.SparseTensor([[0, 0], [0, 1]], tf.constant(ids, tf.int64), [1, 2])
            return tf.nn.embedding_lookup_sparse(tf.constant(TABLE), found, None, combiner=combiner)

        call(f"tf.nn.embedding_lookup_sparse(x, ids, None, combiner='{combiner}')", lookup)
    for kind in ["update", "add", "sub", "min", "max"]:
        run = getattr(tf, f"tensor_scatter_nd_{kind}")
        call(f"tf.tensor_scatter_nd_{kind}(x, ids, v)", lambda ids: run(X, tuples(ids), V))
    call("tf.scatter_nd(ids, v, shape)", lambda ids: tf.scatter_nd(tuples(ids), V, [3]))
    call("tf.math.unsorted_segment_sum(x, ids, n)", lambda ids: tf.math.unsorted_segment_sum(V, ids, 3))
    tiles, image = np.arange(16, dtype=np.float32).reshape(4, 2, 2, 1), np.arange(16, dtype=np.float32)
    crops, pads, wide = [[0, 1], [1, 0]], [[0, 2], [2, 0]], image.reshape(1, 4, 4, 1)
    show(name, f"tf.batch_to_space(x, [2, 2], {crops})", lambda: tf.batch_to_space(tiles, [2, 2], crops), None)
    show(name, f"tf.space_to_batch(x, [2, 2], {pads})", lambda: tf.space_to_batch(wide, [2, 2], pads), None)
    show(name, "tf.nn.depth_to_space(x, 2)", lambda: tf.nn.depth_to_space(image.reshape(1, 2, 2, 4), 2), None)


def onnx():
    import onnxruntime as rt
    from onnx import TensorProto, helper

    name = f"ONNX Runtime {rt.__version__}"
    options = rt.SessionOptions()
    options.log_severity_level = 4

    def run(op, version, inputs, **attributes):
        """A model of one node; inputs are arrays."""
        kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
        names = [f"i{k}" for k in range(len(inputs))]
        infos = [helper.make_tensor_value_info(n, kinds[a.dtype], a.shape) for n, a in zip(names, inputs)]
        out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
        graph = helper.make_graph([helper.make_node(op, names, ["out"], **attributes)], "g", infos, [out])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
        session = rt.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, dict(zip(names, inputs)))[0]

    tuples = lambda ids: ids[:, None]
    for version in [11, 13]:
        show(name, f"Gather-{version}", lambda ids: run("Gather", version, [X, ids], axis=0))
        show(name, f"GatherElements-{version}", lambda ids: run("GatherElements", version, [X, ids], axis=0))
        show(name, f"ScatterElements-{version}", lambda ids: run("ScatterElements", version, [X, ids, V], axis=0))
        show(name, f"ScatterND-{version}", lambda ids: run("ScatterND", version, [X, tuples(ids), V]))
    for version in [11, 12, 13]:
        show(name, f"GatherND-{version}", lambda ids: run("GatherND", version, [X, tuples(ids)]))
    for version, reductions in [(16, ["none", "add", "mul"]), (18, ["none", "add", "mul", "min", "max"])]:
        for r in reductions:
            elements = lambda ids: run("ScatterElements", version, [X, ids, V], axis=0, reduction=r)
            show(name, f"ScatterElements-{version} {r}", elements)
            nd = lambda ids: run("ScatterND", version, [X, tuples(ids), V], reduction=r)
            show(name, f"ScatterND-{version} {r}", nd)
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 2, 2)
    for mode in ["DCR", "CRD"]:
        shuffle = lambda: run("DepthToSpace", 13, [image], blocksize=2, mode=mode)
        show(name, f"DepthToSpace-13 {mode}", shuffle, None)
    show(name, "SpaceToDepth-13", lambda: run("SpaceToDepth", 13, [image], blocksize=2), None)


def openvino():
    import openvino as ov
    from openvino import opset1, opset2, opset5, opset6, opset8, opset12, opset15

    name, core = f"OpenVINO {ov.__version__.split('-')[0]}", ov.Core()

    def run(make, *inputs):
        """Inputs are arrays, and parameters of the model."""
        parameters = [opset1.parameter(a.shape, a.dtype) for a in inputs]
        model = core.compile_model(ov.Model([make(*parameters)], parameters), "CPU")
        return model(list(inputs))[0]

    constant = lambda value: opset1.constant(np.array(value, np.int64))
    tuples = lambda ids: ids[:, None]
    show(name, "Gather-8", lambda ids: run(lambda x, i: opset8.gather(x, i, constant(0)), X, ids))
    show(name, "GatherElements-6", lambda ids: run(lambda x, i: opset6.gather_elements(x, i, 0), X, ids))
    show(name, "GatherND-5", lambda ids: run(lambda x, i: opset5.gather_nd(x, i, 0), X, tuples(ids)), DEFINED)
    show(name, "GatherND-8", lambda ids: run(lambda x, i: opset8.gather_nd(x, i, 0), X, tuples(ids)), DEFINED)
    for reduction in ["none", "sum", "prod", "min", "max", "mean"]:
        for own in [True, False]:
            make = lambda x, i, v: opset12.scatter_elements_update(x, i, v, constant(0), reduction, own)
            call = f"ScatterElementsUpdate-12 {reduction} {str(own).lower()}"
            show(name, call, lambda ids: run(make, X, ids, V), NOT_BELOW)
    for reduction in ["none", "sum", "sub", "prod", "min", "max"]:
        make = lambda x, i, v: opset15.scatter_nd_update(x, i, v, reduction)
        show(name, f"ScatterNDUpdate-15 {reduction}", lambda ids: run(make, X, tuples(ids), V))
    for reduction in ["sum", "mean"]:
        offsets = lambda x, i, o: opset15.embedding_bag_offsets(x, i, o, reduction=reduction)
        show(name, f"EmbeddingBagOffsets-15 {reduction} [0, 1, 1]", lambda ids: run(offsets, TABLE, ids, GAPS))
        default = lambda x, i, o: opset15.embedding_bag_offsets(x, i, o, constant(2), reduction=reduction)
        show(name, f"EmbeddingBagOffsets-15 {reduction} [0, 1, 1] 2", lambda ids: run(default, TABLE, ids, GAPS))
        packed = lambda x, i: opset15.embedding_bag_packed(x, i, reduction=reduction)
        show(name, f"EmbeddingBagPacked-15 {reduction}", lambda ids: run(packed, TABLE, ids[None, :]))
    tiles, image = np.arange(16, dtype=np.float32).reshape(4, 1, 2, 2), np.arange(16, dtype=np.float32)
    lists = [constant(l) for l in ([1, 1, 2, 2], [0, 0, 0, 1], [0, 0, 1, 0])]
    show(name, "BatchToSpace-2", lambda: run(lambda x: opset2.batch_to_space(x, *lists), tiles), None)
    pads = [constant(l) for l in ([1, 1, 2, 2], [0, 0, 0, 2], [0, 0, 2, 0])]
    wide = image.reshape(1, 1, 4, 4)
    show(name, "SpaceToBatch-2", lambda: run(lambda x: opset2.space_to_batch(x, *pads), wide), None)
    for mode in ["blocks_first", "depth_first"]:
        deep = image.reshape(1, 4, 2, 2)
        show(name, f"DepthToSpace-1 {mode}", lambda: run(lambda x: opset1.depth_to_space(x, mode, 2), deep), None)
        show(name, f"SpaceToDepth-1 {mode}", lambda: run(lambda x: opset1.space_to_depth(x, mode, 2), deep), None)


if __name__ == "__main__":
    engines = {"numpy": numpy, "torch": torch, "tensorflow": tensorflow, "onnx": onnx, "openvino": openvino}
    for engine in sys.argv[1:] or engines:
        engines[engine]()
    if sys.argv[1:]:
        print("\n".join(lines))
    else:
        Path(__file__).with_name("answers.jsonl").write_text("\n".join(lines) + "\n")
