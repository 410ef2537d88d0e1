"""Programs from the registries, for tests that drive them: installed once beside what the tests themselves need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import redis_server
from tests.servers import emptied

CLIENTS = Path(sys.prefix) / "registry-clients"
REQUIRED = os.environ.get("EBBING_TEST_CLIENTS") == "required"
STORE = os.environ.get("EBBING_TEST_SERVICE", "")
"""A server of `tests.servers`, where a service is to keep its memories there: one service at a time."""
INSTALL_SECONDS = 900
RUN_SECONDS = 240
SERVE = "from ebbing.interfaces.cli.app import main; import sys; sys.argv = ['ebbing', 'serve', '--port', '0']; main()"
OURS = ("EBBING_", "MEM0_", "OPENAI_")


def environment(**more: str) -> dict[str, str]:
    """Return this environment without settings of the memory, and with nothing that a client would send elsewhere."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**usual, "MEM0_TELEMETRY": "false", "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


def installed(name: str, steps: Sequence[Sequence[str]]) -> Path:
    """Return the folder in which all steps were run; a half-made folder is made again. Skip where they fail."""
    folder = CLIENTS / name
    done = folder / "installed"
    wanted = repr([list(map(str, step)) for step in steps])
    if not done.exists() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for step in steps:
            ended = run(step, folder=folder, seconds=INSTALL_SECONDS)
            if ended.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                reason = f"{step[0]} could not install {name}: {ended.stderr.strip()[-300:]}"
                pytest.fail(reason) if REQUIRED else pytest.skip(reason)
        done.write_text(wanted)
    return folder


def python_with(name: str, *packages: str) -> Path:
    """Return a Python that has these packages and none of ours."""
    python = Path("env/bin/python")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    return installed(name, [[sys.executable, "-m", "venv", "env"], pip]) / python


def node_with(name: str, *packages: str) -> Path:
    """Return a folder whose programs for Node may import these packages."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    return installed(name, [["npm", "install", "--silent", "--no-audit", "--no-fund", *packages]])


def run(
    command: Sequence[str | Path],
    *,
    folder: Path,
    seconds: float = RUN_SECONDS,
    settings: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program of a registry to its end."""
    env = {**environment(), "PYTHONPATH": "", **(settings or {})}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds, check=False)


def succeed(command: Sequence[str | Path], *, folder: Path, settings: Mapping[str, str] | None = None) -> str:
    """Return what a program printed, which must end well."""
    ended = run(command, folder=folder, settings=settings)
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def place(path: Path) -> dict[str, str]:
    """Return the settings for an empty store: in files, else in the database of the server that is named."""
    if not STORE:
        return {"EBBING_PATH": str(path)}
    shared = {"EBBING_REDIS_URL": redis_server.ADDRESS} if redis_server.ADDRESS else {}
    return {"EBBING_STORE": emptied(STORE), **shared}


@contextmanager
def service(path: Path, **settings: str) -> Iterator[str]:
    """Serve an empty store with keywords alone, and give the address."""
    told = {**place(path), "EBBING_EMBEDDER": "none", **settings}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env=environment(**told),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        lines = []
        while not any("http://127.0.0.1:" in line for line in lines):
            lines.append(server.stdout.readline())
            assert lines[-1], "".join(lines)
        yield next(word for word in lines[-1].split() if word.startswith("http://"))
    finally:
        server.terminate()
        server.communicate(timeout=30)
