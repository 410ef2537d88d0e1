"""SillyTavern from npm with our extension in it, and a browser in which a test uses it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.registry_clients import environment, installed

VERSION = "1.19.0"
BROWSER = "playwright-core@1.55.0"
START_SECONDS = 400
HERE = Path(__file__).parent
EXTENSION = HERE.parents[1] / "extensions" / "sillytavern"


def program() -> Path:
    """Return the folder in which SillyTavern and what drives a browser are installed; skip where they cannot be."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    steps = [
        ["npm", "pack", "--silent", f"sillytavern@{VERSION}"],
        ["tar", "xzf", f"sillytavern-{VERSION}.tgz"],
        # It looks for what it needs inside its own folder.
        ["npm", "install", "--prefix", "package", "--omit=dev", *quiet],
        ["npm", "install", "--prefix", ".", *quiet, BROWSER],
    ]
    return installed("sillytavern", steps)


def browser() -> str:
    """Return the path of a Chromium; skip where there is none."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no chromium is installed (Debian: apt-get install chromium)")
    return path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(folder: Path, *, port: int, personas: Sequence[str]) -> Iterator[str]:
    """Serve SillyTavern with a data folder of its own that holds our extension, and give the address.

    Args:
        personas: who can be used; a persona exists only with a picture of its own.
    """
    user = folder / "data/default-user"
    shutil.copytree(EXTENSION, user / "extensions/ebbing")
    (user / "User Avatars").mkdir()
    for persona in personas:
        picture = program() / "package/default/content/user-default.png"
        shutil.copy(picture, user / "User Avatars" / f"{persona.lower()}.png")
    log = folder / "sillytavern.log"
    command = ["node", "server.js", "--dataRoot", str(folder / "data"), "--configPath", str(folder / "config.yaml")]
    with log.open("w") as written:
        server = subprocess.Popen(
            [*command, "--port", str(port), "--browserLaunchEnabled", "false"],
            cwd=program() / "package",
            env=environment(),
            stdout=written,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for(server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_for(server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while "to open SillyTavern" not in log.read_text():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.2)


class Tavern:
    """SillyTavern in a browser. Its methods are those of `tavern.mjs`: `tavern.say("Hello")`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self._call(name, given)

    def _call(self, name: str, given: tuple[Any, ...]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, *given]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"error": "the browser ended"}')
        assert "error" not in answer, answer["error"]
        return answer["value"]


@contextmanager
def browsing() -> Iterator[Tavern]:
    """Start a browser. `open` shows SillyTavern in it, `close` ends that visit."""
    path = browser()
    folder = program()
    script = shutil.copy(HERE / "tavern.mjs", folder / "tavern.mjs")  # beside the package that it imports
    process = subprocess.Popen(
        ["node", script, path], cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Tavern(process)
    finally:
        process.kill()  # its browser ends with it
        process.communicate()
