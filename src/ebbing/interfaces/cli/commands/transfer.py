"""Commands that move memories in and out: import, export."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ebbing.domain.errors import InvalidInputError, NotFoundError
from ebbing.interfaces.cli.errors import FAILED, INTERRUPTED
from ebbing.interfaces.cli.files import STDIN, readable_file
from ebbing.interfaces.cli.import_batches import Intake, Report
from ebbing.interfaces.cli.output import Screen
from ebbing.interfaces.cli.session import Session, command
from ebbing.transfer.documents import documents
from ebbing.transfer.imported_turn import Unreadable
from ebbing.transfer.read_file import named, read

SHOWN_LINES = 10
"""Bad lines that are named to people; --json names all of them."""


class Format(StrEnum):
    """What a file may be in; the readers of `ebbing.transfer`."""

    EBBING = "ebbing"
    MESSAGES = "messages"
    CHATGPT = "chatgpt"
    SILLYTAVERN = "sillytavern"
    SHAREGPT = "sharegpt"


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "import", scoped=True, makes_store=True)(import_file)
    command(app, "export", scoped=True)(export_file)


def import_file(
    session: Session,
    file: Annotated[Path, typer.Argument(help="The file; `-` reads stdin.", callback=readable_file)],
    *,
    form: Annotated[Format | None, typer.Option("--format", help="Its format; else told from its look.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Its text encoding; else recognised.")] = None,
    no_extract: Annotated[
        bool, typer.Option("--no-extract", help="Store messages as they are, without reading facts.")
    ] = False,
) -> None:
    """Remember a chat export, or bring back what `ebbing export` wrote. Repeated, it stores nothing twice."""
    intake = Intake(session, infer=not no_extract)
    name = "stdin" if file == STDIN else file.stem
    try:
        with _opened(session.screen, file, report=intake.report) as (stream, watched):
            for lines in documents(stream, encoding=encoding):
                intake.take(named(read(watched(lines), form=form.value if form else None), name))
    except KeyboardInterrupt:
        intake.report.is_stopped = True
    report = intake.report
    if session.screen.as_json:
        session.screen.emit(report.as_json())
    else:
        _tell(session.screen, report)
    if report.is_stopped:
        session.screen.note("stopped: what is stored stays; the same command goes on with the rest")
        raise typer.Exit(INTERRUPTED)
    if report.bad and not report.stored and not report.already_stored:
        raise typer.Exit(FAILED)


def export_file(
    session: Session,
    file: Annotated[Path | None, typer.Argument(help="The file to write; stdout if not given.")] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Write everything that is kept about somebody as JSON lines, oldest first."""
    if file is not None and file.exists() and not force:
        raise InvalidInputError("the file exists already: choose another name, or give --force to replace it")
    records = all_records(session)
    screen = session.screen
    if not records and (missing := session.owner_missing()):
        raise NotFoundError(missing)
    if file is None and screen.as_json:
        screen.emit(records)
        return
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if file is None:
        sys.stdout.writelines(lines)
        return
    unfinished = file.with_name(f"{file.name}.part")
    unfinished.touch(mode=0o600)  # a person's memory is nobody else's to read
    with unfinished.open("w", encoding="utf-8") as stream:
        stream.writelines(lines)
    unfinished.replace(file)
    if screen.as_json:
        screen.emit({"file": str(file), "records": len(records)})
    else:
        screen.say(f"{len(records)} records written to {file}")


def all_records(session: Session) -> list[dict[str, Any]]:
    """Everything in the session's scope, oldest first."""
    records: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = session.memory.export(**session.owner_ids(), cursor=cursor)
        records += page["records"]
        cursor = page["next_cursor"]
        if cursor is None:
            return records[::-1]


Watch = Callable[[Iterable[str | Unreadable]], Iterator[str | Unreadable]]
"""Passes lines on, and shows how far the file is read."""


@contextmanager
def _opened(screen: Screen, file: Path, *, report: Report) -> Iterator[tuple[BinaryIO, Watch]]:
    """The file's bytes, and what shows a progress bar to people while its lines are read."""
    if file == STDIN:
        yield BytesIO(sys.stdin.buffer.read()), iter
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    quiet = screen.as_json or not sys.stderr.isatty()
    with file.open("rb") as stream, Progress(*columns, console=screen.aside, disable=quiet, transient=True) as progress:
        task = progress.add_task("", total=file.stat().st_size)

        def watched(lines: Iterable[str | Unreadable]) -> Iterator[str | Unreadable]:
            for line in lines:
                progress.update(
                    task, completed=stream.tell(), description=f"{report.stored + report.already_stored:,} read"
                )
                yield line

        yield stream, watched


def _tell(screen: Screen, report: Report) -> None:
    if report.messages:
        screen.say(f"{report.messages} messages stored")
    if report.memories:
        screen.say(f"{report.memories} new memories read from them")
    for kind, count in sorted(report.omitted.items()):
        screen.say(f"{count} parts of messages left out, not being text: {kind}")
    if report.records:
        screen.say(f"{report.records} records brought back")
    if report.already_stored:
        screen.say(f"{report.already_stored} were here already")
    if not report.stored and not report.already_stored:
        screen.say("nothing was stored")
    _tell_way_back(screen, report)
    if report.bad:
        screen.say((f"{len(report.bad)} could not be used:", "yellow"))
    for item in report.bad[:SHOWN_LINES]:
        screen.say(f"line {item.line}: {item.reason}", indent=2)
    if len(report.bad) > SHOWN_LINES:
        screen.say(f"and {len(report.bad) - SHOWN_LINES} more (--json names all)", indent=2)


def _tell_way_back(screen: Screen, report: Report) -> None:
    for change_id in report.change_ids:
        screen.say((f"ebbing undo {change_id} takes it back", "dim"))
