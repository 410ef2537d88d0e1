"""Running `ebbing` inside a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ebbing.interfaces.cli.app import run


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it answered; fails the test if stdout is anything but one JSON document."""
        assert self.code == 0, self.err
        return json.loads(self.out)


Ebbing = Callable[..., Ended]


def runner(path: Path, capsys: pytest.CaptureFixture[str]) -> Ebbing:
    """A function that runs one command on the memory at `path`."""

    def ebbing(command: str, *arguments: object) -> Ended:
        capsys.readouterr()
        code = run([command, *map(str, arguments), "--path", str(path)])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return ebbing
