"""`/v1/profiles`, `/v1/graph`, `/v1/identities`: who somebody is, whom they know, under which names they come."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.request_context import Administrator, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import IdentityBody, MergeBody, ProfileBody
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

router = operations("people", prefix="/v1")

UserId = Annotated[str, Path(description="Whose profile; `me` is the user of the credential.")]
Name = Annotated[str | None, Query()]
ME = "me"


@router.get("/profiles/{user_id}", response_model=ObjectResponse)
async def get_profile(caller: Reader, user_id: UserId, *, agent_id: Name = None, language: Name = None) -> Response:
    """Get the profile of a user. It is made of their memories and of manual edits."""
    owner = caller.user(_meant(user_id, caller.principal.user))
    return encoded(await caller.memory.profiles.get(user_id=owner, agent_id=agent_id, language=language))


@router.put("/profiles/{user_id}", response_model=ObjectResponse)
async def edit_profile(caller: Writer, user_id: UserId, *, body: ProfileBody) -> Response:
    """Edit the profile of a user. An edit takes precedence over memories until it is undone."""
    owner = caller.user(_meant(user_id, caller.principal.user))
    edited = await caller.memory.profiles.update(
        body.set, user_id=owner, unset=body.unset, revert=body.revert, delete_memories=body.delete_memories
    )
    return encoded(edited)


@router.get("/profiles/{user_id}/questions", response_model=ObjectResponse)
async def suggest_questions(caller: Reader, user_id: UserId, *, language: Name = None, limit: int = 3) -> Response:
    """Suggest questions about what is not yet known of a user."""
    owner = caller.user(_meant(user_id, caller.principal.user))
    return encoded(
        {"questions": await caller.memory.profiles.suggest_questions(user_id=owner, language=language, limit=limit)}
    )


@router.get("/graph", response_model=ObjectResponse)
async def get_graph(
    caller: Reader,
    *,
    user_id: Name = None,
    agent_id: Name = None,
    about: Name = None,
    hops: int = 1,
    as_of: Name = None,
    include_ended: bool = False,
    limit: Annotated[int | None, Query(description="Relations at most, the newest, 1 to 10,000.")] = None,
) -> Response:
    """Get people, places and things, and how they are related."""
    answer = await caller.memory.graph(
        user_id=caller.user(user_id),
        agent_id=agent_id,
        about=about,
        hops=hops,
        as_of=as_of,
        include_ended=include_ended,
        limit=limit,
    )
    return encoded(answer)


@router.get("/identities", response_model=ObjectResponse)
async def list_identities(
    caller: Administrator, *, user_id: Name = None, limit: int = 100, cursor: Name = None
) -> Response:
    """List the names under which users appear in channels."""
    return encoded(await caller.memory.identities.list(user_id=user_id, limit=limit, cursor=cursor))


@router.post("/identities", response_model=ObjectResponse)
async def resolve_identity(caller: Administrator, body: IdentityBody) -> Response:
    """Get the user behind a name in a channel. With `user_id`, link the name to that user from now on."""
    if body.user_id is None:
        return encoded(await caller.memory.identities.resolve(body.channel, body.channel_user_id))
    return encoded(await caller.memory.identities.link(body.channel, body.channel_user_id, user_id=body.user_id))


@router.post("/identities/merges", response_model=ObjectResponse)
async def merge_users(caller: Administrator, body: MergeBody) -> Response:
    """Merge two users into one. All memories of the source move to the target."""
    return encoded(await caller.memory.identities.merge(body.target_user_id, body.source_user_id))


@router.delete("/identities/merges/{merge_id}", response_model=ObjectResponse)
async def undo_user_merge(caller: Administrator, merge_id: int) -> Response:
    """Undo a merge of two users."""
    return encoded(await caller.memory.identities.unmerge(merge_id))


def _meant(user_id: str, fixed: str | None) -> str:
    if user_id != ME or fixed == ME:
        return user_id
    if fixed is None:
        raise InvalidInputError("`me` needs a credential for one user: name the user instead")
    return fixed
