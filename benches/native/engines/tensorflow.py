"""TensorFlow."""

import os

import numpy as np

from engine import Engine


class TensorFlow(Engine):
    """Eager functions; reshape and transpose where channels come first."""

    label = "TensorFlow"

    def load(self, threads):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        self.tf = tensorflow
        self.version = tensorflow.__version__

    def gather(self, workload, data, indices):
        tf, axis, batch_dims = self.tf, workload.axis, workload.batch_dims
        data, indices = tf.constant(data), tf.constant(indices)
        if indices.dtype not in (tf.int32, tf.int64):
            return lambda: tf.gather(data, tf.cast(indices, tf.int32), axis=axis)
        return lambda: tf.gather(data, indices, axis=axis, batch_dims=batch_dims)

    def gather_elements(self, workload, data, indices):
        """TensorFlow lacks the operator. With the axis moved to the end, Gather with batch_dims does the same."""
        tf, axis, last = self.tf, workload.axis, data.ndim - 1
        data, indices = tf.constant(data), tf.constant(indices)
        if axis == last:
            return lambda: tf.gather(data, indices, axis=last, batch_dims=last)
        there = [*range(axis), *range(axis + 1, last + 1), axis]
        back = np.argsort(there)

        def run():
            moved = tf.gather(tf.transpose(data, there), tf.transpose(indices, there), axis=last, batch_dims=last)
            return tf.transpose(moved, back)

        return run

    def gather_nd(self, workload, data, indices):
        data, indices = self.tf.constant(data), self.tf.constant(indices)
        return lambda: self.tf.gather_nd(data, indices, batch_dims=workload.batch_dims)

    def batch_to_space(self, workload, data, indices):
        tf = self.tf
        data = tf.constant(data)
        if workload.block[1] == 1:
            split, permutation, merged, crop = workload.steps
            return lambda: tf.reshape(tf.transpose(tf.reshape(data, split), permutation), merged)[crop]
        block = workload.block[1:]
        crops = list(zip(workload.crops_begin[1:], workload.crops_end[1:]))
        return lambda: tf.batch_to_space(data, block, crops)

    def space_to_batch(self, workload, data, indices):
        data, block = self.tf.constant(data), workload.block[1:-1]
        nothing = [[0, 0]] * len(block)
        return lambda: self.tf.space_to_batch(data, block, nothing)

    def rearrange(self, workload, data, indices):
        """DepthToSpace and SpaceToDepth: with channels first TensorFlow has them for graphics processors only."""
        tf = self.tf
        data = tf.constant(data)
        split, permutation, merged, _ = workload.steps
        return lambda: tf.reshape(tf.transpose(tf.reshape(data, split), permutation), merged)

    def scatter_nd(self, workload, data, indices, updates):
        tf = self.tf
        scatter = tf.tensor_scatter_nd_add if workload.reduction == "add" else tf.tensor_scatter_nd_update
        data, indices, updates = tf.constant(data), tf.constant(indices), tf.constant(updates)
        return lambda: scatter(data, indices, updates)

    def index_add(self, workload, data, indices, updates):
        return self.scatter_nd(workload, data, indices[..., np.newaxis], updates)
