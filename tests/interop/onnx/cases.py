#!/usr/bin/env python3
"""Writes the models and the data of `cases`: those of the onnx package's own node tests, more of ours, and two chains.

    pip install onnx==1.23.2
    python cases.py

Each folder holds one model for each version of its operator from opset 11 on, `opset11.onnx` and so on, and the
tensors that go in and come out. A model is left out where its opset has not its attributes or types. Outputs are the
package's, and every model is run by its reference evaluator too. The same bytes are written each time.
"""

import importlib
import pathlib
import shutil

import numpy as np
import onnx
from ml_dtypes import bfloat16
from onnx import TensorProto, checker, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

OPERATORS = "Gather GatherElements GatherND ScatterElements ScatterND DepthToSpace SpaceToDepth".split()
NEWEST = onnx.defs.onnx_opset_version()
CASES = pathlib.Path(__file__).parent / "cases"


class GatherElements(OpRun):
    """In place of the evaluator's own, which refuses negative axes."""

    op_domain = ""

    def _run(self, data, indices, axis=0):
        return (np.take_along_axis(data, indices, axis),)


def run(made, inputs):
    return ReferenceEvaluator(made, new_ops=[GatherElements]).run(None, inputs)


def opsets(op):
    """The first opset of each version of an operator from 11 on, and the newest opset."""
    since = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (op, "")}
    return sorted({11, NEWEST} | {version for version in since if version > 11})


def value(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def model(graph, opset):
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=helper.find_min_ir_version_for(imports, True))


def is_valid(made):
    """Whether the opset of a model has the attributes and types of its nodes."""
    reductions = {a.s for node in made.graph.node for a in node.attribute if a.name == "reduction"}
    if made.opset_import[0].version < 18 and reductions & {b"max", b"min"}:
        return False
    try:
        checker.check_model(made, full_check=True)
    except (checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def write(name, nodes, inputs, outputs, versions, constants=()):
    """A folder of a case. Outputs are arrays by name, or names alone: then they are what the evaluator gives."""
    if isinstance(outputs, list):
        graph = helper.make_graph(
            nodes,
            name,
            [value(*pair) for pair in inputs.items()],
            [onnx.ValueInfoProto(name=out) for out in outputs],
            constants,
        )
        outputs = dict(zip(outputs, run(model(graph, versions[-1]), inputs)))
    graph = helper.make_graph(
        nodes, name, *([value(*pair) for pair in of.items()] for of in (inputs, outputs)), constants
    )
    models = [made for made in (model(graph, opset) for opset in versions) if is_valid(made)]
    assert models, name
    folder = CASES / name
    folder.mkdir(parents=True)
    for made in models:
        for result, expected in zip(run(made, inputs), outputs.values()):
            assert result.dtype == expected.dtype and np.array_equal(result, expected), made
        (folder / f"opset{made.opset_import[0].version}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    for stem, tensors in ("input", inputs), ("output", outputs):
        for at, (tensor, array) in enumerate(tensors.items()):
            proto = numpy_helper.from_array(np.asarray(array, order="C"), tensor)
            (folder / f"{stem}_{at}.pb").write_bytes(proto.SerializeToString(deterministic=True))


def of_the_package():
    """Cases of the package's own modules, whose random numbers are seeded for each module."""
    node = importlib.import_module("onnx.backend.test.case.node")
    for op in OPERATORS:
        np.random.seed(0)
        importlib.import_module(f"onnx.backend.test.case.node.{op.lower()}")
    for case in node._NodeTestCases:
        graph = case.model.graph
        if len(graph.node) != 1 or graph.node[0].op_type not in OPERATORS or "_expanded" in case.name:
            continue
        (inputs, outputs), names = case.data_sets[0], ([v.name for v in graph.input], [v.name for v in graph.output])
        inputs, outputs = dict(zip(names[0], inputs)), dict(zip(names[1], outputs))
        write(case.name.removeprefix("test_"), graph.node, inputs, outputs, opsets(graph.node[0].op_type))


def more():
    """Attributes, types and shapes that the package's cases lack."""

    def case(name, op, inputs, constants=(), **attributes):
        names = [*inputs, *(constant.name for constant in constants)]
        write(name, [helper.make_node(op, names, ["y"], **attributes)], inputs, ["y"], opsets(op), constants)

    x = np.arange(24).reshape(2, 3, 4)
    half, brain = x.astype(np.float16) / 4, x.astype(bfloat16)
    case("more_gather_scalar_last_axis_f16", "Gather", {"x": half, "i": np.array(-1, np.int32)}, axis=-1)
    case("more_gather_bf16_i32", "Gather", {"x": brain, "i": np.array([[2, 0], [1, -3]], np.int32)}, axis=1)
    case("more_gather_bool", "Gather", {"x": x % 3 == 0, "i": np.array([1, 0, 1], np.int64)})
    case("more_gather_nothing", "Gather", {"x": x.astype(np.uint16), "i": np.zeros((0, 2), np.int64)}, axis=2)
    case("more_gather_complex", "Gather", {"x": (x * (1 - 2j)).astype(np.complex64), "i": np.array([1], np.int64)})
    case(
        "more_gather_elements_last_axis_f64",
        "GatherElements",
        {"x": x.astype(np.float64), "i": np.array([[[3], [-4], [0]], [[1], [2], [-1]]], np.int32)},
        axis=-1,
    )
    case(
        "more_gather_nd_two_batch_dims",
        "GatherND",
        {"x": x.astype(np.int16), "i": np.array([[[3], [0], [-1]], [[1], [2], [-4]]], np.int64)},
        batch_dims=2,
    )
    case("more_gather_nd_slices_u8", "GatherND", {"x": x.astype(np.uint8), "i": np.array([[1, -1], [0, 0]], np.int64)})
    along = np.array([[[1, -1, 0, 0], [0, 2, 2, 1]]], np.int32)
    updates = np.arange(1, 9).reshape(1, 2, 4)
    for dtype in np.int64, np.float32:
        for reduction in "none", "add", "mul", "max", "min":
            one = (
                along[:, :1] if reduction == "none" else along
            )  # of equal indices without a reduction ONNX says nothing
            case(
                f"more_scatter_elements_{reduction}_{np.dtype(dtype).name}",
                "ScatterElements",
                {"x": x.astype(dtype), "i": one, "u": updates[:, : one.shape[1]].astype(dtype)},
                axis=-2,
                reduction=reduction,
            )
            case(
                f"more_scatter_nd_{reduction}_{np.dtype(dtype).name}",
                "ScatterND",
                {
                    "x": x.astype(dtype),
                    "i": np.array([[1, -1], [0, 2], [1, 0]], np.int64),
                    "u": (5 * np.arange(12).reshape(3, 4)).astype(dtype),
                },
                reduction=reduction,
            )
    pixels = np.arange(2 * 18 * 2 * 1).reshape(2, 18, 2, 1)
    for mode in "DCR", "CRD":
        case(
            f"more_depth_to_space_{mode.lower()}_3_i8",
            "DepthToSpace",
            {"x": pixels.astype(np.int8)},
            blocksize=3,
            mode=mode,
        )
        wide = pixels.astype(np.float32).reshape(1, 2, 6, 6)
        case(f"more_space_to_depth_{mode.lower()}_3", "SpaceToDepth", {"x": wide}, blocksize=3, mode=mode)
    # Numbers in the lists of their types, as many exporters write them, not in `raw_data`.
    indices = helper.make_tensor("i", TensorProto.INT32, [2], [1, -2])
    for name, kind in (
        ("f32", "FLOAT"),
        ("f16", "FLOAT16"),
        ("u32", "UINT32"),
        ("i8", "INT8"),
        ("f64", "DOUBLE"),
        ("u64", "UINT64"),
    ):
        kind = TensorProto.DataType.Value(kind)
        ones = np.ones((2, 1, 4), helper.tensor_dtype_to_np_dtype(kind))
        updates = helper.make_tensor("u", kind, ones.shape, (3 * ones).ravel())
        nodes = [
            helper.make_node("Gather", ["x", "i"], ["g"], axis=1),
            helper.make_node("ScatterElements", ["g", "j", "u"], ["y"], axis=1),
        ]
        j = helper.make_tensor("j", TensorProto.INT64, [2, 1, 4], [0, 1, 0, -1, 1, 1, 0, -2])
        write(
            f"more_typed_lists_{name}", nodes, {"x": x.astype(ones.dtype)}, ["y"], [11, NEWEST], [indices, j, updates]
        )


def chains():
    """Seven nodes, each fed by the one before it, with constants and inputs."""
    x = np.arange(1 * 4 * 6 * 6, dtype=np.float32).reshape(1, 4, 6, 6) - 70
    channels = numpy_helper.from_array(np.array([15, 0, -2, 3, 3, 9, 8, -16], np.int64), "channels")
    columns = numpy_helper.from_array(np.tile(np.array([2, -3, 1], np.int32), (1, 8, 3, 1)), "columns")
    rows = np.arange(48).reshape(1, 8, 2, 3) % 3 - 1
    values = np.linspace(-8, 8, 48, dtype=np.float32).reshape(1, 8, 2, 3)
    tuples = np.array([[0, 1], [0, -1], [0, 1]], np.int64)
    planes = np.arange(27, dtype=np.float32).reshape(3, 3, 3) * 3 - 40
    points = numpy_helper.from_array(np.array([[[0, 5, 0], [1, -1, 2], [0, 0, 0]]], np.int64), "points")
    for name, opsets, mode in ("chain_seven_nodes", [18, NEWEST], {}), (
        "chain_seven_nodes_modes",
        [28],
        {"mode": "CRD"},
    ):
        nodes = [
            helper.make_node("SpaceToDepth", ["x"], ["a"], blocksize=2, **mode),
            helper.make_node("Gather", ["a", "channels"], ["b"], axis=1),
            helper.make_node("ScatterElements", ["b", "rows", "values"], ["c"], axis=2, reduction="add"),
            helper.make_node("GatherElements", ["c", "columns"], ["d"], axis=-1),
            helper.make_node("ScatterND", ["d", "tuples", "planes"], ["e"], reduction="max"),
            helper.make_node("DepthToSpace", ["e"], ["f"], blocksize=2, mode="CRD"),
            helper.make_node("GatherND", ["f", "points"], ["y"], batch_dims=1),
        ]
        inputs = {"x": x, "rows": rows, "values": values, "tuples": tuples, "planes": planes}
        write(name, nodes, inputs, ["y", "c"], opsets, [channels, columns, points])


shutil.rmtree(CASES, ignore_errors=True)
of_the_package()
more()
chains()
files = [file for file in CASES.rglob("*") if file.is_file()]
models = sum(file.suffix == ".onnx" for file in files)
print(f"{len(list(CASES.iterdir()))} cases, {models} models, {sum(file.stat().st_size for file in files)} bytes")
