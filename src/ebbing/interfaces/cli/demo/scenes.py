"""What the demo shows."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.rule import Rule
from rich.text import Text

from ebbing.domain.forgetting.curves import EXPONENTIAL, POWER_LAW
from ebbing.interfaces.cli.commands.read import show_hit
from ebbing.interfaces.cli.demo.forgetting import DAYS, Fading, episodes, memories
from ebbing.interfaces.cli.demo.story import PEOPLE, Conversation, Question, conversations
from ebbing.interfaces.cli.output import Screen, bar, dotted, plain
from ebbing.recall.context.render import memory_text
from ebbing.results import AddedItem, HitItem

FATES: Final = {"protected": ("protected", "green"), "stays": ("stays", "cyan"), "fades": ("fades", "yellow")}
FIGURES: Final = 37
"""Columns of a row of the simulation that stand behind the memory's text."""
NOT_KEPT: Final = 4
"""Messages shown as examples of what makes no memory."""


@dataclass(frozen=True, slots=True)
class ConversationOutcome:
    """One conversation and what `add` answered."""

    conversation: Conversation
    results: Sequence[AddedItem]


@dataclass(frozen=True, slots=True)
class Answer:
    """One question and what `search` found."""

    question: Question
    hits: Sequence[HitItem]
    milliseconds: float


def opening(screen: Screen) -> None:
    """Who speaks, how much, when."""
    talks = conversations()
    count = sum(len(talk.messages) for talk in talks)
    first, last = talks[0].ended_at.date(), talks[-1].ended_at.date()
    screen.say(("Ebbing", "bold cyan"), " remembers what matters about a person, and lets the rest fade.")
    screen.say(
        f"{len(PEOPLE)} invented people, {len(talks)} conversations, {count} messages, {first} to {last}, played on a"
        " clock of the story. Nothing leaves this machine."
    )
    _heading(screen, "1  What is kept, and why")


def show_conversation(screen: Screen, outcome: ConversationOutcome) -> None:
    """What one conversation left: each fact with the rule that found it and the sentence that it was read from."""
    conversation = outcome.conversation
    who, when = PEOPLE[conversation.user_id], conversation.ended_at.date().isoformat()
    screen.say((who, "bold magenta"), (f"  {when}, {len(conversation.messages)} messages", "dim"))
    for result in outcome.results:
        _fact(screen, result)
    if not outcome.results:
        screen.say(("nothing new", "dim"), indent=2)


def all_kept(screen: Screen, outcomes: Sequence[ConversationOutcome]) -> None:
    """How much it came to, and what was passed over."""
    screen.gap()
    facts = sum(result["event"] == "ADD" for outcome in outcomes for result in outcome.results)
    messages = sum(len(outcome.conversation.messages) for outcome in outcomes)
    screen.say(f"{facts} new memories. All {messages} messages stay searchable word for word beside them.")
    passed = _passed_over(outcomes)[:NOT_KEPT]
    if passed:
        screen.say("Some that no memory was made of:")
    for text in passed:
        screen.say((f"“{text}”", "dim"), indent=4)


def answered(screen: Screen, answers: Sequence[Answer]) -> None:
    """Each question with its best answers, their scores, and the routes that found them."""
    _heading(screen, "2  Five questions, two languages")
    for answer in answers:
        question = answer.question
        screen.say(("? ", "magenta"), (question.text, "bold magenta"), "  ", (f"of {PEOPLE[question.user_id]}", ""))
        screen.say((f"{question.note}; {answer.milliseconds:.0f} ms", "dim"), indent=2)
        for place, hit in enumerate(answer.hits, 1):
            show_hit(screen, place, hit=hit)
        screen.gap()
    screen.say(("Found by meaning: cosine of two vectors. Found by keywords: BM25 points. Both count alike.", "dim"))


def faded(screen: Screen, fadings_by_person: Mapping[str, Sequence[Fading]]) -> None:
    """The memories now and in 30 days, and how many of the messages fade."""
    _heading(screen, f"3  {DAYS} days later: a simulation")
    screen.say(
        "Nothing is deleted here: these are the curves alone. On the power law a memory has faded below"
        f" {POWER_LAW.forgotten_below:.0%}; the exponential curve (below {EXPONENTIAL.forgotten_below:.0%}) is"
        " stricter. What answered a question above starts anew (↺). Who somebody is and what they must avoid never"
        " fades."
    )
    everything = [item for of_person in fadings_by_person.values() for item in of_person]
    _show_fading(screen, memories(everything))
    fates = [memory.fate for memory in memories(everything)]
    episode_fates = [episode.fate for episode in episodes(everything)]
    screen.say(
        f"Of {len(fates)} memories {fates.count('protected')} never fade, {fates.count('stays')} stay and"
        f" {fates.count('fades')} would have faded; on the exponential curve"
        f" {sum(memory.fades_exponentially for memory in memories(everything))}."
        f" Of {len(episode_fates)} messages {episode_fates.count('fades')} would have faded."
    )


def closing(screen: Screen, path: Path | None, *, notes: Sequence[str]) -> None:
    """What was at work, and what to do next."""
    _heading(screen, "Next")
    screen.say(("meaning: ", "dim"), notes[-1] if notes else "no embedder")
    if path is None:
        screen.say("The store was temporary and is gone. Keep one: ", ("ebbing demo --path demo-data", "bold"))
    else:
        screen.say("Go on: ", (f"ebbing search 'green tea' --user emma --path {path}", "bold"))
    screen.say("Your own: ", ("ebbing add 'I live in Leeds and I love hiking.' --user me", "bold"))


def as_json(
    outcomes: Sequence[ConversationOutcome], answers: Sequence[Answer], *, faded: Mapping[str, Sequence[Fading]]
) -> dict[str, Any]:
    """The whole demo as JSON values."""
    added: list[dict[str, Any]] = []
    for outcome in outcomes:
        user_id = outcome.conversation.user_id
        added += [{"user_id": user_id, **result} for result in outcome.results if result["event"] == "ADD"]
    return {
        "messages": sum(len(outcome.conversation.messages) for outcome in outcomes),
        "kept": added,
        "questions": [_answer_json(answer) for answer in answers],
        "days": DAYS,
        "fading": [_fading_json(user, item) for user, of_person in faded.items() for item in of_person],
    }


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question.text,
        "user_id": answer.question.user_id,
        "with_model": answer.question.with_model,
        "milliseconds": round(answer.milliseconds, 1),
        "results": answer.hits,
    }


def _fading_json(user: str, item: Fading) -> dict[str, Any]:
    return {
        "user_id": user,
        "id": item.record.id,
        "memory": memory_text(item.record),
        "kind": item.record.kind.value,
        "now": round(item.now, 4),
        "later": round(item.later, 4),
        "exponential_later": round(item.exponential_later, 4),
        "recalled": item.recalled,
        "fate": item.fate,
    }


def _heading(screen: Screen, title: str) -> None:
    screen.gap()
    screen.console.print(Rule(Text(title, style="bold"), align="left", style="dim"))


def _fact(screen: Screen, result: Mapping[str, Any]) -> None:
    if result["event"] != "ADD":
        screen.say(("= ", "dim"), result["memory"], (f"  {result['reason']}", "dim"), indent=2)
        return
    screen.say(("+ ", "green"), (result["memory"], "bold"), indent=2)
    why = dotted([result["type"], f"importance {result['importance']:.2f}", f"rule {result['rule']}"])
    screen.say((f"{why} · “{result['source_text']}”", "dim"), indent=4)


def _passed_over(outcomes: Sequence[ConversationOutcome]) -> list[str]:
    """What users said that no memory was read from, the shortest first."""
    silent: list[str] = []
    for outcome in outcomes:
        sources = [_folded(result.get("source_text") or "") for result in outcome.results]
        for message in outcome.conversation.messages:
            text = _folded(message["content"])
            if message["role"] == "user" and not any(source in text for source in filter(None, sources)):
                silent.append(message["content"])
    return sorted(silent, key=len)


def _folded(text: str) -> str:
    """The text in the form in which rules read it: punctuation of one width."""
    return unicodedata.normalize("NFKC", text)


def _show_fading(screen: Screen, fadings: Sequence[Fading]) -> None:
    room = max(16, screen.console.width - FIGURES)
    screen.say((f"{'memory':<{room}}today  in {DAYS} days    exp.", "dim"))
    for fading in fadings:
        label, style = FATES[fading.fate]
        text = Text(plain(fading.record.content))
        text.truncate(room - 2, overflow="ellipsis", pad=True)
        screen.say(
            text,
            (f"  {fading.now:5.0%}", "dim"),
            (f"  {bar(fading.later, width=6)} {fading.later:4.0%}", style),
            (f"  {fading.exponential_later:4.0%}", "dim"),
            (f"  {label}{' ↺' if fading.recalled else ''}", style),
        )
