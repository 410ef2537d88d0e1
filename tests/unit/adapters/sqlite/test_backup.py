"""A copy of the whole store, taken while it is in use, and brought back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ebbing import Memory
from ebbing.domain.errors import EbbingError, InvalidInputError
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.optional_extras import bring_back


def texts(path: Path) -> set[str]:
    with Memory(path, embedder="none") as memory:
        assert memory.maintenance.verify() == []
        return {item["memory"] for item in memory.get_all(user_id="emma", limit=1_000)["results"]}


def test_a_copy_holds_all_that_was_acknowledged_before_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add("I like tea", user_id="emma", infer=False)
        done = memory.maintenance.backup(tmp_path / "copy")
        memory.add("after the copy", user_id="emma", infer=False)
    assert done["bytes"] == sum(file.stat().st_size for file in (tmp_path / "copy").iterdir())
    assert bring_back(tmp_path / "copy", tmp_path / "again") == tmp_path / "again"
    assert texts(tmp_path / "again") == {"I like tea"}
    assert texts(tmp_path / "store") == {"I like tea", "after the copy"}


def test_a_copy_taken_while_others_write_is_as_of_one_moment(tmp_path: Path) -> None:
    stop = threading.Event()
    with Memory(tmp_path / "store", embedder="none") as memory:

        def write() -> None:
            number = 0
            while not stop.is_set():
                memory.add([f"pair {number} left", f"pair {number} right"], user_id="emma", infer=False)
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        for number in range(3):
            memory.maintenance.backup(tmp_path / f"copy{number}")
        stop.set()
        writer.join()
    for number in range(3):
        bring_back(tmp_path / f"copy{number}", tmp_path / f"again{number}")
        found = texts(tmp_path / f"again{number}")
        assert {text.replace("left", "right") for text in found if text.endswith("left")} == {
            text for text in found if text.endswith("right")
        }


def test_a_store_in_use_may_be_copied_as_if_it_were_a_backup(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add("I like tea", user_id="emma", infer=False)  # still in the log
        bring_back(tmp_path / "store", tmp_path / "again")
        memory.add("after the copy", user_id="emma", infer=False)
    assert texts(tmp_path / "again") == {"I like tea"}
    assert texts(tmp_path / "store") == {"I like tea", "after the copy"}


def test_a_history_elsewhere_is_copied_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBING_HISTORY_PATH", str(tmp_path / "history.db"))
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory_id = memory.add("I like tea", user_id="emma", infer=False)["results"][0]["id"]
        memory.maintenance.backup(tmp_path / "copy")
    monkeypatch.setenv("EBBING_HISTORY_PATH", str(tmp_path / "elsewhere" / "history.db"))
    bring_back(tmp_path / "copy", tmp_path / "again")
    for path in ("again", "store"):  # opening the one takes nothing from the other
        with Memory(tmp_path / path, embedder="none") as memory:
            assert [entry["event"] for entry in memory.history(memory_id)] == ["ADD"]
        monkeypatch.setenv("EBBING_HISTORY_PATH", str(tmp_path / "history.db"))


def test_nothing_is_ever_written_over(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add("I like tea", user_id="emma", infer=False)
        memory.maintenance.backup(tmp_path / "copy")
        with pytest.raises(InvalidInputError, match="empty directory"):
            memory.maintenance.backup(tmp_path / "copy")
    with pytest.raises(InvalidInputError, match="a store in this directory"):
        bring_back(tmp_path / "copy", tmp_path / "store")


def test_what_is_no_copy_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="name the one"):
        bring_back(tmp_path, tmp_path / "again")
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add("I like tea", user_id="emma", infer=False)
        memory.maintenance.backup(tmp_path / "copy")
    file = tmp_path / "copy" / "ebbing.db"
    damaged = bytearray(file.read_bytes())
    damaged[4_096:8_192] = b"\xff" * 4_096
    file.write_bytes(damaged)
    with pytest.raises(InvalidInputError, match="damaged"):
        bring_back(tmp_path / "copy", tmp_path / "again")
    assert not (tmp_path / "again" / "ebbing.db").exists()


def test_a_store_in_ram_has_nothing_to_copy(tmp_path: Path) -> None:
    with (
        Memory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory,
        pytest.raises(EbbingError, match="nothing to back up"),
    ):
        memory.maintenance.backup(tmp_path / "copy")
