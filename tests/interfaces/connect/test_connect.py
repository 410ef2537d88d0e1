"""`ebbing connect` and `ebbing disconnect` on the configuration of a person who has used the host for long."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from mcp import Client, StdioServerParameters

from ebbing.interfaces.cli.app import run
from ebbing.interfaces.connect import write_files
from ebbing.interfaces.connect.hosts import HOST_NAMES
from tests.interfaces.mcp.hosts import answer

audit: list[Callable[[str, tuple[Any, ...]], None]] = []
"""What is told of every file that is opened, while it is in the list."""
sys.addaudithook(lambda name, arguments: [note(name, arguments) for note in audit] and None)

OTHERS: dict[str, tuple[str, str]] = {
    "claude-code": (
        ".claude.json",
        '{\n\t"numStartups": 7,\n\t"mcpServers": {"github": {"command": "gh"}},\n\t"名字": "阿哲"\n}\n',
    ),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", '{"mcpServers": {}, "theme": "dark"}'),
    "cursor": (".cursor/mcp.json", '{"mcpServers": {"ebbing-notes": {"command": "x"}}}'),
    "vscode": (".config/Code/User/mcp.json", '{"servers": {"github": {"type": "http"}}, "inputs": []}'),
    "codex": (".codex/config.toml", '# mine\nmodel = "gpt-5"\n\n[mcp_servers.github]\ncommand = "gh" # keep\n'),
    "openclaw": (".openclaw/openclaw.json", '{"gateway": {"port": 1}, "mcp": {"servers": {"a": {"command": "b"}}}}'),
    "hermes": (
        ".hermes/config.yaml",
        "# mine\nmodel: x\nmcp_servers:\n    time: # keep\n        command: uvx\n\nother: 1\n",
    ),
}
"""A file of each host with entries of others."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "OPENCLAW_CONFIG_PATH", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


@pytest.fixture
def file(home: Path, host: str) -> Path:
    name, text = OTHERS[host]
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def parsed(path: Path) -> Any:
    text = path.read_text("utf-8")
    return {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(path.suffix, json.loads)(text)


def server(path: Path) -> Any:
    """The entry that starts the memory."""
    data = parsed(path)
    servers = data.get("mcpServers") or data.get("servers") or data.get("mcp_servers") or data["mcp"]["servers"]
    return servers["ebbing"]


@pytest.mark.parametrize("host", HOST_NAMES)
def test_what_others_wrote_stays_and_comes_back_whole(home: Path, host: str, file: Path) -> None:
    before, text = parsed(file), file.read_bytes()
    assert run(["connect", host, "--user", "emma"]) == 0
    entry = server(file)
    assert entry["args"][-5:] == ["mcp", "--user", "emma", "--path", str(home / ".ebbing")]
    [backup] = file.parent.glob(f"{file.name}.before-ebbing-*")
    assert backup.read_bytes() == text
    assert {**before, **parsed(file)}.keys() == before.keys() | parsed(file).keys()
    assert run(["disconnect", host]) == 0
    assert file.read_bytes() == text


@pytest.mark.parametrize("host", HOST_NAMES)
def test_connecting_twice_is_connecting_once(host: str, file: Path) -> None:
    assert run(["connect", host, "--user", "emma"]) == 0
    once = file.read_text("utf-8")
    assert run(["connect", host, "--user", "emma"]) == 0
    assert file.read_text("utf-8") == once
    assert run(["connect", host, "--user", "liam"]) == 0
    assert server(file)["args"][-3] == "liam"
    assert file.read_text("utf-8").count("liam") == 1


@pytest.mark.parametrize("host", HOST_NAMES)
def test_a_dry_run_writes_nothing(home: Path, host: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = file.read_text("utf-8")
    assert run(["connect", host, "--user", "emma", "--dry-run"]) == 0
    assert str(file) in capsys.readouterr().out
    assert file.read_text("utf-8") == text
    assert [path for path in home.rglob("*") if path.is_file()] == [file]


@pytest.mark.parametrize("host", HOST_NAMES)
def test_a_host_without_a_file_gets_one_and_loses_the_entry_again(home: Path, host: str) -> None:
    assert run(["disconnect", host]) == 0
    assert not [path for path in home.rglob("*") if path.is_file()]
    assert run(["connect", host, "--user", "emma", "--tools", "full"]) == 0
    file = home / OTHERS[host][0]
    assert server(file)["args"][-2:] == ["--tools", "full"]
    assert file.stat().st_mode & 0o077 == 0
    assert run(["disconnect", host]) == 0
    assert not file.exists()


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_hooks_are_put_beside_those_of_others_and_taken_out_alone(home: Path, host: str) -> None:
    path = home / (".claude/settings.json" if host == "claude-code" else ".codex/hooks.json")
    path.parent.mkdir()
    theirs = {"hooks": [{"type": "command", "command": "say hook stop"}, {"type": "command", "command": "beep"}]}
    settings = {"model": "opus", "hooks": {"Stop": [theirs], "PostToolUse": [theirs]}}
    path.write_text(json.dumps(settings))
    assert run(["connect", host, "--user", "emma"]) == 0
    assert run(["connect", host, "--user", "emma o'brien"]) == 0
    hooks = parsed(path)["hooks"]
    assert hooks["PostToolUse"] == [theirs]
    assert hooks["Stop"][0] == theirs
    assert [len(hooks[event]) for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact")] == [1, 1, 2, 1]
    assert run(["disconnect", host]) == 0
    assert parsed(path) == settings


def test_without_hooks_only_the_server_is_written(home: Path) -> None:
    assert run(["connect", "claude-code", "--user", "emma", "--no-hooks"]) == 0
    assert not (home / ".claude" / "settings.json").exists()


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("vscode", '{\n  // mine\n  "servers": {}\n}\n'),
        ("openclaw", "{gateway: {port: 1}}"),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("codex", "model = "),
        ("codex", 'mcp_servers = {a = {command = "b"}}\n'),
        ("codex", '[mcp_servers.ebbing]\ncommand = "mine"\n'),
        ("cursor", '{"mcpServers": {"ebbing": {"url": "http://mine"}}}'),
        ("cursor", '{"mcpServers": {}, "mcpServers": {}}'),
        ("hermes", "mcp_servers:\n  ebbing:\n    command: mine\n"),
        ("hermes", "mcp_servers: {ebbing: {url: x}}\n"),
        ("hermes", "mcp_servers: ~\n"),
        ("hermes", "mcp_servers: &here\n  a: {command: b}\nagain: *here\n"),
        ("hermes", "mcp_servers: []\n"),
        ("hermes", "{model: x}\n"),
        ("hermes", "- a\n"),
        ("hermes", "a: 1\n---\nb: 2\n"),
        ("hermes", "a: !mine x\n"),
        ("hermes", "a: [1\n"),
        ("hermes", "mcp_servers:\n  a: {command: b}\nmcp_servers:\n  c: {command: d}\n"),
        ("hermes", "text: |\n  # ebbing: begin\n  mine\n  # ebbing: end\nebbing: 1\n"),
        ("codex", 'text = """\n# ebbing: begin\nmine\n# ebbing: end\n"""\n'),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone(
    host: str, file: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    assert run(["connect", host, "--user", "emma"]) == 1
    error = capsys.readouterr().err
    assert str(file) in error
    assert "by hand" in error or "first" in error
    assert file.read_text() == text
    assert len([*file.parent.iterdir()]) == 1


def test_where_one_of_two_files_cannot_be_edited_neither_is(home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{ // mine\n}")
    assert run(["connect", "claude-code", "--user", "emma"]) == 1
    assert not (home / ".claude.json").exists()


def test_a_link_to_a_file_elsewhere_stays_a_link(home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / "dotfiles.json").write_text("{}")
    (home / ".cursor" / "mcp.json").symlink_to(home / "dotfiles.json")
    assert run(["connect", "cursor", "--user", "emma"]) == 0
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert server(home / "dotfiles.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model: x", ["ebbing"]),
        ("# mine\n", ["ebbing"]),
        ("---\nmodel: x\n...\n", ["ebbing"]),
        ("\ufeffmodel: x\n", ["ebbing"]),
        ("model: x\r\nmcp_servers: # mine\r\n  # more\r\n  a:\r\n    command: b\r\n", ["a", "ebbing"]),
        ("mcp_servers:\n  {a: {command: b}}\nother: 1\n", ["a", "ebbing"]),
        ("mcp_servers: {a: {command: b}} # mine", ["a", "ebbing"]),
        ('"mcp_servers":\n  a:\n    command: b\n', ["a", "ebbing"]),
        ("text: |+\n  a\n\n\n", ["ebbing"]),
        ("  model: x\n  other: 1\n", ["ebbing"]),
        ("mcp_servers:\n", ["ebbing"]),
        ("mcp_servers: {}\nother: 1\n", ["ebbing"]),
        ("mcp_servers:\n  # mine\n\n  a:\n    command: b\nother: 1\n", ["a", "ebbing"]),
        ("other: 1\nmcp_servers:\n  a:\n    command: b", ["a", "ebbing"]),
    ],
)
def test_servers_in_yaml_are_added_to_in_whatever_way_they_stand(home: Path, text: str, expected: list[str]) -> None:
    path = home / ".hermes" / "config.yaml"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    assert run(["connect", "hermes", "--user", "emma"]) == 0
    data = yaml.safe_load(path.read_bytes().decode("utf-8-sig"))
    assert sorted(data["mcp_servers"]) == expected
    for line in filter(None, text.splitlines()):
        assert "{" in line or line in path.read_text().splitlines()
    assert run(["disconnect", "hermes"]) == 0
    assert path.read_bytes() == text.encode()


def test_half_a_character_in_a_file_of_javascript_is_written_as_it_was(home: Path) -> None:
    path = home / ".claude.json"
    path.write_text('{"history": ["cut \\ud83d"]}')
    assert run(["connect", "claude-code", "--user", "emma", "--no-hooks"]) == 0
    assert parsed(path)["history"] == ["cut \ud83d"]
    assert not [*home.glob("*.ebbing-draft")]


def test_tables_that_codex_put_between_our_marks_stay(home: Path) -> None:
    assert run(["connect", "codex", "--user", "emma", "--no-hooks"]) == 0
    path = home / ".codex" / "config.toml"
    theirs = '[mcp_servers.ebbing.tools.memory_add]\nx = 1\n\n[projects."/home/e"]\ntrust_level = "trusted"\n'
    path.write_text(path.read_text().replace("# ebbing: end", theirs + "# ebbing: end"))
    assert run(["disconnect", "codex"]) == 0
    assert parsed(path) == {"projects": {"/home/e": {"trust_level": "trusted"}}}


def test_a_folder_that_is_a_file_is_named_in_the_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".cursor").write_text("x")
    assert run(["connect", "cursor", "--user", "emma"]) != 0
    assert "cannot be written" in capsys.readouterr().err


def test_an_entry_that_hermes_wrote_anew_goes_without_the_others(home: Path) -> None:
    path = home / ".hermes" / "config.yaml"
    path.parent.mkdir()
    path.write_text("mcp_servers:\n  time:\n    command: uvx\nother: 1\n")
    assert run(["connect", "hermes", "--user", "emma"]) == 0
    data = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(data))  # as Hermes does it: without comments, and so without our marks
    assert run(["disconnect", "hermes"]) == 0
    assert yaml.safe_load(path.read_text()) == {"mcp_servers": {"time": {"command": "uvx"}}, "other": 1}


def test_a_server_that_somebody_wrote_between_our_marks_stays(home: Path) -> None:
    assert run(["connect", "hermes", "--user", "emma"]) == 0
    path = home / ".hermes" / "config.yaml"
    path.write_text(path.read_text().replace("# ebbing: end", "  time:\n    command: uvx\n# ebbing: end"))
    assert run(["disconnect", "hermes"]) == 0
    assert yaml.safe_load(path.read_text()) == {"mcp_servers": {"time": {"command": "uvx"}}}


def test_without_a_parser_of_yaml_the_command_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert run(["connect", "hermes", "--user", "emma"]) != 0
    assert "ebbing[mcp]" in capsys.readouterr().err
    assert run(["connect", "cursor", "--user", "emma"]) == 0


# ── how it is written ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640])
@pytest.mark.usefixtures("open_umask")
def test_nobody_else_can_read_a_draft_at_any_moment(home: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / ".claude.json"
    path.write_text('{"oauth": "secret"}')
    path.chmod(mode)
    seen: list[int] = []

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        if name in {"open", "os.chmod", "os.rename"} and str(home) in str(arguments[0]):
            seen.extend(file.stat().st_mode & 0o777 for file in home.iterdir() if file.is_file())

    audit.append(note)
    try:
        assert run(["connect", "claude-code", "--user", "emma", "--no-hooks"]) == 0
    finally:
        audit.remove(note)
    assert path.stat().st_mode & 0o777 == mode
    [backup] = home.glob("*.before-ebbing-1")
    assert backup.stat().st_mode & 0o777 == mode
    assert set(seen) <= {0o600, mode}


def test_links_in_a_circle_are_named_in_the_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".cursor").mkdir()
    path = home / ".cursor" / "mcp.json"
    path.symlink_to(path)
    assert run(["connect", "cursor", "--user", "emma"]) == 1
    assert f"{path} cannot be read" in capsys.readouterr().err


def test_a_link_where_a_copy_would_go_is_not_followed(home: Path) -> None:
    (home / ".claude.json").write_text("{}")
    (home / ".claude.json.before-ebbing-1").symlink_to(home / "elsewhere")
    assert run(["connect", "claude-code", "--user", "emma", "--no-hooks"]) == 0
    assert not (home / "elsewhere").exists()


def test_what_a_host_writes_meanwhile_is_not_lost(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / ".claude.json"
    path.write_text("{}")
    place = write_files._place

    def place_slowly(data: bytes, target: Path, *, mode: int) -> None:
        place(data, target, mode=mode)
        path.write_text('{"by": "the host"}')

    monkeypatch.setattr(write_files, "_place", place_slowly)
    assert run(["connect", "claude-code", "--user", "emma", "--no-hooks"]) == 1
    assert path.read_text() == '{"by": "the host"}'


@pytest.mark.extended
@pytest.mark.anyio
async def test_what_is_written_starts_a_memory_that_the_hooks_share(home: Path) -> None:
    assert run(["connect", "claude-code", "--user", "emma"]) == 0
    python_path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": python_path, "EBBING_EMBEDDER": "none", "XDG_STATE_HOME": str(home)}
    entry = server(home / ".claude.json")
    async with Client(StdioServerParameters(command=entry["command"], args=entry["args"], env=environment)) as client:
        await answer(client, "memory_add", content="I live in Leeds")
    hooks = parsed(home / ".claude" / "settings.json")["hooks"]
    [hook] = hooks["SessionStart"][0]["hooks"]
    given = json.dumps({"hook_event_name": "SessionStart", "session_id": "s"})
    shown = await anyio.run_process(hook["command"], input=given.encode(), env=environment)
    assert "Leeds" in json.loads(shown.stdout)["hookSpecificOutput"]["additionalContext"]
