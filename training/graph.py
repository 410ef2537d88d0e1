"""Writes the graphs of the reader and of the change model, without their weights: `python -m training.graph`.

Inputs: `embedded` (batch, tokens, 384) = vectors of words, positions and segments; `mask`, `first` and `second` (batch,
tokens) = 1 for a token, for one of the first and of the second text. Output: `answer`, the logits of "no" and "yes".

Matrices are multiplied as whole numbers. Each token is quantised by a scale of its own, so what is said of a pair does
not depend on the others in its batch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from ebbing.adapters.embedders.e5_weights import DIM, HEADS, locate, read_weights
from ebbing.adapters.readers.change_model import CHANGE_FILE_NAME, SKELETON, change_weights
from ebbing.adapters.readers.reader_weights import eight_bit, read_tensors
from scripts.build_e5_skeleton import EPSILON, MICROSOFT, Graph

DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data"

_MIDDLE = 128
"""The unsigned number that stands for zero."""
_LARGEST = 127
_SMALLEST_SCALE = 1e-9
_GELU_ZERO = 32
"""The same after GELU, which gives no number below -0.17: more steps are left for what is above."""
_GELU_DEPTH = 0.17


class ReaderGraph(Graph):
    """A graph whose linear layers multiply whole numbers; every row is a token."""

    def start(self) -> None:
        """Add what all layers share: zero points and bounds of scales."""
        self.constant("thirds", [DIM, DIM, DIM])
        self.constant("rows", [-1, DIM])
        self.constant("last_of_rows", [1])
        self.number("unit", 1.0)
        self.node("Shape", ["mask"], ["mask_shape"])
        self.node("ReduceProd", ["mask_shape"], ["row_count"], keepdims=1)
        self.zero_point("middle", _MIDDLE, share=1 / _LARGEST, smallest=_SMALLEST_SCALE)
        self.zero_point("gelu", _GELU_ZERO, share=1 / (255 - _GELU_ZERO), smallest=_GELU_DEPTH / _GELU_ZERO)
        self.node("Shape", ["embedded"], ["shape"])
        self.node("Cast", ["mask"], ["mask32"], to=TensorProto.INT32)

    def number(self, name: str, value: float) -> None:
        self.initialisers.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))

    def zero_point(self, name: str, value: int, *, share: float, smallest: float) -> None:
        """Add a zero point, alone and for each row, with the share of the largest number that is a step."""
        self.initialisers.append(helper.make_tensor(f"{name}_zero", TensorProto.UINT8, [], [value]))
        self.initialisers.append(helper.make_tensor(f"{name}_zero1", TensorProto.UINT8, [1], [value]))
        self.node("Expand", [f"{name}_zero1", "row_count"], [f"{name}_zeros"])
        self.number(f"{name}_share", share)
        self.number(f"{name}_smallest", smallest)

    def quantise(self, source: str, *, zero: str) -> None:
        """Add the unsigned numbers of a source, `…_numbers`, and its scales, `…_row_scale`, shape (rows, 1)."""
        if zero == "middle":
            self.node("Abs", [source], [f"{source}_size"])
        size = f"{source}_size" if zero == "middle" else source
        self.node("ReduceMax", [size], [f"{source}_largest"], axes=[-1], keepdims=0)
        self.node("Mul", [f"{source}_largest", f"{zero}_share"], [f"{source}_step"])
        self.node("Max", [f"{source}_step", f"{zero}_smallest"], [f"{source}_steps"])
        self.node("QuantizeLinear", [source, f"{source}_steps", f"{zero}_zeros"], [f"{source}_numbers"], axis=0)
        self.node("Unsqueeze", [f"{source}_steps", "last_of_rows"], [f"{source}_row_scale"])

    def product(self, layer: str, source: str, *, name: str, zero: str = "middle") -> str:
        """Add a linear layer without its bias."""
        self.quantise(source, zero=zero)
        matrix = f"{layer}{name}"
        inputs = [f"{source}_numbers", f"{matrix}_weight", "unit", f"{matrix}_scales", f"{zero}_zero"]
        self.node("MatMulIntegerToFloat", inputs, [f"{matrix}_whole"], domain=MICROSOFT)
        return self.node("Mul", [f"{matrix}_whole", f"{source}_row_scale"], [f"{matrix}_product"])

    def sum_and_norm(self, layer: str, branch: str, trunk: str, *, norm: str, bias: str) -> str:
        """Add three nodes; `SkipLayerNormalization` is the same and takes four times as long."""
        name = f"{layer}{norm}"
        self.node("Add", [branch, f"{layer}{bias}_bias"], [f"{name}_branch"])
        self.node("Add", [f"{name}_branch", trunk], [f"{name}_sum"])
        inputs = [f"{name}_sum", f"{name}_scale", f"{name}_bias"]
        return self.node("LayerNormalization", inputs, [name], axis=-1, epsilon=EPSILON)

    def reader_layer(self, number: int, source: str) -> str:
        layer = f"layer{number}_"
        product = self.product(layer, source, name="qkv")
        self.node("Split", [product, "thirds"], [f"{layer}{part}_rows" for part in ("query", "key", "value")], axis=-1)
        parts = [
            self.node("Reshape", [f"{layer}{part}_rows", "shape"], [f"{layer}{part}"])
            for part in ("query", "key", "value")
        ]
        inputs = [*parts, f"{layer}qkv_bias", "mask32"]
        self.node("MultiHeadAttention", inputs, [f"{layer}attended"], domain=MICROSOFT, num_heads=HEADS)
        attended = self.node("Reshape", [f"{layer}attended", "rows"], [f"{layer}attended_rows"])
        out = self.product(layer, attended, name="out")
        middle = self.sum_and_norm(layer, out, source, norm="attention_norm", bias="out")
        up = self.product(layer, middle, name="up")
        active = self.node("BiasGelu", [up, f"{layer}up_bias"], [f"{layer}active"], domain=MICROSOFT)
        down = self.product(layer, active, name="down", zero="gelu")
        return self.sum_and_norm(layer, down, middle, norm="output_norm", bias="down")

    def pooled(self, trunk: str) -> None:
        """Add the first token beside the means of both texts."""
        self.constant("last", [2])
        self.constant("along_tokens", [1])
        self.constant("begin", [0])
        self.constant("end", [1])
        self.node("Slice", [trunk, "begin", "end", "along_tokens"], ["head_token"])
        self.node("Squeeze", ["head_token", "along_tokens"], ["mark"])
        for part in ("first", "second"):
            self.node("Unsqueeze", [part, "last"], [f"{part}3"])
            self.node("Mul", [trunk, f"{part}3"], [f"{part}_masked"])
            self.node("ReduceSum", [f"{part}_masked", "along_tokens"], [f"{part}_sum"], keepdims=0)
            self.node("ReduceSum", [part, "along_tokens"], [f"{part}_count"], keepdims=1)
            self.node("Div", [f"{part}_sum", f"{part}_count"], [f"{part}_mean"])
        self.node("Concat", ["mark", "first_mean", "second_mean"], ["pooled"], axis=-1)


def build(tensors: dict[str, np.ndarray]) -> onnx.ModelProto:
    """Return the graph for tensors of these shapes: word vectors and masks in, logits out."""
    graph = ReaderGraph()
    for name, array in tensors.items():
        graph.hole(name, array)
    graph.start()
    graph.node("Reshape", ["embedded", "rows"], ["embedded_rows"])
    norm = ["embedded_rows", "embedding_norm_scale", "embedding_norm_bias"]
    trunk = graph.node("LayerNormalization", norm, ["embedding_norm"], axis=-1, epsilon=EPSILON)
    for number in range(sum(name.endswith("_qkv_weight") for name in tensors)):
        trunk = graph.reader_layer(number, trunk)
    graph.pooled(graph.node("Reshape", [trunk, "shape"], ["tokens"]))
    graph.node("Gemm", ["pooled", "answer_weight", "answer_bias"], ["answer"])
    inputs = [_value("embedded", "batch", "length", DIM)]
    inputs += [_value(name, "batch", "length") for name in ("mask", "first", "second")]
    outputs = [_value("answer", "batch", len(tensors["answer_bias"]))]
    proto = helper.make_graph(graph.nodes, "reader", inputs, outputs, graph.initialisers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=8)


def reader_skeleton() -> bytes:
    """Return the graph of the reader that lies in the package."""
    return _skeleton(eight_bit(read_tensors()))


def change_skeleton() -> bytes:
    """Return the graph of the change model that lies in the package: all layers of the embedder."""
    return _skeleton(change_weights(read_weights(locate()).tensors, read_tensors(CHANGE_FILE_NAME)))


def _skeleton(tensors: dict[str, np.ndarray]) -> bytes:
    return build({name: tensors[name] for name in tensors if name not in {"version", "segments"}}).SerializeToString()


def write_skeletons() -> None:
    """Write the graphs beside the weights."""
    (DATA / "reader_skeleton.onnx").write_bytes(reader_skeleton())
    (DATA / SKELETON).write_bytes(change_skeleton())


def _value(name: str, *shape: str | int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


if __name__ == "__main__":
    write_skeletons()
