"""What the fake language model says: rules by content, and the ways in which real models and endpoints go wrong."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError

"""Makes an answer from a request's body."""


class Fault(StrEnum):
    """How a request or an answer goes wrong."""

    RATE_LIMIT = "rate_limit"
    """Status 429 with `Retry-After`."""
    ERROR = "error"
    """Status 500."""
    HANG = "hang"
    """No answer for a long time."""
    RESET = "reset"
    """The connection is reset."""
    NOT_CHAT = "not_chat"
    """Status 200 and a web page."""
    EMPTY = "empty"
    """An answer without text."""
    TRUNCATED = "truncated"
    """The answer is cut off, as at a token limit."""
    THINK = "think"
    """Thoughts in front, which hold JSON too."""
    FENCED = "fenced"
    """A Markdown fence around it."""
    PROSE = "prose"
    """Polite sentences around it."""
    SLOPPY = "sloppy"
    """Nearly JSON: single quotes, trailing commas."""
    WRONG_SCHEMA = "wrong_schema"
    """JSON of another form."""
    INVENTED_IDS = "invented_ids"
    """Every number that names something names nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """What to answer to a prompt."""

    when: str = ""
    """Regular expression, searched in all messages of the prompt, whatever the case."""
    answer: Any = None
    """Text as it is; anything else becomes JSON; a function is given the request. None: nothing to remember."""
    fault: Fault | None = None
    times: int | None = None
    """How often it counts; None for always."""


NOTHING: Final = Rule()
_EMPTY_ANSWER: Final = {"facts": [], "decisions": [], "should_remember": False, "summary": ""}
"""Fits every form that Ebbing asks for."""
_NAMES: Final = frozenset({"id", "fact", "memory", "message"})


def answer_text(rule: Rule, request: dict[str, Any]) -> str:
    """The text that a rule answers with, spoilt as its fault says."""
    value = rule.answer(request) if callable(rule.answer) else rule.answer
    if value is None:
        value = _EMPTY_ANSWER if _asks_for_json(request) else "This is a scripted model; no rule fits the prompt."
    if rule.fault is Fault.INVENTED_IDS:
        value = _with_invented_ids(json.loads(value) if isinstance(value, str) else value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _SPOILT[rule.fault](text) if rule.fault in _SPOILT else text


def rules_from_toml(text: str) -> list[Rule]:
    """The rules of a script: `[[rule]]` tables with `when`, `answer`, `fault` and `times`, each optional.

    Raises:
        InvalidInputError: it is not TOML, or a rule holds something else.
    """
    try:
        tables = tomllib.loads(text).get("rule", [])
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"the script is not TOML: {error}") from None
    if not isinstance(tables, list):
        raise InvalidInputError("the script holds no [[rule]] tables")
    return [_rule(table, number) for number, table in enumerate(tables, start=1)]


def _rule(table: Any, number: int) -> Rule:
    if not isinstance(table, Mapping) or not table.keys() <= {"when", "answer", "fault", "times"}:
        raise InvalidInputError(f"rule {number} may hold when, answer, fault and times, nothing else")
    try:
        re.compile(table.get("when", ""))
        fault = Fault(table["fault"]) if "fault" in table else None
        times = None if table.get("times") is None else int(table["times"])
    except re.error:
        raise InvalidInputError(f"rule {number}: when is no regular expression") from None
    except (TypeError, ValueError):
        names = ", ".join(Fault)
        raise InvalidInputError(f"rule {number}: times must be a number, and fault one of {names}") from None
    return Rule(table.get("when", ""), table.get("answer"), fault=fault, times=times)


def _asks_for_json(request: Mapping[str, Any]) -> bool:
    return "response_format" in request or "JSON" in json.dumps(request.get("messages", ()))


def _with_invented_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: 9_000 + place if key in _NAMES and isinstance(item, int) else _with_invented_ids(item)
            for place, (key, item) in enumerate(value.items())
        }
    return [_with_invented_ids(item) for item in value] if isinstance(value, list) else value


_SPOILT: Final[Mapping[Fault | None, Callable[[str], str]]] = {
    Fault.EMPTY: lambda _: "",
    Fault.TRUNCATED: lambda text: text[: max(1, len(text) * 7 // 10)],
    Fault.THINK: lambda text: f'<think>Perhaps {{"facts": ["no"]}}? Let me see.</think>\n{text}',
    Fault.FENCED: lambda text: f"```json\n{text}\n```",
    Fault.PROSE: lambda text: (
        f"Sure! Here is what you asked for:\n\n{text}\n\nLet me know if you need more {{details}}."
    ),
    Fault.SLOPPY: lambda text: re.sub(r"([\]}])$", r",\1", text.replace('"', "'")),
    Fault.WRONG_SCHEMA: lambda _: '{"answer": {"status": "ok"}}',
}
