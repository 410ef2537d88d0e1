"""Train the map of questions: `python -m training.question_map`. Ten minutes on two cores, nearly all of it embedding.

It learns to bring the vector of a question nearer to the vectors of what answers it than to all else that its author's
people say. What is stored keeps its vectors. `--judge` learns from some authors, and judges with the others.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ebbing.adapters.embedders.e5 import MAP_FILE_NAME
from training.embed import passages, questions
from training.messages import spoken
from training.parse import DATA, Turn, read_leaning, read_messages, read_people, read_talks

PACKAGE_DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data" / MAP_FILE_NAME
HELD = "w4,w5,q4,m7,m8,m12,m13,m14,m15,m16,m19,m20"
TEMPERATURE = 0.05
"""Of the softmax over all texts of an author's file."""
DROPPED = 0.5
"""Share of a question's numbers that are left out in each step."""
BATCH = 64
EPOCHS = 8
RATE = 1e-3
DECAY = 0.1
SEEDS = 4
"""The map is the mean of so many, each learned in another order."""
RANKS = (1, 3, 10, 20)
_SPEAKER = re.compile(r"^[^:：]{1,20}[:：]\s*")


@dataclass
class Pool:
    """The texts of one file, and its questions."""

    author: str
    texts: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    right: list[list[int]] = field(default_factory=list)
    """Places of the texts that answer each question."""
    stored: Tensor = field(default_factory=lambda: torch.empty(0))
    """Vectors of the texts, shape (texts, 384)."""
    posed: Tensor = field(default_factory=lambda: torch.empty(0))
    """Vectors of the questions as the embedder gives them without the map, shape (questions, 384)."""

    def ask(self, question: str, right: list[int]) -> None:
        """Add a question, if some text answers it."""
        if right:
            self.questions.append(question)
            self.right.append(right)

    def is_right(self, places: Tensor) -> Tensor:
        """Return which texts answer some of the questions, shape (places, texts)."""
        mask = torch.zeros(len(places), len(self.texts), dtype=torch.bool)
        for row, place in enumerate(places.tolist()):
            mask[row, self.right[place]] = True
        return mask


def pools() -> list[Pool]:
    """Return the texts and questions of all files, with their vectors, in a fixed order."""
    found = [pool for pool in (*_of_talks(), *_of_people(), *_of_labelled_talks()) if pool.questions]
    for pool in found:
        pool.stored = torch.tensor(passages(pool.texts))
        pool.posed = torch.tensor(questions(pool.questions))
    return found


def _of_talks() -> Iterator[Pool]:
    for path in sorted((DATA / "talks").glob("*.txt")):
        pool = Pool(path.stem)
        for talk in read_talks(path):
            first = len(pool.texts)
            pool.texts += map(_stored, talk.turns)
            places = {letter: len(pool.texts) + number for number, letter in enumerate(talk.good)}
            pool.texts += [memory.text for memory in talk.good.values()]
            for letters, question in talk.questions:
                turns = [first + talk.good[letter].turns[-1] for letter in letters]
                pool.ask(question, [*turns, *(places[letter] for letter in letters)])
        yield pool


def _of_people() -> Iterator[Pool]:
    for path in sorted((DATA / "people").glob("*.txt")):
        pool = Pool(path.stem)
        for person in read_people(path):
            places = {letter: len(pool.texts) + number for number, letter in enumerate(person.memories)}
            pool.texts += person.memories.values()
            for letters, before, question in person.questions:
                right = [places[letter] for letter in letters]
                if before:
                    text = _SPEAKER.sub("", before)
                    pool.ask(_behind(text, question), right)
                else:
                    pool.ask(question, right)
        yield pool


def _of_labelled_talks() -> Iterator[Pool]:
    for path in sorted((DATA / "messages").glob("*.txt")):
        pool = Pool(path.stem)
        talks = {talk.id: talk for talk in read_messages(path)}
        leaning = read_leaning(DATA / "leaning" / path.name, talks)
        for talk in talks.values():
            first = len(pool.texts)
            pool.texts += map(_stored, talk.turns)
            for turns, question in talk.questions:
                pool.ask(question, [first + turn for turn in turns])
            for each in leaning.get(talk.id, ()):
                pool.ask(_behind(each.before[0], each.text), [first + turn for turn in each.places])
        yield pool


def _behind(before: str, question: str) -> str:
    """Return a question behind what its speaker said before it, as a search joins them."""
    return f"{before}\n{question}"


def _stored(turn: Turn) -> str:
    """Return a message as it is embedded (`ebbing.index.index_entry.passage`)."""
    return turn.text if turn.speaker == "assistant" else spoken(turn)


def learn(learned: list[Pool], *, seed: int) -> tuple[Tensor, Tensor]:
    """Return weight and bias of one map: question + question · weight + bias, then scaled to length one.

    The loss is that of InfoNCE (van den Oord et al. 2018, arXiv:1807.03748), with all texts of the file as the others.
    """
    chance = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    mean = torch.cat([pool.posed for pool in learned]).mean(0)
    weight = torch.nn.Parameter(torch.zeros(len(mean), len(mean)))
    bias = torch.nn.Parameter(torch.zeros(len(mean)))
    optimiser = torch.optim.AdamW([weight, bias], lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * sum(-(-len(pool.questions) // BATCH) for pool in learned)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        for number in torch.randperm(len(learned), generator=chance).tolist():
            pool = learned[number]
            for places in torch.randperm(len(pool.questions), generator=chance).split(BATCH):
                posed = pool.posed[places]
                seen = functional.dropout(posed - mean, DROPPED)
                moved = functional.normalize(posed + seen @ weight + bias, dim=-1)
                scores = moved @ pool.stored.T / TEMPERATURE
                right = scores.masked_fill(~pool.is_right(places), -torch.inf)
                loss = (scores.logsumexp(1) - right.logsumexp(1)).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
    return weight.detach(), (bias - mean @ weight).detach()


def mean_map(learned: list[Pool]) -> tuple[Tensor, Tensor]:
    """Return the mean of maps that were learned in different orders."""
    weights, biases = zip(*(learn(learned, seed=seed) for seed in range(SEEDS)), strict=True)
    return torch.stack(weights).mean(0), torch.stack(biases).mean(0)


def shares_found(judged: list[Pool], weight: Tensor, bias: Tensor) -> dict[int, float]:
    """Return for how many of the questions a right text is the nearest, or among the nearest three, ten, twenty."""
    ranks: list[int] = []
    for pool in judged:
        moved = functional.normalize(pool.posed + pool.posed @ weight + bias, dim=-1)
        scores = moved @ pool.stored.T
        best = scores.masked_fill(~pool.is_right(torch.arange(len(scores))), -torch.inf).amax(1, keepdim=True)
        ranks += (scores > best).sum(1).tolist()
    return {rank: float(np.mean([place < rank for place in ranks])) for rank in RANKS}


def main() -> None:
    """Train on the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--judge", action="store_true", help="print figures, and write nothing")
    parser.add_argument("--held", default=HELD, help="authors that judge, with commas between")
    options = parser.parse_args()
    every = pools()
    if options.judge:
        held = set(options.held.split(","))
        judged = [pool for pool in every if pool.author in held]
        nothing = torch.zeros(judged[0].stored.shape[1], judged[0].stored.shape[1])
        weight, bias = mean_map([pool for pool in every if pool.author not in held])
        for name, of in (("as it is", (nothing, nothing[0])), ("with the map", (weight, bias))):
            figures = shares_found(judged, *of)
            print(f"{name:<13}" + "  ".join(f"among {rank}: {share:.3f}" for rank, share in figures.items()))
        return
    weight, bias = mean_map(every)
    np.savez(PACKAGE_DATA, weight=weight.numpy().astype(np.float16), bias=bias.numpy().astype(np.float16))


if __name__ == "__main__":
    main()
