"""A text shortened to what it says: function words and filler go; names, numbers, dates, units and negation stay.

Most of the words that go are not in the keyword index, so a shortened text is found as well as before.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ebbing.language.text.caches import bounded_text_cache

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_PIECE: Final = re.compile(
    rf"(?P<han>[{_HAN}]+)"
    rf"|(?P<word>(?:(?![{_HAN}\d_])\w)(?:(?![{_HAN}])\w)*(?:['’\-](?:(?![{_HAN}\d_])\w)+)*)"
    r"|(?P<number>\d+(?:[.,:/\-]\d+)*)"
    r"|(?P<end>[.!?。！？…]+)"
    r"|(?P<space>\s+)"
    r"|(?P<mark>.)",
    re.DOTALL,
)
_SPACES: Final = re.compile(r"\s+")
_LOOSE: Final = re.compile(r"\s+([,.;:!?…])")
_DOUBLE: Final = re.compile(r"[,;:…\s]*([,.;:!?])(?:\s*[,.;:!])+")
_EDGES: Final = re.compile(r"^[\s,.;:!?\-–—，。；：！？、]+|[\s,;:\-–—!.，；：、]+$")
_BARE: Final = re.compile(r"^\W+|\W+$")
_DIGIT: Final = re.compile(r"\d")
_UNIT_LETTERS: Final = 5
"""Longest word that is taken for the unit of the number before it."""
_SELF: Final = frozenset({"I", "I'm", "I've"})
_NAME_BONUS: Final = 1.5
"""Added to the weight of a word with a capital inside a sentence."""
_FEW_WORDS: Final = 5
"""So short a text has no kernel but itself."""

Weight = Callable[[str], float]
"""How rare a word is among what is known: the rarer, the higher; 0 for a word that is no term."""

_Piece = tuple[str, str]
"""Kind and spelling."""


@dataclass(frozen=True, slots=True)
class _Pack:
    drop: frozenset[str]
    lead: frozenset[str]
    turns: frozenset[str]
    empty: frozenset[str]
    drop_zh: re.Pattern[str]
    turns_zh: frozenset[str]
    empty_zh: frozenset[str]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data = tomllib.loads((files("ebbing.language") / "packs" / "telegraphic.toml").read_text("utf-8"))
    en, zh = data["en"], data["zh"]
    drop = frozenset(en["drop"].split())
    return _Pack(
        drop=drop,
        lead=frozenset(en["lead"].split()),
        turns=frozenset(en["turns"].split()),
        empty=drop | frozenset(en["polite"].split()),
        drop_zh=re.compile(zh["drop"].replace("\n", "")),
        turns_zh=frozenset(zh["turns"]),
        empty_zh=frozenset(zh["polite"]),
    )


@bounded_text_cache(16_384)
def telegraphic(text: str) -> str:
    """The text without what it can do without, never longer than before.

    "I moved from Boston to the city of Denver in May, and I don't like it" becomes
    "moved from Boston city Denver in May, don't like".
    """
    short = _tidy("".join(text_kept for _, text_kept in _essential_pieces(_pack().drop_zh.sub("", text))))
    return short if len(short) < len(text) else text.strip()


def kernel(short: str, weight: Weight, *, share: float = 0.5) -> str:
    """The rarest words of a text, in its order, until they make up `share` of its bytes.

    Numbers with their units, and what turns a sentence into its opposite, always stay; Chinese runs stay or go
    as a whole.
    """
    words = short.split(" ")
    if len(words) < _FEW_WORDS:
        return short
    weights = [_weight(words, place, weight=weight) for place in range(len(words))]
    room = share * _size(short)
    places: set[int] = set()
    for place in sorted(range(len(words)), key=lambda at: -weights[at]):
        if room <= 0 and weights[place] < _ALWAYS:
            break
        places.add(place)
        room -= _size(words[place]) + 1
    return _tidy(" ".join(words[place] for place in sorted(places)))


def says_something(text: str) -> bool:
    """Whether more is left of a text than filler, politeness and the name of whom it greets."""
    pack, words, filled = _pack(), 0, 0
    for piece in _PIECE.finditer(text):
        kind, piece_text = piece.lastgroup, piece.group()
        if kind == "word":
            words += 1
            if _plain(piece_text) not in pack.empty:
                filled += 1
                if filled > 1 or piece_text[:1].islower():
                    return True
        elif kind == "number" or (kind == "han" and not pack.empty_zh.issuperset(piece_text)):
            return True
    return words == filled == 1


_ALWAYS: Final = 1_000.0


def _weight(words: Sequence[str], place: int, *, weight: Weight) -> float:
    pack, word = _pack(), words[place]
    bare = word if word.isalnum() else _BARE.sub("", word)
    plain = _plain(bare)
    turns = plain in pack.turns or plain.endswith("n't") or not pack.turns_zh.isdisjoint(bare)
    is_unit = place > 0 and _DIGIT.search(words[place - 1]) is not None and len(bare) <= _UNIT_LETTERS
    if turns or is_unit or _DIGIT.search(bare):
        return _ALWAYS
    return weight(bare) + (_NAME_BONUS if bare[:1].isupper() and place else 0.0)


def _pieces(text: str) -> list[_Piece]:
    return [(piece.lastgroup or "", piece.group()) for piece in _PIECE.finditer(text)]


def _essential_pieces(text: str) -> list[_Piece]:
    """The pieces that stay; a space stands for any white space."""
    pieces, drop = _pieces(text), _pack().drop
    remaining: list[_Piece] = []
    begins, last = True, ""
    for at, (kind, piece_text) in enumerate(pieces):
        if kind == "word":
            plain = _plain(piece_text)
            goes = plain == last or (plain in drop and _goes(pieces, at, begins=begins))
            begins = False
            if goes:
                continue
            last = plain
        elif kind in {"number", "han"}:
            begins, last = False, ""
        elif kind == "end" or "\n" in piece_text:
            begins = True
        remaining.append((kind, " " if kind == "space" else piece_text))
    return remaining


def _goes(pieces: Sequence[_Piece], at: int, *, begins: bool) -> bool:
    """Whether a function word is dropped: not a name, not a unit after a number, not what leads up to one."""
    word = pieces[at][1].replace("’", "'")
    plain = word.lower()
    if word not in {"I", plain} and not plain.startswith("i'") and not begins:
        return False
    before = [kind for kind, _ in pieces[max(0, at - 2) : at] if kind != "space"]
    if before and before[-1] == "number":
        return False
    return not (plain in _pack().lead and _leads_to_name(pieces, at))


def _leads_to_name(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a name or number comes next."""
    following = [piece for piece in pieces[at + 1 : at + 3] if piece[0] != "space"]
    if not following:
        return False
    kind, word = following[0]
    return kind == "number" or (kind == "word" and word[:1].isupper() and word.replace("’", "'") not in _SELF)


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


def _tidy(text: str) -> str:
    """Single spaces, and no mark that stands between nothing."""
    text = _LOOSE.sub(r"\1", _SPACES.sub(" ", text))
    return _EDGES.sub("", _DOUBLE.sub(r"\1", text))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def joined(pieces: Sequence[str]) -> str:
    """Shortened sentences as one text, each ended by a full stop of its script."""
    text = ""
    for piece in filter(None, (piece.rstrip(" .。") for piece in pieces)):
        text += f"{_joint(text)}{piece}" if text else piece
    return text


def joint_size(before: str) -> int:
    """Bytes that stand between a shortened sentence and the next one."""
    return _size(_joint(before.rstrip(" .。")))


def _joint(text: str) -> str:
    if text[-1:] > "\u2fff":
        return "" if text[-1] in "！？…" else "。"
    return " " if text[-1:] in "!?…" else ". "
