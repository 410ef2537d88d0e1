"""Answers about the store as a whole: maintenance, jobs, transfers, keys, webhooks and the audit log."""

from typing import NotRequired, TypedDict

from ebbing.results.memories import AddAnswer, JsonObject, OwnerIds


class MaintenanceChange(OwnerIds):
    """A change that a dry run lists."""

    step: str
    memory_id: str
    action: str
    reason: str


class MaintenanceAnswer(TypedDict):
    """The answer of `maintenance.run`."""

    owners: int
    steps: dict[str, dict[str, int]]
    seconds: dict[str, float]
    now: str
    dry_run: bool
    change_ids: list[str]
    changes: NotRequired[list[MaintenanceChange]]
    """Of a dry run."""


class StepAnswer(TypedDict):
    """What the answers of single steps have in common."""

    owners: int
    seconds: dict[str, float]
    now: str
    dry_run: bool
    change_ids: list[str]
    changes: NotRequired[list[MaintenanceChange]]


class MergeAnswer(StepAnswer, total=False):
    """The answer of `maintenance.merge_duplicates`; a count is left out where there was no owner."""

    merged: int
    clusters: int
    summarized: int
    saved_bytes: int


class HabitAnswer(StepAnswer, total=False):
    """The answer of `maintenance.derive_habits`; a count is left out where there was no owner."""

    abstracted: int
    raised: int
    merged: int


class ForgettingAnswer(TypedDict):
    """The answer of `maintenance.apply_forgetting`."""

    processed: int
    decayed: int
    consolidated: int
    forgotten: int
    expired: int
    purged: int
    saved_bytes: int
    now: str
    dry_run: bool
    change_ids: list[str]
    changes: NotRequired[list[MaintenanceChange]]


class PendingExtractions(TypedDict):
    """Batches of messages that a language model failed to read."""

    waiting: int
    given_up: int


class RetryAnswer(PendingExtractions):
    """The answer of `maintenance.retry_failed_extractions`."""

    read: int
    failed: int


class OwnerItem(TypedDict):
    """An owner."""

    kind: str
    """`user`, `agent` or `run`."""
    name: str


class StatsAnswer(TypedDict):
    """The answer of `maintenance.stats`."""

    owners: int
    memories: int
    episodes: int
    deleted: int
    bytes_on_disk: int
    is_scrubbed: bool
    by_layer: dict[str, int]
    by_type: dict[str, int]
    by_model: dict[str, int]
    pending_extractions: PendingExtractions


class BackupAnswer(TypedDict):
    """The answer of `maintenance.backup`."""

    bytes: int
    path: str


class DiagnosisItem(TypedDict):
    """The state of one part of the installation."""

    part: str
    state: str
    """`on`, `off` or `attention`."""
    detail: str


class DiagnoseAnswer(TypedDict):
    """The answer of `maintenance.diagnose`."""

    findings: list[DiagnosisItem]
    stats: JsonObject
    settings: JsonObject


class VacuumAnswer(TypedDict):
    """The answer of `maintenance.vacuum`."""

    bytes_before: int
    bytes_on_disk: int
    scrubbed: bool


class ExportPage(TypedDict):
    """The answer of `export`."""

    records: list[JsonObject]
    next_cursor: str | None


class RefusedRecord(TypedDict):
    """A record that could not be imported."""

    record: int
    """Place in the call, from 0."""
    reason: str


class ImportAnswer(TypedDict):
    """The answer of `import_`."""

    imported: int
    already_stored: int
    refused: list[RefusedRecord]
    change_ids: list[str]


class AddFailure(TypedDict):
    """Why a queued add was refused."""

    error: dict[str, str]
    """`code` and `detail`."""


class JobItem(OwnerIds):
    """A job, with the ids of the owner that it is about."""

    id: int
    kind: str
    key: str
    state: str
    """`waiting`, `running`, `done` or `dead`."""
    attempts: int
    max_attempts: int
    run_at: str
    leased_until: str | None
    ended_at: str | None
    last_error: str | None
    progress: JsonObject
    result: NotRequired[AddAnswer | AddFailure | None]
    """Of a queued add, what became of it."""


class JobList(TypedDict):
    """The answer of `jobs.list`."""

    jobs: list[JobItem]
    counts: dict[str, dict[str, int]]
    """By kind and state."""


class WorkerAnswer(TypedDict):
    """What a worker did so far."""

    done: int
    failed: int
    given_back: int
    waiting: int


class ApiKeyItem(TypedDict):
    """A key of the service, without its secret."""

    id: str
    tenant: str
    role: str
    user_id: str | None
    note: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None


class NewApiKey(ApiKeyItem):
    """The answer of `api_keys.create`."""

    key: str
    """The secret; shown now and never again."""


class WebhookItem(TypedDict):
    """A webhook, without its secret."""

    id: str
    url: str
    topics: list[str]
    name: str | None
    is_active: bool
    created_at: str
    updated_at: str


class NewWebhook(WebhookItem):
    """The answer of `webhooks.create`."""

    secret: str
    """By which the receiver checks the sender; shown now and never again."""


class AuditItem(TypedDict):
    """An administrative act."""

    at: str
    actor: str
    action: str
    target: str | None
    outcome: str
