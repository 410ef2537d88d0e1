"""Every error that Ebbing raises on purpose.

EbbingError
├── InvalidInputError        the call's words are off; also a ValueError
│   ├── MissingOwnerError    no user_id, agent_id or run_id
│   ├── TooLargeError        more than the documented limit
│   └── BlockedContentError  it holds what the redaction policy blocks
├── NotFoundError            no key or webhook of this id in this tenant; also a KeyError
│   ├── MemoryNotFoundError  no such memory for this owner
│   ├── JobNotFoundError     no such job
│   ├── IdentityNotFoundError   nobody comes under this name, or there is no such merge of persons
│   ├── ChangeNotFoundError  no change with this id, or none that could be undone
│   └── ErasedForGoodError   all that it changed was erased since, and cannot be brought back
├── ConflictError            somebody changed the memory in between
│   └── ClosedMemoryError    the memory is no longer true: it has to be reopened first
├── UnauthorizedError        no credential, or one that does not hold
├── ConfigurationError       a setting is wrong or contradicts another
│   └── MissingExtraError    an optional package is not installed
├── StoreError               the store could not do it; nothing was written
│   ├── StoreClosedError     the store was closed
│   ├── StoreNotFoundError   there is no store in this directory, and the call would not make one
│   └── SchemaError          the file belongs to another version
├── EmbeddingError           the embedding model or endpoint failed
├── VectorIndexError         the index of vectors failed; searches go on without it
├── GraphMirrorError         the graph server failed; memories go on without it
├── RerankError              the reranker failed; the order is the one without it
├── MemoryServerError        a memory server refused in a way that has no name of its own
│   └── ServerUnavailableError   it cannot be reached, is too slow or busy, or answers nonsense
└── ModelError               the language model gave no usable answer
    ├── ModelUnavailableError    it cannot be reached, is overloaded, or is left alone after failures
    ├── ModelTimeoutError        it did not answer in time
    ├── ModelRefusedError        it or its endpoint declined: key, name, quota or content
    └── BadModelOutputError      it answered in another form than asked, twice

The message says what happened and what to do. It never holds a person's text.
"""

from __future__ import annotations


class EbbingError(Exception):
    """Base of all errors that Ebbing raises on purpose."""

    code = "error"
    """Stable, machine-readable name."""


class InvalidInputError(EbbingError, ValueError):
    """The call's arguments are not usable; the message says which and how to mend it."""

    code = "invalid_input"


class MissingOwnerError(InvalidInputError):
    """No user_id, agent_id or run_id was given: a memory always belongs to somebody."""

    code = "missing_owner"


class TooLargeError(InvalidInputError):
    """The input is larger than the documented limit."""

    code = "too_large"


class BlockedContentError(InvalidInputError):
    """A message holds data that the redaction policy blocks; nothing of the call was stored."""

    code = "blocked_content"


class NotFoundError(EbbingError, KeyError):
    """Nothing of this kind has this id in this tenant."""

    code = "not_found"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else self.code.replace("_", " ")


class MemoryNotFoundError(NotFoundError):
    """No memory with this id belongs to this owner."""

    code = "memory_not_found"


class JobNotFoundError(NotFoundError):
    """No job with this id is in the queue."""

    code = "job_not_found"


class IdentityNotFoundError(NotFoundError):
    """Nobody comes under this name, or there is no such merge of persons."""

    code = "identity_not_found"


class ChangeNotFoundError(NotFoundError):
    """No change has this id, or the owner or memory has none that could be undone."""

    code = "change_not_found"


class ErasedForGoodError(NotFoundError):
    """All that the change touched was erased since: erasing leaves nothing that could be brought back."""

    code = "erased_for_good"


class UnauthorizedError(EbbingError):
    """No credential was shown, or one that is unknown, has ended, or was not made for this service."""

    code = "unauthorized"


class ConflictError(EbbingError):
    """The memory changed since it was read; read it again and retry."""

    code = "conflict"


class ClosedMemoryError(ConflictError):
    """The memory is no longer true, so that a new text of it would be in no answer: restore it first."""

    code = "memory_closed"


class ConfigurationError(EbbingError, ValueError):
    """A setting is wrong, or contradicts another."""

    code = "configuration"


class MissingExtraError(ConfigurationError):
    """An optional package is needed for this setting; the message names the pip extra."""

    code = "missing_extra"


class StoreError(EbbingError):
    """The store could not complete the operation; nothing of it was written."""

    code = "store"


class StoreClosedError(StoreError):
    """The store was closed."""

    code = "store_closed"


class StoreNotFoundError(StoreError):
    """There is no store in this directory, and a call that only reads makes none."""

    code = "store_not_found"


class SchemaError(StoreError):
    """The store's file was written by a newer version, or is not a store of ours."""

    code = "schema"


class EmbeddingError(EbbingError):
    """The embedding model or its endpoint failed; nothing was embedded."""

    code = "embedding"


class VectorIndexError(EbbingError):
    """The index of vectors is down, refuses, or does not fit; searches compare every row instead."""

    code = "vector_index_failed"


class GraphMirrorError(EbbingError):
    """The graph server is down, slow or refuses; memories go on without it, and it catches up."""

    code = "graph_mirror_failed"


class RerankError(EbbingError):
    """The reranking model or endpoint failed; a search goes on without it."""

    code = "rerank"


class MemoryServerError(EbbingError):
    """A memory server refused a request in a way that has no name of its own."""

    code = "memory_server"


class ServerUnavailableError(MemoryServerError):
    """A memory server cannot be reached, fails, is too slow or busy, or answers nonsense: the host goes on without."""

    code = "server_unavailable"


class ModelError(EbbingError):
    """The language model gave no usable answer; nothing was changed."""

    code = "model"


class ModelUnavailableError(ModelError):
    """The model's endpoint cannot be reached, is overloaded, or is left alone for a while after failing repeatedly."""

    code = "model_unavailable"

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
        """How long the endpoint asked to be left alone, where it did."""


class ModelTimeoutError(ModelError):
    """The model did not answer within the time that it was given."""

    code = "model_timeout"


class ModelRefusedError(ModelError):
    """The endpoint or the model declined the request; repeating it unchanged is of no use."""

    code = "model_refused"


class BadModelOutputError(ModelError):
    """The model answered, was asked again, and still not in the form that was asked for."""

    code = "bad_model_output"
