"""How many files and functions of Ebbing one call enters: the limits may only fall."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.trace_calls import LIMITS, excess

TRIES = 4
"""All threads are counted, and on a busy machine the work behind a call may fall into its time."""
REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.extended
def test_a_call_enters_no_more_files_and_functions_than_its_limit() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY / "src", REPOSITORY)))}
    command = [sys.executable, "scripts/trace_calls.py", "--check"]
    for _ in range(TRIES):
        done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", LIMITS)
def test_a_file_or_a_function_too_many_is_named(name: str) -> None:
    limit = LIMITS[name]
    allowed = {f"{number}.py": ["f"] for number in range(limit.files)}
    assert excess(name, allowed) == []
    assert excess(name, allowed | {"new.py": ["f"]}) == [
        f"{name} enters {limit.files + 1} files, {limit.files} are allowed"
    ]
    crowded = {"a.py": ["f"] * (limit.functions + 1)}
    assert excess(name, crowded) == [f"{name} enters {limit.functions + 1} functions, {limit.functions} are allowed"]
