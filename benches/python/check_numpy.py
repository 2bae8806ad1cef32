"""Checks of the functions that have NumPy's names, against NumPy."""

import itertools
import threading

import numpy as np

import gather
from checking import DTYPES, INDEX_DTYPES, RANDOM, data_of, fails, is_whole, same, strided

MODES = ("raise", "wrap", "clip")
NUMBERS = DTYPES.replace("?", "")
MASKS = (
    ((70,), 0, (70,)),
    ((9, 8, 3), 0, (9, 8)),
    ((9, 8, 3), 1, (8,)),
    ((9, 8, 3), -1, (3,)),
    ((9, 8, 3), 0, (9, 8, 3)),
    ((4, 70, 2), 1, (70, 2)),
)
ALONG = ((0, (2, 5, 6)), (1, (4, 9, 6)), (-1, (4, 5, 1)), (0, (3, 1, 1)), (1, (1, 2, 6)), (2, (1, 1, 3)))


def indices_of(dtype, shape, size, mode):
    """Indices in range, negative ones among them if the type has any; out of range if the mode allows it."""
    low, high = (-size, size) if mode == "raise" else (-3 * size, 3 * size)
    return RANDOM.integers(low if dtype in "bhiq" else 0, high, shape).astype(dtype)


def taken(a, indices, axis, mode):
    """`numpy.take`, which casts no uint64."""
    return np.take(a, indices.astype(np.int64), axis, mode=mode)


def takes():
    """Types of data and indices, axes, modes, outputs."""
    for dtype, index, mode in itertools.product(DTYPES, INDEX_DTYPES, MODES):
        a = data_of(dtype, (3, 4, 5))
        for axis in (None, 0, 1, -1):
            size = a.size if axis is None else a.shape[axis]
            indices = indices_of(index, (2, 3), size if size < 40 else 40, mode)
            expected, what = taken(a, indices, axis, mode), ("take", dtype, index, mode, axis)
            same(gather.take(a, indices, axis, mode=mode), expected, what)
            out = np.zeros_like(expected)
            assert gather.take(a, indices, axis, out, mode) is out
            same(out, expected, what)


def strides_of_take():
    """Strides of data, indices and outputs, backwards, transposed and not aligned; threads."""
    for dtype, axis, mode in itertools.product("fDb", (None, 0, 1, 2), MODES):
        a = data_of(dtype, (5, 7, 6))
        indices = indices_of("q", (3, 4), 5, mode)
        expected = taken(a, indices, axis, mode)
        for source in strided(a):
            for index in strided(indices):
                same(gather.take(source, index, axis, mode=mode), expected, ("strides", dtype, axis, mode))
        for out in filter(is_whole, strided(np.zeros_like(expected))):
            assert gather.take(a, indices, axis, out=out, mode=mode, threads=2) is out
            same(np.ascontiguousarray(out), expected, ("out", out.strides))


def shapes_of_take():
    """Scalars, lists, empty arrays, arrays without dimensions, large indices."""
    a = data_of("f", (4, 6))
    for indices in (3, -1, [2, 0], [[1], [3]], [], (0, 1), np.int16(2), np.uint64(3), np.array(1), np.array([[0]])):
        for axis in (None, 0, 1):
            for mode in MODES:
                got = gather.take(a, indices, axis, mode=mode)
                expected = np.take(a, indices, axis, mode=mode)
                assert type(got) is type(expected), (type(got), type(expected))
                same(got, expected, ("take", indices, axis))
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3)):
        empty = data_of("d", shape)
        for axis in range(len(shape)):
            for count in ((0,), (0, 2), (2, 0)):
                same(gather.take(empty, np.zeros(count, int), axis), np.take(empty, np.zeros(count, int), axis), shape)
        if shape[0] == 0:
            for mode in MODES:
                fails(IndexError, "size 0", gather.take, empty, [0], 0, mode=mode)
    scalar = np.array(5.0)
    for indices, axis in itertools.product((0, [0, -1], [[0]]), (None, 0, -1)):
        same(gather.take(scalar, indices, axis), np.take(scalar, indices, axis), "rank 0")
    out = np.zeros((), np.float32)
    assert gather.take(a, 7, out=out) is out and out == a[1, 1]
    far = np.array([2**62, -(2**62), 2**31])
    same(gather.take(a, far, mode="clip"), np.take(a, far, mode="clip"), "far")
    # NumPy's own "wrap" subtracts the size until the index is in range.
    same(gather.take(a, far, mode="wrap"), a.ravel()[far % 24], "far")
    fails(IndexError, "index 4611686018427387904", gather.take, a, far)
    same(gather.take(a, np.array([2**64 - 1], np.uint64), mode="clip"), a.ravel()[-1:], "uint64")


def alongs():
    """take_along_axis and put_along_axis: types, axes, dimensions of 1, strides."""
    for dtype, index in itertools.product(DTYPES, INDEX_DTYPES):
        a = data_of(dtype, (4, 5, 6))
        for axis, shape in ALONG:
            indices = indices_of(index, shape, a.shape[axis], "raise")
            expected = np.take_along_axis(a, indices, axis)
            same(gather.take_along_axis(a, indices, axis), expected, ("along", dtype, index, axis, shape))
            for values in (data_of(dtype, expected.shape), data_of(dtype, (1,)), data_of(dtype, expected.shape[-1:])):
                put, reference = a.copy(), a.copy()
                np.put_along_axis(reference, indices, values, axis)
                assert gather.put_along_axis(put, indices, values, axis) is None
                same(put, reference, ("put along", dtype, index, axis, shape, values.shape))
    a, indices = data_of("d", (4, 5)), RANDOM.integers(-5, 5, (4, 3))
    expected, values = np.take_along_axis(a, indices, -1), data_of("d", (4, 3))
    reference, before = a.copy(), a.copy()
    np.put_along_axis(reference, indices, values, 1)
    for source, index in itertools.product(strided(a), strided(indices)):
        same(gather.take_along_axis(source, index), expected, "strides")
        for threads in (1, 2):
            out = np.zeros_like(expected)
            assert gather.take_along_axis(source, index, 1, out=out, threads=threads) is out
            same(out, expected, "out")
    for target, index, value in itertools.product(filter(is_whole, strided(a)), strided(indices), strided(values)):
        target[...] = before
        gather.put_along_axis(target, index, value, 1)
        same(np.ascontiguousarray(target), reference, "strides")
    a[...] = before
    same(gather.take_along_axis(a, [0, 19, -1], None), np.take_along_axis(a, np.array([0, 19, -1]), None), "flat")
    same(gather.take_along_axis(a[:1], indices), np.take_along_axis(a[:1], indices, 1), "one row")
    for target in (a.copy(), a.copy()[:, ::2][:, 0]):
        reference = target.copy()
        gather.put_along_axis(target, [0, -1], [1.0, 2.0], None)
        np.put_along_axis(reference, np.array([0, -1]), [1.0, 2.0], None)
        same(np.ascontiguousarray(target), reference, "flat")
    same(gather.take_along_axis(a[:, :0], indices[:, :0]), a[:, :0], "empty")


def puts():
    """Types, modes, one value for all, equal indices, strides, lists."""
    for dtype, index, mode in itertools.product(DTYPES, INDEX_DTYPES, MODES):
        for shape, count in (((3, 4), (5,)), ((12,), (2, 9)), ((2, 3, 2), ())):
            a, indices = data_of(dtype, shape), indices_of(index, count, 12, mode)
            for values in (data_of(dtype, count), data_of(dtype, (1,)), data_of(dtype, ())):
                got, expected = a.copy(), a.copy()
                assert gather.put(got, indices, values, mode) is None
                np.put(expected, indices.astype(np.int64), values, mode)
                same(got, expected, ("put", dtype, index, mode, shape))
    for line in filter(is_whole, strided(data_of("f", (9,)))):
        expected = line.copy()
        gather.put(line, [1, -1, 1], [3, 4, 5.5], threads=1)
        np.put(expected, [1, -1, 1], [3, 4, 5.5])
        same(line.copy(), expected, "strides of put")
    for value in (7, 7.5, True, [1, 2], np.float64(3), np.float32(2)):
        got, expected = np.zeros(4), np.zeros(4)
        gather.put(got, [0, 3], value)
        np.put(expected, [0, 3], value)
        same(got, expected, ("list", value))
    got = np.zeros((), int)
    gather.put(got, 0, 7)
    same(got, np.array(7), "rank 0")
    gather.put(got, [], [])
    same(got, np.array(7), "nothing")


def add_ats():
    """Types, indices as arrays, lists, numbers and tuples, values that are broadcast, strides."""
    for dtype, index in itertools.product(NUMBERS, INDEX_DTYPES):
        a = data_of(dtype, (5, 4, 3))
        rows = indices_of(index, (2, 6), 5, "raise")
        columns = indices_of(index, (6,), 4, "raise")
        for where, shape in ((rows, (2, 6, 4, 3)), ((rows,), (2, 6, 4, 3)), ((rows, columns), (2, 6, 3))):
            for b in (data_of(dtype, shape), data_of(dtype, shape[-1:]), data_of(dtype, ())):
                got, expected = a.copy(), a.copy()
                assert gather.add_at(got, where, b) is None
                np.add.at(expected, where, b)
                same(got, expected, ("add_at", dtype, index, shape, b.shape))
    a, rows, b = data_of("d", (5, 4)), RANDOM.integers(-5, 5, 7), data_of("d", (7, 4))
    expected = a.copy()
    np.add.at(expected, rows, b)
    before = a.copy()
    for target, index, value in itertools.product(filter(is_whole, strided(a)), strided(rows), strided(b)):
        target[...] = before
        gather.add_at(target, index, value, threads=2)
        same(np.ascontiguousarray(target), expected, "strides of add_at")
    a[...] = before
    for where, b in ((2, 1), ([0, -1, 0], [1, 2, 3, 4]), (([0, 0], 1), 2.5), ((1, 2), 1), ([], 1)):
        got, expected = a.copy(), a.copy()
        gather.add_at(got, where, b)
        np.add.at(expected, np.zeros(0, int) if where == [] else where, b)
        same(got, expected, ("add_at", where))


def masks():
    """select, put_mask and masked_fill: types, dimensions of the mask, counts of trues, strides, broadcasting."""
    for dtype, share in itertools.product(DTYPES, (0.0, 0.1, 0.5, 0.9, 1.0)):
        for shape, axis, size in MASKS:
            a, mask = data_of(dtype, shape), RANDOM.random(size) < share
            expected = a[(slice(None),) * (axis % a.ndim) + (mask,)]
            what = ("select", dtype, share, shape, axis)
            same(gather.select(a, mask, axis), expected, what)
            out = np.zeros_like(expected)
            assert gather.select(a, mask, axis, out=out) is out
            same(out, expected, what)
            if axis == 0:
                for values in (data_of(dtype, expected.shape), data_of(dtype, (1,)), data_of(dtype, ())):
                    got, reference = a.copy(), a.copy()
                    reference[mask] = values
                    assert gather.put_mask(got, mask, values) is None
                    same(got, reference, what)
            if len(size) + axis == a.ndim or axis == -1:
                same(gather.masked_fill(a, mask, np.zeros(1, dtype)), np.where(mask, np.zeros(1, dtype), a), what)
    a, mask = data_of("f", (7, 6, 5)), RANDOM.random((7, 6)) < 0.4
    before, values = a.copy(), data_of("f", (mask.sum(), 5))
    reference = a.copy()
    reference[mask] = values
    for source, where in itertools.product(strided(a), strided(mask)):
        same(gather.select(source, where), a[mask], "strides")
        same(gather.masked_fill(source, where[..., None], 9), np.where(mask[..., None], np.float32(9), a), "strides")
        for out in filter(is_whole, strided(np.zeros_like(values))):
            assert gather.select(source, where, out=out, threads=2) is out
            same(np.ascontiguousarray(out), a[mask], "out")
    for target, where, value in itertools.product(filter(is_whole, strided(a)), strided(mask), strided(values)):
        target[...] = before
        gather.put_mask(target, where, value)
        same(np.ascontiguousarray(target), reference, "strides of put_mask")
    a[...] = before
    odd = np.array([2, 0, 255], np.uint8).view(bool)
    same(gather.select(np.arange(3), odd), np.array([0, 2]), "bytes of bool")
    same(gather.select(np.arange(3), [True, False, True]), np.array([0, 2]), "list")
    same(gather.select(a[:0], np.zeros((0, 6), bool)), a[:0, 0], "empty")
    fails(ValueError, "the mask has shape [6]; data has [7]", gather.select, a, mask[0])
    fails(ValueError, "rank 0", gather.select, a, np.array(True))
    fails(ValueError, "axis 3 is out of range", gather.select, a, mask, 3)
    fails(ValueError, "the output has shape [1, 5]", gather.select, a, mask, out=np.zeros((1, 5), np.float32))
    fails(ValueError, "out: the array may share memory", gather.select, a, mask, out=a[0])
    fails(ValueError, "mask: shape [6]; allowed are", gather.put_mask, a, mask[0], 1)
    fails(ValueError, "mask: shape []; allowed are", gather.put_mask, a, np.array(True), 1)
    fails(ValueError, "mask: shape [7, 6] cannot be broadcast to [7, 6, 5]", gather.masked_fill, a, mask, 1)
    fails(ValueError, "values: shape [3] cannot be broadcast to", gather.put_mask, a, mask, [1, 2, 3])
    fails(ValueError, "value: 2 values; allowed is 1", gather.masked_fill, a, mask[..., None], [1, 2])
    for call, arguments in ((gather.select, ()), (gather.put_mask, (1,)), (gather.masked_fill, (1,))):
        fails(TypeError, "mask: elements of uint8; allowed is bool", call, a, mask.astype("B"), *arguments)
        fails(TypeError, "mask: elements of object", call, a, None, *arguments)
        fails(TypeError, "elements of object", call, a.astype(object), mask, *arguments)
    same(a, before, "unchanged")


def errors():
    """Kinds and texts; arrays that are changed in place are unchanged after an error."""
    a, i = data_of("f", (5, 7)), np.array([1, 4])
    before = a.copy()
    fails(IndexError, "index 35 at position 1 is out of range for axis 0 of size 35", gather.take, a, [0, 35])
    fails(IndexError, "index -6", gather.take, a, [-6], 0)
    fails(IndexError, "index 7", gather.take_along_axis, a, np.full((5, 1), 7))
    fails(IndexError, "index 35", gather.put, a, [0, 35], 9)
    fails(IndexError, "index 5", gather.put_along_axis, a, np.full((1, 7), 5), 9, 0)
    fails(IndexError, "index 5", gather.add_at, a, [0, 5], 9)
    fails(IndexError, "index 9", gather.add_at, a, ([0, 1], [0, 9]), 9)
    for axis in (2, -3):
        fails(ValueError, f"axis {axis} is out of range", gather.take, a, i, axis)
        fails(ValueError, f"axis {axis} is out of range", gather.take_along_axis, a, np.zeros((5, 7), int), axis)
        fails(ValueError, f"axis {axis} is out of range", gather.put_along_axis, a, np.zeros((5, 7), int), 9, axis)
    fails(ValueError, "mode 'skip'; allowed is 'raise', 'wrap' or 'clip'", gather.take, a, i, mode="skip")
    fails(ValueError, "mode ''", gather.put, a, i, 1, "")
    fails(ValueError, "threads 0", gather.take, a, i, threads=0)
    fails(ValueError, "the output has shape [3]", gather.take, a, i, out=np.zeros(3, np.float32))
    fails(ValueError, "the ranks must be equal", gather.take_along_axis, a, i)
    fails(ValueError, "the ranks must be equal", gather.put_along_axis, a, i, 1, 0)
    fails(ValueError, "the ranks must be equal", gather.take_along_axis, a, np.zeros((1, 1), int), None)
    fails(ValueError, "dimension 0 is 3; allowed is 1 or 5", gather.take_along_axis, a, np.zeros((3, 2), int))
    fails(ValueError, "dimension 1 is 2; allowed is 1 or 7", gather.put_along_axis, a, np.zeros((5, 2), int), 1, 0)
    fails(ValueError, "dimension 0 is 2; allowed is 1", gather.put_along_axis, a[:1], np.zeros((2, 7), int), 1, 1)
    fails(ValueError, "cannot be broadcast to [5, 2]", gather.put_along_axis, a, np.zeros((5, 2), int), [1, 2, 3], 1)
    fails(ValueError, "v: 3 values for 2 indices", gather.put, a, i, [1, 2, 3])
    fails(ValueError, "v: 0 values for 2 indices", gather.put, a, i, [])
    fails(ValueError, "must be row-major", gather.put, a.T, i, 1)
    fails(ValueError, "b: shape [2] cannot be broadcast to [2, 7]", gather.add_at, a, i, [1, 2])
    fails(ValueError, "cannot be broadcast", gather.add_at, a, i, np.ones((1, 1, 1), np.float32))
    fails(ValueError, "index tuples have 3 components", gather.add_at, a, (i, i, i), 1)
    fails(ValueError, "rank 0", gather.add_at, np.array(1.0), 0, 1)
    same(a, before, "unchanged")


def errors_of_types():
    """Types are refused by their names."""
    a, i = data_of("f", (5, 7)), np.array([1, 4])
    calls = (
        (gather.take, (i,)),
        (gather.take_along_axis, (np.zeros((5, 1), int),)),
        (gather.put, (i, 1)),
        (gather.put_along_axis, (np.zeros((5, 1), int), 1, 1)),
        (gather.add_at, (i, 1)),
    )
    for call, arguments in calls:
        for dtype in ("O", "U3", "S3", ">f4"):
            fails(TypeError, f"elements of {np.dtype(dtype)}", call, a.astype(dtype), *arguments)
        fails(TypeError, "datetime64[s]", call, a.astype("q").astype("M8[s]"), *arguments)
        fails(TypeError, "elements of [('x'", call, np.zeros((5, 7), [("x", "f4")]), *arguments)
        fails(TypeError, "", call, [1.0, 2.0], *arguments)
        fails(TypeError, "", call, None, *arguments)
        for indices, name in ((np.zeros((5, 1)), "f64"), ([[0.0]], "f64"), (np.zeros((5, 7), bool), "bool")):
            fails(TypeError, f"{name} cannot index", call, a, indices, *arguments[1:])
        for indices, name in (([["x"]], "<U1"), (np.zeros((5, 1), object), "object"), (None, "object")):
            fails(TypeError, f"indices: elements of {name}", call, a, indices, *arguments[1:])
    for call, arguments in calls[2:]:
        *arguments, last = (*arguments, None)[:-1] if call is not gather.put_along_axis else (*arguments[:1], 1)
        tail = (1,) if call is gather.put_along_axis else ()
        for value, name in ((np.zeros(1), "float64"), (np.zeros(1, int), "int64"), ("x", "<U1"), (1j, "complex128")):
            fails(TypeError, f"elements of {name}, where the array has float32", call, a, *arguments, value, *tail)
        fails(TypeError, "elements of float64, where the array has int64", call, a.astype(int), *arguments, 1.5, *tail)
        fails(OverflowError, "300", call, a.astype("B"), *arguments, 300, *tail)
    fails(TypeError, "bool are not reduced", gather.add_at, a > 0, i, True)
    fails(TypeError, "out: elements of float64, where the result has float32", gather.take, a, i, out=np.zeros(2))
    fails(TypeError, "out: elements of >f4", gather.take, a, i, out=np.zeros(2, ">f4"))
    fails(TypeError, "missing", gather.take, a)
    fails(TypeError, "unexpected keyword", gather.take, a, i, dtype=int)


def errors_of_memory():
    """Arrays that share memory, that are read-only, or whose elements share memory, are not written."""
    a, i = np.arange(35.0).reshape(5, 7), np.array([1, 4])
    before = a.copy()
    fails(ValueError, "out: the array may share memory", gather.take, a, i, 0, out=a[3:])
    fails(ValueError, "out: the array may share memory", gather.take_along_axis, a, np.zeros((5, 7), int), out=a)
    fails(ValueError, "a: the array may share memory", gather.put, a, i, a[0, :2])
    fails(ValueError, "a: the array may share memory", gather.put_along_axis, a, np.zeros((5, 7), int), a[::-1], 1)
    fails(ValueError, "a: the array may share memory", gather.add_at, a, i, a[:2])
    fails(ValueError, "a: the array may share memory", gather.put, i, i, 1)
    fails(ValueError, "out: the array may share memory", gather.take, i, i[::-1] - 1, out=i)
    frozen = a.copy()
    frozen.flags.writeable = False
    twice = np.lib.stride_tricks.as_strided(np.zeros(8), (5, 2), (8, 8))
    broken = np.zeros(5, [("tag", np.uint8), ("value", "f8")])["value"]
    for target, text in ((frozen, "read-only"), (twice, "share an element"), (broken, "not all multiples")):
        fails(ValueError, text, gather.put, target.reshape(-1) if text == "read-only" else target, i, 1)
        fails(ValueError, text, gather.add_at, target, i, 1)
        zeros = np.zeros((1,) * target.ndim, int)
        fails(ValueError, text, gather.put_along_axis, target, zeros, 1, 0)
    fails(ValueError, "read-only", gather.take, a, i, out=frozen[0, :2])
    fails(ValueError, "share an element", gather.take, a, np.zeros((5, 2), int), out=twice)
    fails(ValueError, "not all multiples", gather.take, a, np.zeros(5, int), out=broken)
    same(a, before, "unchanged")


def threads():
    """Calls from several threads at once, each on its own output."""
    a, rounds, wrong = data_of("d", (1000, 8)), 40, []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(rounds):
            rows, b = random.integers(0, 1000, 500), random.integers(0, 9, (500, 8)).astype("d")
            expected, got = a.copy(), a.copy()
            np.add.at(expected, rows, b)
            gather.add_at(got, rows, b)
            if not (np.array_equal(got, expected) and np.array_equal(gather.take(a, rows, 0), a[rows])):
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    same(np.array(wrong), np.array([]), "threads")


CHECKS = (
    takes,
    strides_of_take,
    shapes_of_take,
    alongs,
    puts,
    add_ats,
    masks,
    errors,
    errors_of_types,
    errors_of_memory,
    threads,
)
