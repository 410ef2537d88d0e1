"""mem0's own clients, as the registries have them, against a running service: nothing is changed but the host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLIENTS = Path(sys.prefix) / "mem0-clients"
"""Kept beside what the tests themselves need, so that they are installed once."""
REQUIRED = os.environ.get("EBBING_TEST_MEM0_CLIENTS") == "required"
INSTALL_SECONDS = 900
LIFE_SECONDS = 240
SERVE = "from ebbing.interfaces.cli.app import main; import sys; sys.argv = ['ebbing', 'serve', '--port', '0']; main()"


def environment(**more: str) -> dict[str, str]:
    """Ours without settings of the memory, and with nothing that a client would send elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EBBING_", "MEM0_"))}
    return {**kept, "MEM0_TELEMETRY": "false", **more}


def run(
    command: Sequence[str], *, folder: Path, seconds: float, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds, check=False)


def installed(folder: Path, steps: Sequence[Sequence[str]]) -> Path:
    """The folder once all steps are done in it; a half-made one is made anew."""
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for step in steps:
            ended = subprocess.run(
                step,
                cwd=folder,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
                check=False,
            )
            if ended.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                reason = f"{step[0]} could not install mem0's client: {ended.stderr.strip()[-300:]}"
                pytest.fail(reason) if REQUIRED else pytest.skip(reason)
        done.touch()
    return folder


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a service of its own answers, with keywords alone: what comes back is not what is tested here."""
    settings = {"EBBING_PATH": str(tmp_path_factory.mktemp("store")), "EBBING_EMBEDDER": "none"}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        first = server.stdout.readline()
        assert "http://127.0.0.1:" in first, first + server.stdout.read()
        yield next(word for word in first.split() if word.startswith("http://"))
    finally:
        server.terminate()
        server.communicate(timeout=30)


def lives(command: Sequence[str], *, folder: Path, home: Path) -> None:
    settings = {**environment(MEM0_DIR=str(home)), "PYTHONPATH": ""}
    ended = run(command, folder=folder, seconds=LIFE_SECONDS, env=settings)
    assert ended.stdout.splitlines()[-1:] == ["lived"], f"{ended.stdout}\n{ended.stderr}"


def test_the_python_client_lives_its_life(address: str, tmp_path: Path) -> None:
    python = Path("env/bin/python")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mem0ai>=2,<3"]
    folder = installed(CLIENTS / "python", [[sys.executable, "-m", "venv", "env"], pip])
    lives([str(folder / python), str(HERE / "mem0_life.py"), address], folder=tmp_path, home=tmp_path)


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_javascript_client_lives_its_life(address: str, tmp_path: Path) -> None:
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "mem0ai@3"]
    folder = installed(CLIENTS / "npm", [npm])
    shutil.copy(HERE / "mem0_life.mjs", folder)
    lives(["node", "mem0_life.mjs", address], folder=folder, home=tmp_path)
