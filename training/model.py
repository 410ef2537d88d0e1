"""The reader in PyTorch: a cross-encoder of few layers with one head a task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training import carrier
from training.parse import FAULTS, KINDS, OWNERS, RELATIONS
from training.quantise import BLOCK

DIM = 384
HEADS = 12
SEGMENTS = 6
"""Two texts in each of three tasks."""
CLAIM_PARTS = (2, len(FAULTS), len(KINDS), len(OWNERS))
"""Not kept and kept; the fault of what is not; type and owner of what is."""
OUTPUTS = {"claim": sum(CLAIM_PARTS), "change": len(RELATIONS), "answer": 2}
"""`answer`: no and yes."""
EPSILON = 1e-12


@dataclass(frozen=True)
class Shape:
    """Which layers of the carrier the reader begins with, and how many of them stay as they are."""

    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    frozen: int = 0


class SteppedLinear(nn.Linear):
    """A linear layer whose weights stay on the steps that they are packed with."""

    def __init__(self, weight: Tensor, bias: Tensor, step: Tensor) -> None:
        """Begin with weights, shape (outputs, inputs), and the step of each block, shape (blocks, 1)."""
        super().__init__(weight.shape[1], weight.shape[0])
        self.weight.data, self.bias.data = weight, bias
        self.register_buffer("step", step)

    def on_steps(self) -> Tensor:
        """Return the weights on their steps; gradients pass as if nothing were rounded."""
        rounded = (self.weight.view(-1, BLOCK) / self.step).round().clamp(-8, 7) * self.step
        return self.weight + (rounded.view_as(self.weight) - self.weight).detach()

    def forward(self, source: Tensor) -> Tensor:
        """Return the product with the weights on their steps."""
        return functional.linear(source, self.on_steps(), self.bias)


class Layer(nn.Module):
    """One encoder layer, as in the carrier."""

    def __init__(self, number: int) -> None:
        super().__init__()
        tensors = {name: torch.tensor(value) for name, value in carrier.layer_weights(number).items()}
        for name, _ in carrier.MATRICES:
            weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
            linear = nn.Linear(weight.shape[1], weight.shape[0])
            linear.weight.data, linear.bias.data = weight, bias
            setattr(self, name, linear)
        for name in carrier.NORMS:
            norm = nn.LayerNorm(DIM, eps=EPSILON)
            norm.weight.data, norm.bias.data = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
            setattr(self, name, norm)

    def forward(self, hidden: Tensor, mask: Tensor, drop: float) -> Tensor:
        batch, length, _ = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, length, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        # Written out: for short texts the library's fused attention is slower on a CPU.
        scores = query @ key.transpose(-1, -2) / (DIM // HEADS) ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        attended = functional.softmax(scores, dim=-1) @ value
        attended = self.out(attended.transpose(1, 2).reshape(batch, length, DIM))
        middle = self.attention_norm(hidden + functional.dropout(attended, drop, self.training))
        outer = self.down(functional.gelu(self.up(middle)))
        return self.output_norm(middle + functional.dropout(outer, drop, self.training))


class Reader(nn.Module):
    """Word vectors and positions of the carrier, some of its layers, and a head for each task."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        tensors = carrier.weights().tensors
        self.register_buffer("positions", torch.tensor(carrier.weights().positions[:256]), persistent=False)
        self.norm = nn.LayerNorm(DIM, eps=EPSILON)
        self.norm.weight.data = torch.tensor(np.asarray(tensors["embedding_norm_scale"]))
        self.norm.bias.data = torch.tensor(np.asarray(tensors["embedding_norm_bias"]))
        self.segments = nn.Embedding(SEGMENTS, DIM)
        nn.init.normal_(self.segments.weight, std=0.02)
        self.layers = nn.ModuleList([Layer(number) for number in shape.layers])
        for layer in self.layers[: shape.frozen]:
            layer.requires_grad_(False)
        self.heads = nn.ModuleDict({task: nn.Linear(3 * DIM, size) for task, size in OUTPUTS.items()})

    def forward(self, words: Tensor, segments: Tensor, mask: Tensor, *, drop: float = 0.0) -> dict[str, Tensor]:
        """Return the outputs of every head, shape (batch, outputs) each.

        Args:
            words: word vectors, shape (batch, length, 384).
            segments: 2 · task + (0 for the first text, 1 for the second), shape (batch, length).
            mask: True for a token, False for padding, shape (batch, length).
            drop: share of numbers that dropout silences.
        """
        hidden = self.norm(words + self.positions[: words.shape[1]] + self.segments(segments))
        hidden = functional.dropout(hidden, drop, self.training)
        for layer in self.layers:
            hidden = layer(hidden, mask, drop)
        second = (segments % 2 == 1) & mask
        first = (segments % 2 == 0) & mask
        pooled = torch.cat((hidden[:, 0], _mean(hidden, first), _mean(hidden, second)), dim=-1)
        return {task: head(pooled) for task, head in self.heads.items()}


def _mean(hidden: Tensor, where: Tensor) -> Tensor:
    share = where.unsqueeze(-1).to(hidden.dtype)
    return (hidden * share).sum(1) / share.sum(1).clamp(min=1.0)
