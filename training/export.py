"""Writes a trained reader as package data: `python -m training.export IN`.

`reader.npz` holds four-bit matrices, norms, segments and heads; `reader_skeleton.onnx` the graph without weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

from scripts.build_e5_skeleton import EPSILON, MICROSOFT, Graph
from training import carrier
from training.model import DIM, OUTPUTS, Reader, Shape
from training.quantise import quantise, restore

DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data"


def load(folder: Path) -> Reader:
    """Return the reader that `training.train` left in a folder."""
    shape = json.loads((folder / "shape.json").read_text())
    reader = Reader(Shape(tuple(shape["layers"]), shape["frozen"]))
    reader.load_state_dict(torch.load(folder / "reader.pt", weights_only=True))
    return reader.eval()


def tensors_of(reader: Reader) -> dict[str, np.ndarray]:
    """Return the graph's initialisers by name."""
    found: dict[str, np.ndarray] = {
        "embedding_norm_scale": _array(reader.norm.weight),
        "embedding_norm_bias": _array(reader.norm.bias),
    }
    for number, layer in enumerate(reader.layers):
        name = f"layer{number}_"
        for matrix, _ in carrier.MATRICES:
            linear = getattr(layer, matrix)
            found[f"{name}{matrix}_weight"], found[f"{name}{matrix}_scales"] = quantise(_array(linear.weight))
            found[f"{name}{matrix}_bias"] = _array(linear.bias)
        for norm in carrier.NORMS:
            found[f"{name}{norm}_scale"] = _array(getattr(layer, norm).weight)
            found[f"{name}{norm}_bias"] = _array(getattr(layer, norm).bias)
    for task, head in reader.heads.items():
        found[f"{task}_weight"] = np.ascontiguousarray(_array(head.weight).T)
        found[f"{task}_bias"] = _array(head.bias)
    return found


def rounded(reader: Reader) -> Reader:
    """Return the reader with the numbers that its four-bit matrices stand for."""
    for layer in reader.layers:
        for matrix, _ in carrier.MATRICES:
            weight = getattr(layer, matrix).weight
            weight.data = torch.from_numpy(restore(*quantise(_array(weight))))
    return reader


def build(tensors: dict[str, np.ndarray], layers: int) -> onnx.ModelProto:
    """Return the graph: word vectors and masks in, the outputs of each head out."""
    graph = Graph()
    for name, array in tensors.items():
        graph.hole(name, array)
    graph.constant("thirds", [DIM, DIM, DIM])
    graph.node("Cast", ["mask"], ["mask32"], to=TensorProto.INT32)
    norm = ["embedded", "embedding_norm_scale", "embedding_norm_bias"]
    trunk = graph.node("LayerNormalization", norm, ["embedding_norm"], axis=-1, epsilon=EPSILON)
    for number in range(layers):
        trunk = graph.encoder_layer(number, trunk)
    graph.constant("last", [2])
    graph.constant("along_tokens", [1])
    graph.constant("begin", [0])
    graph.constant("end", [1])
    graph.node("Slice", [trunk, "begin", "end", "along_tokens"], ["head_token"])
    graph.node("Squeeze", ["head_token", "along_tokens"], ["mark"])
    for part in ("first", "second"):
        graph.node("Unsqueeze", [part, "last"], [f"{part}3"])
        graph.node("Mul", [trunk, f"{part}3"], [f"{part}_masked"])
        graph.node("ReduceSum", [f"{part}_masked", "along_tokens"], [f"{part}_sum"], keepdims=0)
        graph.node("ReduceSum", [part, "along_tokens"], [f"{part}_count"], keepdims=1)
        graph.node("Div", [f"{part}_sum", f"{part}_count"], [f"{part}_mean"])
    graph.node("Concat", ["mark", "first_mean", "second_mean"], ["pooled"], axis=-1)
    for task in OUTPUTS:
        graph.node("Gemm", ["pooled", f"{task}_weight", f"{task}_bias"], [task])
    inputs = [_value("embedded", "batch", "length", DIM)]
    inputs += [_value(name, "batch", "length") for name in ("mask", "first", "second")]
    outputs = [_value(task, "batch", size) for task, size in OUTPUTS.items()]
    proto = helper.make_graph(graph.nodes, "reader", inputs, outputs, graph.initialisers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=8)


def _value(name: str, *shape: str | int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().float().numpy()


def _compact(array: np.ndarray) -> np.ndarray:
    """Numbers that lose nothing that counts by 16 bits."""
    return array if array.dtype == np.uint8 else array.astype(np.float16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    reader = load(given.folder)
    tensors = tensors_of(reader)
    (DATA / "reader_skeleton.onnx").write_bytes(build(tensors, len(reader.layers)).SerializeToString())
    segments = _array(reader.segments.weight)
    packed = {name: _compact(array) for name, array in (tensors | {"segments": segments}).items()}
    version = hashlib.sha256(b"".join(packed[name].tobytes() for name in sorted(packed))).hexdigest()[:12]
    np.savez(DATA / "reader.npz", version=np.array(version), **packed)
    size = (DATA / "reader.npz").stat().st_size
    print(f"reader {version}: {size:,} bytes")


if __name__ == "__main__":
    main()
