"""Commands for what happens while nobody asks: upkeep, worker, jobs."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from types import FrameType
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ebbing.interfaces.cli.errors import FAILED
from ebbing.interfaces.cli.output import Screen, dotted, minute
from ebbing.interfaces.cli.session import Session, command
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.wiring.components.process_priority import yield_processor

SHOWN_TEXT = 60
"""Characters of a memory that a list of changes shows."""


class State(StrEnum):
    """Where a job may stand."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "maintain", scoped=True)(maintain)
    command(app, "worker", about_somebody=False, makes_store=True)(worker)
    group = typer.Typer(help="What the worker has to do.", no_args_is_help=True, pretty_exceptions_enable=False)
    command(group, "list", about_somebody=False)(list_jobs)
    command(group, "show", about_somebody=False)(show_job)
    command(group, "retry", about_somebody=False)(retry_job)
    app.add_typer(group, name="jobs")


def maintain(
    session: Session,
    *,
    now: Annotated[str | None, typer.Option(help="The time to go by, ISO 8601; the present if not given.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be done, and why.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Changes that a dry run shows.")] = 50,
) -> None:
    """Do the daily round now, of one owner or, if nobody is named, of everybody."""
    screen = session.screen
    owner = {"user_id": session.named_user, "agent_id": session.agent, "run_id": session.run}
    try:
        with _bar(screen, "owners") as progress:
            done = session.memory.maintenance.run(**owner, now=now, dry_run=dry_run, progress=progress)
    except KeyboardInterrupt:
        screen.aside.print("stopped: what was done stays, and the next round does the rest")
        raise typer.Exit(FAILED) from None
    if screen.emit_if_json(done):
        return
    if dry_run:
        _show_changes(session, done["changes"], limit=limit)
    _show_counts(screen, done)


def worker(
    session: Session,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Do the daily rounds and whatever else is queued, when its time has come; Ctrl-C or SIGTERM ends it."""
    stop, screen = Stop(), session.screen
    yield_processor()
    if not once:
        screen.aside.print("working; Ctrl-C finishes what is in hand and ends")
    with _ended_by_signals(stop), _bar(screen, "jobs") as progress:
        worked = session.memory.jobs.run_worker(
            until_idle=once, stop=stop, on_progress=lambda at: progress(at["done"], at["done"] + at["waiting"])
        )
    if screen.as_json:
        screen.emit(worked)
    else:
        screen.say(f"{worked['done']} jobs done, {worked['failed']} failed, {worked['given_back']} left for later")


def list_jobs(
    session: Session,
    *,
    state: Annotated[State | None, typer.Option(help="Only those that stand so; dead ones were given up.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind, such as daily or extract.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many, 1 to 1,000.")] = 20,
) -> None:
    """List jobs, the newest first, and count them."""
    jobs = session.memory.jobs.list(state=state and state.value, kind=kind, limit=limit)
    screen = session.screen
    if screen.emit_if_json(jobs):
        return
    for job in jobs["jobs"]:
        _show_line(screen, job)
    _show_tally(screen, jobs["counts"])
    if not jobs["counts"]:
        screen.say("There are no jobs.")


def show_job(session: Session, job_id: Annotated[int, typer.Argument(help="Id of the job.")]) -> None:
    """Show one job: what it is about, how far it is, and what went wrong."""
    job = session.memory.jobs.get(job_id)
    if session.screen.emit_if_json(job):
        return
    session.screen.rows([(name, str(value)) for name, value in job.items() if value not in (None, {})])


def retry_job(session: Session, job_id: Annotated[int, typer.Argument(help="Id of the job.")]) -> None:
    """Let a job that was given up be tried again."""
    job = session.memory.jobs.retry(job_id)
    if session.screen.as_json:
        session.screen.emit(job)
    else:
        session.screen.say(f"job {job['id']} waits again; `ebbing worker --once` does it")


def _show_line(screen: Screen, job: Mapping[str, Any]) -> None:
    owner = job.get("user_id") or job.get("agent_id") or job.get("run_id")
    tries = f"{job['attempts']} of {job['max_attempts']} tries" if job["attempts"] else None
    screen.say(
        (f"{job['id']:>6} ", "dim"),
        (f"{job['kind']:<10}  ", "bold"),
        f"{job['state']:<9}  ",
        (dotted([minute(job["ended_at"] or job["run_at"]), owner, tries, job["last_error"]]), "dim"),
    )


def _show_changes(session: Session, changes: Sequence[Mapping[str, Any]], *, limit: int) -> None:
    """What would be done, owner by owner."""
    screen, owner = session.screen, None
    for change in changes[:limit]:
        named = next(change[name] for name in ("user_id", "agent_id", "run_id") if name in change)
        if named != owner:
            owner = named
            screen.say((owner, "bold"))
        screen.say((f"{change['action']:<10}  ", "yellow"), _text(session, change["memory_id"]), indent=2)
        screen.say((dotted([change["step"], change["reason"], change["memory_id"]]), "dim"), indent=12)
    if len(changes) > limit:
        screen.say(f"and {len(changes) - limit:,} more (--limit shows more, --json all)")
    if not changes:
        screen.say("Nothing would change.")


def _text(session: Session, memory_id: str) -> str:
    item = session.memory.get(memory_id)
    text = item["memory"] if item else "(deleted)"
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"


def _show_tally(screen: Screen, tally: dict[str, dict[str, int]]) -> None:
    rows = [(name, dotted(f"{count:,} {unit}" for unit, count in counts.items())) for name, counts in tally.items()]
    screen.rows(rows, style="bold")


def _show_counts(screen: Screen, done: Mapping[str, Any]) -> None:
    _show_tally(screen, done["steps"])
    verb = "would be looked after" if done["dry_run"] else "looked after"
    screen.say(f"{done['owners']:,} owners {verb}, as of {minute(done['now'])}")


@contextmanager
def _bar(screen: Screen, label: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar for people, told how many are done of how many."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    quiet = screen.as_json or not sys.stderr.isatty()
    with Progress(*columns, console=screen.aside, disable=quiet, transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _ended_by_signals(stop: Stop) -> Iterator[None]:
    """Lets SIGINT and SIGTERM ask for a stop; a second SIGINT does not wait any more."""

    def ask(number: int, _: FrameType | None) -> None:
        if stop.is_set and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
