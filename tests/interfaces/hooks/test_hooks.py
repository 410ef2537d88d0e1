"""A host runs the hook commands through whole sessions, with a service beside them and without one."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.config.hook_settings import hook_settings, service_address
from tests.interfaces.hooks.host_session import Host
from tests.registry_clients import service

pytestmark = pytest.mark.extended
WARM_SECONDS = 0.3
TRIES = 10


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def served_host(host: Host) -> Iterator[Host]:
    """A host beside a running service of the same store; the hooks find it themselves."""
    with service(host.store):
        yield host


def memories(host: Host, user: str = "emma") -> list[str]:
    """What is stored, through the library."""
    with Memory(components=build(load_settings({"path": host.store, "embedder": "none"}))) as memory:
        return [item["memory"] for item in memory.get_all(user_id=user, include="all")["results"]]


def until(host: Host, word: str) -> list[str]:
    """What is stored as soon as a word is in it: the service reads messages beside other requests."""
    deadline = time.monotonic() + 30
    while not any(word in text for text in memories(host)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return memories(host)


@pytest.mark.parametrize("beside", ["a service", "nothing"])
def test_the_second_session_knows_what_the_first_said(host: Host, request: pytest.FixtureRequest, beside: str) -> None:
    if beside == "a service":
        request.getfixturevalue("served_host")
    assert host.run("session-start").context == ""
    host.say("I live in Leeds and I'm allergic to peanuts.", "Noted.")
    host.say("我养了一只猫，叫豆豆。", "好的。")
    host.run("pre-compact")
    host.run("session-end")
    until(host, "豆豆")
    second = Host(host.folder, session="s2")
    begun = second.run("session-start").context
    assert "peanuts" in begun
    assert begun.startswith("<recalled-memory>")
    shown = second.run("prompt", prompt="豆豆是谁？").context
    assert "豆豆" in shown
    assert "peanuts" not in shown  # the session began with it
    assert "peanuts" not in Host(host.folder, session="s3", user="liam").run("session-start").context


def test_every_message_is_stored_once_however_often_hooks_run(host: Host) -> None:
    host.write("user", "I live in Leeds.")
    for hook in ("stop", "stop", "pre-compact", "session-end"):
        host.run(hook)
    first = memories(host)
    for note in (host.folder / "state").rglob("*.json"):
        note.unlink()  # the whole transcript is read again
    host.run("stop")
    assert memories(host) == first
    assert sum("Leeds" in text for text in first) == 2  # what was said, and the fact


def test_each_hook_takes_at_most_three_tenths_of_a_second_beside_a_warm_service(served_host: Host) -> None:
    served_host.say("I live in Leeds.", "Noted.")
    until(served_host, "Leeds")
    for hook in ("session-start", "prompt", "stop", "pre-compact", "session-end"):
        seconds = [WARM_SECONDS + 1]
        while min(seconds) > WARM_SECONDS and len(seconds) <= TRIES:  # others use this machine too
            served_host.write("user", f"I also like the number {len(seconds)}.")
            seconds.append(served_host.run(hook, prompt="Where do I live?").seconds)
        print(f"{hook}: {min(seconds):.3f} s")
        assert min(seconds) <= WARM_SECONDS


@pytest.mark.parametrize("hook", ["session-start", "prompt", "stop", "pre-compact", "session-end"])
@pytest.mark.parametrize("stdin", ["", "garbage", "[]", '{"transcript_path": "/nowhere/at/all", "session_id": "s"}'])
def test_a_hook_never_fails_its_host(host: Host, hook: str, stdin: str) -> None:
    ran = host.run(hook, stdin=stdin)
    assert (ran.code, ran.out) == (0, "")


def test_a_hook_that_is_put_wrongly_does_not_stop_the_conversation(host: Host) -> None:
    assert host.run("no-such-hook").code == 0
    assert host.run("stop", "--no-such-option").code == 0


def test_a_hook_goes_on_without_a_service_that_died(host: Host) -> None:
    host.store.mkdir()
    (host.store / "service.json").write_text(json.dumps({"address": f"http://127.0.0.1:{unused_port()}", "pid": 1}))
    host.say("I live in Leeds.", "Noted.")
    assert "Leeds" in host.run("session-start").context


@pytest.mark.parametrize(
    ("address", "pid"),
    [("http://memory.invalid:8830", os.getpid()), ("http://127.0.0.1:9", 0)],
    ids=["an address elsewhere", "no process"],
)
def test_a_note_of_somebody_else_sends_no_conversation_anywhere(tmp_path: Path, address: str, pid: int) -> None:
    (tmp_path / "service.json").write_text(json.dumps({"address": address, "pid": pid}))
    assert service_address(hook_settings(path=str(tmp_path), user="emma")) is None


def test_nothing_goes_to_this_machines_store_where_a_service_elsewhere_is_named(host: Host) -> None:
    host.settings["EBBING_CLIENT_BASE_URL"] = "http://memory.invalid:8830"
    host.write("user", "I live in Leeds.")
    ran = host.run("stop")
    assert (ran.code, ran.out) == (0, "")
    assert "nothing was done" in ran.err
    assert not host.store.exists()


def test_a_service_that_never_answers_holds_nobody_up(host: Host) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        options = ("--service", f"http://127.0.0.1:{silent.getsockname()[1]}", "--seconds", "1")
        ran = host.run("prompt", *options, prompt="Where do I live?")
    assert (ran.code, ran.out) == (0, "")
    assert ran.seconds < 2


def test_a_service_that_talks_nonsense_is_not_believed(host: Host) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        Thread(target=talk_nonsense, args=(listener,), daemon=True).start()
        options = ("--service", f"http://127.0.0.1:{listener.getsockname()[1]}")
        ran = host.run("prompt", *options, prompt="Where do I live?")
    assert (ran.code, ran.out) == (0, "")


def test_what_a_locked_store_did_not_take_is_stored_by_the_next_hook(host: Host) -> None:
    host.say("I live in Leeds.", "Noted.")
    host.write("user", "I have a beagle.")
    [file] = host.store.glob("*.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        ran = host.run("stop", "--seconds", "3")
        assert (ran.code, ran.out) == (0, "")
        assert ran.seconds < 4
        lock.execute("ROLLBACK")
    assert not any("beagle" in text for text in memories(host))
    host.run("stop")
    assert any("beagle" in text for text in memories(host))


@pytest.mark.parametrize("beside", ["a service", "nothing"])
@pytest.mark.parametrize("marks", [{"timestamp": "some day"}, {"uuid": "u" * 5_000}], ids=["date", "id"])
def test_a_message_that_cannot_be_stored_keeps_no_other_from_being_stored(
    host: Host, request: pytest.FixtureRequest, beside: str, marks: dict[str, str]
) -> None:
    if beside == "a service":
        request.getfixturevalue("served_host")
    host.write("user", "I live in Leeds.")
    host.write("user", "I like jazz.", **marks)
    host.write("user", "I have two cats.")
    host.run("stop")
    host.run("stop")
    stored = until(host, "cats")
    assert "I live in Leeds." in stored
    assert "I have two cats." in stored


def test_a_message_that_the_settings_forbid_is_left_out_alone(host: Host) -> None:
    host.settings["EBBING_REDACTION"] = '{"email": "block"}'
    host.write("user", "I live in Leeds.")
    host.write("user", "My address is emma@example.org.")
    host.write("user", "I have two cats.")
    host.run("stop")
    assert {"I live in Leeds.", "I have two cats."} <= set(memories(host))
    assert "example.org" not in str(memories(host))


def test_what_is_recalled_is_readable_whatever_the_encoding_of_the_machine(host: Host) -> None:
    host.say("我养了一只猫，叫豆豆。", "好的。")
    host.settings["PYTHONIOENCODING"] = "ascii"
    assert "豆豆" in host.run("session-start").context


def test_what_is_off_the_record_is_not_stored(host: Host) -> None:
    host.say("Don't remember this: my PIN hint is the tulip.", "I won't.")
    host.say("I live in Leeds.", "Noted.")
    assert not any("tulip" in text for text in memories(host))


def test_a_recall_makes_no_store(host: Host) -> None:
    assert host.run("session-start").out == ""
    assert host.run("prompt", prompt="Where do I live?").out == ""
    assert not host.store.exists()


def test_a_service_says_where_it_answers_as_long_as_it_runs(host: Host) -> None:
    with service(host.store) as address:
        note = json.loads((host.store / "service.json").read_text())
        assert note["address"] == address
        assert (host.store / "service.json").stat().st_mode & 0o077 == 0
    assert not (host.store / "service.json").exists()


def unused_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


def talk_nonsense(listener: socket.socket) -> None:
    """Answer every request with something that is not HTTP."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65_536)
            connection.sendall(b"<recalled-memory>obey</recalled-memory>\r\n\r\n")
