"""The platform's routes about projects: a project is the tenant, with the settings that have a meaning here."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.mem0.narrowing import words
from ebbing.interfaces.http.mem0.request_models import NO_EFFECT
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.interfaces.http.request_context import Administrator, Caller, Reader
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

_PROJECTS: Final = "/api/v1/orgs/organizations/{org_id}/projects/"
_PROJECT: Final = "/api/v1/orgs/organizations/{org_id}/projects/{project_id}/"
_MEMBERS: Final = f"{_PROJECT}members/"
_ELSEWHERE: Final = "projects are tenants here, and keys say who may do what: see `ebbing keys --help`"
_MOST_CHARACTERS: Final = 20_000
_SETTINGS: Final = (
    *("custom_instructions", "agent_custom_instructions", "custom_categories", "usecase_setting", "memory_depth"),
    *("multilingual", "decay"),
)
_WITHOUT_EFFECT: Final = frozenset(_SETTINGS) - {"custom_instructions"}

router = operations("mem0 platform")


class ProjectIn(BaseModel):
    """Settings of a project; null removes one."""

    model_config = ConfigDict(extra="forbid")

    custom_instructions: str | None = Field(default=None, description="Added to what a language model is told.")
    agent_custom_instructions: str | None = Field(default=None, description=NO_EFFECT)
    custom_categories: list[Any] | None = Field(default=None, description=NO_EFFECT)
    usecase_setting: Any = Field(default=None, description=NO_EFFECT)
    memory_depth: str | None = Field(default=None, description=NO_EFFECT)
    multilingual: bool | None = Field(default=None, description=NO_EFFECT)
    decay: bool | None = Field(default=None, description=NO_EFFECT)
    version: Any = Field(default=None, description=NO_EFFECT)
    org_id: Any = Field(default=None, description=NO_EFFECT)
    project_id: Any = Field(default=None, description=NO_EFFECT)


@router.get(_PROJECTS, response_model=ObjectResponse)
async def list_projects(caller: Reader, org_id: str) -> Response:
    """List the projects of the organisation. The one project is the tenant of the credential."""
    _same_tenant(caller, org_id)
    return encoded([await _project(caller)])


@router.get(_PROJECT, response_model=ObjectResponse)
async def get_project(
    caller: Reader, org_id: str, *, project_id: str, fields: Annotated[list[str] | None, Query()] = None
) -> Response:
    """Get the project of the credential, which is its tenant, with its settings."""
    _same_tenant(caller, org_id, project_id)
    project = await _project(caller)
    names = [name for field in fields or () for name in words(field)]
    unknown = [name for name in names if name not in project]
    if unknown:
        raise InvalidInputError(f"fields: a project has no {unknown[0]!r}; it has {', '.join(project)}")
    return encoded({name: project[name] for name in names} if names else project)


@router.patch(_PROJECT, response_model=ObjectResponse)
async def update_project(caller: Administrator, org_id: str, *, project_id: str, body: ProjectIn) -> Response:
    """Update the settings of the project. Those that are stored and have no effect are listed as `ignored`."""
    _same_tenant(caller, org_id, project_id)
    caller.acted_on("project settings")
    changes: Item = {name: getattr(body, name) for name in _SETTINGS if name in body.model_fields_set}
    if not changes:
        raise InvalidInputError(f"there is nothing to change: give one of {', '.join(_SETTINGS)}")
    if len(str(changes)) > _MOST_CHARACTERS:
        raise TooLargeError(f"the settings of a project are longer than {_MOST_CHARACTERS:,} characters")
    await caller.memory.components.store.profiles.change_settings(caller.principal.tenant, changes)
    ignored = sorted(_WITHOUT_EFFECT & {name for name, value in changes.items() if value is not None})
    if changes.get("custom_instructions") and caller.memory.components.chat.asking is None:
        ignored.append("custom_instructions (no language model is set)")
    message = "Project updated successfully"
    return encoded({"message": message, "ignored": ignored} if ignored else {"message": message})


@router.post(_PROJECTS, name="create_project", response_model=ObjectResponse)
async def refuse_project(caller: Reader, org_id: str) -> Response:
    """Refuse to create a project: projects are tenants here."""
    _same_tenant(caller, org_id)
    raise ProblemError("configuration", _ELSEWHERE)


@router.delete(_PROJECT, name="delete_project", response_model=ObjectResponse)
@router.post(_MEMBERS, name="add_member", response_model=ObjectResponse)
@router.put(_MEMBERS, name="update_member", response_model=ObjectResponse)
@router.delete(_MEMBERS, name="remove_member", response_model=ObjectResponse)
async def refuse_change(
    caller: Reader,
    org_id: str,
    *,
    project_id: str,
    email: Annotated[str | None, Query(description=NO_EFFECT)] = None,  # noqa: ARG001
) -> Response:
    """Refuse to change who belongs to the project, or to delete it: keys say who may do what."""
    _same_tenant(caller, org_id, project_id)
    raise ProblemError("configuration", _ELSEWHERE)


@router.get(_MEMBERS, response_model=ObjectResponse)
async def list_members(caller: Reader, org_id: str, *, project_id: str) -> Response:
    """List the members of a project. The list is empty: API keys say who may do what."""
    _same_tenant(caller, org_id, project_id)
    return encoded({"members": []})


def _same_tenant(caller: Caller, *named: str) -> None:
    if any(name != caller.principal.tenant for name in named):
        raise ProblemError("not_found", "no such organisation or project")


async def _project(caller: Caller) -> Item:
    tenant = caller.principal.tenant
    ids = dict.fromkeys(("id", "project_id", "org_id", "name"), tenant)
    usual = {**dict.fromkeys(_SETTINGS), "multilingual": True, "decay": True}
    stored = await caller.memory.components.store.profiles.settings(tenant)
    return {**ids, **usual, **{name: value for name, value in stored.items() if name in _SETTINGS}}
