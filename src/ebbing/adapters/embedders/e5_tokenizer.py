"""SentencePiece unigram tokenizer for e5, in plain Python.

A text's tokens are the pieces whose log probabilities have the largest sum (Kudo 2018, arXiv:1804.10959), found word by
word with Viterbi's algorithm. The usual library keeps 290 MiB of memory for this vocabulary; a dictionary keeps 50, and
its time is a small part of what the model takes for the same text.
"""

from __future__ import annotations

from ebbing.adapters.embedders.e5_weights import Vocabulary
from ebbing.language.text.caches import text_cache

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
_SPECIAL = frozenset({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})
_WORD_MARK = "▁"
_UNKNOWN_PENALTY = 10.0
"""SentencePiece scores an unknown character this far below the least likely piece."""
_REMEMBERED_WORDS = 20_000
_REMEMBERED_LENGTH = 24


class UnigramTokenizer:
    """Turns clean text into token ids. Safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._scores = vocabulary.scores
        self._pieces = vocabulary.pieces
        self._ids = dict(zip(vocabulary.pieces, range(len(vocabulary.pieces)), strict=True))
        for special in _SPECIAL:  # text that spells a control token must not become one
            self._ids.pop(special, None)
        self._reach: dict[str, int] = {}
        for piece in self._ids:
            if len(piece) > self._reach.get(piece[0], 0):
                self._reach[piece[0]] = len(piece)
        self._unknown_score = min(vocabulary.scores) - _UNKNOWN_PENALTY
        self._short_word = text_cache(_REMEMBERED_WORDS)(self._segment)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, without begin and end marks."""
        ids: list[int] = []
        for word in text.split():
            segment = self._short_word if len(word) <= _REMEMBERED_LENGTH else self._segment
            ids.extend(segment(_WORD_MARK + word))
        return ids

    def piece(self, number: int) -> str:
        """The spelling of a token id."""
        return self._pieces[number]

    def _segment(self, word: str) -> tuple[int, ...]:
        best = [0.0] + [float("-inf")] * len(word)
        arrival: list[tuple[int, int]] = [(0, UNKNOWN)] * (len(word) + 1)
        ids, scores, reach, length = self._ids, self._scores, self._reach, len(word)
        for start in range(length):
            here = best[start]
            is_known = False
            for end in range(start + 1, min(length, start + reach.get(word[start], 0)) + 1):
                piece = ids.get(word[start:end])
                if piece is None:
                    continue
                is_known = is_known or end == start + 1
                if here + scores[piece] > best[end]:
                    best[end] = here + scores[piece]
                    arrival[end] = (start, piece)
            if not is_known and here + self._unknown_score > best[start + 1]:
                best[start + 1] = here + self._unknown_score
                arrival[start + 1] = (start, UNKNOWN)
        return _walk_back(arrival)


def _walk_back(arrival: list[tuple[int, int]]) -> tuple[int, ...]:
    """The pieces along the best path; neighbouring unknown characters count as one."""
    backwards: list[int] = []
    end = len(arrival) - 1
    while end:
        end, piece = arrival[end]
        if not (piece == UNKNOWN and backwards and backwards[-1] == UNKNOWN):
            backwards.append(piece)
    return tuple(reversed(backwards))
