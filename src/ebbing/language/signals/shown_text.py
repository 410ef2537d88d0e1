"""Texts in a message that are not the speaker's own words: asked about, handed over, or said by somebody else.

"whats it say: 孩子不能喝牛奶" asks what a text says. "My cousin wrote this. I'm a nurse …" hands one over. 客人备注：…
says whose words follow. Such a text stands behind a colon, is in another script than the question about it, or is all
that stands beside the sentence that hands it over. Read as the speaker's own, it would make false memories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ebbing.domain.memory.message import Message
from ebbing.language.signals.talk_signs import first_match, shows
from ebbing.language.text.detect_language import detect
from ebbing.language.text.pieces import pieces

MAY_SHOW_TEXT: Final = re.compile(
    r"(?i)[:：\n—–^-]|[意译譯错錯翻顺通病改润写寫发發说說讲講留转轉回]"
    r"|\b(?:th[ai][st]|th[eo]se|it|cv|bio|text|words|turn|put|support)"
    r"|what|say|mean|translat|mistake|error|typo|correct|check|gramma"
    r"|natural|native|proof|spelling|homework|resume|letter|essay"
    r"|statement|application|story|message|mail|fwd?\b|original"
    r"|ticket|applicant|case|persona|dictation|exercise|sentiment"
    r"|change|convert|rewrite|helping|write|wrote|sent|texted"
    r"|answer|respond|reply|rate|grade|guest|customer|client|student"
    r"|english|chinese|italian|german|french|spanish"
    r"|japanese|korean|russian|portuguese|arabic"
)
"""A sign or word without which no message shows a text: most messages hold none."""
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_BETWEEN: Final = rf"[^A-Za-z\n{_HAN}]"
_OWN_AGAIN: Final = rf"{_BETWEEN}{{0,8}}[A-Za-z]{{1,20}}(?:{_BETWEEN}{{1,8}}[A-Za-z]{{1,20}}){{2}}"
_FOREIGN: Final = {
    "en": re.compile(rf"[{_HAN}](?:(?!{_OWN_AGAIN})[^\n])*"),
    "zh": re.compile(rf"[A-Za-z][^{_HAN}\n]*"),
}
"""A run of the other script, by the language of the question; of Latin letters few words may be between Han ones."""
_UNIT: Final = {"en": re.compile(f"[{_HAN}]"), "zh": re.compile(r"[^\W\d_]+")}
_LEAST_UNITS: Final = {"en": 5, "zh": 4}
"""Characters or words from which such a run is a text; fewer are words that somebody mixes in."""
_COLON: Final = re.compile(r"[:：]\s*(?=\S)")
_REACH: Final = 60
"""Characters after the question in which the text begins."""
_HEAD: Final = re.compile(r"([^\n.!?。！？;；:：,，]{1,60})[:：](?!\d)[ \t]*")
"""The last clause before a colon, which may say whose words follow."""
_PARAGRAPH: Final = re.compile(r"\n\s*\n|\Z")
_LABEL: Final = re.compile(
    rf"(?:^|(?<=[\n.!?。！？]))[ \t\-*•]*"
    rf"(?P<label>[A-Z][\w'’.-]{{0,15}}(?: (?:[A-Z][\w'’.-]{{0,15}}|\d{{1,2}})){{0,2}}|[a-z]{{2,4}}|[{_HAN}]{{1,5}})"
    r"(?: ?\[[^\]\n]{3,20}\])?[:：](?!\d)[ \t]*(?=\S)",
)
"""Who speaks, in a talk that somebody pastes."""
_FIRST_PERSON: Final = re.compile(r"(?i)(?:\b(?:I|I['’]?m|I['’]?ve|my|we|our)\b|[我俺咱]|本人)")
_WITHIN: Final = 12
"""Characters behind a label in which the first person stands."""
_QUOTED: Final = re.compile(r"[“\"「『][^”\"」』\n]{2,}[”\"」』]|(?<!\w)['‘][^'’\n]{2,}['’](?!\w)")


@dataclass(frozen=True, slots=True)
class ShownText:
    """Where a text that is not the speaker's own begins and ends; a colon before it is part of it."""

    begin: int
    end: int
    head: int | None = None
    """Where the words begin that say whose it is; None where it is only there to be worked on."""


def without_shown_text(message: str, *, name: str = "") -> str:
    """Return the message with a line's end in place of each text that is not the speaker's own.

    Args:
        name: of the speaker: what stands behind it is the speaker's.
    """
    parts: list[str] = []
    place = 0
    for shown in shown_texts(message, name=name):
        parts += [message[place : shown.begin], "\n"]
        place = shown.end
    return "".join(parts) + message[place:]


def shown_texts(message: str, *, name: str = "") -> list[ShownText]:
    """Return the texts in a message that are not the speaker's own, in order, none within another."""
    every = [*_asked_about(message), *_said_by_others(message), *_labelled(message, name)]
    every = every or [*_handed_over(message)]
    texts: list[ShownText] = []
    for shown in sorted(every, key=lambda each: (each.begin, -each.end)):
        if not texts or shown.begin >= texts[-1].end:
            texts.append(shown)
        elif shown.end > texts[-1].end:
            texts.append(ShownText(texts[-1].end, shown.end, shown.head))
    return texts


def is_announced(message: Message, before: Message | None) -> bool:
    """Return whether a message is a text that its speaker announced right before it: "here's what she wrote"."""
    is_own = before is not None and (before.role, before.name) == (message.role, message.name)
    return before is not None and is_own and shows("announces_text", before.content)


def _asked_about(message: str) -> Iterator[ShownText]:
    """Yield what a message asks the meaning or the wording of."""
    question = first_match("asks_about_text", message)
    if question is None:
        return
    colon = _COLON.search(message, question.end(), question.end() + _REACH)
    own_end = len(message) if colon is None else colon.start()
    if colon is not None:
        yield ShownText(colon.start(), _end_of(message, colon.end(), end=len(message)))
    language = "zh" if detect(question.group()) == "zh" else "en"
    has_foreign = False
    for run in _FOREIGN[language].finditer(message, 0, own_end):
        if len(_UNIT[language].findall(run.group())) >= _LEAST_UNITS[language]:
            has_foreign = True
            yield ShownText(*run.span())
    if colon is None and not has_foreign and shows("asks_about_wording", message) and not _QUOTED.search(message):
        yield ShownText(0, question.start())


def _handed_over(message: str) -> Iterator[ShownText]:
    """Yield what stands behind a first sentence that hands a text over, or before a last one that says whose it was."""
    parts = pieces(message)
    if len(parts) < 2 or _QUOTED.search(message):
        return
    first, last = parts[0], parts[-1] if parts[-1].strip() else parts[-2]
    if shows("hands_over", first) and not shows("reports", first):
        yield ShownText(len(first), len(message))
    elif shows("handed_over", last) and not shows("reports", last):
        yield ShownText(0, message.rindex(last))


def _said_by_others(message: str) -> Iterator[ShownText]:
    """Yield what stands behind a colon and words that say whose text follows, to the end of its line or paragraph."""
    for head in _HEAD.finditer(message):
        words = head.group(1)
        if not shows("brings_text", words) or shows("tells_own", words) or shows("reports", words):
            continue
        line_end = message.find("\n", head.end())
        is_at_line_end = message[head.end() : head.end() + 1] in {"\n", ""}
        end = len(message) if line_end < 0 else line_end
        if is_at_line_end:
            paragraph = _PARAGRAPH.search(message, head.end() + 1)
            end = paragraph.start() if paragraph is not None else len(message)
        first = pieces(message[head.end() : end])[:1]
        if first and not is_at_line_end and not _FIRST_PERSON.search(first[0]):
            end = head.end() + len(first[0])
        yield ShownText(head.end(1), _end_of(message, head.end(), end=end), head.start())


def _end_of(message: str, begin: int, *, end: int) -> int:
    """Return where a text ends that begins here, at the latest at `end`: before "by the way" the speaker goes on."""
    place = begin
    for piece in pieces(message[begin:end]):
        if place > begin and shows("new_topic", piece):
            return place
        place += len(piece)
    return end


def _labelled(message: str, name: str) -> Iterator[ShownText]:
    """Yield what others say in a talk that was pasted: first person behind the name of somebody else.

    "Medication: I take ramipril" is the speaker's. So a word counts as a name only where it names a role, where the
    speaker has a label too, or where it stands twice.
    """
    labels = [*_LABEL.finditer(message)]
    names = [label["label"] for label in labels]
    is_talk = any(shows("own_label", each) for each in names)
    next_labels = [*(label.start() for label in labels[1:]), len(message)]
    for label, next_label in zip(labels, next_labels, strict=False):
        words = label["label"]
        is_other = shows("role_label", words) or is_talk or names.count(words) > 1
        end = next_label - len(message[label.end() : next_label].partition("\n")[2])
        if not is_other or words == name or shows("own_label", words):
            continue
        if _FIRST_PERSON.search(message, label.end(), min(end, label.end() + _WITHIN)):
            yield ShownText(label.end("label"), end, label.start("label"))


def own_rows(rows: Sequence[tuple[int, int]], shown: Sequence[ShownText]) -> Iterator[tuple[int, int]]:
    """Yield the parts of some rows of a message that are the speaker's own, or say whose words they hold.

    Args:
        rows: begin and end of each row.
        shown: the texts that are not the speaker's own.
    """
    for begin, end in rows:
        place = begin
        for text in shown:
            says_whose = text.head is not None and place <= text.head
            if text.end <= place or text.begin >= end or says_whose:
                continue
            yield place, max(place, text.begin)
            place = min(end, text.end)
        yield place, end
