"""Mistakes at the command line that must look neither like loss nor like success."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from ebbing.domain.errors import StoreNotFoundError
from ebbing.interfaces.cli.app import app, run
from ebbing.wiring.optional_extras import open_components
from tests.interfaces.cli import Ebbing, runner

MAKES_STORE = {
    *("add", "import", "demo", "serve", "worker", "keys create", "identities resolve", "identities link"),
    *("profile set", "profile import", "profile defaults", "backup restore", "dev fake-llm"),
    *("mcp", "hook", "connect", "disconnect", "move"),
}
"""Commands that may begin a store, or that need none."""
ARGUMENTS = {
    **dict.fromkeys(("show", "history", "restore", "sources", "delete"), ("01a2",)),
    **dict.fromkeys(("jobs show", "jobs retry", "identities unmerge"), ("1",)),
    **dict.fromkeys(("search", "keys revoke", "profile unset", "backup create"), ("tea",)),
    "review": ("01a2", "keep"),
    **dict.fromkeys(("update", "identities unlink", "identities merge"), ("01a2", "tea")),
}


def commands(group: TyperGroup, *, before: str = "") -> list[str]:
    """The names of all commands, those of groups with their group."""
    names: list[str] = []
    for name, command in group.commands.items():
        full = f"{before}{name}"
        names += commands(command, before=f"{full} ") if isinstance(command, TyperGroup) else [full]
    return names


def readers() -> list[str]:
    """Every command that must leave the disk as it is where there is no store."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return [name for name in commands(group) if name not in MAKES_STORE]


@pytest.mark.parametrize("name", readers())
def test_a_command_that_reads_makes_no_store_at_a_mistyped_path(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBBING_USER", "emma")
    monkeypatch.chdir(tmp_path)
    for directory in ("mistyped", "."):
        code = run([*name.split(), *ARGUMENTS.get(name, ()), "--path", directory])
        told = capsys.readouterr()
        assert (code, told.out) == (1, "")
        assert "there is no store in" in told.err
        assert "--path" in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_path_in_the_environment_is_refused_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBBING_PATH", str(tmp_path / "mistyped"))
    assert run(["list", "--user", "emma"]) == 1
    assert "EBBING_PATH" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_store_has_an_error_of_its_own_kind(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError):
        open_components({"path": tmp_path / "none"}, make_store=False)


def test_a_new_store_is_announced_once_beside_the_answer(ebbing: Ebbing, tmp_path: Path) -> None:
    first = ebbing("add", "I live in Leeds.", "-u", "emma", "--json")
    assert first.json["results"]
    assert first.err == f"ebbing: made a new store in {tmp_path / 'store'}\n"
    assert ebbing("add", "I like tea.", "-u", "emma").err == ""


def test_a_file_in_the_place_of_the_store_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("notes")
    ended = runner(file, capsys)("list", "-u", "emma")
    assert (ended.code, "is a file" in ended.err) == (1, True)


@pytest.mark.parametrize("command", [("search", "Leeds"), ("list",), ("profile", "show"), ("graph",)])
def test_an_unknown_user_does_not_look_like_an_empty_one(ebbing: Ebbing, command: tuple[str, ...]) -> None:
    ebbing("add", "I live in Leeds.", "-u", "emma")
    told = ebbing(*command, "-u", "emmma")
    assert "Nothing is stored of user emmma" in told.out
    assert "did you mean emma?" in told.out
    assert "did you mean" not in ebbing(*command, "-u", "somebody else").out


@pytest.mark.parametrize("command", [("export",), ("delete", "--all", "--yes")])
def test_exporting_or_erasing_an_unknown_user_is_an_error(ebbing: Ebbing, command: tuple[str, ...]) -> None:
    ebbing("add", "I live in Leeds.", "-u", "emma")
    ended = ebbing(*command, "-u", "emmma")
    assert (ended.code, ended.out) == (1, "")
    assert "did you mean emma?" in ended.err


def test_programs_see_that_nothing_is_known_of_an_owner(ebbing: Ebbing) -> None:
    ebbing("add", "I live in Leeds.", "-u", "emma")
    assert ebbing("search", "Leeds", "-u", "emmma", "--json").json["owner_known"] is False
    assert ebbing("list", "-u", "emmma", "--json").json["owner_known"] is False
    assert "owner_known" not in ebbing("search", "Leeds", "-u", "emma", "--json").json
    assert "owner_known" not in ebbing("list", "-u", "emma", "--run", "r9", "--json").json


def test_the_demo_never_writes_into_a_store_of_other_people(ebbing: Ebbing) -> None:
    ebbing("add", "I live in Leeds.", "-u", "ann")
    for command in (("demo",), ("serve", "--demo", "--port", "0")):
        refused = ebbing(*command)
        assert (refused.code, "other people" in refused.err) == (2, True)
    assert ebbing("stats", "--json").json["owners"] == 1


def test_the_service_of_the_demo_keeps_away_from_the_store_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EBBING_PATH", str(tmp_path / "mine"))
    monkeypatch.setenv("EBBING_EMBEDDER", "none")
    monkeypatch.setenv("EBBING_HTTP_HOST", "203.0.113.1")  # refused without credentials: it ends before it serves
    monkeypatch.chdir(tmp_path)
    assert run(["serve", "--demo"]) == 1
    first, *_ = capsys.readouterr().err.splitlines()
    assert first.endswith(f"in a store of their own: {tmp_path / 'ebbing-demo'}")
    assert not (tmp_path / "mine").exists()
