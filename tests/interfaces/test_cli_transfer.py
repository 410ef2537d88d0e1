"""Importing what other programs export, and moving a whole memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ebbing.interfaces.cli.commands.transfer import Format
from ebbing.transfer.chat_formats import READERS
from tests.interfaces.cli import Ebbing, runner

CHATGPT = [
    {
        "id": "c1",
        "title": "Dinner",
        "current_node": "d",
        "mapping": {
            "a": {"message": None, "parent": None, "children": ["b", "x"]},
            "x": {
                "message": {
                    "id": "m0",
                    "author": {"role": "user"},
                    "create_time": 1741114900.0,
                    "content": {"content_type": "text", "parts": ["an abandoned wording"]},
                },
                "parent": "a",
                "children": [],
            },
            "b": {
                "message": {
                    "id": "m1",
                    "author": {"role": "user"},
                    "create_time": 1741114920.5,
                    "content": {"content_type": "text", "parts": ["Tom eats no shellfish"]},
                },
                "parent": "a",
                "children": ["c"],
            },
            "c": {
                "message": {
                    "id": "m2",
                    "author": {"role": "tool"},
                    "content": {"content_type": "execution_output", "text": "42"},
                },
                "parent": "b",
                "children": ["d"],
            },
            "d": {
                "message": {
                    "id": "m3",
                    "author": {"role": "assistant"},
                    "create_time": 1741114930.0,
                    "content": {"content_type": "text", "parts": ["Noted, no shellfish"]},
                },
                "parent": "c",
                "children": [],
            },
        },
    }
]
FILES: dict[str, str] = {
    "messages": '{"role": "user", "content": "Tom eats no shellfish", "id": "m1", "timestamp": 1741114920}\n'
    '{"role": "assistant", "content": "Noted, no shellfish"}\n',
    "messages in lists": '{"messages": [{"role": "user", "content": "Tom eats no shellfish"},'
    ' {"role": "assistant", "content": "Noted, no shellfish"}]}\n',
    "one JSON list": json.dumps(
        [
            {"role": "human", "content": "Tom eats no shellfish"},
            {"role": "ai", "content": "Noted, no shellfish"},
        ],
        indent=1,
    ),
    "chatgpt": json.dumps(CHATGPT),
    "chatgpt, indented": json.dumps(CHATGPT, indent=2),
    "sillytavern": '{"user_name": "Emma", "character_name": "Ash", "chat_metadata": {}}\n'
    '{"name": "Emma", "is_user": true, "send_date": "2025-3-4 @19h 2m 0s 120ms", "mes": "Tom eats no shellfish"}\n'
    '{"name": "Ash", "is_user": false, "send_date": "March 4, 2025 7:03pm", "mes": "Noted, no shellfish"}\n'
    '{"name": "Ash", "is_user": false, "is_system": true, "mes": "a hidden note"}\n',
    "sharegpt": json.dumps(
        [
            {
                "id": "s1",
                "conversations": [
                    {"from": "human", "value": "Tom eats no shellfish"},
                    {"from": "gpt", "value": "Noted, no shellfish"},
                ],
            }
        ]
    ),
}


def imported(ebbing: Ebbing, file: Path, *options: str) -> dict[str, Any]:
    """The report of an import for emma."""
    report: dict[str, Any] = ebbing("import", file, "-u", "emma", "--json", *options).json
    return report


@pytest.mark.parametrize("name", FILES)
def test_a_chat_is_imported_whatever_program_wrote_it(ebbing: Ebbing, tmp_path: Path, name: str) -> None:
    file = tmp_path / "chat.json"
    file.write_text(FILES[name], encoding="utf-8")
    report = imported(ebbing, file, "--no-extract")
    assert (report["messages"], report["bad_lines"]) == (2, [])
    said = ebbing("list", "-u", "emma", "--json").json["results"]
    assert {(one["memory"], one["role"]) for one in said} == {
        ("Tom eats no shellfish", "user"),
        ("Noted, no shellfish", "assistant"),
    }


@pytest.mark.parametrize("name", FILES)
def test_a_second_import_stores_nothing_twice(ebbing: Ebbing, tmp_path: Path, name: str) -> None:
    file = tmp_path / "chat.json"
    file.write_text(FILES[name], encoding="utf-8")
    imported(ebbing, file)
    again = imported(ebbing, file)
    assert (again["messages"], again["memories"], again["already_stored"]) == (0, 0, 2)


def test_times_and_names_of_a_chat_are_kept(ebbing: Ebbing, tmp_path: Path) -> None:
    file = tmp_path / "Ash - 2025-03-04.jsonl"
    file.write_text(FILES["sillytavern"])
    imported(ebbing, file, "--no-extract")
    said = ebbing("list", "-u", "emma", "--json").json["results"]
    assert [(one["actor_id"], one["created_at"], one["run_id"]) for one in said] == [
        ("Ash", "2025-03-04T19:03:00+00:00", "Ash - 2025-03-04"),
        ("Emma", "2025-03-04T19:02:00.120000+00:00", "Ash - 2025-03-04"),
    ]


def test_a_stopped_import_goes_on_where_it_stopped(ebbing: Ebbing, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"Fact number {number}"}) + "\n" for number in range(50)]
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(lines[:40]))
    assert imported(ebbing, file, "--no-extract")["messages"] == 40
    file.write_text("".join(lines))
    report = imported(ebbing, file, "--no-extract")
    assert (report["messages"], report["already_stored"]) == (10, 40)


def test_what_was_forgotten_on_purpose_does_not_come_back(ebbing: Ebbing, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(FILES["messages"])
    imported(ebbing, file, "--no-extract")
    [memory_id, _] = [one["id"] for one in ebbing("list", "-u", "emma", "--json").json["results"]]
    ebbing("delete", memory_id)
    assert imported(ebbing, file, "--no-extract")["already_stored"] == 2
    assert len(ebbing("list", "-u", "emma", "--json").json["results"]) == 1


def test_bad_lines_are_counted_with_their_numbers_and_stop_nothing(ebbing: Ebbing, tmp_path: Path) -> None:
    good = '{"role": "user", "content": "Tom eats no shellfish"}\n'
    bad = ["{broken\n", '{"role": "user"}\n', '{"role": "king", "content": "x"}\n', "[1]\n"]
    late = [
        '{"role": "user", "content": "x", "timestamp": "soon"}\n',
        json.dumps({"role": "user", "content": "y" * 100_001}),
    ]
    file = tmp_path / "chat.jsonl"
    file.write_text(good + "".join(bad) + "\n" + "".join(late) + "\n" + good.replace("Tom", "Priya"))
    report = imported(ebbing, file, "--no-extract")
    assert report["messages"] == 2
    assert sorted(one["line"] for one in report["bad_lines"] if one["line"] != 1) == [2, 3, 4, 7, 8]
    told = ebbing("import", file, "-u", "emma", "--no-extract")
    assert told.code == 0
    assert "line 2: not valid JSON" in told.out


def test_a_file_of_no_known_format_is_refused_with_the_known_ones(ebbing: Ebbing, tmp_path: Path) -> None:
    file = tmp_path / "chat.csv"
    file.write_text("who,what\nTom,tea\n")
    ended = ebbing("import", file, "-u", "emma")
    assert ended.code == 2
    assert all(name in ended.err for name in READERS)


def test_a_file_with_nothing_usable_ends_with_an_error(ebbing: Ebbing, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "king", "content": "x"}\n')
    assert ebbing("import", file, "-u", "emma").code == 1


def test_every_user_of_a_file_keeps_their_own_messages(ebbing: Ebbing, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"role": "user", "content": "Tom eats no shellfish", "user_id": "emma"}\n'
        '{"role": "user", "content": "Priya bakes buns", "user_id": "priya"}\n'
    )
    assert ebbing("import", file, "--no-extract", "--json").json["messages"] == 2
    for user, word in (("emma", "shellfish"), ("priya", "buns")):
        [one] = ebbing("list", "-u", user, "--json").json["results"]
        assert word in one["memory"]


def test_an_import_for_nobody_asks_whose_it_is(ebbing: Ebbing, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(FILES["messages"])
    ended = ebbing("import", file)
    assert (ended.code, "--user" in ended.err) == (2, True)
    assert ebbing("stats", "--json").json["memories"] == 0


def test_the_command_line_offers_every_reader() -> None:
    assert {form.value for form in Format} == set(READERS)


# ── a whole memory, moved ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ebbing:
    """A second, empty memory."""
    return runner(tmp_path / "elsewhere", capsys)


def lived_in(ebbing: Ebbing) -> list[str]:
    """A memory with facts, messages, an edit and a deletion; the ids of its two raw memories."""
    ebbing("add", "I live in Leeds.", "-u", "emma", "--id", "m1", "--name", "Emma")
    ids = []
    for text in ("Tom likes tea", "豆包是一只橘猫"):
        ids.append(ebbing("add", text, "-u", "emma", "--no-extract", "--json").json["results"][0]["id"])
    ebbing("update", ids[0], "Tom likes cocoa")
    ebbing("delete", ids[1], "--reason", "not mine")
    return ids


def test_an_export_comes_back_with_every_field_but_no_more_trust_than_a_file(
    ebbing: Ebbing, elsewhere: Ebbing, tmp_path: Path
) -> None:
    ids = lived_in(ebbing)
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    assert ebbing("export", before, "-u", "emma").code == 0
    report = elsewhere("import", before, "--json").json
    assert report["records"] == len(before.read_text().splitlines()) >= 4
    assert report["bad_lines"] == []
    assert elsewhere("export", after, "-u", "emma").code == 0
    assert after.read_text() == before.read_text().replace('"trust": "user"', '"trust": "import"')
    assert elsewhere("search", "cocoa", "-u", "emma", "--json").json["results"][0]["id"] == ids[0]
    assert elsewhere("restore", ids[1]).code == 0
    assert elsewhere("doctor", "--verify").code == 0


def test_an_export_that_is_imported_again_changes_nothing(ebbing: Ebbing, tmp_path: Path) -> None:
    lived_in(ebbing)
    file = tmp_path / "export.jsonl"
    ebbing("export", file, "-u", "emma")
    report = ebbing("import", file, "--json").json
    assert (report["records"], report["already_stored"]) == (0, len(file.read_text().splitlines()))


def test_an_export_can_become_another_users_memory_elsewhere(ebbing: Ebbing, elsewhere: Ebbing, tmp_path: Path) -> None:
    lived_in(ebbing)
    file = tmp_path / "export.jsonl"
    ebbing("export", file, "-u", "emma")
    elsewhere("import", file, "-u", "priya")
    assert elsewhere("list", "-u", "emma", "--json").json["results"] == []
    assert any("cocoa" in one["memory"] for one in elsewhere("list", "-u", "priya", "--json").json["results"])


def test_an_export_can_be_copied_to_another_user_of_the_same_store(ebbing: Ebbing, tmp_path: Path) -> None:
    lived_in(ebbing)
    file = tmp_path / "export.jsonl"
    ebbing("export", file, "-u", "emma")
    lines = len(file.read_text().splitlines())
    hers = ebbing("list", "-u", "emma", "--json").json["results"]
    assert ebbing("import", file, "-u", "priya", "--json").json["records"] == lines
    again = ebbing("import", file, "-u", "priya", "--json").json
    assert (again["records"], again["already_stored"]) == (0, lines)
    copied = ebbing("list", "-u", "priya", "--json").json["results"]
    assert {one["memory"] for one in copied} == {one["memory"] for one in hers}
    assert {one["id"] for one in copied}.isdisjoint({one["id"] for one in hers})
    assert ebbing("list", "-u", "emma", "--json").json["results"] == hers


def test_an_export_is_readable_by_its_owner_alone_and_never_overwritten_unasked(ebbing: Ebbing, tmp_path: Path) -> None:
    lived_in(ebbing)
    file = tmp_path / "export.jsonl"
    ebbing("export", file, "-u", "emma")
    assert file.stat().st_mode & 0o077 == 0
    assert "豆包是一只橘猫" in file.read_text()
    assert ebbing("export", file, "-u", "emma").code == 2
    assert ebbing("export", file, "-u", "emma", "--force").code == 0


def test_an_export_goes_to_stdout_as_lines_or_as_one_document(ebbing: Ebbing) -> None:
    lived_in(ebbing)
    lines = [json.loads(line) for line in ebbing("export", "-u", "emma").out.splitlines()]
    assert ebbing("export", "-u", "emma", "--json").json == lines


@pytest.mark.parametrize(
    "broken",
    [
        {"importance": 2},
        {"created_at": "yesterday"},
        {"created_at": "2025-03-04T19:02:00"},
        {"kind": "dream"},
        {"content": ""},
        {"tags": "fact"},
        {"access_count": -1},
        {"is_compressed": "no"},
        {"metadata": []},
        {"surprise": 1},
        {"user_id": None, "agent_id": None, "run_id": None},
        {"ebbing": 2},
    ],
)
def test_a_damaged_record_is_refused_without_quoting_it(ebbing: Ebbing, tmp_path: Path, broken: dict[str, Any]) -> None:
    lived_in(ebbing)
    file = tmp_path / "export.jsonl"
    ebbing("export", file, "-u", "emma")
    record = {**json.loads(file.read_text().splitlines()[0]), "id": "another", **broken}
    file.write_text(json.dumps({key: value for key, value in record.items() if value is not None}) + "\n")
    ended = ebbing("import", file, "--json")
    [bad] = json.loads(ended.out)["bad_lines"]
    assert (ended.code, bad["line"]) == (1, 1)
    assert not {"Leeds", "dream", "yesterday"} & set(bad["reason"].split())
