"""The tensor engines. An adapter for each turns a workload into a call without arguments.

An adapter imports its engine when it is made, so a process loads only one engine. The engine gets its inputs before
the call is timed. A cast that it needs for a type of indices is part of the call. NumPy, PyTorch, TensorFlow, JAX and
`gather (fresh)` return a fresh output from every call. ONNX Runtime, OpenVINO, `gather` and `gather (reused)` write
into one that was bound ahead. Inputs and bound outputs lie where `buffers.place` puts them; TensorFlow and JAX may keep copies of the
inputs elsewhere, and fresh outputs lie where an engine's allocator puts them. Scatters leave their data as it is: the
output is a copy of it that is changed.
"""

from engines.jax import Jax
from engines.numpy import NumPy
from engines.onnxruntime import OnnxRuntime
from engines.openvino import OpenVino
from engines.pytorch import PyTorch
from engines.tensorflow import TensorFlow
from ours import Gather, GatherFresh, GatherReused

ENGINES = {
    engine.label: engine
    for engine in (Gather, GatherReused, GatherFresh, NumPy, PyTorch, OnnxRuntime, OpenVino, TensorFlow, Jax)
}
REUSED = GatherReused.label
OURS = [Gather.label, GatherReused.label, GatherFresh.label]
