"""Doors whose packages are optional: found when they are opened, so that nothing else loads or needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbing.domain.errors import MissingExtraError

if TYPE_CHECKING:
    from ebbing.wiring.settings import Settings

_OF_SERVER: Final = frozenset({"fastapi", "starlette", "uvicorn"})


def bring_back(backup: Path, path: Path | None) -> Path:
    """Makes a store of a copy, at `path` or where the settings say; returns where.

    Raises:
        InvalidInputError: the copy is none, is damaged, or a store is there already.
        StoreError: it could not be written.
    """
    from ebbing.adapters.sqlite.backup import bring_back as placed
    from ebbing.wiring.build import load_settings

    settings = load_settings({} if path is None else {"path": path})
    placed(backup, settings.path)
    return settings.path


def settings_for(given: Mapping[str, Any]) -> Settings:
    """Settings from the environment, with what is given on top.

    Raises:
        ConfigurationError: a value does not fit.
    """
    from ebbing.wiring.build import load_settings

    return load_settings(given)


def serve_http(settings: Settings, *, started: Callable[..., None]) -> None:
    """Serves over HTTP until it is stopped; see `ebbing.interfaces.http.serve.serve`.

    Args:
        started: called with the service's address, and `is_open`, once it answers.

    Raises:
        MissingExtraError: the packages of the extra `server` are not installed.
        ConfigurationError: it would listen beyond this machine without asking for credentials, or cannot listen.
        StoreError: the store cannot be opened.
    """
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
