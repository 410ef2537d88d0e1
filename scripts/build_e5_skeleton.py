"""Builds `src/ebbing/adapters/data/e5_skeleton.onnx`: the graph of multilingual-e5-small without its weights.

    python scripts/build_e5_skeleton.py

Inputs: `embedded` (batch, tokens, 384) = word plus position embeddings; `mask` (batch, tokens) = 1 for a token, 0 for
padding. Outputs: `mean` (batch, 384), the mean token vector; `tokens` (batch, tokens, 384), the last hidden states.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from ebbing.adapters.embedders.e5_weights import DIM, FEED_FORWARD, HEADS, LAYERS, E5Weights, locate, read_weights

TARGET = Path(__file__).parents[1] / "src/ebbing/adapters/data/e5_skeleton.onnx"
MICROSOFT = "com.microsoft"
EPSILON = 1e-12
INT8_ACTIVATIONS = 4
"""MatMulNBits accuracy level: activations are quantised per row and block, so a row never depends on its batch."""


class Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: list[onnx.TensorProto] = []

    def node(self, kind: str, inputs: list[str], outputs: list[str], *, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def constant(self, name: str, values: list[int]) -> str:
        self.initialisers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def hole(self, name: str, array: np.ndarray) -> None:
        """An initialiser whose numbers are given when the model is loaded."""
        tensor = onnx.TensorProto(name=name, dims=array.shape, data_location=TensorProto.EXTERNAL)
        tensor.data_type = helper.np_dtype_to_tensor_dtype(array.dtype)
        for key, value in (("location", "weights"), ("offset", "0"), ("length", str(array.nbytes))):
            tensor.external_data.add(key=key, value=value)
        self.initialisers.append(tensor)

    def linear(self, layer: str, source: str, *, name: str, inputs: int, outputs: int) -> str:
        weights = [source, f"{layer}{name}_weight", f"{layer}{name}_scales"]
        return self.node(
            "MatMulNBits", weights, [f"{layer}{name}_product"], domain=MICROSOFT,
            K=inputs, N=outputs, bits=4, block_size=32, accuracy_level=INT8_ACTIVATIONS,
        )  # fmt: skip

    def add_and_norm(self, layer: str, branch: str, trunk: str, *, norm: str, bias: str) -> str:
        inputs = [branch, trunk, f"{layer}{norm}_scale", f"{layer}{norm}_bias", f"{layer}{bias}_bias"]
        return self.node("SkipLayerNormalization", inputs, [f"{layer}{norm}"], domain=MICROSOFT, epsilon=EPSILON)

    def encoder_layer(self, number: int, source: str) -> str:
        layer = f"layer{number}_"
        product = self.linear(layer, source, name="qkv", inputs=DIM, outputs=3 * DIM)
        self.node("Add", [product, f"{layer}qkv_bias"], [f"{layer}qkv"])
        parts = [f"{layer}query", f"{layer}key", f"{layer}value"]
        self.node("Split", [f"{layer}qkv", "thirds"], parts, axis=-1)
        attended = self.node(
            "MultiHeadAttention", [*parts, "", "mask32"], [f"{layer}attended"], domain=MICROSOFT, num_heads=HEADS
        )
        out = self.linear(layer, attended, name="out", inputs=DIM, outputs=DIM)
        middle = self.add_and_norm(layer, out, source, norm="attention_norm", bias="out")
        up = self.linear(layer, middle, name="up", inputs=DIM, outputs=FEED_FORWARD)
        active = self.node("BiasGelu", [up, f"{layer}up_bias"], [f"{layer}active"], domain=MICROSOFT)
        down = self.linear(layer, active, name="down", inputs=FEED_FORWARD, outputs=DIM)
        return self.add_and_norm(layer, down, middle, norm="output_norm", bias="down")


def build(weights: E5Weights) -> onnx.ModelProto:
    graph = Graph()
    for name, array in weights.tensors.items():
        graph.hole(name, array)
    graph.constant("thirds", [DIM, DIM, DIM])
    graph.node("Cast", ["mask"], ["mask32"], to=TensorProto.INT32)
    norm = ["embedded", "embedding_norm_scale", "embedding_norm_bias"]
    trunk = graph.node("LayerNormalization", norm, ["embedding_norm"], axis=-1, epsilon=EPSILON)
    for number in range(LAYERS):
        trunk = graph.encoder_layer(number, trunk)
    graph.node("Identity", [trunk], ["tokens"])
    graph.node("Unsqueeze", ["mask", graph.constant("last", [2])], ["mask3"])
    graph.node("Mul", [trunk, "mask3"], ["masked"])
    graph.node("ReduceSum", ["masked", graph.constant("along_tokens", [1])], ["sum"], keepdims=0)
    graph.node("ReduceSum", ["mask", "along_tokens"], ["count"], keepdims=1)
    graph.node("Div", ["sum", "count"], ["mean"])

    def value(name: str, *shape: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    proto = helper.make_graph(
        graph.nodes,
        "multilingual-e5-small",
        [value("embedded", "batch", "length", DIM), value("mask", "batch", "length")],
        [value("mean", "batch", DIM), value("tokens", "batch", "length", DIM)],
        graph.initialisers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=8)


def main() -> None:
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(build(read_weights(locate())).SerializeToString())
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
