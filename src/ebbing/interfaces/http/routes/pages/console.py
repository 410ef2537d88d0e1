"""`/` and `/assets`: the console, a page that asks the routes under `/v1` with the key of who looks at it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.routes.pages.files import StaticFile
from ebbing.interfaces.http.schema.operations import Operation

ASSETS: Final = "/assets/"
"""Paths under it are files of the console or nothing."""
_FOLDER: Final = Path(__file__).parents[3] / "console" / "static"


def _files() -> dict[str, StaticFile]:
    """Return the built files by their path; a path that is not among them reads nothing."""
    places = {"/" + place.relative_to(_FOLDER).as_posix(): place for place in _FOLDER.rglob("*") if place.is_file()}
    files = {path: StaticFile(place, is_hashed=path.startswith(ASSETS)) for path, place in sorted(places.items())}
    return {"/" if path == "/index.html" else path: file for path, file in files.items()}


FILES: Final = _files()

router = APIRouter(route_class=Operation, include_in_schema=False)


async def show_file(request: Request) -> Response:
    """Give a file of the console."""
    return FILES[request.scope["path"]].response(request)


for _path in FILES:
    if not _path.startswith(ASSETS):
        router.add_api_route(_path, show_file, methods=["GET", "HEAD"])


@router.api_route(ASSETS + "{name:path}", methods=["GET", "HEAD"])
async def show_asset(request: Request, name: str) -> Response:
    """Give a script, style or picture of the console."""
    file = FILES.get(ASSETS + name)
    if file is None:
        raise ProblemError("not_found", "the console has no such file")
    return file.response(request)
