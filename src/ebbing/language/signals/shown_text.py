"""A text that somebody shows and asks about: "whats it say: 孩子不能喝牛奶". Its words are not the speaker's own.

A message that asks what a text says, to translate it or whether it is right, shows that text. It stands behind a colon
after the question, or it is in another script than the question.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.signals.talk_signs import first_match, shows
from ebbing.language.text.detect_language import detect

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
_BEGINS: Final = re.compile(r"[:：]\s*(?=\S)")
_REACH: Final = 60
"""Characters after the question in which the text begins."""


def without_shown_text(message: str) -> str:
    """Return the message with a line's end in place of each text that it only asks about."""
    question = first_match("asks_about_text", message)
    if question is None:
        return message
    begins = _BEGINS.search(message, question.end(), question.end() + _REACH)
    own = message if begins is None else message[: begins.start()]
    language = "zh" if detect(question.group()) == "zh" else "en"
    own = _FOREIGN[language].sub(lambda run: "\n" if _is_text(run.group(), language) else run.group(), own)
    if begins is None and own == message and shows("asks_about_wording", message):
        return message[question.start() :]
    return own


def _is_text(run: str, language: str) -> bool:
    return len(_UNIT[language].findall(run)) >= _LEAST_UNITS[language]
