"""Commands that make few memories of many, and many of few: merge-duplicates, derive-habits, sources."""

from __future__ import annotations

from typing import Annotated

import typer

from ebbing.interfaces.cli.output import minute
from ebbing.interfaces.cli.session import Session, command


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "merge-duplicates", scoped=True)(merge_duplicates)
    command(app, "derive-habits", scoped=True)(derive_habits)
    command(app, "sources")(sources)


def merge_duplicates(
    session: Session,
    *,
    now: Annotated[str | None, typer.Option(help="The time to go by, ISO 8601; the present if not given.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
) -> None:
    """Let one memory tell what several say, of one owner or, if nobody is named, of everybody."""
    owner = {"user_id": session.named_user, "agent_id": session.agent, "run_id": session.run}
    done = session.memory.maintenance.merge_duplicates(**owner, now=now, dry_run=dry_run)
    if session.screen.emit_if_json(done):
        return
    would = "would be" if dry_run else "are"
    session.screen.say(
        f"{done.get('merged', 0):,} memories {would} told by {done.get('clusters', 0):,},"
        f" {done.get('saved_bytes', 0):,} bytes less to read"
    )


def derive_habits(
    session: Session,
    *,
    now: Annotated[str | None, typer.Option(help="The time to go by, ISO 8601; the present if not given.")] = None,
    level: Annotated[
        int | None, typer.Option(min=1, max=3, help="How general; as far as it carries if not given.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
) -> None:
    """Tell by one memory, with a count, what was done again and again; of everybody if nobody is named."""
    owner = {"user_id": session.named_user, "agent_id": session.agent, "run_id": session.run}
    done = session.memory.maintenance.derive_habits(**owner, now=now, level=level, dry_run=dry_run)
    if session.screen.emit_if_json(done):
        return
    habits, raised = done.get("abstracted", 0), done.get("raised", 0)
    would = "would be" if dry_run else "are"
    session.screen.say(
        f"{habits:,} habits {would} new, {raised:,} counted on; {done.get('merged', 0):,} memories step behind"
    )


def sources(
    session: Session,
    memory_id: Annotated[str, typer.Argument(help="Id of the memory.")],
    *,
    restore: Annotated[bool, typer.Option("--restore", help="Let them tell for themselves again.")] = False,
) -> None:
    """Show what a memory tells in the place of others, the oldest first."""
    memory, user_id = session.memory, session.named_user
    answer = memory.get_sources(memory_id, user_id=user_id)
    restored = memory.maintenance.split_merged(memory_id, user_id=user_id) if restore else None
    if session.screen.emit_if_json(restored or answer):
        return
    span = f"{minute(answer['first_said_at'])} to {minute(answer['last_said_at'])}"
    session.screen.say((answer["memory"], "bold"), (f"  {answer['mentions']} times, {span}", "dim"))
    for source in answer["sources"]:
        session.screen.say((f"{minute(source['created_at'])}  ", "dim"), source["memory"], indent=2)
    if restored is not None:
        session.screen.say(f"{restored['restored']} memories tell for themselves again")
