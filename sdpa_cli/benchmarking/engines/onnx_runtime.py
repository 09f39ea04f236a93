"""The Attention operator of ONNX, run by ONNX Runtime on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpa_cli.benchmarking.engines import Call, UnsupportedError
from sdpa_cli.benchmarking.inputs import Inputs, forbidden
from sdpa_cli.benchmarking.workloads import Workload

_OPSET = 23
"""The first with the Attention operator."""


def prepare(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """Build a model of that one operator. It knows causal masks; every other mask is a matrix, True = allowed.

    Of that matrix the runtime broadcasts the leading axes, but not Tq.
    """
    if workload.dtype != "float32":
        raise UnsupportedError(f"its CPU Attention operator has no {workload.dtype}")
    import onnxruntime

    mask = None if workload.causal else forbidden(workload, inputs)
    feeds = {"Q": inputs.q, "K": inputs.k, "V": inputs.v}
    if mask is not None:
        shape = (*mask.shape[:-2], workload.queries, workload.keys)
        feeds["attn_mask"] = np.ascontiguousarray(np.broadcast_to(~mask, shape))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(_model(tuple(feeds), workload), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)[0]


def _model(names: tuple[str, ...], workload: Workload) -> bytes:
    from onnx import TensorProto, helper

    def tensor(name: str) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.BOOL if "mask" in name else TensorProto.FLOAT, None)

    node = helper.make_node("Attention", names, ["Y"], is_causal=int(workload.causal))
    graph = helper.make_graph([node], "attention", [tensor(name) for name in names], [tensor("Y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=10)
    serialized: bytes = model.SerializeToString()
    return serialized


def versions() -> dict[str, str]:
    """Of ONNX Runtime and of the model builder."""
    import onnx
    import onnxruntime

    return {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__}
