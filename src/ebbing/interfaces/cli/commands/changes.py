"""Commands that give a way back, and those that show what waits for a decision: changes, undo, reviews, review."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.output import dotted, minute
from ebbing.interfaces.cli.session import Session, command

Force = Annotated[bool, typer.Option("--force", help="Put back also what was changed again since.")]


class Verdict(StrEnum):
    """What may be decided."""

    ACCEPT = "accept"
    KEEP = "keep"
    DROP = "drop"


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "changes", scoped=True)(changes)
    command(app, "undo", scoped=True)(undo)
    command(app, "reviews", scoped=True)(reviews)
    command(app, "review")(review)


def changes(
    session: Session, *, limit: Annotated[int, typer.Option(min=1, max=1_000, help="At most so many.")] = 20
) -> None:
    """Show what was written, newest first: one change for each call, import or round of maintenance."""
    page = session.memory.changes.list(**session.owner_ids(), limit=limit)
    screen = session.screen
    if screen.emit_if_json(page):
        return
    if not page["changes"]:
        screen.say("nothing that could be undone is known")
    for change in page["changes"]:
        counts = [f"{change[name]} {name}" for name in ("inserted", "revised", "erased") if change[name]]
        undone = [f"undone by {change['undone_by']}"] if change["undone_by"] else []
        undoes = [f"undoes {change['undoes']}"] if change["undoes"] else []
        screen.say((f"{minute(change['at'])}  ", "dim"), (change["cause"], "bold"), f"  {dotted(counts)}")
        screen.say((dotted([change["id"], *undoes, *undone]), "dim"), indent=2)


def undo(
    session: Session,
    change_id: Annotated[str | None, typer.Argument(help="Id of the change; the last one if not given.")] = None,
    *,
    memory_id: Annotated[str | None, typer.Option("--memory", help="What last happened to this memory.")] = None,
    force: Force = False,
) -> None:
    """Take back a change: what it changed is as before, what it made is deleted."""
    if change_id is not None and memory_id is not None:
        raise InvalidInputError("give the id of a change, or --memory, and not both")
    by_id = change_id is not None or memory_id is not None
    owner: dict[str, Any] = {"user_id": session.named_user} if by_id else session.owner_ids()
    done = session.memory.undo(change_id, memory_id=memory_id, **owner, force=force)
    screen = session.screen
    if screen.emit_if_json(done):
        return
    screen.say(f"undone: {done['cause']}; {len(done['restored'])} as before, {len(done['deleted'])} deleted")
    if done["superseded"]:
        screen.say(f"{len(done['superseded'])} gave way: {dotted(done['superseded'])}", indent=2)
    for left in done["left"]:
        screen.say((f"left alone: {left['memory_id']}, {left['reason']}", "yellow"), indent=2)
    if done["left"]:
        screen.say("--force puts these back too", indent=2)
    if done["erased"]:
        screen.say(f"{done['erased']} were erased for good since and cannot come back", indent=2)
    if done["change_id"] is not None:
        screen.say((f"ebbing undo {done['change_id']} takes this back", "dim"))


def reviews(
    session: Session, *, limit: Annotated[int, typer.Option(min=1, max=1_000, help="At most so many.")] = 100
) -> None:
    """Show what waits for a decision: memories that would close several others, and quarantined messages."""
    page = session.memory.reviews.list(**session.owner_ids(), limit=limit)
    screen = session.screen
    if screen.emit_if_json(page):
        return
    if not page["reviews"]:
        screen.say("nothing waits for a decision")
    for item in page["reviews"]:
        screen.say((f"{minute(item['created_at'])}  ", "dim"), (item["memory"], "bold"))
        screen.say((dotted([item["why"], item["reason"], item["id"]]), "dim"), indent=2)
        for closed in item["would_close"]:
            screen.say(f"would close: {closed['memory']}", indent=4)


def review(
    session: Session,
    memory_id: Annotated[str, typer.Argument(help="Id of what waits.")],
    *,
    decision: Annotated[Verdict, typer.Argument(help="accept, keep or drop.")],
) -> None:
    """Decide: accept what it says, keep it beside the others, or drop it."""
    done = session.memory.reviews.resolve(memory_id, decision.value, user_id=session.named_user)
    screen = session.screen
    if screen.emit_if_json(done):
        return
    closed, learned = len(done["superseded"]), len(done["learned"])
    screen.say(f"{decision.value}: {closed} closed, {learned} learnt")
    if done["change_id"] is not None:
        screen.say((f"ebbing undo {done['change_id']} takes this back", "dim"))
