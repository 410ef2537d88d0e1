"""The frameworks that these tests drive: skipped where they are not installed, required by `make test-integrations`."""

from __future__ import annotations

import importlib
import os

import pytest

REQUIRED = os.environ.get("EBBING_TEST_INTEGRATIONS") == "required"


def need(*modules: str) -> None:
    """Skip the tests of a module where a framework is missing; fail where it has to be there."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError:
            if REQUIRED:
                raise
            reason = f"{module} is not installed: `make test-integrations` runs these tests"
            pytest.skip(reason, allow_module_level=True)
