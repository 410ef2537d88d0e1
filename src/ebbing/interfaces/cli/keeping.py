"""Commands that change what is kept: add, update, forget, restore."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.screen import dotted
from ebbing.interfaces.cli.session import Session, command

Reason = Annotated[str | None, typer.Option(help="Kept in the history.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "add", scoped=True)(add)
    command(app, "update")(update)
    command(app, "forget", scoped=True)(forget)
    command(app, "restore")(restore)


def add(
    session: Session,
    text: Annotated[list[str], typer.Argument(help="What was said; `-` reads it from stdin.")],
    *,
    role: Annotated[str, typer.Option(help="Who said it: user or assistant.")] = "user",
    name: Annotated[str | None, typer.Option(help="The speaker's name.")] = None,
    message_id: Annotated[str | None, typer.Option("--id", help="The message's id; it is stored once only.")] = None,
    when: Annotated[str | None, typer.Option(help="When it was said, ISO 8601; now if not given.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Store it as it is, without reading facts from it.")] = False,
) -> None:
    """Remember something that was said."""
    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    message = {"role": role, "content": words, "name": name, "id": message_id, "timestamp": when}
    done = session.memory.add([message], **session.whose(), infer=not raw)
    screen = session.screen
    if screen.as_json:
        screen.emit(done)
        return
    for result in done["results"]:
        mark = ("+ ", "green") if result["event"] == "ADD" else ("= ", "dim")
        screen.say(mark, (result["memory"], "bold"))
        screen.say((dotted([result["reason"], result.get("rule"), result["id"]]), "dim"), indent=2)
    if not done["results"]:
        screen.say("No fact worth keeping was found in it; what was said is kept as an episode and can be searched.")


def update(
    session: Session,
    memory_id: Annotated[str, typer.Argument(help="Id of the memory.")],
    *,
    text: Annotated[list[str], typer.Argument(help="The new text.")],
) -> None:
    """Give a memory another text."""
    item = session.memory.update(memory_id, " ".join(text), user_id=session.user)
    if session.screen.as_json:
        session.screen.emit(item)
    else:
        session.screen.say("Now: ", (item["memory"], "bold"))


def forget(
    session: Session,
    memory_ids: Annotated[list[str] | None, typer.Argument(help="Ids of memories.")] = None,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="For good: it cannot be restored.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Everything of this user, for good.")] = False,
    reason: Reason = None,
    yes: Yes = False,
) -> None:
    """Take memories out of every answer; `restore` brings them back, unless --hard or --all."""
    if everything == bool(memory_ids):
        raise InvalidInputError("name the memories to forget by their ids, or use --all, and not both")
    if everything:
        _forget_everything(session, yes=yes)
        return
    ids = memory_ids or []
    if hard:
        _ask(session, f"Erase {len(ids)} memories for good?", yes=yes)
    for memory_id in ids:
        session.memory.delete(memory_id, reason=reason, hard=hard, user_id=session.user)
    if session.screen.as_json:
        session.screen.emit({"forgotten": ids, "hard": hard})
    else:
        how = "erased for good" if hard else "forgotten; `ebbing restore ID` brings it back"
        session.screen.say(f"{len(ids)} {how}")


def restore(session: Session, memory_id: Annotated[str, typer.Argument(help="Id of the memory.")]) -> None:
    """Bring a forgotten memory back."""
    item = session.memory.restore(memory_id, user_id=session.user)
    if session.screen.as_json:
        session.screen.emit(item)
    else:
        session.screen.say("Back: ", (item["memory"], "bold"))


def _forget_everything(session: Session, *, yes: bool) -> None:
    whose = session.whose()
    names = dotted(f"{key.removesuffix('_id')} {name}" for key, name in whose.items() if name)
    _ask(session, f"Erase everything of {names} for good: memories, messages, history?", yes=yes)
    done: dict[str, Any] = session.memory.delete_all(**whose)
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        gone = done["deleted"]
        session.screen.say(
            f"Erased {gone['memories']} memories, {gone['episodes']} messages, {gone['history']} changes."
        )
        if not done["scrubbed"]:
            session.screen.say(
                "On the disk they are overwritten as soon as nobody else reads; `ebbing compact` does it now."
            )


def _ask(session: Session, question: str, *, yes: bool) -> None:
    if yes:
        return
    if session.screen.as_json or not sys.stdin.isatty():
        raise InvalidInputError("this cannot be undone and nobody can be asked: give --yes to do it")
    typer.confirm(question, abort=True, err=True)
