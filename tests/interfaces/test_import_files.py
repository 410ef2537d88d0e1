"""Files as people have them: in any encoding, cut, zipped, or no chat at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.import_batches import AT_ONCE, Intake
from ebbing.transfer.charset import text_lines
from ebbing.transfer.imported_turn import Turn, Unreadable
from ebbing.transfer.times import read_time
from tests.interfaces.cli import Ebbing

TALK = [
    {"role": "user", "content": "我对花生过敏，你记得要提醒我。", "id": "m1"},
    {"role": "assistant", "content": "好的，我记住了：不能吃花生。", "id": "m2"},
    {"role": "user", "content": "我们下个月要搬到上海去住。", "id": "m3"},
]
LINES = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in TALK)
DOCUMENT = json.dumps(TALK, ensure_ascii=False, indent=2)
BIG5 = "我對花生過敏，你要記得提醒我。這個很重要。"
TRADITIONAL = json.dumps([{"role": "user", "content": BIG5}], ensure_ascii=False)
KOREAN, JAPANESE = "안녕하세요 저는 땅콩 알레르기가 있어요", "私はピーナッツが食べられません"
ENCODINGS = ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
CHATGPT = [
    {
        "id": "c1",
        "title": "Dinner",
        "create_time": 1741114900.0,
        "current_node": "b",
        "mapping": {
            "a": {
                "parent": None,
                "children": ["b"],
                "message": {
                    "id": "m1",
                    "author": {"role": "user"},
                    "content": {
                        "content_type": "multimodal_text",
                        "parts": [{"content_type": "image_asset_pointer"}, "Tom eats no shellfish"],
                    },
                },
            },
            "b": {
                "parent": "a",
                "children": [],
                "message": {
                    "id": "m2",
                    "author": {"role": "user"},
                    "content": {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]},
                },
            },
        },
    }
]


def written(tmp_path: Path, content: bytes | str, name: str = "chat.json") -> Path:
    """A file with this content."""
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def zipped(**members: str) -> bytes:
    """A zip archive; `__` in a name stands for a dot."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return whole.getvalue()


def contents(ebbing: Ebbing) -> list[str]:
    """What is stored of emma's messages, oldest first."""
    listed: list[dict[str, Any]] = ebbing("list", "-u", "emma", "--include", "all", "--json").json["results"]
    return [item["memory"] for item in listed][::-1]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("text", [LINES, DOCUMENT], ids=["lines", "document"])
def test_a_chinese_chat_is_read_in_the_encoding_that_it_was_saved_in(
    ebbing: Ebbing, tmp_path: Path, encoding: str, text: str
) -> None:
    report = ebbing("import", written(tmp_path, text.encode(encoding)), "-u", "emma", "--no-extract", "--json").json
    assert (report["messages"], report["bad_lines"]) == (3, [])
    assert sorted(contents(ebbing)) == sorted(str(message["content"]) for message in TALK)


def test_a_big5_chat_is_not_taken_for_simplified_chinese(ebbing: Ebbing, tmp_path: Path) -> None:
    ebbing("import", written(tmp_path, TRADITIONAL.encode("big5")), "-u", "emma", "--no-extract")
    assert contents(ebbing) == [BIG5]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("안녕하세요 저는 땅콩 알레르기가 있어요", "euc-kr"),
        ("私はピーナッツが食べられません", "shift_jis"),
        ("Пётр", "cp1251"),
    ],
)
def test_an_encoding_that_is_not_certain_is_asked_for(ebbing: Ebbing, tmp_path: Path, text: str, encoding: str) -> None:
    line = json.dumps({"role": "user", "content": text}, ensure_ascii=False) + "\n"
    file = written(tmp_path, line.encode(encoding))
    ended = ebbing("import", file, "-u", "emma")
    assert (ended.code, "--encoding" in ended.err) == (2, True)
    assert ebbing("import", file, "-u", "emma", "--no-extract", "--encoding", encoding, "--json").json["messages"] == 1
    assert contents(ebbing) == [text]


def test_an_encoding_that_does_not_exist_or_does_not_fit_is_refused(ebbing: Ebbing, tmp_path: Path) -> None:
    file = written(tmp_path, LINES.encode("gb18030"))
    for encoding in ("klingon", "rot13", "ascii", "utf-8"):
        ended = ebbing("import", file, "-u", "emma", "--encoding", encoding)
        assert ended.code in {1, 2}
        assert ended.err or "UTF-8" in ended.out
    assert contents(ebbing) == []


@given(st.text(min_size=1), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"]))
def test_text_is_read_as_it_was_written_or_refused_but_never_replaced(text: str, encoding: str) -> None:
    line = json.dumps({"content": text}, ensure_ascii=False)
    try:
        content = line.encode(encoding)
    except UnicodeEncodeError:
        return
    try:
        read = [*text_lines(io.BytesIO(content))]
    except InvalidInputError:
        return
    if not any(isinstance(part, Unreadable) for part in read):
        assert "".join(map(str, read)) == line


def test_a_damaged_line_of_a_good_file_is_named_and_the_others_are_read(ebbing: Ebbing, tmp_path: Path) -> None:
    said = [f"我在公司吃了{count}个苹果" for count in range(4)]
    good = [json.dumps({"role": "user", "content": text}, ensure_ascii=False).encode() for text in said]
    damaged = b'{"role": "user", "content": "\xe6\x88"}'
    report = ebbing(
        "import", written(tmp_path, b"\n".join([*good, damaged, b""])), "-u", "emma", "--no-extract", "--json"
    ).json
    assert report["messages"] == 4
    assert report["bad_lines"] == [{"line": 5, "reason": "it holds bytes that are not UTF-8"}]


def sqlite_file(tmp_path: Path) -> bytes:
    """The bytes of a database."""
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE chat (words)")
    db.close()
    return file.read_bytes()


NO_CHATS: dict[str, tuple[bytes | str, str]] = {
    "empty": ("", "is empty"),
    "blank": ("\n \n", "is empty"),
    "empty list": ("[]", "JSON is empty"),
    "cut document": (DOCUMENT[: len(DOCUMENT) // 2], "was cut"),
    "cut on one line": (json.dumps(TALK)[:-30], "was cut"),
    "cut in a character": (json.dumps(TALK, ensure_ascii=False).encode()[:46], "was cut"),
    "wrong JSON": ('{"role": user, "content": "x"}', "not valid JSON: look at line 1, column 10"),
    "plain text": ("Dear diary,\ntoday I had tea.\n", "plain text"),
    "web page": ("<!DOCTYPE html><html><body>chat</body></html>", "HTML"),
    "other JSON": ('{"name": "Tom", "age": 5}', "no messages that we know"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(40), "a picture"),
    "document": (b"%PDF-1.7 and more", "a PDF document"),
    "binary": (bytes(range(256)) * 4, "binary"),
    "gzip": (gzip.compress(LINES.encode()), "unpack it first"),
    "zip without chats": (zipped(a__json="{}", b__json="{}"), "no conversations.json among its 2 files"),
    "cut zip": (zipped(conversations__json="[]")[:-20], "cut or damaged"),
    "office": (zipped(**{"word/document__xml": "<x/>"}), "office document"),
}


@pytest.mark.parametrize("kind", [*NO_CHATS, "database"])
def test_a_file_without_chats_is_named_for_what_it_is(ebbing: Ebbing, tmp_path: Path, kind: str) -> None:
    content, told = (sqlite_file(tmp_path), "a SQLite database") if kind == "database" else NO_CHATS[kind]
    ended = ebbing("import", written(tmp_path, content), "-u", "emma")
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert "\ufffd" not in ended.err
    assert not {"Tom", "diary", "花生"} & set(ended.err.split())


def test_every_kind_of_wrong_file_has_a_message_of_its_own(ebbing: Ebbing, tmp_path: Path) -> None:
    kinds = ["empty", "cut document", "wrong JSON", "plain text", "web page", "other JSON", "binary", "gzip", "cut zip"]
    said = {ebbing("import", written(tmp_path, NO_CHATS[kind][0]), "-u", "emma").err for kind in kinds}
    assert len({message.splitlines()[-1] for message in said}) == len(kinds)


def test_the_zip_of_a_chatgpt_export_is_read_as_it_was_downloaded(ebbing: Ebbing, tmp_path: Path) -> None:
    members = zipped(user__json="{}", chat__html="<html/>", conversations__json=json.dumps(CHATGPT))
    file = written(tmp_path, members, "export.zip")
    report = ebbing("import", file, "-u", "emma", "--no-extract", "--json").json
    assert report["messages"] == 1
    [item] = ebbing("list", "-u", "emma", "--json").json["results"]
    assert (item["memory"], item["created_at"][:10]) == ("Tom eats no shellfish", "2025-03-04")
    assert ebbing("import", file, "-u", "emma", "--no-extract", "--json").json["already_stored"] == 1


def test_an_export_in_several_parts_is_read_whole(ebbing: Ebbing, tmp_path: Path) -> None:
    parts = {f"conversations-{part}__json": json.dumps([{**CHATGPT[0], "id": f"c{part}"}]) for part in range(3)}
    file = written(tmp_path, zipped(**parts), "export.zip")
    report = ebbing("import", file, "-u", "emma", "--no-extract", "--json").json
    assert (report["messages"], report["bad_lines"]) == (3, [])


def test_pictures_of_an_imported_chat_are_counted_and_not_dropped_in_silence(ebbing: Ebbing, tmp_path: Path) -> None:
    file = written(tmp_path, json.dumps(CHATGPT))
    report = ebbing("import", file, "-u", "emma", "--json").json
    assert (report["messages"], report["omitted_parts"], report["bad_lines"]) == (1, {"image": 2}, [])
    assert "left out" in ebbing("import", file, "-u", "ann").out


TIMES = {
    **dict.fromkeys(
        [
            "2024-05-01T10:20:00Z",
            "2024-05-01 18:20+08:00",
            "2024/05/01 10:20",
            "2024/5/1 10:20:00 AM",
            "2024年5月1日 10:20",
            "2024年5月1日 上午10时20分",
            "2024.05.01 10:20:00",
            "Wed, 01 May 2024 10:20:00 GMT",
            "Wed May 01 2024 18:20:00 GMT+0800 (China Standard Time)",
            "May 1, 2024, 10:20 AM",
            "May 1, 2024 10:20am",
            "1 May 2024 10:20",
            "2024-5-1 @10h 20m 0s 0ms",
            "1714558800",
        ],
        True,
    ),
    **dict.fromkeys(["05/06/2024 10:20", "yesterday", "2024-13-01 10:20", "", "2024年5月1日 下午25:20"], False),
}


@pytest.mark.parametrize("value", TIMES)
def test_a_time_is_read_in_every_form_with_one_reading(value: str) -> None:
    moment = read_time(value)
    if not TIMES[value]:
        assert moment is None
    elif isinstance(moment, float):
        assert moment == 1714558800
    else:
        assert moment is not None
        stamp = moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=None).timestamp()
        assert round(stamp) == 1714558800


@pytest.mark.parametrize(
    "number", [1714558800, 1714558800.0, 1714558800_000, 1714558800_000_000, 1714558800_000_000_000]
)
@pytest.mark.parametrize("key", ["timestamp", "created_at", "createdAt", "ts", "sent_at"])
def test_an_epoch_number_counts_in_whichever_unit_and_under_whichever_key(
    ebbing: Ebbing, tmp_path: Path, number: float, key: str
) -> None:
    line = json.dumps({"role": "user", "content": "Tom likes tea", key: number})
    ebbing("import", written(tmp_path, line), "-u", "emma", "--no-extract")
    [item] = ebbing("list", "-u", "emma", "--json").json["results"]
    assert item["created_at"].startswith("2024-05-01T10:20:00")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Tom likes tea", "created_at": "05/06/2024"},
        {"role": "user", "content": "Tom likes tea", "date": {"year": 2024}},
        {"is_user": True, "mes": "Tom likes tea", "send_date": "soon"},
    ],
)
def test_a_time_that_cannot_be_read_is_reported_and_never_becomes_today(
    ebbing: Ebbing, tmp_path: Path, message: dict[str, Any]
) -> None:
    ended = ebbing("import", written(tmp_path, json.dumps(message)), "-u", "emma", "--no-extract", "--json")
    [bad] = json.loads(ended.out)["bad_lines"]
    assert (ended.code, "time under" in bad["reason"]) == (1, True)


def test_a_stopped_import_says_what_is_stored_and_goes_on_when_it_is_repeated(
    ebbing: Ebbing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"role": "user", "content": f"Fact number {number}"}) for number in range(3 * AT_ONCE)]
    file = written(tmp_path, "\n".join(lines), "chat.jsonl")
    take_turns = Intake._take_turns

    def stopped(self: Intake, turns: Sequence[Turn]) -> None:
        if self.report.messages == 2 * AT_ONCE:
            raise KeyboardInterrupt
        take_turns(self, turns)

    with monkeypatch.context() as patch:
        patch.setattr(Intake, "_take_turns", stopped)
        ended = ebbing("import", file, "-u", "emma", "--no-extract")
    assert (ended.code, f"{2 * AT_ONCE} messages stored" in ended.out) == (130, True)
    assert "the same command goes on" in ended.err
    again = ebbing("import", file, "-u", "emma", "--no-extract", "--json").json
    assert (again["messages"], again["already_stored"]) == (AT_ONCE, 2 * AT_ONCE)


@pytest.mark.extended
def test_ctrl_c_at_a_terminal_ends_an_import_in_order(tmp_path: Path) -> None:
    said = ({"role": "user", "content": f"I bought {number} apples in Leeds"} for number in range(20_000))
    file = written(tmp_path, "".join(json.dumps(message) + "\n" for message in said), "chat.jsonl")
    # A job in the background, as tests may run in, ignores Ctrl-C, and so do its children: a terminal's do not.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heed}; from ebbing.interfaces.cli.app import main; main()"
    command = [sys.executable, "-c", code, "import", file, "-u", "emma", "--path", tmp_path / "store", "--json"]
    environment = {**os.environ, "EBBING_EMBEDDER": "none", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    log = tmp_path / "store" / "ebbing.db-wal"
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (log.exists() and log.stat().st_size > 500_000):
            sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    report = json.loads(out)
    assert (process.returncode, report["stopped"]) == (130, True)
    assert report["messages"] > 0
    assert b"Traceback" not in err
