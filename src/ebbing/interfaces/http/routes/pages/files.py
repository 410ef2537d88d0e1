"""Files of this package as answers: compressed, with the headers that keep a page to itself."""

from __future__ import annotations

import gzip
import mimetypes
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Only this service's own files run, are shown and are asked, and no other page may frame this one."""
_LEAST_BYTES: Final = 1_024
"""A smaller file is sent as it is."""
_FOREVER: Final = "public, max-age=31536000, immutable"
_ASK_FIRST: Final = "no-cache"
_NO_GZIP: Final = re.compile(r"gzip\s*;\s*q=0(\.0*)?\s*(,|$)")


@dataclass(frozen=True)
class StaticFile:
    """One file, read once and compressed once.

    Args:
        is_hashed: its name changes with its content, so that a browser never asks for it twice.
    """

    path: Path
    is_hashed: bool = False

    @cached_property
    def _content(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def _gzipped(self) -> bytes:
        return gzip.compress(self._content, mtime=0)

    @cached_property
    def _digest(self) -> str:
        return sha256(self._content).hexdigest()[:32]

    def response(self, request: Request) -> Response:
        """Return the file; 304 where the browser has it already."""
        compressed = len(self._content) >= _LEAST_BYTES and _takes_gzip(request)
        tag = f'"{self._digest}-gzip"' if compressed else f'"{self._digest}"'
        headers = {
            **SECURITY_HEADERS,
            "ETag": tag,
            "Cache-Control": _FOREVER if self.is_hashed else _ASK_FIRST,
            "Vary": "Accept-Encoding",
        }
        tags = {name.strip() for name in request.headers.get("if-none-match", "").split(",")}
        if tag in tags:
            return Response(status_code=304, headers=headers)
        if compressed:
            headers["Content-Encoding"] = "gzip"
        return Response(
            self._gzipped if compressed else self._content, media_type=_media_type(self.path), headers=headers
        )


def _takes_gzip(request: Request) -> bool:
    accepted = request.headers.get("accept-encoding", "").lower()
    return "gzip" in accepted and not _NO_GZIP.search(accepted)


def _media_type(path: Path) -> str:
    """Return the type of a file by its ending, whatever this machine has set up."""
    return _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"


_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
