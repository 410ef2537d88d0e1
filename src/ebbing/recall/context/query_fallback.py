"""From a question to its memories in up to three steps, the cheap ones first: as asked, in context, rewritten."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Final, Protocol

import anyio

from ebbing.domain.errors import EbbingError
from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role, content_hash
from ebbing.language.signals.talk_signs import shows
from ebbing.language.signals.vague_questions import is_weak, leans
from ebbing.language.text.analyzer import wants_advice
from ebbing.language.text.detect_language import detect
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.models.query_rewriter import QueryRewriter, RewriteRequest
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.recall.context.usage_policy import DEFAULT, Policy, apply_usage_policy, is_usable

MAX_CONVERSATION: Final = 1_200
"""Characters of the query that holds the conversation."""
REWRITE_SECONDS: Final = 2.5
_MAX_REWRITTEN: Final = 300
_MAX_PARTS: Final = 3
"""Turns or clauses that are searched for beside the whole."""
_MAX_PART: Final = 300
"""Characters of a turn that count when it is searched for alone."""
_CLAUSE: Final = re.compile(r"[,，;；:：。!！?？、]|\.\s")
USER_QUESTION: Final = {"zh": "用户问题：", "en": "User question: "}
"""What stands before the question that ends a conversation."""
_MARKED: Final = re.compile(r"^\s*(?:[{\[<#>*`|]|[-+] |\d+[.)] )|```|\*\*|`")
_WRAPPING: Final = "\"'“”‘’「」『』《》 "
_SPOKEN: Final = (Role.USER, Role.ASSISTANT)


class QueryStrategy(StrEnum):
    """Where an answer comes from."""

    QUESTION = "question"
    CONVERSATION = "conversation"
    REWRITE = "rewrite"
    NONE = "none"
    """Nothing that was found is good enough to be used."""


@dataclass(frozen=True, slots=True)
class ConversationQuery:
    """A question and the conversation that it closes."""

    question: str
    before: Sequence[Message] = ()
    user_name: str | None = None
    char_name: str | None = None

    def is_said_by(self, text: str) -> bool:
        """Return whether a text is the question, and says without the conversation what is asked."""
        return text == self.question and not (self.before and leans(text))

    @property
    def hashes(self) -> tuple[str, ...]:
        """Content hashes of what the conversation holds, the question included; none without a conversation."""
        texts = [strip_recalled(message.content) for message in self.before]
        texts += [self.question] if texts else []
        return tuple(dict.fromkeys(map(content_hash, texts)))

    @property
    def language(self) -> str:
        """`zh` or `en`: that of the question, else of the turn before it."""
        languages = (detect(text) for text in (self.question, *(message.content for message in reversed(self.before))))
        return next((language for language in languages if language in USER_QUESTION), "en")


@dataclass(frozen=True, slots=True)
class FallbackResult:
    """What was found, and how."""

    hits: tuple[Hit, ...]
    """Those that may be used, best first."""
    rung: QueryStrategy
    query: str
    """What was searched for on that rung."""

    @property
    def score(self) -> float:
        """That of the best memory; 0 for none."""
        return max((hit.score for hit in self.hits), default=0.0)


class SearchFn(Protocol):
    """Searches for a text, and where it is given for the conversation around it as well: hits, best first."""

    def __call__(self, text: str, conversation: str = "", /) -> Awaitable[Sequence[Hit]]: ...


@dataclass(frozen=True, slots=True)
class FallbackOptions:
    """How far to go for an answer."""

    policy: Policy = DEFAULT
    turns: int = 6
    """Messages before the question that count as its conversation."""
    with_turns: bool = True
    """The messages around what is found come along."""
    rewriter: QueryRewriter | None = None
    """None leaves the third step out."""
    rewrite_seconds: float = REWRITE_SECONDS
    session: str | None = None
    channel: str | None = None
    calibration: Calibration | None = None
    """Of the model that made the vectors; None where there are none."""


async def search_with_fallback(talk: ConversationQuery, look: SearchFn, *, options: FallbackOptions) -> FallbackResult:
    """The memories for a question, from the first step whose best memory is good enough (`Policy.enough`).

    1. the question itself, unless it leans on a conversation (names no topic, is short, or holds a pronoun);
    2. the question and the last turns with it behind them, each row judged by both together; of a question that does
       not lean, the last turns with it behind them, and the latest of them that name a topic, each for itself;
    3. the question as the rewriter puts it, and its clauses.

    A question that leans comes last of all by itself, unless it names no topic and its conversation does. Where no
    step is good enough, the one with the best score counts. A step after the first that fails leaves what was found
    before it.
    """
    if not _names_topic(talk, options):
        options = replace(options, policy=replace(options.policy, min_score=options.policy.topicless_min_score))
    steps = _steps(talk, options)
    best = await steps[0](talk, look)
    for step in steps[1:]:
        if best.score >= options.policy.enough:
            return best
        try:
            result = await step(talk, look)
        except EbbingError:
            continue
        best = result if result.score > best.score else best
    return best


def _names_topic(talk: ConversationQuery, options: FallbackOptions) -> bool:
    """Whether the question or the conversation before it says what it is about; a question by itself has to do."""
    texts = [text for _, text in _spoken(talk, options.turns)]
    return not texts or not all(map(is_weak, (talk.question, *texts)))


_Step = Callable[[ConversationQuery, SearchFn], Awaitable[FallbackResult]]


def _steps(talk: ConversationQuery, options: FallbackOptions) -> list[_Step]:
    question: _Step = partial(_by_question, options=options)
    leaning: list[_Step] = []
    if _spoken(talk, options.turns):
        leaning = [partial(_by_both if leans(talk.question) else _by_conversation, options=options)]
        leaning += [] if options.rewriter is None else [partial(_by_rewrite, options=options)]
    if not (leaning and leans(talk.question)):
        return [question, *leaning]
    is_of_itself = shows("self", talk.question)  # "what do you know about me?" leans on nothing
    needs_topic = is_weak(talk.question) and not is_of_itself
    return leaning if needs_topic and _names_topic(talk, options) else [*leaning, question]


async def _by_question(talk: ConversationQuery, look: SearchFn, *, options: FallbackOptions) -> FallbackResult:
    return await _search_each([talk.question], QueryStrategy.QUESTION, talk=talk, look=look, options=options)


async def _by_both(talk: ConversationQuery, look: SearchFn, *, options: FallbackOptions) -> FallbackResult:
    """The turns of the one who asks name the topic; the other's only where those do not."""
    spoken = _spoken(talk, options.turns)
    own = [text for message, text in spoken if message.role is Role.USER]
    turns = [text for _, text in spoken] if all(map(is_weak, own)) else own
    whole = _latest(turns, talk.question, max_chars=MAX_CONVERSATION)
    if _names_topic(talk, options):
        options = replace(options, policy=replace(options.policy, min_score=options.policy.leaning_min_score))
    return _admitted(
        await look(talk.question, whole), QueryStrategy.CONVERSATION, query=whole, talk=talk, options=options
    )


async def _by_conversation(talk: ConversationQuery, look: SearchFn, *, options: FallbackOptions) -> FallbackResult:
    whole = conversation_query(talk, turns=options.turns)
    turns = [text[:_MAX_PART] for _, text in _spoken(talk, options.turns)]
    return await _search_each(
        [whole, *_telling(reversed(turns))], QueryStrategy.CONVERSATION, talk=talk, look=look, options=options
    )


async def _by_rewrite(talk: ConversationQuery, look: SearchFn, *, options: FallbackOptions) -> FallbackResult:
    query = await rewrite_question(talk, options=options)
    if query is None:
        return FallbackResult((), QueryStrategy.NONE, talk.question)
    parts = _telling(part.strip() for part in _CLAUSE.split(query))
    return await _search_each([query, *parts], QueryStrategy.REWRITE, talk=talk, look=look, options=options)


async def _search_each(
    queries: Sequence[str], rung: QueryStrategy, *, talk: ConversationQuery, look: SearchFn, options: FallbackOptions
) -> FallbackResult:
    """What the first query, or one of the parts behind it, finds.

    A long query says several things and a memory answers one of them, so that its score for the whole is low: the best
    of its scores counts.
    """
    best: dict[str, Hit] = {}
    for query in dict.fromkeys(queries):
        for hit in await look(query):
            earlier = best.get(hit.record.id)
            if earlier is None or hit.score > earlier.score:
                best[hit.record.id] = hit
    ordered = sorted(best.values(), key=lambda hit: -hit.score) if len(queries) > 1 else list(best.values())
    return _admitted(ordered, rung, query=queries[0], talk=talk, options=options)


def _admitted(
    hits: Sequence[Hit], rung: QueryStrategy, *, query: str, talk: ConversationQuery, options: FallbackOptions
) -> FallbackResult:
    fitting = [hit for hit in hits if is_usable(hit.record, session=options.session, channel=options.channel)]
    good = apply_usage_policy(fitting, options.policy, session=options.session, advice=wants_advice(talk.question))
    return FallbackResult(tuple(good), rung if good else QueryStrategy.NONE, query)


def _telling(parts: Iterable[str]) -> list[str]:
    """The first few parts that name a topic."""
    return list(islice((part for part in parts if part and not is_weak(part)), _MAX_PARTS))


def conversation_query(talk: ConversationQuery, *, turns: int = 6, max_chars: int = MAX_CONVERSATION) -> str:
    """The last turns, oldest first, and "User question: …" (用户问题：…) as the last line; at most `max_chars` long.

    What does not fit goes from the beginning: the nearer to the question, the likelier it is meant.
    """
    last = f"{USER_QUESTION[talk.language]}{talk.question}"[:max_chars]
    return _latest([text for _, text in _spoken(talk, turns)], last, max_chars=max_chars)


def rewrite_request(talk: ConversationQuery, *, turns: int = 6) -> RewriteRequest:
    """What the rewriter is asked."""
    names = {Role.USER: talk.user_name or "user", Role.ASSISTANT: talk.char_name or "assistant"}
    lines = [
        f"{message.name or names[message.role]}: {' '.join(text.split())}" for message, text in _spoken(talk, turns)
    ]
    return RewriteRequest(
        user_name=names[Role.USER],
        char_name=names[Role.ASSISTANT],
        user_question=talk.question,
        recent_conversation=_latest(lines[:-1], lines[-1][:MAX_CONVERSATION], max_chars=MAX_CONVERSATION)
        if lines
        else "",
    )


async def rewrite_question(talk: ConversationQuery, *, options: FallbackOptions) -> str | None:
    """The question as the rewriter puts it; None if it failed, took too long, or answered in another form."""
    if options.rewriter is None:
        return None
    answer: str | None = None
    with anyio.move_on_after(options.rewrite_seconds):
        try:
            answer = await options.rewriter.rewrite(rewrite_request(talk, turns=options.turns))
        except (EbbingError, OSError, RuntimeError, ValueError, LookupError, TypeError):
            return None  # a rewriter is somebody else's model: whatever it trips over, recall goes on without it
    return checked_rewrite(answer)


def checked_rewrite(answer: object) -> str | None:
    """A rewriter's answer if it is one plain line of 2 to 300 characters, else None; quotation marks around it go."""
    if not isinstance(answer, str):
        return None
    line = answer.strip()
    if "\n" in line or "\r" in line or _MARKED.search(line) or not line.isprintable():
        return None
    line = line.strip(_WRAPPING)
    return line if 2 <= len(line) <= _MAX_REWRITTEN else None


def _spoken(talk: ConversationQuery, turns: int) -> list[tuple[Message, str]]:
    """The last turns of the two who talk, without memories that were put into them."""
    turns_spoken = [
        (message, strip_recalled(message.content).strip()) for message in talk.before if message.role in _SPOKEN
    ]
    return [(message, text) for message, text in turns_spoken if text][-turns:] if turns > 0 else []


def _latest(lines: Sequence[str], last: str, *, max_chars: int) -> str:
    """As many of the lines from the end as fit before the last one; the first that does not fit gives its own end."""
    parts = [last]
    room = max_chars - len(last)
    for line in reversed(lines):
        if room < 2:
            break
        part = line[-(room - 1) :]
        parts.append(part)
        room -= len(part) + 1
    return "\n".join(reversed(parts))
