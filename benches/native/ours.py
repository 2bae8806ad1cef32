"""This library as an engine, through the module in `benches/python`."""

import importlib.metadata

from engine import Engine


class Gather(Engine):
    """A plan that writes into an output that was bound ahead."""

    label = "gather"
    fresh = False

    def load(self, threads):
        import gather

        self.module = gather
        self.version = importlib.metadata.version("gather-python")
        # With more, as many as are worth it: the process is pinned to as many CPUs, and so is rayon's pool.
        self.threads = 1 if threads == 1 else None

    def prepare(self, workload, *inputs):
        output = self.output(workload)
        if workload.operator == "embedding_bag":  # which has no plans for types known at run time
            call = self.embedding_bag(workload, *inputs)
            return lambda: call(out=output)
        names = ("axis", "batch_dims", "reduction", "block_size", "mode", "crops_begin", "crops_end")
        attributes = {name: getattr(workload, name) for name in names}
        attributes |= {"block_shape": workload.block, "pads_begin": self._nothing(workload)}
        attributes |= {"pads_end": self._nothing(workload), "threads": self.threads}
        operator, arrays = workload.operator, [array for array in inputs if array is not None]
        if operator == "take_clip":
            operator, attributes = "gather", attributes | {"negative_index": "reject", "out_of_bounds": "clamp"}
        run = self.module.plan(operator, *arrays, **attributes).run
        return lambda: run(*arrays, out=output)

    def _nothing(self, workload):
        """The padding of SpaceToBatch."""
        return [0] * len(workload.block)

    def embedding_bag(self, workload, data, indices):
        call, reduction = self.module.embedding_bag, workload.reduction
        return lambda **out: call(data, indices, reduction=reduction, threads=self.threads, **out)


class GatherFresh(Gather):
    """As one calls NumPy: not planned, and every call returns a fresh output."""

    label = "gather (fresh)"
    fresh = True

    def prepare(self, workload, *inputs):
        return Engine.prepare(self, workload, *inputs)

    def gather(self, workload, data, indices):
        call, axis, batch_dims = self.module.gather, workload.axis, workload.batch_dims
        return lambda **out: call(data, indices, axis, batch_dims, threads=self.threads, **out)

    def take_clip(self, workload, data, indices):
        call, policy = self.module.gather, {"negative_index": "reject", "out_of_bounds": "clamp"}
        return lambda **out: call(data, indices, workload.axis, threads=self.threads, **policy, **out)

    def gather_elements(self, workload, data, indices):
        call, axis = self.module.gather_elements, workload.axis
        return lambda **out: call(data, indices, axis, threads=self.threads, **out)

    def gather_nd(self, workload, data, indices):
        call, batch_dims = self.module.gather_nd, workload.batch_dims
        return lambda **out: call(data, indices, batch_dims, threads=self.threads, **out)

    def scatter_elements(self, workload, data, indices, updates):
        call, axis, reduction = self.module.scatter_elements, workload.axis, workload.reduction
        return lambda **out: call(data, indices, updates, axis, reduction=reduction, threads=self.threads, **out)

    def scatter_nd(self, workload, data, indices, updates):
        call, reduction = self.module.scatter_nd, workload.reduction
        return lambda **out: call(data, indices, updates, reduction=reduction, threads=self.threads, **out)

    def index_add(self, workload, data, indices, updates):
        call = self.module.index_add
        return lambda **out: call(data, indices, updates, threads=self.threads, **out)

    def batch_to_space(self, workload, data, indices):
        call, attributes = self.module.batch_to_space, (workload.block, workload.crops_begin, workload.crops_end)
        return lambda **out: call(data, *attributes, threads=self.threads, **out)

    def space_to_batch(self, workload, data, indices):
        call, nothing = self.module.space_to_batch, self._nothing(workload)
        return lambda **out: call(data, workload.block, nothing, nothing, threads=self.threads, **out)

    def depth_to_space(self, workload, data, indices):
        call, size, mode = self.module.depth_to_space, workload.block_size, workload.mode
        return lambda **out: call(data, size, mode, threads=self.threads, **out)

    def space_to_depth(self, workload, data, indices):
        call, size, mode = self.module.space_to_depth, workload.block_size, workload.mode
        return lambda **out: call(data, size, mode, threads=self.threads, **out)


class GatherReused(GatherFresh):
    """The same calls into an output that is used again: not planned, and nothing is allocated."""

    label = "gather (reused)"
    fresh = False

    def prepare(self, workload, *inputs):
        call, output = Engine.prepare(self, workload, *inputs), self.output(workload)
        return lambda: call(out=output)
