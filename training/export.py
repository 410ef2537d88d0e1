"""Writes a trained reader as package data: `python -m training.export IN`.

`reader.npz` holds four-bit matrices, norms, segments and heads; `reader_skeleton.onnx` the graph without weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import torch

from training import carrier
from training.graph import DATA, write_skeleton
from training.model import Reader, Shape, SteppedLinear
from training.quantise import pack, quantise


def load(folder: Path) -> Reader:
    """Return the reader that `training.train` or `training.answers` left in a folder."""
    shape = json.loads((folder / "shape.json").read_text())
    reader = Reader(Shape(tuple(shape["layers"]), shape["frozen"]))
    state = torch.load(folder / "reader.pt", weights_only=True)
    for number, layer in enumerate(reader.layers):
        for matrix, _ in carrier.MATRICES:
            name = f"layers.{number}.{matrix}"
            if f"{name}.step" in state:
                weights = (state[f"{name}.{part}"] for part in ("weight", "bias", "step"))
                setattr(layer, matrix, SteppedLinear(*weights))
    reader.load_state_dict(state)
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
            found[f"{name}{matrix}_weight"], found[f"{name}{matrix}_scales"] = _packed(linear)
            found[f"{name}{matrix}_bias"] = _array(linear.bias)
        for norm in carrier.NORMS:
            found[f"{name}{norm}_scale"] = _array(getattr(layer, norm).weight)
            found[f"{name}{norm}_bias"] = _array(getattr(layer, norm).bias)
    for task, head in reader.heads.items():
        found[f"{task}_weight"] = np.ascontiguousarray(_array(head.weight).T)
        found[f"{task}_bias"] = _array(head.bias)
    return found


def _packed(linear: torch.nn.Linear) -> tuple[np.ndarray, np.ndarray]:
    """Return four-bit numbers and scales of a layer: its own steps where it has such."""
    if isinstance(linear, SteppedLinear):
        scales = _array(linear.step).ravel()
        return pack(_array(linear.weight), scales), scales
    return quantise(_array(linear.weight))


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
    segments = _array(reader.segments.weight)
    packed = {name: _compact(array) for name, array in (tensors | {"segments": segments}).items()}
    version = hashlib.sha256(b"".join(packed[name].tobytes() for name in sorted(packed))).hexdigest()[:12]
    np.savez(DATA / "reader.npz", version=np.array(version), **packed)
    write_skeleton()
    size = (DATA / "reader.npz").stat().st_size
    print(f"reader {version}: {size:,} bytes")


if __name__ == "__main__":
    main()
