"""The demo from beginning to end: remember, ask, let time pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

import ebbing
from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.demo import scenes
from ebbing.interfaces.cli.demo.clock import StoryClock
from ebbing.interfaces.cli.demo.forgetting import Fading, fading
from ebbing.interfaces.cli.demo.story import AS_WRITTEN, PEOPLE, QUESTIONS, TODAY, Question, conversations, until
from ebbing.interfaces.cli.output import Screen
from ebbing.interfaces.cli.session import Json, Store

if TYPE_CHECKING:
    from ebbing.sync import Memory

ANSWERS = 2
"""Answers shown to each question."""


def register(app: typer.Typer) -> None:
    """Adds the demo to the app."""
    app.command("demo")(demo)


def demo(*, path: Store = None, as_json: Json = False) -> None:
    """Watch a Chinese and an English conversation being remembered, recalled and partly forgotten; offline."""
    screen = Screen(as_json=as_json)
    with _place(path) as directory:
        clock = StoryClock(conversations()[0].ended_at)
        with _opened(directory, clock) as memory:
            _refuse_other_people(memory, directory)
            outcomes = _remembered(memory, clock, screen=screen)
            clock.move(TODAY)
            answers = ask(memory, directory, clock=clock)
            faded = let_time_pass(memory, answers)
            if not as_json:
                scenes.answered(screen, answers)
                scenes.faded(screen, faded)
                scenes.closing(screen, path, notes=memory.components.embedder.notes)
    if as_json:
        screen.emit(scenes.as_json(outcomes, answers, faded=faded))


def kept_in(directory: Path) -> bool:
    """Keep the demo's conversations in a store, as if they had ended yesterday; False if they were there already."""
    with _opened(directory) as memory:
        _refuse_other_people(memory, directory)
        if all(memory.get_all(user_id=user, limit=1)["results"] for user in PEOPLE):
            return False
        moved = until(memory.components.clock.now())
    clock = StoryClock(conversations(moved)[0].ended_at)
    with _opened(directory, clock) as memory:
        for _ in remember(memory, clock, moved=moved):
            pass
    return True


def remember(
    memory: Memory, clock: StoryClock, *, moved: timedelta = AS_WRITTEN
) -> Iterator[scenes.ConversationOutcome]:
    """Add each conversation at its own time; give what was read from it, and why, as soon as it is stored."""
    for conversation in conversations(moved):
        clock.move(conversation.ended_at)
        done = memory.add(list(conversation.messages), user_id=conversation.user_id, run_id=conversation.run_id)
        yield scenes.ConversationOutcome(conversation, done["results"])


def ask(memory: Memory, directory: Path, *, clock: StoryClock) -> list[scenes.Answer]:
    """Asks every question and takes the time; one is answered by a memory without a model."""
    with _opened(directory, clock, embedder="none") as without_model:
        return [_answer(memory if question.with_model else without_model, question) for question in QUESTIONS]


def let_time_pass(memory: Memory, answers: list[scenes.Answer]) -> dict[str, list[Fading]]:
    """What each person's records come to after 30 days; the best answers count as recalled."""
    recalled = {answer.hits[0]["id"] for answer in answers if answer.hits}
    return {user: fading(_everything(memory, user), TODAY, recalled=recalled) for user in PEOPLE}


def _remembered(memory: Memory, clock: StoryClock, *, screen: Screen) -> list[scenes.ConversationOutcome]:
    """Everything that was kept, shown while it goes on."""
    if screen.as_json:
        return list(remember(memory, clock))
    scenes.opening(screen)
    outcomes = []
    for item in remember(memory, clock):
        scenes.show_conversation(screen, item)
        outcomes.append(item)
    scenes.all_kept(screen, outcomes)
    return outcomes


def _answer(memory: Memory, question: Question) -> scenes.Answer:
    start = perf_counter()
    answer = memory.search(question.text, user_id=question.user_id, top_k=ANSWERS)
    return scenes.Answer(question, answer["results"], milliseconds=(perf_counter() - start) * 1_000)


def _everything(memory: Memory, user: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        page = memory.export(user_id=user, cursor=cursor)
        yield from page["records"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def _opened(directory: Path, clock: StoryClock | None = None, **more: Any) -> Memory:
    # The demo shows the product as it comes: what a person has set for their own memory is not touched.
    fixed = {"store": "sqlite", "history_path": None, "api_version": "v1.1", "embedder_threads": 2}
    config = {"path": directory, **fixed, **more}
    return ebbing.Memory.from_config(config, clock=clock)


def _refuse_other_people(memory: Memory, directory: Path) -> None:
    """The demo writes invented people, with invented times: never beside somebody's own memory."""
    if any(owner["kind"] != "user" or owner["name"] not in PEOPLE for owner in memory.maintenance.list_owners()):
        raise InvalidInputError(
            f"the demo keeps to a store of its own, and {directory} holds other people: give another --path, or none"
        )


@contextmanager
def _place(path: Path | None) -> Iterator[Path]:
    if path is not None:
        yield path
        return
    with TemporaryDirectory(prefix="ebbing-demo-") as directory:
        yield Path(directory)
