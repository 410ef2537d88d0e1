"""How good a reader is on examples that it has not learned from: `python -m training.judge --held w4,w5,q4`."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.readers.cross_encoder import CrossEncoderReader, Task
from training.batches import Encoded, encoded, tensors
from training.embed import nearness
from training.examples import TASKS, examples_of
from training.model import Reader
from training.parse import RELATIONS

_REPLACES = RELATIONS.index("replaces")
_BATCH = 48


def outputs(reader: Reader, examples: Sequence[Encoded]) -> list[np.ndarray]:
    """Return the outputs of each example's own head."""
    reader.eval()
    found: dict[int, np.ndarray] = {}
    order = sorted(range(len(examples)), key=lambda place: (examples[place].example.task, len(examples[place].ids)))
    for begin in range(0, len(order), _BATCH):
        places = order[begin : begin + _BATCH]
        by_task = defaultdict(list)
        for place in places:
            by_task[examples[place].example.task].append(place)
        for task, ours in by_task.items():
            batch = tensors([examples[place] for place in ours])
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                logits = reader(batch.words, batch.segments, batch.mask)[task].float().numpy()
            found.update(zip(ours, logits, strict=True))
    return [found[place] for place in range(len(examples))]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return probabilities along the last axis."""
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def area(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the ROC curve; 0.5 where one class is missing."""
    positive, negative = int(labels.sum()), int((1 - labels).sum())
    if not positive or not negative:
        return 0.5
    ranks = scores.argsort().argsort() + 1.0
    return float((ranks[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def calibration_error(labels: np.ndarray, scores: np.ndarray, bins: int = 10) -> float:
    """Return the expected calibration error over equal bins (Naeini et al. 2015)."""
    places = np.minimum((scores * bins).astype(int), bins - 1)
    gaps = [abs(labels[places == k].mean() - scores[places == k].mean()) * (places == k).sum() for k in set(places)]
    return float(sum(gaps) / len(labels))


def report(reader: Reader, examples: Sequence[Encoded]) -> str:
    """Return one line for each task and language."""
    return report_of(outputs(reader, examples), examples)


def report_of(logits: Sequence[np.ndarray], examples: Sequence[Encoded]) -> str:
    """Return one line for each task and language, of outputs that are there."""
    lines = []
    for language in ("en", "zh", "mixed"):
        for task, summary in (("claim", _claims), ("change", _changes), ("answer", _answers)):
            places = [
                place
                for place, each in enumerate(examples)
                if each.example.task == task and each.example.language == language
            ]
            if places:
                figures = summary([examples[place] for place in places], [logits[place] for place in places])
                lines.append(f"  {language} {task}: {figures}")
    return "\n".join(lines)


def _claims(examples: list[Encoded], logits: list[np.ndarray]) -> str:
    labels = np.array([each.example.label for each in examples])
    scores = softmax(np.stack(logits)[:, :2])[:, 1]
    parts = [f"{len(labels)} AUC {area(labels, scores):.3f} ECE {calibration_error(labels, scores):.3f}"]
    for cut in (0.5, 0.7, 0.85):
        chosen = scores >= cut
        right = labels[chosen].mean() if chosen.any() else 1.0
        parts.append(f"≥{cut}: P {right:.3f} R {labels[chosen].sum() / labels.sum():.3f}")
    return ", ".join(parts)


def _changes(examples: list[Encoded], logits: list[np.ndarray]) -> str:
    labels = np.array([each.example.label for each in examples])
    shares = softmax(np.stack(logits))
    ends = (labels == _REPLACES).astype(int)
    right = np.mean(shares.argmax(1) == labels)
    parts = [f"{len(labels)} right {right:.3f} AUC ends {area(ends, shares[:, _REPLACES]):.3f}"]
    apart = labels == RELATIONS.index("apart")
    for cut in (0.5, 0.8, 0.9):
        chosen = shares[:, _REPLACES] >= cut
        parts.append(f"≥{cut}: closed {chosen[ends == 1].mean():.3f} wrongly {chosen[apart].mean():.3f}")
    return ", ".join(parts)


def _answers(examples: list[Encoded], logits: list[np.ndarray]) -> str:
    labels = np.array([each.example.label for each in examples])
    scores = softmax(np.stack(logits))[:, 1]
    groups = defaultdict(list)
    for place, each in enumerate(examples):
        groups[each.example.group].append(place)
    answered = [places for places in groups.values() if labels[places].any()]
    empty = [places for places in groups.values() if not labels[places].any()]
    first = np.mean([labels[max(places, key=lambda p: scores[p])] for places in answered])
    error = calibration_error(labels, scores)
    parts = [f"{len(labels)} AUC {area(labels, scores):.3f} ECE {error:.3f} first {first:.3f}"]
    for cut in (0.3, 0.5, 0.7):
        silent = np.mean([scores[places].max() < cut for places in empty]) if empty else 1.0
        chosen = scores >= cut
        precision = labels[chosen].mean() if chosen.any() else 1.0
        parts.append(f"≥{cut}: P {precision:.3f} R {labels[chosen].sum() / labels.sum():.3f} silence {silent:.3f}")
    return ", ".join(parts)


def shipped_outputs(examples: Sequence[Encoded]) -> list[np.ndarray]:
    """Return the outputs of the package's own reader: four bits, on onnxruntime."""
    reader = CrossEncoderReader(E5Embedder.load())
    found = []
    for each in examples:
        example = each.example
        task = Task(TASKS.index(example.task))
        found.append(reader.read(task, [(example.before, example.first, example.second)])[0])
    return found


def main() -> None:
    """Print how good the shipped reader is on the authors that it has not learned from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held", default="w4,w5,q4", help="authors, with commas between")
    given = parser.parse_args()
    examples = encoded(examples_of(given.held.split(","), similarity=nearness))
    print(report_of(shipped_outputs(examples), examples))


if __name__ == "__main__":
    main()
