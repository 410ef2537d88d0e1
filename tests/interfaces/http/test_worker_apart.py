"""The worker of `ebbing serve` is a process of its own, which is there as long as the service is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ebbing.wiring.build import load_settings
from ebbing.wiring.config.settings import handed_on
from tests.live_service import Served, served

pytestmark = pytest.mark.extended

PLAIN = {"EBBING_EMBEDDER": "none"}
SECONDS = 60.0


def soon(seen: Callable[[], Any]) -> Any:
    """What is seen at last; None if it is not within a minute."""
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        if found := seen():
            return found
        time.sleep(0.05)
    return None


def children(of: int) -> list[int]:
    """The processes that one has started and that live."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=", "--ppid", str(of)], capture_output=True, text=True, check=False
    ).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if not line.split()[1].startswith("Z")]


def lives(pid: int) -> bool:
    told = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(told) and not told.startswith("Z")


def worker_of(service: Served) -> int:
    [pid] = soon(lambda: children(service.process.pid))
    return int(pid)


def standing(service: Served) -> str:
    return str(httpx.get(f"{service.address}/readyz", timeout=SECONDS).json()["worker"])


def jobs_done(service: Served) -> int:
    counts = httpx.get(f"{service.address}/v1/jobs", timeout=SECONDS).json()["counts"]
    return sum(of_kind.get("done", 0) for of_kind in counts.values())


def test_jobs_are_done_in_a_process_that_gives_way_and_ends_with_the_service(tmp_path: Path) -> None:
    with served(tmp_path, settings=PLAIN) as service:
        said = {"user_id": "emma", "messages": "I moved to Leeds."}
        httpx.post(f"{service.address}/v1/memories", json=said, timeout=SECONDS).raise_for_status()
        assert soon(lambda: jobs_done(service) > 0)
        worker = worker_of(service)
        assert os.getpriority(os.PRIO_PROCESS, worker) > os.getpriority(os.PRIO_PROCESS, service.process.pid)
        assert standing(service) == "subprocess"
        service.stop()
        assert not lives(worker)


def test_a_worker_that_dies_is_followed_by_another_one(tmp_path: Path) -> None:
    with served(tmp_path, settings=PLAIN) as service:
        worker = worker_of(service)
        os.kill(worker, signal.SIGKILL)
        assert soon(lambda: standing(service) == "restarting")
        other = soon(lambda: [pid for pid in children(service.process.pid) if pid != worker])
        assert other
        assert soon(lambda: standing(service) == "subprocess")


def test_the_worker_of_a_service_that_is_killed_ends_too(tmp_path: Path) -> None:
    with served(tmp_path, settings=PLAIN) as service:
        worker = worker_of(service)
        service.process.kill()
        service.process.wait()
        assert soon(lambda: not lives(worker))


@pytest.mark.parametrize("settings", [{"EBBING_WORKER": "false"}, {"EBBING_WORKER_PROCESS": "false"}])
def test_there_is_no_such_process_where_none_is_wanted(tmp_path: Path, settings: dict[str, str]) -> None:
    with served(tmp_path, settings={**PLAIN, **settings}) as service:
        assert standing(service) == ("disabled" if "EBBING_WORKER" in settings else "in_process")
        assert children(service.process.pid) == []


def test_what_was_set_is_handed_on_with_its_secrets(tmp_path: Path) -> None:
    given = load_settings(
        {"path": tmp_path, "service_api_key": "s3cret", "redaction": {"phone": "drop"}, "expire_by_type": True}
    )
    assert load_settings(json.loads(handed_on(given))) == given
