"""`make run` as a newcomer meets it: started, tried with the printed requests, stopped, started again, killed."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from tests.live_service import served

KEYWORDS = {"EBBING_EMBEDDER": "none"}


def test_the_printed_requests_work_as_they_stand(tmp_path: Path) -> None:
    with served(tmp_path, settings=KEYWORDS) as service:
        requests = [line.strip() for line in service.said if line.strip().startswith("curl")]
        answers: list[Any] = []
        for request in requests:
            if shutil.which("curl") is None:
                pytest.skip("there is no curl")
            done = subprocess.run([*shlex.split(request), "-s"], capture_output=True, text=True, check=True)
            answers.append(json.loads(done.stdout))
        added, found, listed = answers
        assert "peanuts" in str(added["results"])
        assert {"memories", "recall_id"} <= found.keys()
        assert "peanuts" in str(listed["memories"])


@pytest.mark.slow
def test_a_service_that_is_told_to_stop_finishes_and_keeps_everything(tmp_path: Path) -> None:
    with served(tmp_path, settings=KEYWORDS) as service:
        body = {"user_id": "emma", "text": "green tea"}
        added = httpx.post(f"{service.address}/v1/memories", json=body).json()
        said = {"user_id": "emma", "messages": "I live in Leeds."}
        httpx.post(f"{service.address}/v1/sessions/s1/messages", json=said).raise_for_status()
        assert service.stop() in {0, -signal.SIGTERM}
    with served(tmp_path, settings=KEYWORDS) as service:
        assert httpx.get(f"{service.address}/v1/memories/{added['id']}").json()["text"] == "green tea"
        asked = {"user_id": "emma", "include": "episodes"}
        [episode] = httpx.get(f"{service.address}/v1/memories", params=asked).json()["memories"]
        assert episode["text"] == "I live in Leeds."  # the session was remembered before the process ended


@pytest.mark.slow
def test_ctrl_c_ends_it_without_a_complaint(tmp_path: Path) -> None:
    with served(tmp_path, settings=KEYWORDS) as service:
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(timeout=30) == 0
        assert service.process.stderr is not None
        assert "Traceback" not in service.process.stderr.read()


def started_wrongly(path: Path, *options: str, settings: dict[str, str]) -> str:
    """What a service says that does not start."""
    with pytest.raises(AssertionError) as failed, served(path, *options, settings={**KEYWORDS, **settings}):
        pass
    return str(failed.value)


@pytest.mark.slow
def test_it_does_not_listen_beyond_this_machine_without_credentials(tmp_path: Path) -> None:
    assert "ebbing keys create" in started_wrongly(tmp_path, "--host", "0.0.0.0", settings={})
    with served(tmp_path, "--host", "0.0.0.0", settings={**KEYWORDS, "EBBING_SERVICE_API_KEY": "root"}) as service:
        address = service.address.replace("0.0.0.0", "127.0.0.1")
        assert "authorization: Bearer KEY" in "".join(service.said)
        assert httpx.get(f"{address}/v1/memories?user_id=emma").status_code == 401


@pytest.mark.slow
def test_a_port_that_is_taken_is_told_in_a_line(tmp_path: Path) -> None:
    with served(tmp_path, settings=KEYWORDS) as service:
        port = service.address.rpartition(":")[2]
        told = started_wrongly(tmp_path, "--port", port, settings={})
        assert "--port" in told
        assert "Traceback" not in told


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_the_service_is_killed(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    with served(tmp_path, settings=KEYWORDS) as service:

        def write(number: int) -> None:
            with httpx.Client(base_url=service.address) as client:
                for count in range(10_000):
                    body = {"user_id": f"u{number}", "text": f"fact {count} of {number}"}
                    try:
                        answer = client.post("/v1/memories", json=body)
                    except httpx.HTTPError:
                        return
                    acknowledged.append(answer.json()["id"])

        writers = [Thread(target=write, args=[number]) for number in range(8)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 300:
            writers[0].join(timeout=0.05)
        service.process.kill()
        for writer in writers:
            writer.join(timeout=30)
    assert len(acknowledged) >= 300
    with served(tmp_path, settings=KEYWORDS) as service, httpx.Client(base_url=service.address) as client:
        lost = [one for one in acknowledged if client.get(f"/v1/memories/{one}").status_code != 200]
        assert lost == []


@pytest.mark.slow
def test_the_second_start_answers_within_three_seconds_with_the_real_model(tmp_path: Path) -> None:
    with served(tmp_path, "--demo"):
        pass
    seconds = []
    for _ in range(3):
        with served(tmp_path, "--demo") as service:
            seconds.append(service.seconds)
            body = {"user_id": "emma", "query": "Which food is dangerous for the little girl?", "limit": 1}
            found = httpx.post(f"{service.address}/v1/memories/search", json=body, timeout=30).json()
            assert found["memories"][0]["source_ids"] == ["en-1:4"]
    assert min(seconds) < 3
