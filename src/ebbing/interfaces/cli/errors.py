"""What a failed command says and how it ends: one line that says what to do, and an exit code."""

from __future__ import annotations

import traceback
from pathlib import Path

from ebbing.domain.errors import EbbingError, InvalidInputError

OK = 0
FAILED = 1
"""An error, or a finding."""
USAGE = 2
"""The command was not put as it should be."""
INTERRUPTED = 130
"""Ctrl-C ended it; 128 and the number of SIGINT, as shells have it."""


def exit_of(error: Exception) -> tuple[int, str]:
    """Exit code and line for an error; nothing in the line comes from anybody's memory."""
    if isinstance(error, InvalidInputError):
        return USAGE, str(error)
    if isinstance(error, EbbingError):
        return FAILED, str(error)
    usage = getattr(error, "format_message", None)
    if usage is not None:  # the parser's own errors
        return getattr(error, "exit_code", USAGE), f"{_one_line(usage())} (ebbing --help)"
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return FAILED, f"{name}{error.strerror or type(error).__name__}"
    return FAILED, f"unexpected {type(error).__name__} at {_place(error)}; `ebbing --traceback …` shows more"


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
