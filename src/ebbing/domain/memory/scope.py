"""The scope of a call: an owner, and the part of their memory that the call may touch."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from ebbing.domain.errors import InvalidInputError, MissingOwnerError

DEFAULT_TENANT: Final = "default"
MAX_NAME_LENGTH: Final = 256
_UNUSABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class Owner(NamedTuple):
    """The one party that a memory belongs to: the unit of isolation, of clustering on disk and of erasure.

    A memory that names a user belongs to that user, whatever else it names; without a user it belongs to its agent;
    without an agent, to its run. Two owners never see each other's rows. A tuple, since every search looks one up.
    """

    tenant: str
    kind: str
    """`user`, `agent` or `run`."""
    name: str

    @property
    def digest(self) -> str:
        """Stands for the owner where a name may be seen by others, such as in the key of a job."""
        text = json.dumps([self.tenant, self.kind, self.name])
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Scope:
    """The tenant, user, agent and run of a call. Every port method takes one.

    For a write it says where the memory goes. For a read it is a conjunction: only memories that carry every name
    given here are seen, so `Scope(user_id="u")` sees all of the user's memories and
    `Scope(user_id="u", run_id="r")` those of one run.

    Raises:
        MissingOwnerError: none of user, agent, run is given.
        InvalidInputError: a name is blank, too long (256 characters), or holds control characters.
    """

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    tenant: str = DEFAULT_TENANT

    def __post_init__(self) -> None:
        if self.user_id is None and self.agent_id is None and self.run_id is None:
            raise MissingOwnerError("give a user_id, an agent_id or a run_id: a memory always belongs to somebody")
        for label in ("user_id", "agent_id", "run_id", "tenant"):
            value = getattr(self, label)
            if value is not None:
                object.__setattr__(self, label, checked_name(label, value))

    @classmethod
    def of(cls, owner: Owner) -> Self:
        """Return the scope of everything that an owner has."""
        return cls(**{f"{owner.kind}_id": owner.name}, tenant=owner.tenant)

    @property
    def whole(self) -> Scope:
        """The scope of everything that its owner has."""
        is_whole = self.run_id is None and (self.user_id is None or self.agent_id is None)
        return self if is_whole else Scope.of(self.owner)

    @property
    def owner(self) -> Owner:
        """The party that a memory written under this scope belongs to."""
        if self.user_id is not None:
            return Owner(self.tenant, "user", self.user_id)
        if self.agent_id is not None:
            return Owner(self.tenant, "agent", self.agent_id)
        return Owner(self.tenant, "run", self.run_id or "")

    def covers(self, other: Scope) -> bool:
        """Return whether a memory written under `other` is visible to a read under this scope."""
        return (
            self.owner == other.owner
            and (self.agent_id is None or self.agent_id == other.agent_id)
            and (self.run_id is None or self.run_id == other.run_id)
        )


def checked_tenant(tenant: object) -> str:
    """Return a usable name of a tenant.

    Raises:
        InvalidInputError: it is blank, too long (256 characters), or holds control characters.
    """
    return checked_name("tenant", tenant)


def checked_name(label: str, value: object) -> str:
    """Return a usable name; `label` says in an error what it is the name of.

    Raises:
        MissingOwnerError: it is blank.
        InvalidInputError: it is no text, too long (256 characters), or holds control characters.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{label} must be a string")
    name = value.strip()
    if not name:
        raise MissingOwnerError(f"{label} is blank: give a non-empty string, or leave it out")
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidInputError(f"{label} is longer than {MAX_NAME_LENGTH} characters")
    if _UNUSABLE.search(name):
        raise InvalidInputError(f"{label} holds control characters or broken Unicode")
    return name
