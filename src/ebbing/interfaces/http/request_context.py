"""What a route gets of who calls: the memory of their tenant, and whose of it they may touch."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypedDict

from fastapi import Depends, Request
from starlette.types import Scope as ASGIScope

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import EbbingError, InvalidInputError
from ebbing.domain.memory.scope import Scope
from ebbing.interfaces.http.errors import ProblemError, problem_of
from ebbing.interfaces.http.middleware.auth import Principal
from ebbing.interfaces.http.schema.request_models import OwnerBody
from ebbing.memory import AsyncMemory

_MOST_TENANTS: Final = 1_024
"""Views of the memory that are kept; one more costs 20 microseconds."""


_LOOKING: Final = frozenset({"GET", "HEAD"})


class OwnerParams(TypedDict):
    """The ids of a call, as the façade takes them."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None


NO_ANSWER_KEPT: Final = "no_answer_kept"
"""Key of the request's state that says so."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One request's way to the memory."""

    memory: AsyncMemory
    """Of the caller's tenant and no other."""
    principal: Principal
    state: dict[str, Any]
    """Of the request."""

    @property
    def request_name(self) -> str | None:
        """What a request that is to be done once is known by; None for others."""
        name: str | None = self.state.get("request_name")
        return name

    @property
    def may_wait(self) -> bool:
        """Whether the caller would rather hear at once that it will be done, and somebody here does it."""
        return bool(self.state.get("may_wait"))

    def keep_no_answer(self) -> None:
        """Lets the answer of this request be kept nowhere: it tells what is off the record."""
        self.state[NO_ANSWER_KEPT] = True

    def acted_on(self, target: str) -> None:
        """Names what an administrative act was done to, for the log of them; never a person."""
        self.state["act_target"] = target

    def user(self, named: str | None = None) -> str | None:
        """Whose memory is meant: the credential's user where it names one, else who is `named`.

        Raises:
            ProblemError: `forbidden`, the credential is for another user than `named`.
        """
        return self.owner_ids(named)["user_id"]

    def owner_ids(
        self, user_id: str | None = None, agent_id: str | None = None, *, run_id: str | None = None
    ) -> OwnerParams:
        """The ids of a call, with the credential's user where it names one.

        Raises:
            ProblemError: `forbidden`, as for `user`.
        """
        fixed = self.principal.user
        if fixed is not None and user_id is not None and user_id.strip() != fixed:
            raise ProblemError("forbidden", "this credential is for one user, and user_id names another: leave it out")
        ids: OwnerParams = {"user_id": fixed or user_id, "agent_id": agent_id, "run_id": run_id}
        self.state.setdefault("touched", []).append({**ids, "tenant": self.principal.tenant})
        return ids

    def owner_of(self, body: OwnerBody) -> OwnerParams:
        """The ids that a body names; see `owner_ids`."""
        return self.owner_ids(body.user_id, body.agent_id, run_id=body.run_id)

    def needs(self, role: AccessRole) -> None:
        """Refuses a credential that may not do this.

        Raises:
            ProblemError: `forbidden`.
        """
        if self.principal.role < role:
            raise ProblemError("forbidden", f"this needs the right to {role.name.lower()}")

    def needs_whole_tenant(self) -> None:
        """Refuses a credential for one user, and one without the right to administer.

        Raises:
            ProblemError: `forbidden`.
        """
        self.needs(AccessRole.ADMIN)
        if self.principal.user is not None:
            raise ProblemError("forbidden", "this is about the whole tenant, and the credential is for one user")


def scope_touched(state: Mapping[str, Any]) -> Scope | None:
    """Whose memory a request was about; None if of several, or if only an id of a memory was named."""
    touched: list[dict[str, str | None]] = state.get("touched", [])
    if not touched or any(item != touched[0] for item in touched):
        return None
    try:
        return Scope(**touched[0])  # type: ignore[arg-type]  # the tenant is there
    except InvalidInputError:
        return None


class Memories:
    """The memory of each tenant, kept at hand."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._views = {memory.components.settings.tenant: memory}

    def of(self, tenant: str) -> AsyncMemory:
        """The view for this tenant."""
        view = self._views.get(tenant)
        if view is None:
            view = self._memory.for_tenant(tenant)
            if len(self._views) > _MOST_TENANTS:
                own = self._memory.components.settings.tenant
                self._views = {own: self._memory}
            self._views[tenant] = view
        return view


def caller_of(request: Request, role: AccessRole = AccessRole.READ) -> Caller:
    """Who sent this request, for routes that are given the bare request.

    Raises:
        ProblemError: `forbidden`, they have not the right.
    """
    return caller_in(request.scope, request.app.state.memories, role=role)


def caller_in(scope: ASGIScope, memories: Memories, *, role: AccessRole) -> Caller:
    """The same before there is a request around its scope.

    Raises:
        ProblemError: `forbidden`, they have not the right.
    """
    state = scope["state"]
    principal: Principal = state["principal"]
    caller = Caller(memories.of(principal.tenant), principal, state)
    caller.needs(role)
    return caller


def _with(role: AccessRole) -> Callable[[Request], Awaitable[Caller]]:
    async def caller(request: Request) -> Caller:
        return caller_of(request, role)

    return caller


async def _administrator(request: Request) -> AsyncIterator[Caller]:
    """Notes the act, unless it only looked, whatever became of it."""
    caller = caller_of(request)
    outcome = "failed"
    try:
        caller.needs_whole_tenant()
        yield caller
        outcome = "ok"
    except (EbbingError, ProblemError) as error:
        outcome = str(problem_of(error).status)
        raise
    finally:
        if request.method not in _LOOKING:
            action = f"{request.method} {request.scope['route'].path}"
            by, target = caller.principal.name, caller.state.get("act_target")
            await caller.memory.audit.record(action, actor=by, target=target, outcome=outcome)


Reader = Annotated[Caller, Depends(_with(AccessRole.READ))]
"""A route that only reads: `async def route(caller: Reader)`."""
Writer = Annotated[Caller, Depends(_with(AccessRole.WRITE))]
"""A route that changes a user's memories."""
Administrator = Annotated[Caller, Depends(_administrator)]
"""A route about the whole tenant."""
