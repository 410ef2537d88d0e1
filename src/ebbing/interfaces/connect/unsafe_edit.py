"""What a file is that cannot be edited safely."""

from __future__ import annotations


class UnsafeEditError(Exception):
    """A file cannot be edited so that everything else in it stays. `plan` says what a person can do instead."""
