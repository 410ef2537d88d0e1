"""`ebbing dev fake-llm` as a program that somebody starts beside their own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.app import run
from ebbing.testing.models.fake_llm_script import Fault, rules_from_toml

SCRIPT = """
[[rule]]
when = "peanuts"
answer = '{"facts": []}'

[[rule]]
fault = "rate_limit"
times = 1
"""
ASKED = {"model": "m", "messages": [{"role": "user", "content": "I like Peanuts, a lot"}]}


@contextmanager
def served(*options: str) -> Iterator[str]:
    """The address of a running server; it ends as with Ctrl-C."""
    command = [sys.executable, "-c", "from ebbing.interfaces.cli.app import main; main()", "dev", "fake-llm"]
    with subprocess.Popen([*command, "--port", "0", *options], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            found = re.match(r"http://127\.0\.0\.1:\d+/v1", line)
            assert found, line
            yield found[0]
            server.send_signal(signal.SIGINT)
            assert "requests were answered" in server.stderr.read()
        finally:
            server.kill()
    assert server.returncode == 0


@pytest.mark.slow
def test_a_script_is_served_whole_and_streamed(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text(SCRIPT)
    with (
        served("--script", str(script), "--key", "k") as url,
        httpx.Client(headers={"Authorization": "Bearer k"}) as web,
    ):
        whole = web.post(f"{url}/chat/completions", json=ASKED).json()
        assert whole["choices"][0]["message"]["content"] == '{"facts": []}'
        streamed = web.post(f"{url}/chat/completions", json={**ASKED, "stream": True})
        assert streamed.headers["Content-Type"] == "text/event-stream"
        *events, last = [line.removeprefix("data: ") for line in streamed.text.split("\n\n") if line]
        assert last == "[DONE]"
        pieces = [json.loads(event)["choices"][0]["delta"].get("content", "") for event in events]
        assert "".join(pieces) == '{"facts": []}'
        other = {"messages": [{"role": "user", "content": "something else"}]}
        assert [web.post(f"{url}/chat/completions", json=other).status_code for _ in range(2)] == [429, 200]
        assert web.get(f"{url}/models").json()["data"]
        assert web.post(f"{url}/chat/completions", content=b"{").status_code == 400
        assert httpx.post(f"{url}/chat/completions", json=ASKED).status_code == 401


@pytest.mark.parametrize(
    "script",
    [
        "= nonsense",
        "rule = 3",
        '[[rule]]\nwhen = "("',
        '[[rule]]\nfault = "bad luck"',
        "[[rule]]\nwhat = 1",
        "rule = [1]",
    ],
)
def test_a_script_that_makes_no_sense_is_refused_with_the_place(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidInputError):
        rules_from_toml(script)
    path = tmp_path / "script.toml"
    path.write_text(script)
    assert run(["dev", "fake-llm", "--port", "0", "--script", str(path)]) == 2
    assert capsys.readouterr().err.startswith("ebbing: ")


def test_a_script_names_faults_and_how_often() -> None:
    first, second = rules_from_toml(SCRIPT)
    assert (first.when, first.answer, first.fault, first.times) == ("peanuts", '{"facts": []}', None, None)
    assert (second.fault, second.times) == (Fault.RATE_LIMIT, 1)
