"""The entry point of `ebbing`. A hook is run before anything of the command line is loaded: its host waits."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Run the command that the arguments name."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        run_hook(sys.argv[2:])
    import_module("ebbing.interfaces.cli.app").main()


def run_hook(arguments: list[str]) -> None:
    """Run a hook and end the process, whatever still goes on in it."""
    try:
        import_module("ebbing.interfaces.hooks.run").main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def direct_memory(*, path: str | None, user: str | None) -> Any:
    """Return the memory in its own store; see `ebbing.interfaces.hooks.direct.StoreMemory`."""
    return import_module("ebbing.interfaces.hooks.direct").StoreMemory(path=path, user=user)
