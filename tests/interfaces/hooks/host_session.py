"""A scripted host: it writes a transcript as Claude Code does, and runs the hook commands at their moments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}


@dataclass
class Ran:
    """How a hook ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def context(self) -> str:
        """What the host puts before the model."""
        return json.loads(self.out)["hookSpecificOutput"]["additionalContext"] if self.out else ""


@dataclass
class Host:
    """One session of a host."""

    folder: Path
    session: str = "s1"
    user: str = "emma"
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def transcript(self) -> Path:
        return self.folder / f"{self.session}.jsonl"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def write(self, role: str, text: str, **marks: Any) -> None:
        """Write down what was said."""
        count = len(self.transcript.read_text("utf-8").splitlines()) if self.transcript.exists() else 0
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        entry = {
            "type": role,
            "uuid": f"{self.session}-{count}",
            "message": {"role": role, "content": content},
            **marks,
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def say(self, text: str, answer: str) -> str:
        """A whole turn; gives what the model was shown before it answered."""
        shown = self.run("prompt", prompt=text).context
        self.write("user", text)
        self.write("assistant", answer)
        self.run("stop")
        return shown

    def run(self, hook: str, *options: str, stdin: str | None = None, **data: Any) -> Ran:
        """Run a hook as the host does."""
        usual = {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")}
        environment = {
            **usual,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "EBBING_PATH": str(self.store),
            "EBBING_EMBEDDER": "none",
            **self.settings,
        }
        given = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "hook_event_name": EVENTS.get(hook),
        }
        start = perf_counter()
        ended = subprocess.run(
            [sys.executable, "-m", "ebbing", "hook", hook, "--user", self.user, *options],
            input=json.dumps({**given, **data}) if stdin is None else stdin,
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.folder,
            timeout=60,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr, perf_counter() - start)
