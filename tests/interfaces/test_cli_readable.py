"""What a person reads at a terminal: aligned, short numbers, times with their zone, help that fits."""

from __future__ import annotations

import io
import json
import re
from datetime import datetime

import pytest
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command

from ebbing.interfaces.cli.app import app, run
from ebbing.interfaces.cli.output import Screen, minute
from tests.interfaces.cli import Ebbing

LONG_NUMBER = re.compile(r"\d\.\d{5,}")


def commands() -> list[tuple[str, ...]]:
    """Every command and group."""
    found: list[tuple[str, ...]] = [()]

    def walk(group: TyperGroup, before: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            found.append((*before, name))
            if isinstance(command, TyperGroup):
                walk(command, (*before, name))

    root = get_command(app)
    assert isinstance(root, TyperGroup)
    walk(root, ())
    return found


@pytest.mark.parametrize("names", commands(), ids=" ".join)
def test_help_fits_a_terminal_of_80_columns(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*names, "--help"]) == 0
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert not re.search(r"--\w[\w-]*…", shown), "an option is cut off"


@pytest.mark.parametrize("name", ["id", "needed again", "a name of many more letters", "名字"])
def test_a_name_never_runs_into_its_value(name: str) -> None:
    screen = Screen()
    screen.console = Console(file=io.StringIO(), width=60)
    screen.rows([(name, "0.8 % " * 30), ("x", "y")])
    written = screen.console.file
    assert isinstance(written, io.StringIO)
    assert f"{name}  0.8 %" in written.getvalue()
    assert max(map(len, written.getvalue().splitlines())) <= 60


def test_what_never_fades_has_no_chance_of_being_needed_beside_it(ebbing: Ebbing) -> None:
    ebbing("add", "I'm allergic to peanuts. We went to the cinema yesterday.", "-u", "emma")
    shown = {}
    for item in ebbing("list", "-u", "emma", "--json").json["results"]:
        shown[item["type"]] = ebbing("show", item["id"]).out
    assert "never: who somebody is" in shown["constraint"]
    assert "needed again" not in shown["constraint"]
    assert all("needed again  " in out for kind, out in shown.items() if kind not in {"constraint", "fact"})


def test_numbers_that_people_and_programs_see_are_short(ebbing: Ebbing) -> None:
    ebbing("add", "I'm allergic to peanuts and I live in Leeds.", "-u", "emma")
    [item, *_] = ebbing("list", "-u", "emma", "--json").json["results"]
    for command in (("search", "peanuts", "-u", "emma"), ("list", "-u", "emma"), ("show", item["id"])):
        for options in ((), ("--json",)):
            assert not LONG_NUMBER.search(re.sub(r"\d\d:\d\d:\d\d\.\d+", "", ebbing(*command, *options).out))
    assert json.dumps(item["importance"]) == json.dumps(round(item["importance"], 4))


def test_a_time_is_shown_with_its_zone() -> None:
    shown = minute("2026-03-01T10:00:00+00:00")
    zone = shown.removeprefix(shown[:16]).strip()
    moment = datetime.fromisoformat(shown[:16] + ("+00:00" if zone == "UTC" else zone))
    assert moment == datetime.fromisoformat("2026-03-01T10:00:00+00:00")
