"""Count the files and functions of Ebbing that one `add` and one `search` enter.

Run from the repository root: `python scripts/trace_calls.py [add|search] [--list] [--check]`.

An `add` takes two English messages, read by the rules. A `search` asks a question that was not asked before. The
embedder is loaded and the store is warm: earlier calls with other texts have compiled the patterns and read the shard.
All threads are counted. `--check` fails where a call enters more than `LIMITS` allows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import ebbing
from ebbing import Memory


class Limit(NamedTuple):
    """What one call may enter."""

    files: int
    functions: int


LIMITS = {"add": Limit(115, 579), "search": Limit(48, 239)}
"""They may only fall. The aims are 30 files and 150 functions for an `add`, 20
and 100 for a `search`. A call enters a few functions more or less from run to run, for which there is room."""

PACKAGE = Path(ebbing.__file__).parent
OWNER = "ada"
EARLIER_TEXTS = (
    "I work as a nurse at the city hospital and my sister is called Ines.",
    "I love jazz but I can't stand the opera. I moved to Lisbon last May.",
    "My favourite food is ramen, and I have two cats. We talked about it yesterday.",
    "I want to run a half marathon in spring. My manager moved our weekly review to Friday.",
)
WARM_UP = (
    {"role": "user", "content": "I moved to Braga last month, and I am allergic to shellfish."},
    {"role": "assistant", "content": "Noted. Braga is a lively town."},
)
MESSAGES = (
    {"role": "user", "content": "I moved to Porto last week, and I am allergic to peanuts."},
    {"role": "assistant", "content": "Noted. Porto is a fine city."},
)
SETTLING_SECONDS = 2.0
"""Until profiles follow what was written: that work is none of the next call's."""
WARM_UP_QUESTION = "Which music does Ada like?"
QUESTION = "Where does Ada live now?"


class Trace:
    """The functions of the package that are entered while a call is recorded, in every thread.

    A thread is seen if it begins after the trace was made.
    """

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.changes_of_file = 0
        self._is_recording = False
        self._last_files: dict[int, str] = {}
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def record(self, call: Callable[[], object]) -> None:
        """Run a call and count what it enters; what was counted before is forgotten."""
        self.calls.clear()
        self.changes_of_file = 0
        self._last_files.clear()
        self._is_recording = True
        try:
            call()
        finally:
            self._is_recording = False

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if not self._is_recording or event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        self.calls[code] += 1
        thread = threading.get_ident()
        self.changes_of_file += self._last_files.get(thread) != code.co_filename
        self._last_files[thread] = code.co_filename


def functions_by_file(trace: Trace) -> dict[str, list[str]]:
    """The names of the functions that were entered, by file; comprehensions and lambdas are not counted."""
    functions: defaultdict[str, list[str]] = defaultdict(list)
    for code, calls in trace.calls.items():
        if not code.co_name.startswith("<"):
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            functions[file].append(f"{code.co_qualname} ({calls})")
    return dict(sorted(functions.items()))


def excess(name: str, functions: dict[str, list[str]]) -> list[str]:
    """What a call enters beyond its limit, as sentences."""
    limit, count = LIMITS[name], sum(map(len, functions.values()))
    problems = (
        [f"{name} enters {len(functions)} files, {limit.files} are allowed"] if len(functions) > limit.files else []
    )
    if count > limit.functions:
        problems.append(f"{name} enters {count} functions, {limit.functions} are allowed")
    return problems


def report(name: str, trace: Trace, *, lists_functions: bool) -> None:
    """Print the figures of one call."""
    functions = functions_by_file(trace)
    rooms = Counter(file.split("/")[0] for file in functions)
    count = sum(map(len, functions.values()))
    print(f"{name}: {len(functions)} files, {count} functions, {trace.calls.total()} calls,", end=" ")
    print(f"{trace.changes_of_file} changes of file, {len(rooms)} rooms")
    print("  " + ", ".join(f"{room} {files}" for room, files in rooms.most_common()))
    if lists_functions:
        for file, names in functions.items():
            print(f"  {file} {len(names)}: {', '.join(names)}")


def main() -> int:
    """Trace the calls that the command line names; 1 where `--check` finds too many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("call", nargs="?", choices=["add", "search", "both"], default="both")
    parser.add_argument("--list", action="store_true", help="name every function with its number of calls")
    parser.add_argument("--check", action="store_true", help="fail where a call enters more than its limit")
    options = parser.parse_args()
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        trace = Trace()
        with Memory(folder) as memory:
            for text in EARLIER_TEXTS:
                memory.add(text, user_id=OWNER)
            memory.add(list(WARM_UP), user_id=OWNER)
            memory.search(WARM_UP_QUESTION, user_id=OWNER)
            if options.call != "search":
                trace.record(lambda: memory.add(list(MESSAGES), user_id=OWNER))
                report("add", trace, lists_functions=options.list)
                problems += excess("add", functions_by_file(trace))
            if options.call != "add":
                time.sleep(SETTLING_SECONDS)
                trace.record(lambda: memory.search(QUESTION, user_id=OWNER))
                report("search", trace, lists_functions=options.list)
                problems += excess("search", functions_by_file(trace))
    for problem in problems:
        print(problem)
    return int(options.check and bool(problems))


if __name__ == "__main__":
    sys.exit(main())
