"""What the routes under `/v1` are sent. A key that is not named here is refused: ignored, it could widen an answer."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ebbing.validation import DEFAULT_TOP_K

Include = Literal["all", "memories", "episodes"]
Name = str | None
Time = str | float | None
MAX_BATCH = 100


class Body(BaseModel):
    """Base of all that is sent."""

    model_config = ConfigDict(extra="forbid")


class OwnerBody(Body):
    """Whose memory is meant. A credential for one user needs none of it."""

    user_id: Name = Field(default=None, examples=["emma"])
    agent_id: Name = None
    run_id: Name = None


class AddBody(OwnerBody):
    """What is to be remembered: a text, or messages."""

    text: Name = Field(default=None, description="One memory, kept as it stands unless `infer`.")
    messages: str | dict[str, Any] | list[str | dict[str, Any]] | None = Field(
        default=None,
        description="A text, a message (`role`, `content`, optional `id`, `name`, `timestamp`), or a list of messages.",
        examples=[[{"role": "user", "content": "I moved to Leeds, and I am allergic to peanuts.", "id": "m1"}]],
    )
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None
    infer: bool | None = Field(default=None, description="Read facts; unless said, of messages and not of a text.")
    filters: dict[str, Any] | None = Field(default=None, description="Ids of user, agent and run, as mem0 passes them.")
    source_id: Name = Field(default=None, description="Id of the one message: sent again, it counts as edited.")
    mode: Name = Field(default=None, description="`rules`, `llm`, `summarize`, `structured`, `raw` or `statement`.")
    trust: Name = Field(default=None, description="`user`, `import`, `assistant`, `tool` or `document`.")
    private: bool | None = Field(default=None, description="Off the record: nothing of it is written anywhere.")
    change_id: Name = Field(default=None, description="Of an earlier answer: both are undone together.")


class BatchBody(OwnerBody):
    """Several adds; what is said here of whose holds for each that does not say it itself."""

    memories: list[AddBody] = Field(min_length=1, max_length=MAX_BATCH)
    private: bool = Field(default=False, description="Off the record, all of them.")


class SearchBody(OwnerBody):
    """A question."""

    query: str = Field(examples=["where does she live?"])
    limit: int | None = Field(default=None, description="Another name for `top_k`.")
    top_k: int = Field(default=DEFAULT_TOP_K, description="Answers at most, 1 to 50.")
    filters: dict[str, Any] | None = None
    include: Include = "all"
    threshold: float | None = Field(default=None, description="Least score of an answer, 0 to 1.")
    as_of: Time = Field(default=None, description="Answer with what was believed at this moment.")
    reference_date: Time = Field(default=None, description="The now that words like yesterday mean.")
    precise: bool = Field(default=False, description="Only what the scores set apart, so possibly nothing.")
    explain: bool = Field(default=False, description="Why each answer came back.")
    context_turns: int = Field(default=0, description="Turns before and after each answer, 0 to 10.")
    private: bool = Field(default=False, description="Leave no trace of the question.")
    timezone: Name = Field(default=None, description="Zone in which days begin and end, such as Asia/Shanghai.")
    max_text: int | None = Field(default=None, ge=1, le=100_000, description="Cut texts after so many characters.")


class ListQuery(OwnerBody):
    """Which memories are listed."""

    limit: int = Field(default=100, description="1 to 1,000.")
    cursor: Name = Field(default=None, description="`next_cursor` of the page before.")
    offset: int = Field(default=0, description="Memories to leave out first, 0 to 10,000; a cursor is quicker.")
    tags: Name = Field(default=None, description="Comma-separated; those with any of them.")
    include: Include = "memories"
    as_of: Name = Field(default=None, description="What was believed at this moment.")
    superseded: bool = Field(default=False, description="What is no longer true, and what has run out, as well.")


class BrowseBody(OwnerBody):
    """Which memories are shown, and how."""

    filters: dict[str, Any] | None = None
    state: Literal["current", "ended", "faded", "gone", "all"] = Field(
        default="current", description="`ended` was superseded or has expired, `gone` was deleted or merged."
    )
    order: Literal["newest", "oldest", "freshest", "stalest"] = "newest"
    include: Include = "memories"
    as_of: Time = Field(default=None, description="What was believed at this moment, whatever `state` says.")
    limit: int = Field(default=50, description="1 to 1,000.")
    cursor: Name = Field(default=None, description="`next_cursor` of the page before.")
    max_text: int | None = Field(
        default=None, ge=1, le=100_000, description="Cut texts after so many characters; `text_length` tells of it."
    )


class DeleteBody(OwnerBody):
    """Memories of one owner."""

    ids: list[str] = Field(min_length=1, max_length=1_000)
    reason: Name = Field(default=None, description="Kept in the history.")


class AskBody(OwnerBody):
    """A question of somebody who wants to know why."""

    query: str = Field(examples=["where does she live?"])
    top_k: int = Field(default=DEFAULT_TOP_K, description="Answers at most, 1 to 50.")
    threshold: float | None = Field(default=None, description="Least score of an answer, 0 to 1.")
    precise: bool = Field(default=False, description="Only what the scores set apart, so possibly nothing.")
    as_of: Time = Field(default=None, description="Answer with what was believed at this moment.")
    max_tokens: int = Field(default=1_000, description="Estimated tokens of the context block at most.")
    max_text: int | None = Field(default=None, ge=1, le=100_000, description="Cut texts after so many characters.")


class DifferencesQuery(OwnerBody):
    """Of what time changes are listed."""

    since: str = Field(description="What happened after this moment.")
    until: Name = Field(default=None, description="And up to this one; now unless given.")
    limit: int = Field(default=100, description="1 to 1,000.")
    cursor: Name = Field(default=None, description="`next_cursor` of the page before.")
    max_text: int | None = Field(default=None, ge=1, le=100_000, description="Cut texts after so many characters.")


class UpdateBody(Body):
    """What a memory becomes; what is left out stays."""

    text: Name = None
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None
    trust: Name = Field(default=None, description="Whose word the text is: `user` unless given, as for `add`.")


class FeedbackBody(Body):
    """What became of a recalled memory."""

    signal: str = Field(description="`used`, `ignored`, `corrected`, `up` or `down`.", examples=["used"])
    recall_id: Name = Field(default=None, description="Of the answer that held it: the signal then counts once.")
    reason: Name = None


class ReviewBody(Body):
    """What was decided about something that waits."""

    decision: str = Field(description="`accept`, `keep` or `drop`.", examples=["accept"])


class ContextBody(OwnerBody):
    """What is about to be answered."""

    query: Name = Field(default=None, examples=["what shall we cook tonight?"])
    messages: str | dict[str, Any] | list[str | dict[str, Any]] | None = None
    max_tokens: int = Field(default=1_000, description="Estimated tokens of the block at most.")
    reference_date: Time = None
    filters: dict[str, Any] | None = None
    top_k: int | None = None
    min_score: float | None = None
    turns: int | None = None
    with_turns: bool = Field(default=True, description="Messages around the best memories come along.")
    timezone: Name = Field(default=None, description="Zone in which days begin and end, such as Asia/Shanghai.")
    session_id: Name = None
    channel: Name = None
    user_name: Name = None
    char_name: Name = None
    groups: list[Literal["profile", "relevant", "recent"]] | None = Field(
        default=None, description="What the block holds; all three unless given."
    )
    without: list[str] | None = Field(default=None, description="Ids of memories that the prompt shows already.")
    private: bool = Field(default=False, description="Leave no trace of the question.")


class SessionMessagesBody(OwnerBody):
    """What was just said in a session; `run_id` is the session's own."""

    messages: str | dict[str, Any] | list[str | dict[str, Any]]
    infer: bool = True
    private: bool = Field(default=False, description="These messages are off the record.")


class PrivateBody(OwnerBody):
    """Whether a session is off the record."""

    private: bool


class SessionSearchBody(OwnerBody):
    """A question asked within a session."""

    query: str
    top_k: int = DEFAULT_TOP_K
    include: Include = "all"


class SessionContextBody(OwnerBody):
    """What is about to be answered within a session; without a query its last user message."""

    query: Name = None
    max_tokens: int = 1_000


class MaintenanceBody(OwnerBody):
    """Whose memories are looked after; without any id everybody's."""

    dry_run: bool = Field(default=False, description="Change nothing, and list what would be.")
    now: Time = Field(default=None, description="The time to go by; a time to come shows what will be.")


class KeyBody(Body):
    """What a new key may do."""

    role: Literal["read", "write", "admin"] = "write"
    user_id: Name = Field(default=None, description="The one user whose memory it opens.")
    note: Name = Field(default=None, description="What it is for.")
    expires_in_days: float | None = None


class WebhookBody(Body):
    """Who is to be told of what."""

    url: str = Field(examples=["https://example.org/hook"])
    topics: list[str] | None = Field(default=None, description="All unless given.", examples=[["memory.added"]])
    name: Name = None


class WebhookChange(Body):
    """What a webhook becomes; what is left out stays."""

    url: Name = None
    topics: list[str] | None = None
    name: Name = None
    is_active: bool | None = None


class ForgetBody(OwnerBody):
    """What is to be forgotten: first `about`, then `confirm` with the token of the answer."""

    about: Name = Field(default=None, examples=["forget what I said about my ex"])
    confirm: Name = None
    keep: list[str] | None = Field(default=None, description="Candidates that are to stay after all.")
    also: list[str] | None = Field(default=None, description="Of `perhaps`, what is to go as well.")
    hard: bool = Field(default=False, description="For good.")
    reason: Name = None


class ProfileBody(Body):
    """What a person sets right in their profile."""

    set: dict[str, Any] | None = Field(default=None, examples=[{"home": "Berlin", "preferences": ["jazz"]}])
    unset: list[str] = []
    revert: list[str] = []
    delete_memories: bool = False


class IdentityBody(Body):
    """A name in a channel."""

    channel: str = Field(examples=["wechat"])
    channel_user_id: str
    user_id: Name = None


class MergeBody(Body):
    """Two users who are one."""

    target_user_id: str
    source_user_id: str
