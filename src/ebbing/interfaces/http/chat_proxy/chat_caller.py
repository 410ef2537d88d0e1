"""Whose chat it is, which conversation, and what is to become of it: from the credential first, then from headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.domain.memory.scope import checked_name
from ebbing.interfaces.http.chat_proxy.chat_sessions import Owner
from ebbing.interfaces.http.chat_proxy.conversation import fingerprint
from ebbing.interfaces.http.middleware.auth import Headers
from ebbing.interfaces.http.request_context import Caller, OwnerParams

USER: Final = b"x-ebbing-user"
AGENT: Final = b"x-ebbing-agent"
SESSION: Final = b"x-ebbing-session"
MEMORY: Final = b"x-ebbing-memory"
PREVIEW: Final = b"x-ebbing-preview"
_HOST_USER: Final = b"x-openwebui-user-id"
"""Open WebUI's word for it, where its administrator switched that on."""
_HOST_SESSION: Final = b"x-openwebui-chat-id"

MemoryUse = Literal["on", "read", "off"]
"""Recall and remember; recall alone; neither."""


@dataclass(frozen=True, slots=True)
class ChatCaller:
    """Who chats."""

    ids: OwnerParams
    owner: Owner
    session: str | None
    """What the host calls the conversation."""
    use: MemoryUse


def memory_use(headers: Headers) -> MemoryUse:
    """Return what the request says is to be done with memory.

    Raises:
        InvalidInputError: another word.
    """
    word = _text(headers, MEMORY) or "on"
    for use in ("on", "read", "off"):
        if word.lower() == use:
            return use
    raise InvalidInputError("the header X-Ebbing-Memory must be on, read or off")


def chat_caller(caller: Caller, headers: Headers, *, fields: Mapping[str, Any], user: str | None) -> ChatCaller:
    """Return whose chat it is.

    A credential for one user decides alone. Another may name the user: by header, or in the body's `user`. While the
    service asks for no credentials, `user` of the settings is meant where nobody is named.

    Args:
        fields: of the body.
        user: of the settings.

    Raises:
        MissingOwnerError: nobody is named.
        InvalidInputError: a name is too long, or is not UTF-8.
        ProblemError: `forbidden`, the header names another user than the credential.
    """
    agent = _text(headers, AGENT)
    named = _text(headers, USER)
    if named is None and caller.principal.user is None:
        named = _text(headers, _HOST_USER) or _named_in(fields)
        if named is None and caller.principal.name == "open":
            named = user
    ids = caller.owner_ids(named, agent)
    if ids["user_id"] is None:
        raise MissingOwnerError(
            "nobody says whose memory this chat has: use a key for one user (ebbing keys create --user NAME), send the "
            "header X-Ebbing-User or the field `user`, or set EBBING_USER while the service has no keys"
        )
    use = memory_use(headers)
    if use == "on" and caller.principal.role < AccessRole.WRITE:
        use = "read"
    owner = (caller.principal.tenant, ids["user_id"], agent or "")
    return ChatCaller(ids, owner, _session_name(headers, SESSION) or _session_name(headers, _HOST_SESSION), use)


def _named_in(fields: Mapping[str, Any]) -> str | None:
    user = fields.get("user")
    return checked_name("user", user) if isinstance(user, str) and user.strip() else None


def _session_name(headers: Headers, name: bytes) -> str | None:
    """Return the host's name of the conversation; in the place of one that cannot be a `run_id`, one that can."""
    try:
        return _text(headers, name)
    except InvalidInputError:
        return f"chat-{fingerprint('session', headers[name].decode('latin-1'))}"


def _text(headers: Headers, name: bytes) -> str | None:
    """Return a header; two that differ never become the same.

    Raises:
        InvalidInputError: it is too long, or is not UTF-8.
    """
    label = f"the header {name.decode()}"
    try:
        value = headers.get(name, b"").decode().strip()
    except UnicodeDecodeError:
        raise InvalidInputError(f"{label} is not UTF-8: encode it so") from None
    return checked_name(label, value) if value else None
