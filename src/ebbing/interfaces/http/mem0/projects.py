"""The platform's routes about projects: what has a meaning here, and a plain word where nothing has."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.interfaces.http.request_context import Caller, Reader
from ebbing.interfaces.http.response_models import Anything
from ebbing.interfaces.http.responses import encoded

_PROJECT = "/api/v1/orgs/organizations/{org_id}/projects/{project_id}/"
_ELSEWHERE = "projects are tenants here, and their settings are the service's own: see EBBING_* in the documentation"

router = APIRouter(tags=["mem0 platform"])


@router.get("/api/v1/orgs/organizations/{org_id}/projects/", response_model=Anything, responses=documented())
async def projects(caller: Reader, org_id: str) -> Response:
    """The one project that the credential opens: its tenant."""
    _same_tenant(caller, org_id)
    return encoded([_project(caller)])


@router.get(_PROJECT, response_model=Anything, responses=documented())
async def project(caller: Reader, org_id: str, *, project_id: str) -> Response:
    """The project that the credential opens: its tenant."""
    _same_tenant(caller, org_id, project_id)
    return encoded(_project(caller))


@router.patch(_PROJECT, response_model=Anything, responses=documented())
@router.delete(_PROJECT, response_model=Anything, responses=documented())
@router.post(f"{_PROJECT}members/", response_model=Anything, responses=documented())
@router.put(f"{_PROJECT}members/", response_model=Anything, responses=documented())
@router.delete(f"{_PROJECT}members/", response_model=Anything, responses=documented())
async def change_project(caller: Reader, org_id: str, *, project_id: str) -> Response:
    """Refused: nothing here would be changed by it."""
    _same_tenant(caller, org_id, project_id)
    raise ProblemError("configuration", _ELSEWHERE)


@router.get(f"{_PROJECT}members/", response_model=Anything, responses=documented())
async def members(caller: Reader, org_id: str, *, project_id: str) -> Response:
    """None: who may do what is said by keys, not by members."""
    _same_tenant(caller, org_id, project_id)
    return encoded({"members": []})


def _same_tenant(caller: Caller, *named: str) -> None:
    if any(name != caller.principal.tenant for name in named):
        raise ProblemError("not_found", "no such organisation or project")


def _project(caller: Caller) -> Item:
    settings: dict[str, Any] = dict.fromkeys(
        ("custom_instructions", "agent_custom_instructions", "custom_categories", "usecase_setting", "memory_depth")
    )
    tenant = caller.principal.tenant
    return {
        "id": tenant,
        "project_id": tenant,
        "org_id": tenant,
        "name": tenant,
        "multilingual": True,
        "decay": True,
        **settings,
    }
