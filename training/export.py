"""Writes a trained reader as package data: `python -m training.export IN`.

`reader.npz` holds four-bit matrices, norms, segments and the head; `reader_skeleton.onnx` the graph without weights.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import torch

from training import carrier
from training.graph import DATA, write_skeletons
from training.model import TASKS, Reader, SteppedLinear
from training.quantise import pack
from training.train import READER

TASK = "answer"


def load(folder: Path) -> Reader:
    """Return the reader that `training.train` left in a folder."""
    reader = Reader(READER.layers, is_packed=True)
    reader.load_state_dict(torch.load(folder / "reader.pt", map_location="cpu", weights_only=True))
    return reader.eval()


def tensors_of(reader: Reader) -> dict[str, np.ndarray]:
    """Return the package's tensors by name: four-bit matrices, and everything else with 16 bits."""
    first = 2 * TASKS.index(TASK)
    found = {
        "embedding_norm_scale": _half(reader.norm.weight),
        "embedding_norm_bias": _half(reader.norm.bias),
        "segments": _half(reader.segments.weight[first : first + 2]),
        f"{TASK}_weight": _half(reader.heads[TASK].weight.T),
        f"{TASK}_bias": _half(reader.heads[TASK].bias),
    }
    for number, layer in enumerate(reader.layers):
        name = f"layer{number}_"
        for matrix, _ in carrier.MATRICES:
            linear: SteppedLinear = getattr(layer, matrix)
            scales = _half(linear.steps()).ravel()
            found[f"{name}{matrix}_weight"] = pack(linear.weight.detach().float().numpy(), scales.astype(np.float32))
            found[f"{name}{matrix}_scales"] = scales
            found[f"{name}{matrix}_bias"] = _half(linear.bias)
        for norm in carrier.NORMS:
            found[f"{name}{norm}_scale"] = _half(getattr(layer, norm).weight)
            found[f"{name}{norm}_bias"] = _half(getattr(layer, norm).bias)
    return found


def write(tensors: dict[str, np.ndarray]) -> None:
    """Write the package data, named by what they hold."""
    version = hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors))).hexdigest()[:12]
    np.savez_compressed(DATA / "reader.npz", version=np.array(version), **tensors)
    write_skeletons()
    print(f"reader {version}: {(DATA / 'reader.npz').stat().st_size:,} bytes")


def _half(tensor: torch.Tensor) -> np.ndarray:
    """Numbers that lose nothing that counts by 16 bits."""
    return np.ascontiguousarray(tensor.detach().float().numpy().astype(np.float16))


def main() -> None:
    """Write the package data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write(tensors_of(load(parser.parse_args().folder)))


if __name__ == "__main__":
    main()
