"""`ebbing maintain`, `ebbing worker`, `ebbing jobs`: what happens while nobody asks, on the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ebbing import Memory
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import NewJob
from tests.interfaces.cli import Ebbing


def queued(path: Path, *jobs: NewJob) -> None:
    with Memory(path, embedder="none") as memory:
        memory._run(lambda: memory.components.store.jobs.enqueue_all(jobs))


@pytest.fixture
def filled(ebbing: Ebbing) -> Ebbing:
    """A memory with two users."""
    for user in ("ada", "bob"):
        assert ebbing("add", "I live in Leeds.", "--user", user).code == 0
    return ebbing


def test_the_round_of_everybody_or_of_one_is_done_on_demand(filled: Ebbing) -> None:
    assert filled("maintain", "--json").json["owners"] == 2
    assert filled("maintain", "--user", "ada", "--json").json["owners"] == 1
    assert "2 owners looked after" in filled("maintain").out


def test_a_dry_run_goes_by_the_date_that_it_is_given_and_changes_nothing(filled: Ebbing) -> None:
    before = filled("export", "--user", "ada").out
    told = filled("maintain", "--dry-run", "--now", "2031-01-01", "--json").json
    assert (told["now"], told["dry_run"]) == ("2031-01-01T00:00:00+00:00", True)
    assert (
        "2 owners would be looked after, as of 2031-01-01 00:00"
        in filled("maintain", "--dry-run", "--now", "2031-01-01").out
    )
    assert filled("export", "--user", "ada").out == before
    assert filled("maintain", "--now", "some day").code == 2


def test_a_worker_does_what_is_due_once_and_the_jobs_tell_of_it(filled: Ebbing) -> None:
    assert filled("worker", "--once", "--json").json["failed"] == 0
    assert filled("worker", "--once", "--json").json["done"] == 0
    listed = filled("jobs", "list", "--kind", "daily", "--json").json
    assert [job["state"] for job in listed["jobs"]] == ["done"] * 3
    assert {job.get("user_id") for job in listed["jobs"]} == {"ada", "bob", None}
    text = filled("jobs", "list").out
    assert "ada" in text
    assert "3 done" in text
    shown = filled("jobs", "show", listed["jobs"][0]["id"])
    assert "daily" in shown.out


def test_a_job_that_was_given_up_is_found_and_tried_again(ebbing: Ebbing, tmp_path: Path) -> None:
    queued(tmp_path / "store", NewJob("daily", "x", belongs_to=Scope("ada"), max_attempts=1))
    [waiting] = ebbing("jobs", "list", "--state", "waiting", "--json").json["jobs"]
    refused = ebbing("jobs", "retry", waiting["id"])
    assert (refused.code, "is waiting" in refused.err) == (2, True)
    assert ebbing("jobs", "show", 99).code == 1
    assert ebbing("jobs", "list", "--state", "dead").out.strip().endswith("1 waiting")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_told_to_end_ends_well_and_leaves_no_lease(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", "from ebbing.interfaces.cli.app import main; main()", "worker", "--json"]
    environment = os.environ | {"EBBING_EMBEDDER": "none", "EBBING_PATH": str(tmp_path)}
    with Memory(tmp_path, embedder="none") as memory:
        memory.add("I live in Leeds.", user_id="ada")
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        assert child.stderr.readline().startswith("working")
        with Memory(tmp_path, embedder="none") as memory:
            give_up = time.monotonic() + 20
            while memory.jobs.list()["counts"].get("daily") != {"done": 2}:
                assert time.monotonic() < give_up
                time.sleep(0.05)
        child.send_signal(number)
        assert child.wait(20) == 0
        assert child.stdout is not None
        assert '"failed": 0' in child.stdout.read()
    with Memory(tmp_path, embedder="none") as memory:
        assert memory.jobs.list(state="running")["jobs"] == []
