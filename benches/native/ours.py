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

    def prepare(self, workload, data, indices):
        attributes = {"axis": workload.axis, "batch_dims": workload.batch_dims, "block_shape": workload.block}
        attributes |= {"crops_begin": workload.crops_begin, "crops_end": workload.crops_end, "threads": self.threads}
        run = self.module.plan(workload.operator, data, indices, **attributes).run
        output = self.output(workload)
        return lambda: run(data, indices, out=output)


class GatherFresh(Gather):
    """As one calls NumPy: not planned, and every call returns a fresh output."""

    label = "gather (fresh)"
    fresh = True

    def prepare(self, workload, data, indices):
        return Engine.prepare(self, workload, data, indices)

    def gather(self, workload, data, indices):
        call, axis, batch_dims = self.module.gather, workload.axis, workload.batch_dims
        return lambda: call(data, indices, axis, batch_dims, threads=self.threads)

    def gather_elements(self, workload, data, indices):
        call, axis = self.module.gather_elements, workload.axis
        return lambda: call(data, indices, axis, threads=self.threads)

    def gather_nd(self, workload, data, indices):
        call, batch_dims = self.module.gather_nd, workload.batch_dims
        return lambda: call(data, indices, batch_dims, threads=self.threads)

    def batch_to_space(self, workload, data, indices):
        call, attributes = self.module.batch_to_space, (workload.block, workload.crops_begin, workload.crops_end)
        return lambda: call(data, *attributes, threads=self.threads)
