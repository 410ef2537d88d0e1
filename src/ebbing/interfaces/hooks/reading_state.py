"""How far each transcript has been read, so that a hook reads what is new and no more."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

MAX_FILES: Final = 1_000
"""Transcripts whose place is known; the oldest tenth goes when there are more."""


def read_offset(folder: Path, transcript: str) -> int:
    """Return where reading goes on; 0 for a transcript that is new or whose note cannot be read.

    Reading from the start again does no harm: every message has an id, and is stored once.
    """
    try:
        offset = json.loads(_file(folder, transcript).read_text("utf-8"))["offset"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return offset if isinstance(offset, int) and offset >= 0 else 0


def write_offset(folder: Path, transcript: str, *, offset: int) -> None:
    """Note where reading goes on. The note holds a number, and nothing that was said.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = _file(folder, transcript)
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps({"offset": offset}), "utf-8")
    draft.replace(file)
    files = [*folder.glob("*.json")]
    if len(files) > MAX_FILES:
        files.sort(key=lambda path: path.stat().st_mtime)
        for old in files[: MAX_FILES // 10]:
            with suppress(OSError):
                old.unlink()


def _file(folder: Path, transcript: str) -> Path:
    return folder / f"{sha256(transcript.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
