"""Arrays to call the module with, and comparisons that are counted."""

import numpy as np

DTYPES = "?bhiqBHIQefdFD"
INDEX_DTYPES = "bhiqBHIQ"
RANDOM = np.random.default_rng(1)
checks = 0


def passed():
    """The number of checks that passed."""
    return checks


def same(got, expected, what):
    """Types, shapes and bits are equal."""
    global checks
    checks += 1
    assert got.dtype == expected.dtype and got.shape == expected.shape, (what, got.dtype, got.shape, expected.shape)
    assert got.tobytes() == expected.tobytes(), what


def fails(kind, text, call, *arguments, **keywords):
    """The call raises an error of a kind, whose message has a text."""
    global checks
    checks += 1
    try:
        call(*arguments, **keywords)
    except kind as error:
        assert type(error) is kind and text in str(error), (type(error), str(error))
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")


def data_of(dtype, shape):
    """Ordinary numbers."""
    return (RANDOM.integers(0, 100, shape) % (2 if dtype == "?" else 100)).astype(dtype)


def strided(array):
    """Views of the same values: as it is, transposed in memory, backwards in memory, every third, and not aligned."""
    yield array
    yield np.asfortranarray(array)
    yield np.ascontiguousarray(array[::-1])[::-1]
    spread = np.zeros((*array.shape[:-1], array.shape[-1] * 3), array.dtype)
    spread[..., ::3] = array
    yield spread[..., ::3]
    raw = np.zeros(array.nbytes + 1, np.uint8)
    odd = raw[1:].view(array.dtype).reshape(array.shape)
    odd[...] = array
    yield odd
    fields = np.zeros(array.shape, [("tag", np.uint8), ("value", array.dtype)])
    fields["value"] = array
    yield fields["value"]


def is_whole(array):
    """Strides are whole elements."""
    return all(stride % array.itemsize == 0 for stride in array.strides)


def same_text(got, expected, what):
    """Lists, texts or numbers are equal."""
    global checks
    checks += 1
    assert got == expected, (what, got, expected)
