"""Doors whose packages are optional: found when they are opened, so that nothing else loads or needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from ebbing.domain.errors import MissingExtraError

_OF_SERVER: Final = frozenset({"fastapi", "starlette", "uvicorn"})


def serve_http(given: Mapping[str, Any], *, started: Callable[[str], None]) -> None:
    """Serves over HTTP until it is stopped; see `ebbing.interfaces.http.serve.serve`.

    Args:
        given: settings that win over the environment.
        started: called with the service's address once it answers.

    Raises:
        MissingExtraError: the packages of the extra `server` are not installed.
        ConfigurationError: a setting does not fit.
        StoreError: the store cannot be opened.
    """
    from ebbing.wiring.build import load_settings

    settings = load_settings(given)
    try:
        # By name: the composition root opens the door, and yet depends on nothing in it.
        door = import_module("ebbing.interfaces.http.serve")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_SERVER:
            raise
        raise MissingExtraError(
            "the service needs packages that are not installed: pip install 'ebbing[server]'"
        ) from error
    door.serve(settings, started=started)
