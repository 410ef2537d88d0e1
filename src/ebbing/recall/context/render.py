"""Memories in words: the lines of a block, and why each came back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final, Literal

from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import MemoryRecord, content_hash
from ebbing.language.dates.resolve import absolute
from ebbing.language.text.analyzer import query_terms
from ebbing.language.text.quotation import dated, lead_in, quoted_words
from ebbing.language.text.token_count import estimate_tokens
from ebbing.privacy.attribution import LABELS, Source, quotable, source_of
from ebbing.privacy.guarding.quote import BULLET, fenced, footer, header, named, quote
from ebbing.recall.context.excerpt import excerpt

# Memories as a block for a prompt: in groups, dated, in the order of time, within a budget of tokens.

Group = Literal["profile", "relevant", "recent"]
GROUPS: Final[tuple[Group, ...]] = ("profile", "relevant", "recent")
"""In the order of a block."""
_FILLED: Final[tuple[tuple[Group, float], ...]] = (("relevant", 0.6), ("profile", 0.8), ("recent", 1.0))
"""Which group takes its room first, and the share of the budget that is spent when it has."""
TITLES: Final[Mapping[str, Mapping[Group, str]]] = {
    "en": {"profile": "User profile:", "relevant": "Relevant memories:", "recent": "Recent memories:"},
    "zh": {"profile": "用户画像：", "relevant": "相关记忆：", "recent": "近期记忆："},
}
_CURRENT: Final = {"en": " (current)", "zh": "（当前）"}
_ENDED: Final = {"en": " (until {})", "zh": "（至 {} 为止）"}
_WIDTHS: Final = (300, 150, 80, 40)
"""Characters that a memory gets: fewer where the budget has no room for more …"""
_MIN_WIDTH: Final = 150
"""… but no fewer beside others: what is cut shorter says nothing, and takes the room of one that is short."""
_AS_GIVEN: Final = frozenset({Source.HAND, Source.IMPORT, Source.DEFAULT})
_RETOLD: Final = 0.9
"""Share of the words of a message that memories have to hold, to say as much: of nine words none may be missing."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A block, and what stands in it."""

    text: str
    """"" if not a single memory fits."""
    tokens: int
    """Estimated; never above the budget."""
    shown: Mapping[Group, tuple[MemoryRecord, ...]]
    """The memories in the block, in its order."""


@dataclass(frozen=True, slots=True)
class Style:
    """How memories are written."""

    language: str
    """`zh` or `en`, for what stands around them; a memory keeps its own."""
    now: datetime
    replacing: Collection[str] = ()
    """Ids of memories that took the place of an earlier one."""
    needed: Collection[str] = ()
    """Ids of memories whose absence could do harm: they take their room before all others."""
    zone: tzinfo | None = None
    """In it all days begin and end; with None each memory has the day of the one who said it."""
    default_zone: tzinfo = UTC
    """What stands for the clock of somebody of whom it is not known."""

    terms: Collection[str] = ()
    """Of the question: a message too long for its line is shown from the sentence on that speaks to it."""

    def zone_of(self, record: MemoryRecord) -> tzinfo:
        """Return the zone in which a memory has its day."""
        return self.zone or record.zone or self.default_zone


def render(groups: Mapping[Group, Sequence[MemoryRecord]], *, style: Style, max_tokens: int) -> Rendered:
    """The groups (each best first) as one quoted block of at most `max_tokens` estimated tokens.

    What is needed takes room first, wherever it stands; then what is relevant (to 60 %), the profile (to 80 %), and
    what is recent; more that is relevant fills the rest. Inside a group the oldest stands first. A memory that stands
    in one group, or says the same as one that does, is not repeated.
    """
    groups = distinct(groups)
    free = max_tokens - estimate_tokens(header(style.language)) - estimate_tokens(footer())
    spent = 0
    written_ids: set[str] = set()
    lines: dict[Group, list[tuple[MemoryRecord, str]]] = {group: [] for group in GROUPS}
    for group, share, records in _turns(groups, needed=style.needed):
        title = estimate_tokens(f"{TITLES[style.language][group]}\n")
        for record in records:
            if record.id in written_ids:
                continue
            room = int(free * share) - spent - (0 if lines[group] else title)
            line = _fitting(record, style, room=room, least=_MIN_WIDTH if spent else 0)
            if line:
                spent += estimate_tokens(line) + (0 if lines[group] else title)
                lines[group].append((record, line))
                written_ids.add(record.id)
    for written in lines.values():
        written.sort(key=lambda line: line[0].created_at)
    shown = {group: tuple(record for record, _ in lines[group]) for group in GROUPS}
    if not any(shown.values()):
        return Rendered("", 0, shown)
    body = "".join(_written(lines, style.language))
    text = f"{header(style.language)}{body}{footer()}"
    return Rendered(text, estimate_tokens(text), shown)


def _turns(
    groups: Mapping[Group, Sequence[MemoryRecord]], *, needed: Collection[str]
) -> Iterator[tuple[Group, float, list[MemoryRecord]]]:
    """Who takes room, in which order, and the share of the budget that is spent when they have."""
    for group, _ in _FILLED if needed else ():
        yield group, 1.0, [record for record in groups.get(group, ()) if record.id in needed]
    for group, share in _FILLED:
        yield group, share, [record for record in groups.get(group, ()) if record.id not in needed]
    yield "relevant", 1.0, list(groups.get("relevant", ()))


def distinct(groups: Mapping[Group, Sequence[MemoryRecord]]) -> dict[Group, list[MemoryRecord]]:
    """The groups without what an earlier one (relevant, profile, recent) holds already.

    Two memories are the same by id or by their words. A memory stands in the place of the raw message that it was read
    from where it says about as much; where it says less, the message stands in its place.
    """
    records_in_all = [record for records in groups.values() for record in records]
    messages = {record.hash: record for record in records_in_all if record.provenance.method == "raw"}
    instead: dict[str, MemoryRecord] = {}
    for record in records_in_all:
        message = messages.get(content_hash(record.provenance.source_text)) if record.provenance.source_text else None
        if message is not None:
            fuller, other = (record, message) if _says_as_much(record, message) else (message, record)
            instead[other.id] = fuller
    seen: set[str] = set()
    groups_left: dict[Group, list[MemoryRecord]] = {}
    for group, _ in _FILLED:
        groups_left[group] = []
        for original in groups.get(group, ()):
            record = original if group == "profile" else instead.get(original.id, original)
            if seen.isdisjoint({record.id, record.hash}):
                groups_left[group].append(record)
                seen |= {record.id, record.hash}
    return groups_left


def is_told_by(message: MemoryRecord, memories: Sequence[MemoryRecord]) -> bool:
    """Return whether memories that were read from a message rest on about all of its words."""
    sources = set(message.provenance.source_ids)
    if not message.is_verbatim or not sources:
        return False
    of_message: list[MemoryRecord] = []
    for memory in memories:
        span = memory.provenance.source_text
        if span and span in message.content and not sources.isdisjoint(memory.provenance.source_ids):
            of_message.append(memory)
    return bool(of_message) and _hold_the_words(of_message, message)


def _says_as_much(record: MemoryRecord, message: MemoryRecord) -> bool:
    """Whether a memory holds about all of its message, or the message is too long for a line."""
    return len(message.content) > _WIDTHS[0] or _hold_the_words([record], message)


def _hold_the_words(memories: Sequence[MemoryRecord], message: MemoryRecord) -> bool:
    """Whether memories hold every figure of a message and nearly all of its words, in Chinese its characters."""
    words = _words_of(message.content)
    remembered = {word for memory in memories for word in _words_of(memory.content)}
    missing = words - remembered
    has_all_figures = not any(word[:1].isdigit() for word in missing)
    return has_all_figures and len(words) - len(missing) >= _RETOLD * len(words)


def _words_of(text: str) -> set[str]:
    return {term for term in query_terms(text) if term.isascii() or len(term) == 1}


def line_of(record: MemoryRecord, style: Style, *, width: int = _WIDTHS[0]) -> str:
    """A memory as one harmless line with its date, and whether it is the current value or one that has ended.

    Relative dates are spelled out. All but the person's own plain statements stand in quotation marks under their
    source. "" if nothing readable is left of it.
    """
    language = style.language
    zone = style.zone_of(record)
    quoted = statement_of(record, language, width=width, zone=zone, terms=style.terms)
    if not quoted:
        return ""
    mark = ""
    if record.valid_to is not None and record.valid_to <= style.now:
        mark = _ENDED[language].format(f"{record.valid_to.astimezone(zone):%Y-%m-%d}")
    elif record.id in style.replacing:
        mark = _CURRENT[language]
    return f"{BULLET}{record.created_at.astimezone(zone):%Y-%m-%d} {quoted}{mark}\n"


def memory_text(record: MemoryRecord) -> str:
    """What a memory says, a quotation with its day: many hosts put this text into a prompt, and nothing else.

    What somebody wrote or brought along stays as it is.
    """
    is_as_given = record.is_verbatim or source_of(record) in _AS_GIVEN
    return record.content if is_as_given else dated(record.content, f"{record.said_at:%Y-%m-%d}")


def statement_of(
    record: MemoryRecord,
    language: str,
    *,
    width: int = _WIDTHS[0],
    zone: tzinfo | None = None,
    terms: Collection[str] = (),
) -> str:
    """What a memory says, as one harmless line: the person's own plain statement, or a quotation under its source.

    Dates are resolved on the day that it was said on, in the zone; on the clock of the one who said it without. Of a
    text that is too long for the width, the sentences with most of the terms are shown.
    """
    source = source_of(record)
    said_at = record.said_at if zone is None else record.created_at.astimezone(zone)
    if source is None:
        return quote(excerpt(absolute(record.content, now=said_at), terms, max_chars=width), width)
    words = quoted_words(record.content)
    is_verbatim = record.is_verbatim or words is not None
    speaker = record.actor if is_verbatim and source is not Source.HAND else None
    lead = lead_in(record.content)
    text = absolute(quotable(record) if words is None else f"{lead} … {words}" if lead else words, now=said_at)
    text = excerpt(text, terms, max_chars=width)
    return fenced(named(LABELS[language][source], speaker), text, language=language, max_chars=width)


def _fitting(record: MemoryRecord, style: Style, *, room: int, least: int) -> str:
    """The line of a memory, cut until it fits the room; "" if it does not with as many characters as are the least."""
    for width in (width for width in _WIDTHS if width >= least):
        line = line_of(record, style, width=width)
        if estimate_tokens(line) <= room:
            return line
    return ""


def _written(lines: Mapping[Group, Sequence[tuple[MemoryRecord, str]]], language: str) -> Iterator[str]:
    for group in GROUPS:
        if lines[group]:
            yield f"{TITLES[language][group]}\n"
            yield from (line for _, line in lines[group])


# Why a memory came back, in a sentence.

_BONUSES: Final = {
    "speaker": "it was said by somebody the question names",
    "quote": "it holds a phrase that the question quotes",
    "name": "it names what the question names",
    "attribute": "it tells what the question asks for",
    "rule": "it is a standing wish or instruction",
    "time": "it was said around the time that the question names",
}


def explain_hit(hit: Hit) -> str:
    """One sentence on what speaks for the memory, strongest kind of evidence first."""
    reasons: list[str] = []
    if hit.retriever_scores.get("graph", 0) > 0:
        linked = "it tells of somebody whom the question names by another word"
        reasons.append(f"{linked}, and holds {hit.coverage:.0%} of its wording in that word")
    elif hit.coverage > 0:
        reasons.append(f"it holds {max(hit.coverage, 0.01):.0%} of the question's wording")
    elif hit.retriever_scores.get("keyword", 0) > 0:
        reasons.append("what was said around it holds words of the question")
    if hit.meaning >= 0.01:
        nearness = "very near" if hit.meaning > 0.7 else "near" if hit.meaning > 0.4 else "somewhat near"
        reasons.append(f"its meaning is {nearness} ({hit.meaning:.2f})")
    if answer := hit.retriever_scores.get("reader", 0):
        likely = "likely" if answer >= 0.5 else "possible" if answer >= 0.1 else "unlikely"
        reasons.append(f"the reader thinks it {likely} that it answers ({answer:.2f})")
    reasons.extend(reason for route, reason in _BONUSES.items() if hit.retriever_scores.get(route, 0) > 0)
    if hit.duplicate_ids:
        reasons.append(f"it was said {len(hit.duplicate_ids) + 1} times")
    text = "; ".join(reasons) or "nothing nearer is known"
    return f"{text[0].upper()}{text[1:]}."
