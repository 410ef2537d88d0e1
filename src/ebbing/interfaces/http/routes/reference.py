"""`/docs`: the API reference, from this package alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from ebbing.interfaces.http.schema.operations import Operation

FILES: Final = {
    "/docs": ("docs.html", "text/html"),
    "/docs/docs.css": ("docs.css", "text/css"),
    "/docs/docs.js": ("docs.js", "text/javascript"),
}
"""File and media type of each path."""
_FOLDER: Final = Path(__file__).parent.parent / "reference"
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

router = APIRouter(route_class=Operation, include_in_schema=False)


@router.get("/docs")
def show_reference() -> Response:
    """Show the API reference, which reads `/openapi.json`."""
    return _file("/docs")


@router.get("/docs/docs.css")
def show_style() -> Response:
    """Give the style of the API reference."""
    return _file("/docs/docs.css")


@router.get("/docs/docs.js")
def show_script() -> Response:
    """Give the program of the API reference."""
    return _file("/docs/docs.js")


def _file(path: str) -> Response:
    name, media_type = FILES[path]
    return Response((_FOLDER / name).read_bytes(), media_type=media_type, headers=_HEADERS)
