"""The operators that rearrange space in four steps: reshape, transpose, reshape, crop."""

import math


def steps(workload):
    """The shape after the first reshape, the permutation, the shape after the second one, and the slices kept."""
    split, permutation, merged = OPERATORS[workload.operator](workload)
    nothing = (0,) * len(merged)
    ends = zip(merged, workload.crops_begin or nothing, workload.crops_end or nothing)
    return split, permutation, merged, tuple(slice(begin, size - end) for size, begin, end in ends)


def batch_to_space(workload):
    """Every block gets a dimension of its own, before the batch, and goes behind the dimension that it refines."""
    (batch, *space), block = workload.shape, workload.block[1:]
    batch //= math.prod(block)
    blocks = len(block)
    pairs = ((blocks + 1 + k, k) for k in range(blocks))
    permutation = (blocks, *(dimension for pair in pairs for dimension in pair))
    return (*block, batch, *space), permutation, (batch, *(size * b for size, b in zip(space, block)))


def space_to_batch(workload):
    """Every dimension falls apart into blocks, whose places go before the batch. Nothing is padded."""
    (batch, *space), block = workload.shape, workload.block[1:]
    pairs = tuple((size // b, b) for size, b in zip(space, block))
    count = len(pairs)
    permutation = (*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2))
    split = (batch, *(size for pair in pairs for size in pair))
    return split, permutation, (batch * math.prod(block), *(size for size, _ in pairs))


def depth_to_space(workload):
    """Images: the depth falls apart into rows and columns of a block, before or after the rest of it."""
    (batch, depth, height, width), b = workload.shape, workload.block_size
    depth //= b * b
    merged = (batch, depth, height * b, width * b)
    if workload.mode == "dcr":
        return (batch, b, b, depth, height, width), (0, 3, 4, 1, 5, 2), merged
    return (batch, depth, b, b, height, width), (0, 1, 4, 2, 5, 3), merged


def space_to_depth(workload):
    """Images: rows and columns of a block go into the depth, before or after what is there."""
    (batch, depth, height, width), b = workload.shape, workload.block_size
    height, width = height // b, width // b
    permutation = (0, 3, 5, 1, 2, 4) if workload.mode == "dcr" else (0, 1, 3, 5, 2, 4)
    return (batch, depth, height, b, width, b), permutation, (batch, depth * b * b, height, width)


OPERATORS = {call.__name__: call for call in (batch_to_space, space_to_batch, depth_to_space, space_to_depth)}
