"""The check that a number lies within bounds."""

from __future__ import annotations

from ebbing.domain.errors import ConfigurationError


def require_between(name: str, value: float, *, least: float, most: float) -> None:
    """Refuses a number outside the bounds, and what is no number.

    Raises:
        ConfigurationError: it names the number and its bounds.
    """
    if not least <= value <= most:
        raise ConfigurationError(f"{name} must be from {least:g} to {most:g}")
