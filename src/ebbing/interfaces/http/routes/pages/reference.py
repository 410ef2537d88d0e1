"""`/docs`: the API reference, from this package alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from ebbing.interfaces.http.routes.pages.files import StaticFile
from ebbing.interfaces.http.schema.operations import Operation

_FOLDER: Final = Path(__file__).parents[2] / "reference"
FILES: Final = {
    "/docs": StaticFile(_FOLDER / "docs.html"),
    "/docs/docs.css": StaticFile(_FOLDER / "docs.css"),
    "/docs/docs.js": StaticFile(_FOLDER / "docs.js"),
}
"""The file of each path."""

router = APIRouter(route_class=Operation, include_in_schema=False)


async def show_reference(request: Request) -> Response:
    """Show the API reference, which reads `/openapi.json`, or give a file that it loads."""
    return FILES[request.scope["path"]].response(request)


for _path in FILES:
    router.add_api_route(_path, show_reference, methods=["GET", "HEAD"])
