"""Where the servers of the tests are; each of several workers of one run has databases of its own."""

from __future__ import annotations

import os


def address_for_tests(server: str) -> str:
    """The address that the environment names for this worker, or else for all; '' for none."""
    name, worker = f"EBBING_TEST_{server.upper()}", os.environ.get("PYTEST_XDIST_WORKER", "")
    return os.environ.get(f"{name}_{worker.upper()}") or os.environ.get(name, "")
