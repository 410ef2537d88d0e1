"""What a caller passes to the façade, checked: it comes back usable, or a typed error says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypedDict
from zoneinfo import ZoneInfo

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.domain.filters.parser import parse_filter
from ebbing.domain.filters.query import INCLUDES, KINDS_OF, Include
from ebbing.domain.filters.tree import EVERYTHING, Filter, demanded_ids, is_number, remaining_filter
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.domain.memory.record import RESERVED_TAGS, Kind
from ebbing.domain.memory.scope import Scope
from ebbing.domain.nesting import MAX_METADATA_BYTES, check_nesting
from ebbing.language.text.caches import text_cache
from ebbing.privacy.guarding.trust import TrustTier, tier_named
from ebbing.remember.intake.parse_messages import clean_text, optional_text, parse_time

DEFAULT_TOP_K: Final = 5
MAX_TOP_K: Final = 50
MAX_CONTEXT_TURNS: Final = 10
MAX_QUERY_LENGTH: Final = 4_000
MAX_PAGE: Final = 1_000
MAX_RECORDS: Final = 10_000
MAX_REASON: Final = 1_000
MAX_TAGS: Final = 32
MAX_TAG_LENGTH: Final = 64
PROCEDURAL: Final = "procedural_memory"
"""The one memory type that callers of mem0 can ask for; a tag of what is kept for it."""


class SearchOptions(TypedDict, total=False):
    """What a search may be given beside its query."""

    limit: int | None
    """Another name for `top_k`."""
    threshold: float | None
    """Least score of an answer, in [0, 1]."""
    as_of: datetime | str | float | None
    """Answer with what was believed at this moment."""
    precise: bool
    """Only what the score curve sets apart, instead of the best `top_k`."""
    rerank: bool
    """False leaves the configured reranker out; True needs none."""
    explain: bool
    """With each answer, a sentence that says why it came back, and what its score is made of."""
    context_turns: int
    """With each answer, so many turns before and after it."""
    show_expired: bool
    """What has run out as well, but nothing that is no longer true."""
    private: bool
    """Leave no trace: it counts as no use, nobody is told of it, and no vector of the question is kept."""
    timezone: str | None
    """IANA name of the zone in which days begin and end ("Asia/Shanghai"); else each message by its own clock."""


_NARROWING: Final = frozenset(SearchOptions.__annotations__)


class ListOptions(TypedDict, total=False):
    """What a list may be given beside whose it is."""

    as_of: datetime | str | float | None
    """What was believed at this moment."""
    superseded: bool
    """What is no longer true and what has run out as well."""
    top_k: int | None
    """Another name for `limit`."""
    show_expired: bool
    """What has run out as well, but nothing that is no longer true."""


class AddOptions(TypedDict, total=False):
    """What an add may be given beside whose it is."""

    filters: Mapping[str, Any] | None
    """Ids of user, agent and run, as mem0 passes them."""
    source_id: str | None
    """Id of the one message that is added: added again it changes nothing, with another text it counts as edited."""
    trust: str | None
    """Nothing of the call counts for more than the word of a `user`, `import`, `assistant`, `tool` or `document`."""
    mode: str | None
    """How it is read: `rules`, `llm`, `summarize`, `structured` or `raw`; as the settings say unless given."""
    tags: Sequence[str] | None
    """Kept with every record of the call; a memory stored as it is (`infer=False`) is of the type that a well-known tag
    among them names: `preference`, `dislike`, `constraint`, `fact`, `identity`, `semantic` or `procedural`."""
    importance: float | None
    """How much a memory that is stored as it is (`infer=False`) matters, in [0, 1]; 0.5 unless given."""
    expires_at: datetime | str | float | None
    """From this moment on nothing of the call appears in any answer."""
    expiration_date: str | None
    """The last day, in UTC, on which anything of the call appears in an answer; another way to give `expires_at`."""
    timestamp: datetime | str | float | None
    """When messages were sent that have no time of their own."""
    prompt: str | None
    """What a language model is told in the place of the extraction prompt; it needs a model."""
    memory_type: str | None
    """`procedural_memory` keeps how an agent did something: summarized where there is a model, else as it is."""
    private: bool
    """Nothing of the call is written anywhere."""
    change_id: str | None
    """Of an earlier answer: what this call writes is undone together with that."""


@dataclass(frozen=True, slots=True)
class CheckedAddOptions:
    """The same, usable."""

    filters: Mapping[str, Any] | None = None
    source_id: str | None = None
    trust: TrustTier | None = None
    mode: WriteMode | None = None
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    is_private: bool = False
    change_id: str | None = None
    timestamp: datetime | None = None
    prompt: str | None = None
    is_procedural: bool = False
    importance: float | None = None


_NO_OPTIONS: Final = CheckedAddOptions()


def checked_add_options(options: Mapping[str, Any]) -> CheckedAddOptions:
    """Refuses a name that `AddOptions` does not have, as Python refuses a wrong argument, and unusable values."""
    if not options:
        return _NO_OPTIONS
    for name in options:
        if name not in AddOptions.__annotations__:
            raise TypeError(f"add() got an unexpected keyword argument {name!r}")
    mode = options.get("mode")
    if mode is not None and mode not in set(WriteMode):
        raise InvalidInputError(f"mode must be one of {', '.join(WriteMode)}")
    return CheckedAddOptions(
        options.get("filters"),
        options.get("source_id"),
        tier_named(options.get("trust")),
        None if mode is None else WriteMode(mode),
        (*(checked_tags(options.get("tags")) or ()), *([PROCEDURAL] if options.get("memory_type") is not None else [])),
        _end_of(options),
        timestamp=checked_time(options.get("timestamp"), "timestamp"),
        prompt=checked_prompt(options.get("prompt")),
        is_procedural=_is_procedural(options.get("memory_type")),
        is_private=checked_flag(options.get("private", False), "private"),
        change_id=optional_text(options.get("change_id"), "change_id"),
        importance=checked_share(options.get("importance"), "importance"),
    )


def _end_of(options: Mapping[str, Any]) -> datetime | None:
    """When what is added ends: a moment, or the end of a day."""
    moment, day = options.get("expires_at"), options.get("expiration_date")
    if moment is not None and day is not None:
        raise InvalidInputError("expires_at and expiration_date are the same thing: give one of them")
    return checked_time(moment, "expires_at") if day is None else end_of_day(day)


def end_of_day(day: object) -> datetime:
    """The moment at which a day, in UTC, is over.

    Raises:
        InvalidInputError: it is no day.
    """
    try:
        return datetime.strptime(str(day)[:10], "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    except ValueError:
        raise InvalidInputError("expiration_date must be a day such as 2027-01-31") from None


def checked_share(value: object, label: str) -> float | None:
    """A number in [0, 1]; None for None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(f"{label} must be a number from 0 to 1")
    return float(value)


def checked_prompt(prompt: object) -> str | None:
    """A prompt of the caller's own; None for none."""
    if prompt is not None and (not isinstance(prompt, str) or not prompt.strip()):
        raise InvalidInputError("prompt must be a non-blank string")
    return prompt


def _is_procedural(memory_type: object) -> bool:
    if memory_type not in {None, PROCEDURAL}:
        raise InvalidInputError(f"memory_type must be {PROCEDURAL!r}, or left out")
    return memory_type is not None


def checked_tags(tags: object) -> tuple[str, ...] | None:
    """Free words to find memories by, each once; None for None. Those that a memory's own life sets are refused."""
    if tags is None:
        return None
    if not isinstance(tags, Sequence) or isinstance(tags, str | bytes | bytearray):
        raise InvalidInputError("tags must be a list of strings")
    checked = tuple(dict.fromkeys(clean_text(tag) if isinstance(tag, str) else "" for tag in tags))
    if not all(checked) or RESERVED_TAGS & set(checked):
        raise InvalidInputError(f"a tag must be a non-blank string and none of {', '.join(sorted(RESERVED_TAGS))}")
    if len(checked) > MAX_TAGS or any(len(tag) > MAX_TAG_LENGTH for tag in checked):
        raise TooLargeError(f"tags are at most {MAX_TAGS}, of at most {MAX_TAG_LENGTH} characters each")
    return checked


def named_by(messages: list[Message], source_id: str | None) -> list[Message]:
    """The messages, the only one of them under the caller's `source_id`."""
    if source_id is None:
        return messages
    if len(messages) != 1 or messages[0].id not in {None, source_id}:
        raise InvalidInputError("source_id names one message: give each of several its own id")
    return [replace(messages[0], id=optional_text(source_id, "source_id"))]


def timed(messages: list[Message], timestamp: datetime | None) -> list[Message]:
    """The messages, those without a time of their own sent at this one, a microsecond after each other."""
    if timestamp is None:
        return messages
    sent: list[Message] = []
    for place, message in enumerate(messages):
        at = message.timestamp or timestamp + timedelta(microseconds=place)
        sent.append(replace(message, timestamp=at))
    return sent


def checked_narrowing(options: Mapping[str, Any]) -> None:
    """Refuse a name that `SearchOptions` does not have, and flags that are no truth value."""
    if not options:
        return
    if not options.keys() <= _NARROWING:
        [name, *_] = options.keys() - _NARROWING
        raise TypeError(f"search() got an unexpected keyword argument {name!r}")
    checked_flag(options.get("precise", False), "precise")
    checked_flag(options.get("explain", False), "explain")
    checked_flag(options.get("rerank", True), "rerank")
    checked_flag(options.get("show_expired", False), "show_expired")
    checked_flag(options.get("private", False), "private")


def checked_listing(options: Mapping[str, Any]) -> None:
    """Refuse a name that `ListOptions` does not have, and flags that are no truth value."""
    for name in options:
        if name not in ListOptions.__annotations__:
            raise TypeError(f"get_all() got an unexpected keyword argument {name!r}")
    checked_flag(options.get("superseded", False), "superseded")
    checked_flag(options.get("show_expired", False), "show_expired")


def with_expired(filters: Mapping[str, Any] | None, *, now: datetime) -> dict[str, Any]:
    """Filters that let through what has run out, and nothing that is no longer true."""
    holds = {"OR": [{"valid_to": None}, {"valid_to": {"gt": now.isoformat()}}]}
    terms = dict(filters or {})
    inside = terms.get("AND")
    return {**terms, "AND": [*([inside] if isinstance(inside, Mapping) else inside or []), holds]}


def checked_context_turns(turns: object) -> int:
    """How many turns before and after an answer are wanted."""
    if not isinstance(turns, int) or isinstance(turns, bool) or not 0 <= turns <= MAX_CONTEXT_TURNS:
        raise InvalidInputError(f"context_turns must be a whole number from 0 to {MAX_CONTEXT_TURNS}")
    return turns


def checked_top_k(top_k: int, limit: int | None) -> int:
    """How many answers are wanted, at most 50."""
    if limit is not None and top_k not in {DEFAULT_TOP_K, limit}:
        raise InvalidInputError("top_k and limit are the same thing: give one of them")
    count = top_k if limit is None else limit
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InvalidInputError("top_k must be a whole number of at least 1")
    return min(count, MAX_TOP_K)


def checked_flag(value: object, label: str) -> bool:
    """A truth value and nothing that merely counts as one: the text "false" would."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{label} must be True or False")
    return value


def checked_time(value: object, label: str) -> datetime | None:
    """The moment that was given as a datetime, ISO 8601 text or epoch number; None for None."""
    return None if value is None else parse_time(value, label)


def checked_timezone(zone: object) -> ZoneInfo | None:
    """The time zone of this IANA name; None for None."""
    return None if zone is None else zone_of(zone)


def zone_of(name: object) -> ZoneInfo:
    """The time zone of this IANA name."""
    try:
        if isinstance(name, str):
            return ZoneInfo(name)
    except (OSError, ValueError):  # no such zone, or no name of one
        pass
    raise InvalidInputError('timezone must be the IANA name of a time zone, such as "Asia/Shanghai" or "UTC"')


def checked_reason(reason: object, label: str = "reason") -> str | None:
    """Why something was done, in the caller's words; None for nothing."""
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise InvalidInputError(f"{label} must be a string")
    if len(reason) > MAX_REASON:
        raise TooLargeError(f"{label} is longer than {MAX_REASON} characters")
    return clean_text(reason) or None


def checked_threshold(threshold: object) -> float:
    """The least score of an answer, 0 for None."""
    if threshold is None:
        return 0.0
    if not isinstance(threshold, int | float) or not is_number(threshold) or not 0 <= threshold <= 1:
        raise InvalidInputError("threshold must be a number from 0 to 1")
    return float(threshold)


_PLAIN: Final = frozenset({str, type(None)})


def scoped(filters: Mapping[str, Any] | None, *, tenant: str, **ids: str | None) -> tuple[Scope, Filter]:
    """Whose memory is meant, by arguments or by ids that the filters demand, and what else the filters ask for."""
    if not filters and _PLAIN.issuperset(map(type, ids.values())):
        return _named_scope((ids.get("user_id"), ids.get("agent_id"), ids.get("run_id")), tenant), EVERYTHING
    parsed = parse_filter(filters)
    named = {name: value for name, value in ids.items() if value is not None}
    for name, value in demanded_ids(parsed):
        owner_id = ids.get(name)
        if isinstance(owner_id, str) and owner_id.strip() != value:
            raise InvalidInputError(f"{name} differs between the argument and filters")
        named.setdefault(name, value)
    scope = Scope(**named, tenant=tenant)
    return scope, remaining_filter(parsed, scope)


@text_cache(4_096)
def _named_scope(names: tuple[str | None, str | None, str | None], tenant: str) -> Scope:
    return Scope(*names, tenant=tenant)


def checked_query(query: object, *, include: object) -> str:
    """The question, clean and cut after 4,000 characters."""
    if not isinstance(query, str) or not (text := clean_text(query)):
        raise InvalidInputError("query must be a non-empty string")
    if include not in INCLUDES:
        raise InvalidInputError(f"include must be one of {', '.join(INCLUDES)}")
    return text[:MAX_QUERY_LENGTH]


def checked_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy that is sure to be JSON, at most 64 KiB of it and 32 levels deep; empty for None."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InvalidInputError("metadata must be a dict with string keys")
    check_nesting(metadata, "metadata")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError):
        raise InvalidInputError("metadata must hold JSON values only, in valid Unicode") from None
    if size > MAX_METADATA_BYTES:
        raise TooLargeError(f"metadata is larger than {MAX_METADATA_BYTES} bytes of JSON")
    checked: dict[str, Any] = json.loads(text)
    return checked


def kinds_of(include: Include) -> tuple[Kind, ...]:
    """The kinds of record that `include` names."""
    if include not in INCLUDES:
        raise InvalidInputError(f"include must be one of {', '.join(INCLUDES)}")
    return KINDS_OF[include]


def checked_limit(limit: object) -> int:
    """The size of a page, 1 to 1,000."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_PAGE:
        raise InvalidInputError(f"limit must be a whole number from 1 to {MAX_PAGE}")
    return limit


def checked_records(records: object) -> Sequence[Mapping[str, Any]]:
    """Exported records; what is in each is checked one by one later."""
    if not isinstance(records, Sequence) or isinstance(records, str | bytes | bytearray):
        raise InvalidInputError("records must be a list of exported records")
    if len(records) > MAX_RECORDS:
        raise TooLargeError(f"more than {MAX_RECORDS} records in one call: pass them in several")
    return records
