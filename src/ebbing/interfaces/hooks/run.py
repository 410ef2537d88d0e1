"""`ebbing hook`: run one hook within its budget. It never fails its host."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Final, Protocol

from ebbing.interfaces.hooks.hook_event import HOOKS, RECALLING, HookEvent, output_of, read_event
from ebbing.interfaces.hooks.over_http import ServiceMemory, ServiceUnreachableError
from ebbing.interfaces.hooks.reading_state import read_offset, write_offset
from ebbing.interfaces.hooks.transcript import read_new_messages
from ebbing.wiring.config.hook_settings import HookSettings, hook_settings, service_address
from ebbing.wiring.entry import direct_memory

START_TOKENS: Final = 800
PROMPT_TOKENS: Final = 400
MIN_SCORE: Final = 0.45
"""Score from which a memory is shown unasked, as `assistant.inject` has it."""


class HookMemory(Protocol):
    """Where a hook finds the memory: behind a service, or in a store."""

    def recall(self, options: dict[str, Any]) -> str:
        """Return a block about the person; `options` are those of `get_context`."""
        ...

    def remember(self, messages: list[dict[str, Any]], session: str) -> None:
        """Store messages."""
        ...


@dataclass(slots=True)
class _Result:
    output: str = ""
    trouble: str = "it took too long"
    ended: bool = field(default=False)


def main(arguments: Sequence[str]) -> int:
    """Run a hook and give its exit code, which is 0 whatever happens: another would stop the conversation.

    What a host is to read goes to stdout. Trouble is a line on stderr, which hosts show to who debugs them.
    """
    result = _Result()
    try:
        options = _parser().parse_args(list(arguments))
        settings = hook_settings(user=options.user, path=options.path, url=options.service, seconds=options.seconds)
        work = Thread(target=_run, args=(options.hook, settings), kwargs={"result": result}, daemon=True)
        work.start()
        work.join(settings.budget_seconds)
    except SystemExit:  # the parser's; it has said why
        return 0
    except Exception as error:  # the outermost door: a hook never fails its host
        result.trouble = type(error).__name__
    if not result.ended:
        sys.stderr.write(f"ebbing hook: nothing was done: {result.trouble}\n")
    elif result.output:
        with suppress(OSError):  # the host may have gone
            sys.stdout.buffer.write(result.output.encode())  # whatever the encoding of this machine is
            sys.stdout.buffer.flush()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ebbing hook")
    parser.add_argument("hook", choices=HOOKS)
    parser.add_argument("--user", "-u")
    parser.add_argument("--path")
    parser.add_argument("--service")
    parser.add_argument("--seconds", type=float)
    return parser


def _run(hook: str, settings: HookSettings, *, result: _Result) -> None:
    try:
        event = read_event(hook, sys.stdin.buffer.read().decode("utf-8", "replace"))
        result.output = recall(event, settings) if hook in RECALLING else remember(event, settings)
        result.ended = True
    except ValueError:
        result.trouble = "the input of a hook must be a JSON object"
    except OSError as error:
        result.trouble = f"{type(error).__name__} while reading"
    except Exception as error:  # a hook never fails its host; the name of an error tells nothing of anybody
        result.trouble = type(error).__name__


def recall(event: HookEvent, settings: HookSettings) -> str:
    """Return what the host is to put before the model."""
    if event.hook == "prompt":
        if event.prompt is None:
            return ""
        # The profile and the news were shown when the session began.
        asking = {"query": event.prompt[:4_000], "groups": ["relevant"], "min_score": MIN_SCORE, "with_turns": False}
        return output_of(event, _recalled_block(settings, {**asking, "max_tokens": PROMPT_TOKENS}))
    return output_of(event, _recalled_block(settings, {"max_tokens": START_TOKENS}))


def remember(event: HookEvent, settings: HookSettings) -> str:
    """Store what the transcript holds since the last hook; there is nothing to say about it."""
    if event.transcript is None or event.session is None:
        return ""
    offset = read_offset(settings.state, event.transcript)
    new = read_new_messages(Path(event.transcript).expanduser(), offset, session=event.session)
    if new.messages:
        _store_messages(settings, new.messages, session=event.session)
    if new.offset != offset:
        write_offset(settings.state, event.transcript, offset=new.offset)
    return ""


def _recalled_block(settings: HookSettings, options: dict[str, Any]) -> str:
    service = _service(settings)
    if service is not None:
        try:
            return service.recall(options)
        except ServiceUnreachableError:
            if settings.is_remote:
                raise
    return _store(settings).recall(options)


def _store_messages(settings: HookSettings, messages: list[dict[str, Any]], *, session: str) -> None:
    service = _service(settings)
    if service is not None:
        try:
            service.remember(messages, session)
            return
        except ServiceUnreachableError:
            if settings.is_remote:
                raise
    _store(settings).remember(messages, session)


def _service(settings: HookSettings) -> ServiceMemory | None:
    address = service_address(settings)
    return ServiceMemory(address, settings) if address else None


def _store(settings: HookSettings) -> HookMemory:
    store: HookMemory = direct_memory(path=settings.path, user=settings.user)
    return store
