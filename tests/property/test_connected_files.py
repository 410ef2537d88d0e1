"""Whatever a host's file looks like: our entry goes in and out, and every other character stays, or it is refused."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.json_edits import edited_json, put_hooks, put_server, take_hooks, take_server
from ebbing.interfaces.connect.toml_edits import with_toml_server, without_toml_server
from ebbing.interfaces.connect.unsafe_edit import UnsafeEditError
from ebbing.interfaces.connect.yaml_edits import with_yaml_server, without_yaml_server

COMMAND = ["/opt/ebbing", "mcp", "--user", "emma o'brien", "--path", "/home/阿哲/.ebbing"]
ENTRY = {"command": COMMAND[0], "args": COMMAND[1:]}
HOOKS = {"SessionStart": ("/opt/ebbing hook session-start", 20), "Stop": ("'/opt/e b/ebbing' hook stop", 30)}

blanks = st.text(" \t\r\n", max_size=3)
names = st.sampled_from(["mcpServers", "servers", "mcp", "hooks", "Stop", "SessionStart", "a", "名字", '"\\'])
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.just({"command": "ebbing-notes"}))
groups = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=4)}), max_size=2)}),
    max_size=2,
)
values = st.recursive(
    scalars | groups,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@st.composite
def json_text(draw: Any) -> str:
    """An object in JSON with any blanks between its parts."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            members = (f"{draw(blanks)}{json.dumps(key)}{draw(blanks)}:{written(item)}" for key, item in value.items())
            return f"{draw(blanks)}{{{','.join(members) or draw(blanks)}}}{draw(blanks)}"
        if isinstance(value, list):
            return f"{draw(blanks)}[{','.join(map(written, value)) or draw(blanks)}]{draw(blanks)}"
        return f"{draw(blanks)}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{draw(blanks)}"

    return written(draw(st.dictionaries(names, values, max_size=4)))


def tried(change: Callable[[str], str], text: str) -> str | None:
    """The text after a change; None where it was refused."""
    try:
        return change(text)
    except (UnsafeEditError, ConfigurationError):
        return None


def is_text_with_an_insertion(edited: str, text: str) -> bool:
    """Whether one piece, and no more, was put into a text."""
    size = len(edited) - len(text)
    same = next((at for at, (left, right) in enumerate(zip(edited, text, strict=False)) if left != right), len(text))
    return size > 0 and any(edited[:at] + edited[at + size :] == text for at in range(max(0, same - size), same + 1))


@pytest.mark.parametrize("keys", [("mcpServers",), ("servers",), ("mcp", "servers")], ids=".".join)
@given(text=st.one_of(json_text(), blanks))
def test_a_server_goes_into_json_and_out_again(text: str, keys: tuple[str, ...]) -> None:
    edited = tried(partial(edited_json, edit=put_server(keys, ENTRY)), text)
    if edited is None:
        return
    data = json.loads(edited)
    for key in keys:
        data = data[key]
    assert data["ebbing"] == ENTRY
    assert is_text_with_an_insertion(edited, text)
    assert edited_json(edited, take_server(keys)) == text
    assert edited_json(edited, put_server(keys, ENTRY)) == edited


@given(text=st.one_of(json_text(), blanks))
def test_hooks_go_into_json_and_out_again(text: str) -> None:
    edited = tried(partial(edited_json, edit=put_hooks(HOOKS)), text)
    if edited is None:
        return
    hooks = json.loads(edited)["hooks"]
    for event, (command, seconds) in HOOKS.items():
        assert hooks[event][-1] == {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}
    assert edited_json(edited, take_hooks) == text
    assert edited_json(edited, put_hooks(HOOKS)) == edited


@given(json_text())
def test_an_object_whose_tables_are_tables_is_never_refused(text: str) -> None:
    data = json.loads(text)
    is_table = isinstance(data.get("mcpServers", {}), dict)
    assert (tried(partial(edited_json, edit=put_server(["mcpServers"], ENTRY)), text) is not None) == is_table


# ── YAML and TOML ────────────────────────────────────────────────────────────────────────────────────────────────────

YAML_PARTS = (
    *("# mine\n", "\n", "   \n", "model: x\n", "'a b': [1, 2]\n", "text: |\n  a\n\n  b\n", "folded: >-\n  a\n   b\n"),
    *("keep: |+\n  a\n\n\n", "map:\n    deep:\n      - 1\n      - {x: y}\n    # inside\n", "nan: .nan\n", "é: 你好\n"),
    *("list:\n- a\n- b: c\n", 'quoted: "a\\\n  b"\n', "plain: a\n  b\n", "day: 2026-01-01\n", "a: &a {b: 1}\nc: *a\n"),
)
YAML_SERVERS = (
    *(
        "",
        "mcp_servers:\n",
        "mcp_servers:   # none yet\n\n  # soon\n",
        "mcp_servers: {}\n",
        "mcp_servers: { }  # none\n",
    ),
    *("mcp_servers: null\n", "mcp_servers:\n  time: # keep\n    command: uvx\n", '"mcp_servers":\n   time: {a: b}\n'),
    *("mcp_servers: {time: {command: uvx}}\n", "mcp_servers:\n  {\n    time: {command: uvx}, # keep\n  }\n"),
    *("mcp_servers:\n\n  # first\n\n  a:\n    text: |\n      x\n  # last\n", "? mcp_servers\n: a: {b: c}\n"),
    *(
        "mcp_servers: &m\n  a: {b: c}\nagain: *m\n",
        "mcp_servers: []\n",
        "mcp_servers:\n- a\n",
        "mcp_servers: !!map {}\n",
    ),
    *("mcp_servers:\n  ebbing-notes: {command: x}\n", "mcp_servers:\n  ebbing: {command: mine}\n"),
)
yaml_texts = st.builds(
    lambda begin, before, servers, after, end, line_end, is_cut: (
        (begin + "".join(before) + servers + "".join(after) + end)
        .removesuffix("\n" if is_cut else "")
        .replace("\n", line_end)
    ),
    st.sampled_from(["", "---\n", "# top\n--- # here\n", "%YAML 1.2\n---\n"]),
    st.lists(st.sampled_from(YAML_PARTS), max_size=3, unique=True),
    st.sampled_from(YAML_SERVERS),
    st.lists(st.sampled_from(YAML_PARTS), max_size=3, unique=True),
    st.sampled_from(["", "...\n", "...\n# after\n", "# end", "\n\n", "  "]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
TOML_PARTS = (
    *("# mine\n", "\n", 'model = "x"\n', "[a]\nb = 1\n", "[[c]]\nd = 2\n", 'text = """\na\n"""\n', "e.f = {g = 1}\n"),
    *("[mcp_servers.github]\ncommand = 'gh' # keep\n", "[mcp_servers]\n", "mcp_servers = {}\n", "x = nan\n"),
    *("mcp_servers.a.command = 'b'\n", "[mcp_servers.ebbing]\ncommand = 'mine'\n", '[projects."/h"]\n# inside\n'),
)
toml_texts = st.builds(
    lambda parts, line_end, is_cut: "".join(parts).removesuffix("\n" if is_cut else "").replace("\n", line_end),
    st.lists(st.sampled_from(TOML_PARTS), max_size=5, unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


@given(yaml_texts)
def test_a_server_goes_into_yaml_and_out_again(text: str) -> None:
    edited = tried(partial(with_yaml_server, command=COMMAND), text)
    if edited is None:
        return
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(edited)
    assert after["mcp_servers"].pop("ebbing") == ENTRY
    assert after.pop("mcp_servers") == (before.pop("mcp_servers", None) or {})
    assert repr(after) == repr(before)
    assert is_text_with_an_insertion(edited, text)
    assert without_yaml_server(edited) == text
    assert with_yaml_server(edited, COMMAND) == edited


@pytest.mark.parametrize("servers", [part for part in YAML_SERVERS[:4] if part] + ["", *YAML_SERVERS[6:8]])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("end", ["", "...\n", "# end"], ids=["plain", "document end", "comment"])
def test_usual_yaml_is_not_refused(servers: str, line_end: str, end: str) -> None:
    text = f"# mine\nmodel: x\n{servers}other:\n  - 1\n{end}".replace("\n", line_end)
    assert tried(partial(with_yaml_server, command=COMMAND), text) is not None


@given(toml_texts)
def test_a_server_goes_into_toml_and_out_again(text: str) -> None:
    edited = tried(partial(with_toml_server, command=COMMAND), text)
    if edited is None:
        return
    before, after = tomllib.loads(text), tomllib.loads(edited)
    assert after["mcp_servers"].pop("ebbing") == ENTRY
    assert repr(after.pop("mcp_servers")) == repr(before.pop("mcp_servers", {}))
    assert repr(after) == repr(before)
    assert edited.startswith(text)
    assert without_toml_server(edited) == text
    assert with_toml_server(edited, COMMAND) == edited
