"""What stands in brackets: lifted out, so that the sentence around it reads as one, and put back where it stood.

"My husband (an electrician) works in Hull" says that the husband works in Hull; he is the electrician, not the speaker.
A clause in brackets ("(I'm vegetarian)") is a sentence of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Self

from ebbing.language.text.statement import Sentence

_ASIDE: Final = re.compile(
    r"(?P<before>[\u2e80-\uffff]{1,2}|(?<![^\W_])[^\W_\u2e80-\uffff]{1,24})\s?\((?P<aside>[^()]{1,80})\)"
)
"""The end of the word before a pair of brackets, and what they hold."""
_CLAUSE: Final = re.compile(r"(?i)\b(?:I|my|me|we|our|it|they|she|he|you|your|is|are|was|please|not)\b|[我咱你吗呢?]")
"""It says something by itself, or takes something back."""


@dataclass(frozen=True, slots=True)
class Aside:
    """What stood in brackets, and the end of the word before it."""

    before: str
    text: str


@dataclass(frozen=True, slots=True)
class Lifted:
    """A sentence without its brackets."""

    sentence: Sentence
    asides: tuple[Aside, ...] = ()
    own: tuple[Sentence, ...] = ()
    """Sentences of their own that stood in brackets."""

    @classmethod
    def of(cls, sentence: Sentence) -> Self:
        """The sentence as it reads without what it holds in brackets."""
        if ")" not in sentence.text:
            return cls(sentence)
        asides: list[Aside] = []
        own: list[Sentence] = []

        def lift(found: re.Match[str]) -> str:
            before, aside = found["before"], found["aside"].strip(" ,;")
            if _CLAUSE.search(aside):
                own.append(Sentence(aside, asks="?" in aside))
            elif aside:
                asides.append(Aside(before, aside))
            return before

        text = _ASIDE.sub(lift, sentence.text)
        return cls(replace(sentence, text=text, literal=sentence.evidence), tuple(asides), tuple(own))

    def back(self, text: str) -> str:
        """A wording of the sentence, or of a part of it, with the brackets that stood in it."""
        at = 0
        for aside in self.asides:
            is_word = aside.before[-1] < "\u2e80"
            word = rf"(?<![^\W_]){aside.before}(?![^\W_])" if is_word else aside.before
            found = re.compile(word).search(text, at)
            if found is not None:
                bracketed = f"{' ' if is_word else ''}({aside.text})"
                text = f"{text[: found.end()]}{bracketed}{text[found.end() :]}"
                at = found.end() + len(bracketed)
        return text
