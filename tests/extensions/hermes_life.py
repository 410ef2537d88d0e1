"""Run by a Python with `hermes-agent`: a life of one provider in Hermes' own loader and manager, printed as JSON."""

import json
import os
import sys
from time import monotonic

from agent.memory_manager import MemoryManager
from plugins.memory import load_memory_provider

NAME, QUESTION = sys.argv[1], sys.argv[2]
SENDER = os.environ.get("HERMES_TEST_SENDER", "77")
QUIET = "HERMES_TEST_QUIET" in os.environ


def manager(session):
    """Return a manager with the provider, begun as the command line of Hermes begins it."""
    made = MemoryManager()
    provider = load_memory_provider(NAME)
    assert provider is not None, f"Hermes did not load {NAME}"
    assert provider.is_available()
    made.add_provider(provider)
    made.initialize_all(session, platform="telegram", hermes_home=os.environ["HERMES_HOME"], user_id=SENDER)
    return made


def timed(work):
    """Return what work gives and the seconds it took."""
    start = monotonic()
    return work(), monotonic() - start


sync_seconds = 0.0
if not QUIET:
    first = manager("session-1")
    text = "I live in Leeds, and I'm allergic to peanuts."
    _, sync_seconds = timed(lambda: first.sync_all(text, "Noted.", session_id="session-1"))
    first.sync_all("我对海鲜过敏。", "记住了。", session_id="session-1")
    first.flush_pending(timeout=30)
    first.shutdown_all()

second = manager("session-2")
second.on_turn_start(1, QUESTION)
recalled, recall_seconds = timed(lambda: second.prefetch_all(QUESTION, session_id="session-2"))
turns = int(os.environ.get("HERMES_TEST_TURNS", "0"))
_, turns_seconds = timed(lambda: [second.prefetch_all(f"{QUESTION} {turn}", session_id="s") for turn in range(turns)])
tool = next(name for name in second.get_all_tool_names() if name.endswith("_search"))
answer = "" if "HERMES_TEST_NO_TOOL" in os.environ else second.handle_tool_call(tool, {"query": QUESTION})
prompt = second.build_system_prompt()
second.shutdown_all()
print(
    json.dumps(
        {
            "recalled": recalled,
            "tool": answer,
            "prompt": prompt,
            "sync_seconds": sync_seconds,
            "recall_seconds": recall_seconds,
            "turns_seconds": turns_seconds,
        }
    )
)
