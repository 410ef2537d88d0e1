"""What a job carries, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ebbing.domain.errors import InvalidInputError


def payload_text(payload: Mapping[str, Any] | None) -> str:
    """The payload as JSON text.

    Raises:
        InvalidInputError: it holds something else.
    """
    try:
        return json.dumps(dict(payload or {}), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError("a job's payload must be JSON") from error
