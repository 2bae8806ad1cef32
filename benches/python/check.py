#!/usr/bin/env python
"""Checks the module against NumPy: `python benches/python/check.py`. Exits with 1 where anything differs."""

import threading
import time

import numpy as np

import check_numpy
import check_package
import gather
from checking import DTYPES, INDEX_DTYPES, RANDOM, data_of, fails, is_whole, passed, same, same_text, strided


def every_operator(data, indices):
    """Each operator with its reference: name, arguments, keywords, expected."""
    rows = indices % data.shape[0]
    elements = np.resize(indices % data.shape[1], data.shape)
    pairs = np.stack([indices % data.shape[0], indices % data.shape[1]], -1)
    yield "gather", (rows,), {}, data[rows]
    yield "gather", (indices % data.shape[2], -1), {}, data[..., indices % data.shape[2]]
    yield "gather_elements", (elements,), {"axis": 1}, np.take_along_axis(data, elements.astype(np.int64), 1)
    yield "gather_nd", (pairs,), {}, data[pairs[..., 0], pairs[..., 1]]


def operators():
    """Types of data and indices; strides; outputs; threads; plans."""
    for dtype in DTYPES:
        data = data_of(dtype, (5, 7, 6))
        for index in INDEX_DTYPES:
            indices = RANDOM.integers(0, 97, (3, 4)).astype(index)
            for name, arguments, keywords, expected in every_operator(data, indices):
                same(getattr(gather, name)(data, *arguments, **keywords), expected, (name, dtype, index))
    data, indices = data_of("f", (5, 7, 6)), RANDOM.integers(0, 97, (3, 4))
    for source in strided(data):
        for name, (places, *rest), keywords, expected in every_operator(data, indices):
            for index in strided(places):
                for threads in (None, 1, 2):
                    call = getattr(gather, name)
                    same(call(source, index, *rest, **keywords, threads=threads), expected, (name, threads))
                for out in strided(np.zeros_like(expected)):
                    if out.strides[-1] % out.itemsize == 0 and out.dtype == expected.dtype and is_whole(out):
                        result = gather_into(name, source, index, rest, keywords, out)
                        same(np.ascontiguousarray(result), expected, (name, out.strides))


def gather_into(name, source, index, rest, keywords, out):
    """Runs a call into an output, and returns that output."""
    result = getattr(gather, name)(source, index, *rest, **keywords, out=out)
    assert result is out
    return out


def attributes():
    """batch_dims, policies, scalars, empty arrays."""
    data, indices = data_of("d", (4, 6, 3)), RANDOM.integers(0, 6, (4, 5))
    same(gather.gather(data, indices, 1, 1), data[np.arange(4)[:, None], indices], "batch_dims")
    same(gather.gather_nd(data, indices[..., None], batch_dims=1), data[np.arange(4)[:, None], indices], "batch_dims")
    same(gather.gather(data, np.array(2), 1), data[:, 2], "scalar")
    line, far = np.arange(5.0), np.array([-1, 7, -9, 2])
    for policy, expected in (("zero", [4, 0, 0, 2]), ("clamp", [4, 4, 0, 2]), ("wrap", [4, 2, 1, 2])):
        same(gather.gather(line, far, out_of_bounds=policy), np.array(expected, float), policy)
    same(gather.gather(line, far, negative_index="reject", out_of_bounds="zero"), np.array([0, 0, 0, 2.0]), "reject")
    same(gather.gather(data, np.zeros((0,), int)), data[:0], "empty")


def spaces():
    """BatchToSpace against its steps."""
    for dtype in "fBe":
        data = data_of(dtype, (12, 2, 3, 5))
        split = data.reshape(2, 3, 2, 2, 3, 5).transpose(2, 3, 0, 4, 1, 5).reshape(2, 4, 9, 5)
        arguments = ([1, 2, 3, 1], [0, 1, 0, 2], [0, 0, 4, 0])
        expected = np.ascontiguousarray(split[:, 1:, :5, 2:])
        for source in strided(data):
            same(gather.batch_to_space(source, *arguments), expected, "batch_to_space")
        names = dict(zip(("block_shape", "crops_begin", "crops_end"), arguments))
        plan = gather.plan("batch_to_space", data, **names)
        same(plan.run(data), expected, "plan of batch_to_space")
        padded = np.zeros((2, 4, 9, 5), dtype)
        padded[:, 1:, :5, 2:] = expected
        split = padded.reshape(2, 2, 2, 3, 3, 5).transpose(2, 4, 0, 1, 3, 5).reshape(12, 2, 3, 5)
        for source in strided(expected):
            same(gather.space_to_batch(source, *arguments), split, "space_to_batch")
        names = dict(zip(("block_shape", "pads_begin", "pads_end"), arguments))
        same(gather.plan("space_to_batch", expected, **names).run(expected), split, "plan of space_to_batch")
        depth_and_space(data_of(dtype, (2, 12, 3, 5)))


def depth_and_space(data):
    """DepthToSpace against its steps, and SpaceToDepth as its inverse."""
    dcr, crd = ((2, 2, 2, 3, 3, 5), (0, 3, 4, 1, 5, 2)), ((2, 3, 2, 2, 3, 5), (0, 1, 4, 2, 5, 3))
    for mode, (shape, order) in (("dcr", dcr), ("crd", crd)):
        wide = data.reshape(shape).transpose(order).reshape(2, 3, 6, 10)
        same(gather.depth_to_space(data, 2, mode), wide, mode)
        same(gather.space_to_depth(wide, 2, mode), data, mode)
        plan = gather.plan("space_to_depth", wide, block_size=2, mode=mode)
        same(plan.run(wide), data, mode)


REDUCTIONS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def changed(data, where, updates, reduction):
    """A copy of data, changed by updates one after the other."""
    out = data.copy()
    if reduction == "none":
        out[where] = updates
    else:
        REDUCTIONS[reduction].at(out, where, updates)
    return out


def every_scatter(data, indices, reduction):
    """Each scatter with its reference: name, indices, updates, keywords, expected."""
    elements = np.resize(indices % data.shape[1], (5, 4, 6))
    where = list(np.ogrid[tuple(map(slice, elements.shape))])
    where[1] = elements
    updates = data_of(data.dtype.char, elements.shape)
    expected = changed(data, tuple(where), updates, reduction)
    yield "scatter_elements", elements, updates, {"axis": 1, "reduction": reduction}, expected
    pairs = np.stack([indices % data.shape[0], indices % data.shape[1]], -1)
    updates = data_of(data.dtype.char, (*indices.shape, data.shape[2]))
    expected = changed(data, (pairs[..., 0], pairs[..., 1]), updates, reduction)
    yield "scatter_nd", pairs, updates, {"reduction": reduction}, expected
    if reduction == "add":
        rows = indices % data.shape[1]
        updates = data_of(data.dtype.char, (data.shape[0], *rows.shape, data.shape[2]))
        yield "index_add", rows, updates, {"axis": 1}, changed(data, (slice(None), rows), updates, reduction)


def reductions_of(dtype):
    """The reductions of a type whose results fit in it, or wrap."""
    others = {"?": (), "e": ("add", "sub", "min", "max"), "F": ("add", "sub", "mul"), "D": ("add", "sub", "mul")}
    return ("none", *others.get(dtype, REDUCTIONS))


def scatters():
    """Types of data and indices, reductions; strides; outputs; threads; plans; policies."""
    for dtype in DTYPES:
        data = data_of(dtype, (5, 7, 6))
        for index in INDEX_DTYPES:
            indices = RANDOM.integers(0, 97, (2, 3)).astype(index)
            for reduction in reductions_of(dtype):
                for name, places, updates, keywords, expected in every_scatter(data, indices, reduction):
                    what = (name, dtype, index, reduction)
                    same(getattr(gather, name)(data, places, updates, **keywords), expected, what)
                    plan = gather.plan(name, data, places, updates, **keywords)
                    same(plan.run(data, places, updates), expected, what)
    data, indices = data_of("f", (5, 7, 6)), RANDOM.integers(0, 97, (2, 3))
    for name, places, updates, keywords, expected in every_scatter(data, indices, "add"):
        call = getattr(gather, name)
        for threads in (None, 1, 2):
            for source, index, new in zip(strided(data), strided(places), strided(updates)):
                same(call(source, index, new, **keywords, threads=threads), expected, (name, threads))
        for out in filter(is_whole, strided(np.zeros_like(expected))):
            assert call(data, places, updates, **keywords, out=out) is out
            same(np.ascontiguousarray(out), expected, (name, out.strides))
    line, far, new = np.zeros(5), np.array([-1, 7, -9, 2]), np.array([1.0, 2, 4, 8])
    for policy, expected in (("drop", [0, 0, 8, 0, 1]), ("clamp", [4, 0, 8, 0, 3]), ("wrap", [0, 4, 10, 0, 1])):
        got = gather.scatter_elements(line, far, new, reduction="add", out_of_bounds=policy)
        same(got, np.array(expected, float), policy)
    got = gather.scatter_elements(line + 2, far % 5, new, reduction="mean", include_self=False)
    same(got, np.array([2, 4, 5, 2, 1.0]), "mean")
    fails(IndexError, "index 7", gather.scatter_elements, line, far, new)
    fails(ValueError, "updates", gather.scatter_nd, line, far[:, None], new[:3])
    fails(ValueError, "updates are missing", gather.plan("index_add", line, far, new).run, line, far)
    fails(TypeError, "bool are not reduced", gather.index_add, line > 0, far, new > 0)
    fails(ValueError, "reduction 'xor'", gather.scatter_elements, line, far, new, reduction="xor")
    fails(ValueError, "may share memory", gather.scatter_elements, line, np.arange(4), new, out=line)


def bags():
    """Sums, means and maxima of packed bags and of bags with offsets; weights."""
    for dtype in "bhiqBHIQfd":
        data, indices = data_of(dtype, (50, 6)), RANDOM.integers(0, 50, (8, 4))
        for reduction, reduce in (("add", np.add), ("max", np.maximum)):
            expected = reduce.reduce(data[indices], axis=1, dtype=dtype)
            same(gather.embedding_bag(data, indices, reduction=reduction), expected, ("packed", dtype, reduction))
            offsets, ids = np.arange(0, 32, 4, dtype=np.int32), indices.ravel().astype(np.int32)
            same(gather.embedding_bag(data, ids, offsets, reduction=reduction), expected, ("offsets", dtype, reduction))
    weights = RANDOM.integers(0, 9, (8, 4)).astype("d")
    expected = (data[indices] * weights[..., None]).sum(1)
    out = np.zeros_like(expected)
    assert gather.embedding_bag(data, indices, weights=weights, out=out, threads=1) is out
    same(out, expected, "weights")
    same(gather.embedding_bag(data, indices, reduction="mean"), data[indices].mean(1), "mean")
    fails(IndexError, "", gather.embedding_bag, data, indices + 50)
    fails(ValueError, "", gather.embedding_bag, data, indices.ravel(), np.array([3, 1]))


def plans():
    """Plans run again and again, and refuse what they were not made for."""
    data, indices = data_of("f", (50, 6)), RANDOM.integers(0, 50, 20)
    plan = gather.plan("gather", data, indices, threads=1)
    assert plan.output_shape == [20, 6] and "gather" in plan.explain()
    out = np.zeros((20, 6), np.float32)
    for _ in range(3):
        indices = RANDOM.integers(0, 50, 20)
        assert plan.run(data, indices, out=out) is out
        same(out, data[indices], "plan")
    same(plan.run(data, indices), data[indices], "plan")
    fails(ValueError, "", plan.run, data[:40], indices)
    fails(TypeError, "f32, got f64", plan.run, data.astype("d"), indices)
    fails(ValueError, "indices are missing", plan.run, data)
    fails(ValueError, "operator 'scan'", gather.plan, "scan", data, indices)


def refusals():
    """Bad input gives an error of its kind with the library's text."""
    data, indices = data_of("f", (5, 7)), np.array([1, 5])
    fails(IndexError, "gather: index 5", gather.gather, data, indices)
    fails(ValueError, "gather: axis 2 is out of range", gather.gather, data, indices, 2)
    fails(TypeError, "f64 cannot index", gather.gather, data, indices.astype(float))
    fails(TypeError, "data: elements of >f4", gather.gather, data.astype(">f4"), indices)
    fails(TypeError, "data: elements of object", gather.gather, data.astype(object), indices)
    fails(ValueError, "out_of_bounds 'skip'", gather.gather, data, indices, out_of_bounds="skip")
    fails(ValueError, "threads 0", gather.gather, data, indices, threads=0)
    fails(TypeError, "", gather.gather, [1, 2], indices)
    good = np.array([1, 4])
    fails(ValueError, "", gather.gather, data, good, out=np.zeros((3, 7), np.float32))
    fails(TypeError, "out: elements of float64", gather.gather, data, good, out=np.zeros((2, 7), np.float64))
    fails(TypeError, "out: elements of bool", gather.gather, data.astype("B"), good, out=np.zeros((2, 7), bool))
    fails(TypeError, "bool", gather.gather, data, good.astype(bool))
    fails(ValueError, "may share memory", gather.gather, data, good, out=data[:2])
    frozen = np.zeros((2, 7), np.float32)
    frozen.flags.writeable = False
    fails(ValueError, "read-only", gather.gather, data, good, out=frozen)
    twice = np.lib.stride_tricks.as_strided(np.zeros(8, np.float32), (2, 7), (4, 4))
    fails(ValueError, "two coordinates", gather.gather, data, good, out=twice)
    fails(ValueError, "block_shape", gather.batch_to_space, data, [1], [0, 0], [0, 0])


def bytes_are_moved():
    """NaN payloads, -0.0, and bytes of bool that are neither 0 nor 1."""
    odd = np.array([2, 255, 0], np.uint8).view(bool)
    same(gather.gather(odd, np.array([1, 0])).view(np.uint8), np.array([255, 2], np.uint8), "bool")
    nan = np.array([0x7FC12345, 0x80000000], np.uint32).view(np.float32)
    same(gather.gather(nan, np.array([1, 0, 0])), nan[[1, 0, 0]], "NaN")


def the_interpreter_is_let_go():
    """This thread runs while another one is in the middle of a call."""
    data, indices = np.zeros((1 << 22, 4), np.float32), RANDOM.integers(0, 1 << 22, 1 << 22)
    values, mask = np.ones((1 << 22, 4), np.float32), RANDOM.random((1 << 22, 4)) < 0.5
    for name, *arguments in (("gather", indices), ("take", indices, 0), ("add_at", indices, values), ("select", mask)):
        call, ticks = [], []

        def work():
            call.append(time.perf_counter())
            getattr(gather, name)(data, *arguments, threads=1)
            call.append(time.perf_counter())

        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            ticks.append(time.perf_counter())
        thread.join()
        quarter = (call[1] - call[0]) / 4
        held = not any(call[0] + quarter < tick < call[1] - quarter for tick in ticks)
        same_text(held, False, f"{name} holds the interpreter")


CHECKS = (
    operators,
    attributes,
    spaces,
    scatters,
    bags,
    plans,
    refusals,
    bytes_are_moved,
    the_interpreter_is_let_go,
    *check_numpy.CHECKS,
    *check_package.CHECKS,
)


def main():
    for check in CHECKS:
        check()
    print(f"{passed()} passed")


if __name__ == "__main__":
    main()
