"""The reader in PyTorch: a cross-encoder of some layers of the carrier, with two heads."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ebbing.ports.models.salience import KINDS
from training import carrier
from training.quantise import BLOCK

DIM = 384
HEADS = 12
MAX_TOKENS = 200
OUTPUTS = {"answer": 2, "message": 2 + len(KINDS)}
"""`answer`: no and yes. `message`: not worth remembering and worth it, and its kind. Only `answer` is exported."""
TASKS = tuple(OUTPUTS)
EPSILON = 1e-12
_SMALLEST_STEP = 1e-6
_FULL_PRECISION = frozenset({"DEFAULT", "AVX2"})
"""Processors on which numbers of 16 bits are so slow that a step takes 25 times as long."""


def fast_precision(device: str) -> torch.autocast:
    """Return the context in which layers run in 16 bits where the device does that fast."""
    is_slow = device == "cpu" and torch.backends.cpu.get_cpu_capability() in _FULL_PRECISION
    return torch.autocast(device, torch.bfloat16, enabled=not is_slow)


class SteppedLinear(nn.Linear):
    """A linear layer whose weights stay on the steps that they are packed with; the steps are learned, too.

    What is smaller than half a step would be lost by packing. Gradients pass the rounding as if it were not there
    (Bengio et al. 2013), and reach the steps as in LSQ (Esser et al. 2020).
    """

    def __init__(self, weight: Tensor, bias: Tensor, step: Tensor, *, is_packed: bool) -> None:
        """Begin with weights, shape (outputs, inputs), and the step of each block, shape (blocks, 1)."""
        super().__init__(weight.shape[1], weight.shape[0])
        self.weight.data, self.bias.data = weight, bias
        self.step = nn.Parameter(step.abs().clamp(min=_SMALLEST_STEP))
        self.register_buffer("sign", torch.where(step < 0, -1.0, 1.0))
        self.is_packed = is_packed

    def steps(self) -> Tensor:
        """Return the signed step of each block, shape (blocks, 1)."""
        return self.step * self.sign

    def on_steps(self) -> Tensor:
        """Return the weights on their steps."""
        steps = self.steps()
        numbers = (self.weight.view(-1, BLOCK) / steps).clamp(-8, 7)
        rounded = numbers + (numbers.round() - numbers).detach()
        return (rounded * steps).view_as(self.weight)

    def forward(self, source: Tensor) -> Tensor:
        """Return the product, with the weights on their steps if they are to be packed."""
        return functional.linear(source, self.on_steps() if self.is_packed else self.weight, self.bias)


class Layer(nn.Module):
    """One encoder layer, as in the carrier."""

    def __init__(self, number: int, *, is_packed: bool) -> None:
        super().__init__()
        tensors = {name: torch.tensor(value) for name, value in carrier.layer_weights(number).items()}
        for name, _ in carrier.MATRICES:
            parts = (tensors[f"{name}.{part}"] for part in ("weight", "bias", "steps"))
            setattr(self, name, SteppedLinear(*parts, is_packed=is_packed))
        for name in carrier.NORMS:
            norm = nn.LayerNorm(DIM, eps=EPSILON)
            norm.weight.data, norm.bias.data = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
            setattr(self, name, norm)

    def forward(self, hidden: Tensor, mask: Tensor, drop: float) -> Tensor:
        batch, length, _ = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, length, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        attended = self.out(attended.transpose(1, 2).reshape(batch, length, DIM))
        middle = self.attention_norm(hidden + functional.dropout(attended, drop, self.training))
        outer = self.down(functional.gelu(self.up(middle)))
        return self.output_norm(middle + functional.dropout(outer, drop, self.training))


class Reader(nn.Module):
    """Positions of the carrier, its first layers, and a head for each task."""

    def __init__(self, layers: int, *, is_packed: bool) -> None:
        """Begin with the carrier's weights; a packed reader keeps them on four-bit steps while it learns."""
        super().__init__()
        tensors = carrier.weights().tensors
        positions = torch.tensor(np.asarray(carrier.weights().positions[:MAX_TOKENS], np.float32))
        self.register_buffer("positions", positions, persistent=False)
        self.norm = nn.LayerNorm(DIM, eps=EPSILON)
        self.norm.weight.data = torch.tensor(np.asarray(tensors["embedding_norm_scale"]))
        self.norm.bias.data = torch.tensor(np.asarray(tensors["embedding_norm_bias"]))
        self.segments = nn.Embedding(2 * len(TASKS), DIM)
        nn.init.normal_(self.segments.weight, std=0.02)
        self.layers = nn.ModuleList([Layer(number, is_packed=is_packed) for number in range(layers)])
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
        pooled = torch.cat((hidden[:, 0], _mean(hidden, first), _mean(hidden, second)), dim=-1).float()
        return {task: head(pooled) for task, head in self.heads.items()}


def _mean(hidden: Tensor, where: Tensor) -> Tensor:
    share = where.unsqueeze(-1).to(hidden.dtype)
    return (hidden * share).sum(1) / share.sum(1).clamp(min=1.0)
