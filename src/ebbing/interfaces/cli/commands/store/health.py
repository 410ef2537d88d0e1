"""Commands about the memory itself: stats, doctor."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Annotated

import typer

import ebbing
from ebbing.interfaces.cli.errors import FAILED
from ebbing.interfaces.cli.session import Session, command
from ebbing.results import DiagnosisItem

MARKS = {"on": ("✓", "green"), "off": ("–", "dim"), "attention": ("!", "yellow")}


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "stats")(stats)
    command(app, "doctor")(doctor)
    command(app, "retry-extraction")(retry_extraction)
    command(app, "vacuum")(vacuum)


def stats(session: Session) -> None:
    """Count what is kept, over all users of this store."""
    counts = session.memory.maintenance.stats()
    if session.screen.emit_if_json(counts):
        return
    rows = {
        "owners": counts["owners"],
        "memories": counts["memories"],
        **{f"  {name}": count for name, count in sorted(counts["by_type"].items())},
        "messages": counts["episodes"],
        "deleted": counts["deleted"],
        "vectors": sum(counts["by_model"].values()),
        **{f"  {name}": count for name, count in sorted(counts["by_model"].items())},
        "unread": counts["pending_extractions"]["waiting"],
        "given up": counts["pending_extractions"]["given_up"],
    }
    width = max(14, *(len(name) + 1 for name in rows))
    for name, count in rows.items():
        session.screen.say((f"{name:<{width}}", "dim"), f"{count:>9,}")
    session.screen.say((f"{'on disk':<{width}}", "dim"), f"{counts['bytes_on_disk'] / 2**20:>9.1f} MiB")


def retry_extraction(
    session: Session,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Batches at most, 1 to 1,000.")] = 20,
) -> None:
    """Read again what a language model failed to read, as far as it is due."""
    done = session.memory.maintenance.retry_failed_extractions(limit=limit)
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        session.screen.say(
            f"{done['read']} batches read, {done['failed']} failed, {done['waiting']} waiting, "
            f"{done['given_up']} given up"
        )


def vacuum(session: Session) -> None:
    """Write the store's file anew: gives unused space back and leaves no trace of what was removed."""
    done = session.memory.maintenance.vacuum()
    if session.screen.emit_if_json(done):
        return
    before, after = done["bytes_before"] / 2**20, done["bytes_on_disk"] / 2**20
    session.screen.say(f"{before:.1f} MiB before, {after:.1f} MiB now")
    if not done["scrubbed"]:
        session.screen.say("Another process is reading, or the disk is full: what was removed is overwritten later.")


def doctor(
    session: Session,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every index with the truth; exit 1 on findings.")
    ] = False,
) -> None:
    """Say what is on, and why something is off."""
    diagnosis = session.memory.maintenance.diagnose()
    release = f"{ebbing.__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    about: DiagnosisItem = {"part": "ebbing", "state": "on", "detail": release}
    report = {**diagnosis, "findings": [about, *diagnosis["findings"]]}
    problems = session.memory.maintenance.verify() if verify else None
    if problems is not None:
        report["verify"] = problems
    if session.screen.as_json:
        session.screen.emit(report)
    else:
        _show(session, [about, *diagnosis["findings"]], problems=problems)
    if problems:
        raise typer.Exit(FAILED)


def _show(session: Session, findings: Sequence[DiagnosisItem], *, problems: list[str] | None) -> None:
    for finding in findings:
        mark, style = MARKS[finding["state"]]
        session.screen.say((f"{mark} ", style), (f"{finding['part']:<9}", "bold"), " ", finding["detail"])
    if problems is None:
        return
    for problem in problems:
        session.screen.say(("! ", "red"), (f"{'verify':<9}", "bold"), " ", problem)
    if not problems:
        session.screen.say(("✓ ", "green"), (f"{'verify':<9}", "bold"), " every index agrees with the truth")
