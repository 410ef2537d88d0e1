"""Train the reader: `python -m training.train OUT`. Six minutes on an H200, a night on two cores.

Four teachers of twelve layers learn first, each from three quarters of the authors. Then the reader, six layers on
four-bit steps, learns from the labels, and from what the teachers say of the authors that they did not learn from
(Hinton et al. 2015). What a teacher says of its own authors repeats the labels; of others it says how sure one can be.
Questions are learned as whole lists: each pair by itself, and the right texts against the others (ListNet, Cao et al.
2007). Which messages are worth remembering is learned beside it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.embed import nearness
from training.judge import HELD, HELD_ASKED, HELD_LOOKED_UP, odds_of, report
from training.messages import messages
from training.model import Reader, fast_precision
from training.pairs import Message, Pairs, Question
from training.questions import LEARNED_WRONG, authors, examples_of

LABEL_SMOOTHING = 0.05
LIST_WEIGHT = 0.5
"""Weight of the right texts against the others of a question, beside each pair by itself."""
KIND_WEIGHT = 0.2
"""Weight of a message's kind, beside whether it is worth remembering."""
ALONE = 0.2
"""Share of the messages that are shown without what was said before them."""
HEAD_SPEED, STEP_SPEED = 10.0, 0.1
"""A new head learns this many times as fast as the layers, a step of four bits so many."""
FOLDS = 4
QUESTIONS, MESSAGES = 16, 128
"""Of a batch."""
READ_TOGETHER = 64
"""Pairs."""
_FAR_BELOW = -1e4
_WARM_UP = 60
"""Steps until the full speed."""
_SORTED_TOGETHER = {"answer": 400, "message": 1_280}
"""Examples that are sorted by length at once: more would make batches alike, fewer would pad more."""

Example = Question | Message


@dataclass(frozen=True)
class Plan:
    """How a model learns."""

    layers: int
    is_packed: bool
    epochs: int
    drop: float
    hard: float = 1.0
    """Weight of the labels; the rest is the teachers'."""
    speed: float = 2.5e-4
    seed: int = 7


TEACHER = Plan(layers=12, is_packed=False, epochs=5, drop=0.15)
READER = Plan(layers=6, is_packed=True, epochs=8, drop=0.1, hard=0.5)


@dataclass(frozen=True)
class Lesson:
    """What is learned from, and what teachers say of each pair."""

    pairs: Pairs
    questions: Sequence[Sequence[Question]]
    """Of one epoch each, in turn: what is chosen by chance differs."""
    messages: Sequence[Message]
    taught: Tensor | None = None
    """Log-odds of each pair."""

    def of_authors(self, names: set[str]) -> Lesson:
        """Return the part of some authors."""
        questions = [[each for each in epoch if each.author in names] for epoch in self.questions]
        return Lesson(self.pairs, questions, [each for each in self.messages if each.author in names], self.taught)


def learn(lesson: Lesson, plan: Plan, *, name: str, reader: Reader | None = None) -> Reader:
    """Return a reader that has learned.

    Args:
        reader: learns on; without one, a new reader begins with the carrier's weights.
    """
    torch.manual_seed(plan.seed)
    chance = random.Random(plan.seed)
    reader = (reader or Reader(plan.layers, is_packed=plan.is_packed)).to(lesson.pairs.device)
    optimiser = torch.optim.AdamW(_groups(reader, plan.speed), weight_decay=0.01, betas=(0.9, 0.98))
    total = plan.epochs * len([*_batches(lesson, 0, chance=random.Random(plan.seed))])
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / _WARM_UP) * max(0.02, 1.0 - step / total)
    )
    began = time.monotonic()
    for epoch in range(plan.epochs):
        reader.train()
        losses = []
        for batch in _batches(lesson, epoch, chance=chance):
            loss = _loss_of(reader, batch, lesson=lesson, plan=plan, chance=chance)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.detach())
        seconds = time.monotonic() - began
        print(
            f"{name}: epoch {epoch + 1} of {plan.epochs}, loss {torch.stack(losses).mean():.3f}, {seconds:.0f} s",
            flush=True,
        )
    return reader


def teach(lesson: Lesson) -> Tensor:
    """Return what teachers say of each pair of the authors that they did not learn from."""
    names = sorted({each.author for each in [*lesson.questions[0], *lesson.messages]})
    random.Random(3).shuffle(names)
    taught = np.zeros(len(lesson.pairs.lengths), np.float32)
    for fold in range(FOLDS):
        held = set(names[fold::FOLDS])
        plan = Plan(**{**vars(TEACHER), "seed": 10 + fold})
        teacher = learn(lesson.of_authors({*names} - held), plan, name=f"teacher {fold + 1}")
        own = lesson.of_authors(held)
        asked = np.array([place for epoch in own.questions for each in epoch for place in each.places], np.int64)
        said = np.array([place for each in own.messages for place in each.places], np.int64)
        taught[asked] = odds_of(teacher, lesson.pairs, asked, task="answer")
        taught[said] = odds_of(teacher, lesson.pairs, said, task="message")
    return torch.from_numpy(taught).to(lesson.pairs.device)


def _groups(reader: Reader, speed: float) -> list[dict]:
    heads = [*reader.heads.parameters(), *reader.segments.parameters()]
    steps = [parameter for name, parameter in reader.named_parameters() if name.endswith(".step")]
    others = {id(parameter) for parameter in [*heads, *steps]}
    body = [parameter for parameter in reader.parameters() if id(parameter) not in others]
    return [
        {"params": body, "lr": speed},
        {"params": heads, "lr": speed * HEAD_SPEED},
        {"params": steps, "lr": speed * STEP_SPEED, "weight_decay": 0.0},
    ]


def _batches(lesson: Lesson, epoch: int, *, chance: random.Random) -> Iterator[list[Example]]:
    """Yield all questions and messages once, some of one sort at a time, in an order by chance."""
    lengths = lesson.pairs.lengths
    questions = [*lesson.questions[epoch % len(lesson.questions)]]
    groups = [
        *_groups_of(questions, "answer", QUESTIONS, length=lambda each: lengths[each.places].max(), chance=chance),
        *_groups_of(
            [*lesson.messages], "message", MESSAGES, length=lambda each: lengths[each.places[0]], chance=chance
        ),
    ]
    chance.shuffle(groups)
    yield from groups


def _groups_of(
    examples: list[Example], task: str, size: int, *, length: Callable[[Example], int], chance: random.Random
) -> Iterator[list[Example]]:
    chance.shuffle(examples)
    for begin in range(0, len(examples), _SORTED_TOGETHER[task]):
        near = sorted(examples[begin : begin + _SORTED_TOGETHER[task]], key=length)
        for place in range(0, len(near), size):
            yield near[place : place + size]


def _loss_of(reader: Reader, batch: list[Example], *, lesson: Lesson, plan: Plan, chance: random.Random) -> Tensor:
    device = lesson.pairs.device
    if isinstance(batch[0], Question):
        places, task = np.concatenate([each.places for each in batch]), "answer"
    else:
        places, task = np.array([each.places[chance.random() < ALONE] for each in batch]), "message"
    outputs = _outputs_of(reader, lesson.pairs, places, task=task, drop=plan.drop)
    taught = (
        None if lesson.taught is None or plan.hard == 1.0 else lesson.taught[torch.as_tensor(places, device=device)]
    )
    loss_of = _questions_loss if task == "answer" else _messages_loss
    return loss_of(outputs, batch, hard=plan.hard, taught=taught)


def _outputs_of(reader: Reader, pairs: Pairs, places: np.ndarray, *, task: str, drop: float) -> Tensor:
    """Return the outputs for pairs; those of similar length are read together, so little is padding."""
    groups = [*pairs.by_length(places, READ_TOGETHER)]
    with fast_precision(pairs.device):
        parts = [reader(*pairs.batch(places[rows], task), drop=drop)[task].float() for rows in groups]
    return torch.cat(parts)[torch.from_numpy(np.argsort(np.concatenate(groups))).to(pairs.device)]


def _questions_loss(outputs: Tensor, batch: Sequence[Question], *, hard: float, taught: Tensor | None) -> Tensor:
    """Return the mean loss of pairs and of lists: of the labels, and of what the teachers say."""
    labels = torch.from_numpy(np.concatenate([each.labels for each in batch])).to(outputs.device)
    odds = outputs[:, 1] - outputs[:, 0]
    sizes = [len(each.places) for each in batch]
    table = _table(odds, sizes, empty=_FAR_BELOW)
    is_right = _table(labels.float(), sizes, empty=0.0) > 0
    answered = is_right.any(1)
    against = torch.logsumexp(table, 1) - torch.logsumexp(table.masked_fill(~is_right, _FAR_BELOW), 1)
    loss = hard * functional.cross_entropy(outputs, labels, label_smoothing=LABEL_SMOOTHING)
    loss = loss + hard * LIST_WEIGHT * (against * answered).sum() / answered.sum().clamp(min=1)
    if taught is not None:
        soft = 1.0 - hard
        loss = loss + soft * functional.binary_cross_entropy_with_logits(odds, torch.sigmoid(taught))
        shares = functional.softmax(_table(taught, sizes, empty=_FAR_BELOW), 1)
        listed = -(shares * functional.log_softmax(table, 1).clamp(min=-30)).sum(1).mean()
        loss = loss + soft * LIST_WEIGHT * listed
    return loss


def _messages_loss(outputs: Tensor, batch: Sequence[Message], *, hard: float, taught: Tensor | None) -> Tensor:
    """Return the mean loss of worth, by label and by what the teachers say, and of the kind."""
    kinds = torch.tensor([each.kind for each in batch], device=outputs.device)
    is_worth = kinds >= 0
    loss = hard * functional.cross_entropy(outputs[:, :2], is_worth.long(), label_smoothing=LABEL_SMOOTHING)
    kind_losses = functional.cross_entropy(outputs[:, 2:], kinds.clamp(min=0), reduction="none")
    loss = loss + KIND_WEIGHT * (kind_losses * is_worth).sum() / is_worth.sum().clamp(min=1)
    if taught is not None:
        odds = outputs[:, 1] - outputs[:, 0]
        loss = loss + (1.0 - hard) * functional.binary_cross_entropy_with_logits(odds, torch.sigmoid(taught))
    return loss


def _table(values: Tensor, sizes: Sequence[int], *, empty: float) -> Tensor:
    """Return the values of lists one below the other, filled up, shape (lists, longest)."""
    longest = max(sizes)
    places = np.concatenate([np.arange(size) + row * longest for row, size in enumerate(sizes)])
    table = torch.full((len(sizes) * longest,), empty, device=values.device)
    return table.scatter(0, torch.from_numpy(places).to(values.device), values).view(len(sizes), longest)


def main() -> None:
    """Train and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--held",
        default=",".join((*HELD, *HELD_ASKED, *HELD_LOOKED_UP)),
        help="authors that only judge, with commas between",
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--no-teachers", action="store_true", help="learn from the labels alone")
    given = parser.parse_args()
    held = set(given.held.split(","))
    names = set(authors()) - held
    pairs = Pairs(given.device)
    learned = [
        pairs.questions(examples_of(names, similarity=nearness, wrong=LEARNED_WRONG, seed=seed)) for seed in (0, 1)
    ]
    judged = pairs.questions(examples_of(held, similarity=nearness))
    labelled = messages()
    said = pairs.messages([each for each in labelled if each.author not in held])
    unheard = pairs.messages([each for each in labelled if each.author in held])
    pairs.seal()
    print(f"{len(learned[0])} questions and {len(said)} messages to learn from", flush=True)
    lesson, plan = Lesson(pairs, learned, said), READER
    if given.no_teachers:
        plan = Plan(**{**vars(READER), "hard": 1.0, "epochs": TEACHER.epochs, "drop": TEACHER.drop})
    else:
        lesson = Lesson(pairs, learned, said, teach(lesson))
    reader = learn(lesson, plan, name="reader")
    print(report(reader, pairs, questions=judged, messages=unheard))
    given.out.mkdir(parents=True, exist_ok=True)
    torch.save(reader.state_dict(), given.out / "reader.pt")


if __name__ == "__main__":
    main()
