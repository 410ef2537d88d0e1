"""The platform's routes about profiles. Profiles are always on here, so what a job would do is done at once."""

from __future__ import annotations

from typing import Any, Final, Literal

from fastapi import Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError, NotFoundError, TooLargeError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.interfaces.http.mem0.routes.entities import entities_of
from ebbing.interfaces.http.mem0.routes.events import Event, events_of
from ebbing.interfaces.http.request_context import Administrator, Caller, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

SETTING: Final = "profile_entities"
"""Name of the tenant's setting that holds what was set for profiles."""
_JOB: Final = "PROFILE"
_MOST_SAMPLED: Final = 100
_MOST_CHARACTERS: Final = 20_000

router = operations("mem0 platform")


class ProfileJobIn(BaseModel):
    """What is to be done: `trigger` for one user, or `sample` for the first few."""

    model_config = ConfigDict(extra="forbid")

    operation: Literal["trigger", "sample"]
    entity_type: Literal["user"] = "user"
    entity_id: str | None = None
    limit: int | None = None


class ProfileSettingsIn(BaseModel):
    """Settings of profiles."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool | None = None
    entities: dict[Literal["user"], dict[str, Any]] | None = None


@router.get("/v2/entities/user/{name}/profile/", response_model=ObjectResponse)
async def get_profile(caller: Reader, name: str) -> Response:
    """Get the profile of a user, made of their memories."""
    profile = await caller.memory.profiles.get(user_id=caller.user(name))
    answer = {"profile": profile, "status": "succeeded", "entity_type": "user", "entity_id": name}
    return encoded({**answer, "updated_at": profile.get("updated_at"), "generation_count": profile.get("version")})


@router.post("/v2/profiles/jobs/", response_model=ObjectResponse)
async def create_profile_job(caller: Writer, body: ProfileJobIn, *, request: Request) -> Response:
    """Make the profile of a user anew, or those of the first few users. The job is done when this answers."""
    names = await _users_of(caller, body)
    for name in names:
        await caller.memory.profiles.rebuild(user_id=caller.user(name))
    results = [{"id": name, "event": "PROFILE"} for name in names]
    user = body.entity_id if body.operation == "trigger" else None
    job_id = events_of(request).note(caller, _JOB, user=user, results=results)
    answer = {"job_id": job_id, "status": "succeeded", "status_url": f"/v2/profiles/jobs/{job_id}/"}
    answer |= {"operation": body.operation, "entity_type": "user", "event_id": job_id}
    sampled: Item = {"sampled": len(names), "entity_ids": names} if body.operation == "sample" else {}
    return encoded({**answer, "entity_count_reserved": len(names), **sampled})


@router.get("/v2/profiles/jobs/{job_id}/", response_model=ObjectResponse)
async def get_profile_job(caller: Reader, job_id: str, *, request: Request) -> Response:
    """Get what became of a job."""
    event: Event = events_of(request).get(caller, job_id)
    if event.kind != _JOB:
        raise NotFoundError("no profile job with this id")
    count = len(event.results)
    numbers = {"total": count, "completed": count, "succeeded": count, "failed": 0, "skipped": 0}
    job = {"id": job_id, "operation": "trigger", "entity_type": "user", "status": "succeeded"}
    return encoded({"job": {**job, "enumeration_complete": True, **numbers}})


@router.get("/v2/profiles/settings/", response_model=ObjectResponse)
async def get_profile_settings(caller: Reader) -> Response:
    """Get the settings of profiles, which are always on."""
    return encoded(await _settings(caller))


@router.post("/v2/profiles/settings/", response_model=ObjectResponse)
async def update_profile_settings(caller: Administrator, body: ProfileSettingsIn) -> Response:
    """Store settings of profiles. Profiles have their own form here: what has no effect is listed as `ignored`."""
    caller.acted_on("profile settings")
    if body.enabled is False:
        raise ProblemError("configuration", "profiles are made of memories at every read, and cannot be switched off")
    entities = dict(body.entities or {})
    unknown = set[str]().union(*entities.values()) - {"schema", "custom_instructions"}
    if unknown:
        raise InvalidInputError(f"entities.user holds schema and custom_instructions, and {unknown.pop()!r} is neither")
    if len(str(entities)) > _MOST_CHARACTERS:
        raise TooLargeError(f"the settings of profiles are longer than {_MOST_CHARACTERS:,} characters")
    if entities:
        before = (await _settings(caller))["entities"].get("user", {})
        merged = {name: value for name, value in {**before, **entities["user"]}.items() if value is not None}
        await caller.memory.components.store.profiles.change_settings(
            caller.principal.tenant, {SETTING: {"user": merged}}
        )
    ignored = sorted(name for each in entities.values() for name, value in each.items() if value is not None)
    return encoded({**await _settings(caller), **({"ignored": ignored} if ignored else {})})


async def _settings(caller: Caller) -> Item:
    stored = await caller.memory.components.store.profiles.settings(caller.principal.tenant)
    return {"enabled": True, "entities": stored.get(SETTING, {}), "capabilities": {"schema": False}}


async def _users_of(caller: Caller, body: ProfileJobIn) -> list[str]:
    """Return whose profiles a job is about.

    Raises:
        InvalidInputError: no user, or a limit out of range.
    """
    if body.operation == "trigger":
        if body.entity_id is None:
            raise InvalidInputError("say whose profile: entity_id")
        return [body.entity_id]
    limit = 10 if body.limit is None else body.limit
    if not 1 <= limit <= _MOST_SAMPLED:
        raise InvalidInputError(f"limit must be from 1 to {_MOST_SAMPLED}")
    return [entity.name for entity in await entities_of(caller) if entity.kind == "user"][:limit]
