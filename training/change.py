"""Train the change model: `python -m training.change`. Half an hour on two cores; `--judge` prints figures alone.

Does a later message show that what an earlier one told no longer stands? A logistic regression on their vectors says
how likely that is of two messages on such matters. The layers of the package's reader, with low-rank steps added to
weights (LoRA, Hu et al. 2021, arXiv:2106.09685), read both texts. Each learns by itself, and their log-odds are added:
layers that learned what the regression left open were worse together with it.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor, nn
from torch.nn import functional

from ebbing.adapters.readers.change_model import CHANGE_FILE_NAME, pair_features
from ebbing.adapters.readers.cross_encoder import reader_input
from training import carrier
from training.embed import passages
from training.export import package_reader
from training.messages import spoken
from training.model import DIM, Reader, SteppedLinear
from training.pairs import Pairs
from training.parse import DATA, KINDS, Change, LabelledTalk, read_changes, read_messages, read_statements, read_talks
from training.quantise import by_rows

PACKAGE_DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data" / CHANGE_FILE_NAME
HELD = "m7,m8,m13,m14,m15,m16,m19,m20"
NEAREST = 8
"""Memories nearest to a message that count as pairs, beside those that are labelled."""
PRIOR_PENALTY = 0.02
RANK = 8
RATE = 1.5e-3
EPOCHS = 3
BATCH = 32
SORTED_TOGETHER = 960
WARM_UP = 50
APART = 6_000
"""Pairs without a label in an epoch, the nearer the likelier."""
NEARER = 6.0
DROP = 0.1
NAMELESS = 0.3
"""Share of the pairs that are shown without the names of the speakers …"""
ALONE = 0.35
"""… and of those without what was said before the later one."""
SMOOTHING = 0.02
WEIGHTS = {"part": 0.5, "statement": 0.7}
RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6)


@dataclass(frozen=True)
class Pair:
    """An earlier message that is worth remembering, and a later one."""

    author: str
    language: str
    earlier: str
    later: str
    before: str
    """What was said before the later one."""
    kind: str
    """Of the earlier one."""
    change: Change | None
    """None where nobody labelled the two."""
    features: np.ndarray
    """Of the regression, shape (2, features): with the names of the speakers, and without."""
    nearness: float

    @property
    def ends(self) -> bool:
        """Whether the later one ends the earlier one, at least in part."""
        return self.change is not None and self.change.how is not None

    @property
    def is_open(self) -> bool:
        """Whether nobody can tell from the two alone."""
        return self.ends and self.change is not None and not self.change.is_clear


def pairs_of_talks() -> list[Pair]:
    """Return the labelled pairs, and the nearest memories of each message of a person, in a fixed order."""
    pairs: list[Pair] = []
    for path in sorted((DATA / "changes").glob("*.txt")):
        own = DATA / "changes/talks" / path.name
        talks = {talk.id: talk for talk in read_messages(own if own.exists() else DATA / "messages" / path.name)}
        changes = read_changes(path, talks)
        for talk in talks.values():
            pairs += _of_talk(talk, changes.get(talk.id, {}), author=path.stem)
    return pairs


def _of_talk(talk: LabelledTalk, changes: dict[tuple[int, int], Change], *, author: str) -> Iterator[Pair]:
    texts = [turn.text if turn.speaker == "assistant" else spoken(turn) for turn in talk.turns]
    vectors = passages(texts)
    nameless = passages([turn.text for turn in talk.turns])
    for later, turn in enumerate(talk.turns):
        earlier = [place for place in range(later) if talk.labels[place] in KINDS]
        if turn.speaker == "assistant" or not earlier:
            continue
        nearness = vectors[earlier] @ vectors[later]
        nearest = {earlier[row] for row in np.argsort(-nearness)[:NEAREST]}
        for row, place in enumerate(earlier):
            change = changes.get((place, later))
            if change is not None or place in nearest:
                features = [pair_features(each[place], each[later]) for each in (vectors, nameless)]
                before = texts[later - 1] if later else ""
                yield Pair(
                    author,
                    talk.language,
                    texts[place],
                    texts[later],
                    before,
                    talk.labels[place],
                    change,
                    np.stack(features),
                    float(nearness[row]),
                )


def statements() -> list[tuple[str, str, bool]]:
    """Return a memory, a later message, and whether it ends the memory, of what was written as such pairs."""
    known_and_later: list[tuple[str, str, bool]] = []
    for path in sorted((DATA / "statements").glob("*.txt")):
        for statement in read_statements(path):
            known_and_later += [(known, statement.text, relation == "replaces") for relation, known in statement.known]
    for path in sorted((DATA / "talks").glob("*.txt")):
        for talk in read_talks(path):
            for old, new, relation in talk.pairs:
                later = talk.turns[talk.good[new].turns[-1]].text
                known_and_later.append((talk.good[old].text, later, relation == "replaces"))
    return known_and_later


def learned_prior(pairs: Sequence[Pair]) -> LogisticRegression:
    """Return the regression on the vectors of pairs; those that nobody can tell are left out."""
    seen = [pair for pair in pairs if not pair.is_open]
    features = np.concatenate([pair.features for pair in seen])
    ends = np.repeat([pair.ends for pair in seen], 2)
    return LogisticRegression(C=PRIOR_PENALTY, max_iter=300).fit(features, ends)


def odds(prior: LogisticRegression, pairs: Sequence[Pair], *, is_named: bool) -> np.ndarray:
    """Return the log-odds of the regression, shape (pairs,), with the names of the speakers or without."""
    row = 0 if is_named else 1
    return prior.decision_function(np.stack([pair.features[row] for pair in pairs]))


class LowRank(nn.Module):
    """A linear layer of the reader with a step of low rank beside it; only the step learns."""

    def __init__(self, inner: SteppedLinear) -> None:
        """Begin with a step of zero."""
        super().__init__()
        self.inner = inner
        self.down = nn.Parameter(torch.randn(RANK, inner.in_features) / inner.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(inner.out_features, RANK))

    def forward(self, source: Tensor) -> Tensor:
        return self.inner(source) + functional.linear(functional.linear(source, self.down), self.up)


def reader_that_learns() -> Reader:
    """Return the package's reader with steps of low rank, segments and a head, which alone learn."""
    reader = package_reader()
    for parameter in reader.parameters():
        parameter.requires_grad_(requires_grad=False)
    for layer in reader.layers:
        for name, _ in carrier.MATRICES:
            setattr(layer, name, LowRank(getattr(layer, name)))
    head = nn.Linear(3 * DIM, 2)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    reader.heads["answer"] = head
    reader.segments.weight.requires_grad_(requires_grad=True)
    return reader


@dataclass(frozen=True)
class Example:
    """A pair of texts as tokens, and what is right."""

    place: int
    ends: bool
    weight: float = 1.0
    nearness: float = 1.0


class Lesson:
    """What the layers learn from."""

    def __init__(self, pairs: Sequence[Pair], *, chance: random.Random) -> None:
        """Take the pairs of authors to learn from."""
        self.tokens = Pairs("cpu")
        self.labelled: list[Example] = []
        self.apart: list[Example] = []
        for pair in pairs:
            if pair.is_open:
                continue
            before = "" if chance.random() < ALONE else pair.before
            texts = [before, pair.later, pair.earlier]
            if chance.random() < NAMELESS:
                texts = _nameless(texts)
            how = pair.change.how if pair.change else None
            weight = WEIGHTS.get(how or "", 1.0)
            example = Example(self._tokens_of(*texts), pair.ends, weight=weight, nearness=pair.nearness)
            if pair.change is None:
                self.apart.append(example)
            else:
                self.labelled += [example] * (2 if how not in {None, "part"} else 1)
        for known, later, ends in statements():
            self.labelled.append(Example(self._tokens_of("", later, known), ends, weight=WEIGHTS["statement"]))
        self.tokens.seal()
        shares = np.exp(NEARER * np.array([example.nearness for example in self.apart]))
        self.shares = shares / shares.sum()

    def epoch(self, chance: np.random.Generator) -> list[list[Example]]:
        """Return batches of examples of similar length."""
        count = min(APART, len(self.apart))
        chosen = chance.choice(len(self.apart), count, replace=False, p=self.shares)
        every = [*self.labelled, *(self.apart[place] for place in chosen)]
        chance.shuffle(every)
        batches: list[list[Example]] = []
        for begin in range(0, len(every), SORTED_TOGETHER):
            some = sorted(
                every[begin : begin + SORTED_TOGETHER], key=lambda example: self.tokens.lengths[example.place]
            )
            batches += [some[first : first + BATCH] for first in range(0, len(some), BATCH)]
        chance.shuffle(batches)
        return batches

    def _tokens_of(self, before: str, first: str, second: str) -> int:
        return self.tokens.add(*reader_input(carrier.encode, (before, first, second)))


def learn(lesson: Lesson, *, seed: int = 1) -> Reader:
    """Return a reader that has learned to compare two messages."""
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    reader = reader_that_learns()
    learning = [parameter for parameter in reader.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(learning, lr=RATE, weight_decay=0.01)
    total = EPOCHS * len(lesson.epoch(np.random.default_rng(seed)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * max(0.02, 1.0 - step / total)
    )
    began = time.monotonic()
    for epoch in range(EPOCHS):
        reader.train()
        losses = []
        for batch in lesson.epoch(chance):
            places = np.array([example.place for example in batch])
            right = torch.tensor([float(example.ends) for example in batch])
            weights = torch.tensor([example.weight for example in batch])
            with torch.autocast("cpu", torch.bfloat16):
                outputs = reader(*lesson.tokens.batch(places, "answer"), drop=DROP)["answer"].float()
            difference = outputs[:, 1] - outputs[:, 0]
            target = right * (1 - 2 * SMOOTHING) + SMOOTHING
            loss = (functional.binary_cross_entropy_with_logits(difference, target, reduction="none") * weights).mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.monotonic() - began:.0f} s", flush=True)
    return reader


def _nameless(texts: Sequence[str]) -> list[str]:
    return [text.partition(": ")[2] or text for text in texts]


def read_pairs(reader: Reader, pairs: Sequence[Pair], *, is_named: bool) -> np.ndarray:
    """Return the log-odds of the layers, shape (pairs,): the mean of those with what was said before and without it.

    What holds either way is less often a mistake.
    """
    in_talk = [(pair.before, pair.later, pair.earlier) for pair in pairs]
    alone = [("", pair.later, pair.earlier) for pair in pairs]
    return (_read(reader, in_talk, is_named=is_named) + _read(reader, alone, is_named=is_named)) / 2


def _read(reader: Reader, pairs: Sequence[tuple[str, str, str]], *, is_named: bool) -> np.ndarray:
    tokens = Pairs("cpu")
    for pair in pairs:
        before, later, earlier = pair if is_named else _nameless(pair)
        tokens.add(*reader_input(carrier.encode, (before, later, earlier)))
    tokens.seal()
    reader.eval()
    result = np.zeros(len(pairs))
    for rows in tokens.by_length(np.arange(len(pairs)), 128):
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            outputs = reader(*tokens.batch(rows, "answer"))["answer"].float()
        result[rows] = (outputs[:, 1] - outputs[:, 0]).numpy()
    return result


def report(name: str, pairs: Sequence[Pair], scores: np.ndarray) -> None:
    """Print how exact the scores are at some recalls, by language, with the score that gives each."""
    for language in ("en", "zh", "all"):
        rows = [row for row, pair in enumerate(pairs) if not pair.is_open and language in {"all", pair.language}]
        ends = np.array([pairs[row].ends for row in rows])
        whole = np.array([bool(pairs[row].ends and pairs[row].change.how != "part") for row in rows])
        own = scores[rows]
        order = np.argsort(-own)
        whole_count, end_count = np.cumsum(whole[order]), np.cumsum(ends[order])
        parts = []
        for recall in RECALLS:
            count = int(np.argmax(whole_count >= recall * whole_count[-1]))
            parts.append(f"{recall:.1f}: {end_count[count] / (count + 1):.2f} from {own[order[count]]:.1f}")
        print(
            f"{name} {language}: {len(rows)} pairs, {ends.sum()} end,"
            f" average precision {average_precision_score(ends, own):.3f}, area {roc_auc_score(ends, own):.3f}; "
            + ", ".join(parts),
            flush=True,
        )


def calibrated(pairs: Sequence[Pair], scores: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept that turn scores into log-odds (Platt 1999)."""
    rows = [row for row, pair in enumerate(pairs) if not pair.is_open]
    fit = LogisticRegression(C=1e6).fit(scores[rows][:, None], [pairs[row].ends for row in rows])
    return float(fit.coef_[0, 0]), float(fit.intercept_[0])


def export(prior: LogisticRegression, reader: Reader, *, scale: tuple[float, float]) -> None:
    """Write the model as package data."""
    tensors = {
        "prior": np.append(prior.coef_[0], prior.intercept_).astype(np.float32),
        "scale": np.array(scale, np.float32),
        "segments": _half(reader.segments.weight[:2]),
        "answer_weight": _half(reader.heads["answer"].weight.T),
        "answer_bias": _half(reader.heads["answer"].bias),
    }
    for number, layer in enumerate(reader.layers):
        for name, _ in carrier.MATRICES:
            step: LowRank = getattr(layer, name)
            for part, matrix in (("down", step.down), ("up", step.up)):
                numbers, scales = by_rows(matrix.detach().float().numpy())
                tensors[f"layer{number}_{name}_{part}"] = numbers
                tensors[f"layer{number}_{name}_{part}_scales"] = scales
    version = hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors))).hexdigest()[:12]
    np.savez(PACKAGE_DATA, version=np.array(version), **tensors)
    print(f"change model {version}: {PACKAGE_DATA.stat().st_size:,} bytes")


def _half(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().float().numpy().astype(np.float16))


def main() -> None:
    """Learn from some authors and judge by the others; write the package data unless only a judgement is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--held", default=HELD, help="authors that judge, with commas between")
    options = parser.parse_args()
    held = set(options.held.split(","))
    every = pairs_of_talks()
    learned, judged = [[pair for pair in every if (pair.author in held) is is_held] for is_held in (False, True)]
    prior = learned_prior(learned)
    reader = learn(Lesson(learned, chance=random.Random(1)))
    scores: list[np.ndarray] = []
    for is_named in (True, False):
        name = "with names" if is_named else "without names"
        by_vectors = odds(prior, judged, is_named=is_named)
        report(f"regression, {name}", judged, by_vectors)
        scores.append(by_vectors + read_pairs(reader, judged, is_named=is_named))
        report(f"with layers, {name}", judged, scores[-1])
    scale = calibrated([*judged, *judged], np.concatenate(scores))
    print(f"slope and intercept {scale[0]:.2f}, {scale[1]:.2f}")
    if not options.judge:
        export(prior, reader, scale=scale)


if __name__ == "__main__":
    main()
