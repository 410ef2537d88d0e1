"""Words with what the salience model says of them, and the vectors that it sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError
from ebbing.language.text.sentences import split_text
from ebbing.ports.models.salience import Salience, SalienceModel
from ebbing.ports.stores.memory_store import Insert
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.extraction.salient_words import Words
from ebbing.remember.intake.screening import ScreenedMessage

Vector = NDArray[np.float32]


def judged_words(
    model: SalienceModel, stated: Sequence[Words], *, vectors: Sequence[Vector | None], in_talk: bool
) -> list[Salience | None]:
    """Return what the model says of each; None of what has no vector."""
    judged: list[Salience | None] = [None] * len(stated)
    for is_answer in (False, True):
        places = [
            place
            for place, (words, vector) in enumerate(zip(stated, vectors, strict=True))
            if vector is not None and bool(words.question) is is_answer
        ]
        if not places:
            continue
        texts = [stated[place].full_text for place in places]
        present = [vector for place in places if (vector := vectors[place]) is not None]
        saliences = model.judge_answers(texts, present) if is_answer else model.judge(texts, present, in_talk=in_talk)
        for place, salience in zip(places, saliences, strict=True):
            judged[place] = salience
    return judged


async def vectors_of(
    deps: AddDeps, stated: Sequence[Words], *, whole: Mapping[int, Vector] | None
) -> list[Vector | None]:
    """Return the vector of each, that of a whole message as it is known; None for a part that cannot be embedded.

    Args:
        whole: the vectors of messages, by their places; without one a part is not looked at. None: all are parts.
    """
    parts = [words.passage for words in stated if whole is None or (not words.is_whole and words.source in whole)]
    part_vectors: dict[str, Vector | None] = {}
    with suppress(EmbeddingError):  # the message itself has its vector: only a part of it is not looked at
        part_vectors.update(zip(parts, await deps.vectors(parts), strict=True))
    if whole is None:
        return [part_vectors.get(words.passage) for words in stated]
    return [whole.get(words.source) if words.is_whole else part_vectors.get(words.passage) for words in stated]


def whole_vectors(screened: Sequence[ScreenedMessage], episodes: Sequence[Insert]) -> Iterator[tuple[int, Vector]]:
    """Yield the vector of each message that is stored in one piece, by its place."""
    for source, parts in records_of(screened, episodes):
        entry = parts[0].entry if len(parts) == 1 else None
        if entry is not None and entry.vector is not None:
            yield source, entry.vector


def records_of(
    screened: Sequence[ScreenedMessage], episodes: Sequence[Insert]
) -> Iterator[tuple[int, Sequence[Insert]]]:
    """Yield the parts in which each message is stored, by its place."""
    first = 0
    for source, (message, _, _) in enumerate(screened):
        count = len(split_text(message.content))
        yield source, episodes[first : first + count]
        first += count
