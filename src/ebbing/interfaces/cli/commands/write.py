"""Commands that change what is kept: add, update, forget, restore."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ebbing.domain.errors import InvalidInputError, NotFoundError
from ebbing.interfaces.cli.output import day, dotted
from ebbing.interfaces.cli.session import Session, command

Reason = Annotated[str | None, typer.Option(help="Kept in the history.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


SHOWN = 50
"""Candidates that are shown to people."""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "add", scoped=True, makes_store=True)(add)
    command(app, "update")(update)
    command(app, "delete", scoped=True)(delete)
    command(app, "forget", scoped=True)(forget)
    command(app, "restore")(restore)


def add(
    session: Session,
    text: Annotated[list[str], typer.Argument(help="What was said; `-` reads it from stdin.")],
    *,
    role: Annotated[str, typer.Option(help="Who said it: user or assistant.")] = "user",
    name: Annotated[str | None, typer.Option(help="The speaker's name.")] = None,
    message_id: Annotated[str | None, typer.Option("--id", help="The message's id; it is stored once only.")] = None,
    timestamp: Annotated[str | None, typer.Option(help="When it was said, ISO 8601; now if not given.")] = None,
    no_extract: Annotated[
        bool, typer.Option("--no-extract", help="Store it as it is, without reading facts from it.")
    ] = False,
    private: Annotated[bool, typer.Option("--private", help="Off the record: nothing of it is written.")] = False,
) -> None:
    """Remember something that was said."""
    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    message = {"role": role, "content": words, "name": name, "id": message_id, "timestamp": timestamp}
    done = session.memory.add([message], **session.owner_ids(), infer=not no_extract, private=private)
    screen = session.screen
    if screen.emit_if_json(done):
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


def delete(
    session: Session,
    memory_ids: Annotated[list[str] | None, typer.Argument(help="Ids of memories.")] = None,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="For good: it cannot be restored.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Everything of this user, for good.")] = False,
    reason: Reason = None,
    yes: Yes = False,
) -> None:
    """Delete memories; `restore` brings them back, unless --hard or --all."""
    if everything == bool(memory_ids):
        raise InvalidInputError("give the ids of what to delete, or --all: one of these")
    if everything:
        _delete_everything(session, yes=yes)
        return
    ids = memory_ids or []
    if hard:
        _ask(session, f"Erase {len(ids)} memories for good?", yes=yes)
    for memory_id in ids:
        session.memory.delete(memory_id, reason=reason, hard=hard, user_id=session.user)
    if session.screen.as_json:
        session.screen.emit({"deleted": ids, "hard": hard})
    else:
        outcome = "erased for good" if hard else "deleted; `ebbing restore ID` brings it back"
        session.screen.say(f"{len(ids)} {outcome}")


def forget(
    session: Session,
    *,
    about: Annotated[
        str | None, typer.Option("--about", help="What to forget, in your own words: it is shown first.")
    ] = None,
    confirm: Annotated[
        str | None, typer.Option("--confirm", help="Token of what --about showed with --json: does just that.")
    ] = None,
    hard: Annotated[bool, typer.Option("--hard", help="For good: it cannot be restored.")] = False,
    reason: Reason = None,
    yes: Yes = False,
) -> None:
    """Forget what was said about something; `delete` takes the ids of memories."""
    if (about is None) == (confirm is None):
        raise InvalidInputError("give --about, or --confirm: one of these; `ebbing delete` takes ids")
    if about is not None:
        _forget_about(session, about, hard=hard, reason=reason, yes=yes)
    else:
        _forget_shown(session, confirm, hard=hard, reason=reason)


def restore(session: Session, memory_id: Annotated[str, typer.Argument(help="Id of the memory.")]) -> None:
    """Bring a deleted memory back."""
    item = session.memory.restore(memory_id, user_id=session.user)
    if session.screen.as_json:
        session.screen.emit(item)
    else:
        session.screen.say("Back: ", (item["memory"], "bold"))


def _forget_about(session: Session, about: str, *, hard: bool, reason: str | None, yes: bool) -> None:
    screen = session.screen
    answer = session.memory.forget(about, **session.owner_ids(), hard=hard)
    items = answer["candidates"]
    if screen.as_json and not (yes and items):
        screen.emit(answer)
        return
    if not screen.as_json:
        head = f"{len(items)} memories and messages would be forgotten:" if items else "Nothing that says it is kept."
        _show_items(session, items, head=head)
        if not items and (missing := session.owner_missing()):
            screen.say(missing)
        if answer["perhaps"]:
            head = "These may be about it too, and stay; `ebbing delete ID` deletes one:"
            _show_items(session, answer["perhaps"], head=head)
    if items:
        _ask(session, "Erase them for good?" if hard else "Forget them?", yes=yes)
        _forget_shown(session, answer["confirm"], hard=hard, reason=reason)


def _forget_shown(session: Session, token: str | None, *, hard: bool, reason: str | None) -> None:
    done = session.memory.forget(confirm=token, **session.owner_ids(), hard=hard, reason=reason)
    if session.screen.emit_if_json(done):
        return
    outcome = "erased for good" if hard else "forgotten; `ebbing restore ID` brings one back"
    session.screen.say(f"{len(done['forgotten']) + done['turns']} {outcome}")


def _show_items(session: Session, items: Sequence[Mapping[str, Any]], *, head: str) -> None:
    screen = session.screen
    screen.say(head)
    for item in items[:SHOWN]:
        screen.say((item["memory"], "bold"), indent=2)
        screen.say((dotted([item["why"], day(item["created_at"]), item["id"]]), "dim"), indent=4)
    if len(items) > SHOWN:
        screen.say(f"… and {len(items) - SHOWN} more (--json lists all)", indent=2)


def _delete_everything(session: Session, *, yes: bool) -> None:
    owner = session.owner_ids()
    if missing := session.owner_missing():
        raise NotFoundError(missing)
    names = dotted(f"{key.removesuffix('_id')} {name}" for key, name in owner.items() if name)
    _ask(session, f"Erase everything of {names} for good: memories, messages, history?", yes=yes)
    done = session.memory.delete_all(**owner)
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        gone = done["deleted"]
        session.screen.say(
            f"Erased {gone['memories']} memories, {gone['episodes']} messages, {gone['history']} changes."
        )
        if not done["scrubbed"]:
            session.screen.say(
                "On the disk they are overwritten as soon as nobody else reads; `ebbing vacuum` does it now."
            )


def _ask(session: Session, question: str, *, yes: bool) -> None:
    if yes:
        return
    if session.screen.as_json or not sys.stdin.isatty():
        raise InvalidInputError("this is not done unasked, and nobody can be asked: give --yes to do it")
    typer.confirm(question, abort=True, err=True)
