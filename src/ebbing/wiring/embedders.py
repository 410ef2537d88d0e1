"""Which embedder serves: the best one that loads, and why the others do not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio.from_thread
import anyio.to_thread

from ebbing.domain.errors import ConfigurationError, EbbingError, MissingExtraError
from ebbing.ports.embedder import Embedder
from ebbing.ports.erasable import Forgetful
from ebbing.ports.loop import on_a_loop
from ebbing.wiring.settings import Settings


@dataclass(slots=True)
class EmbedderSlot:
    """The embedder of one memory, loaded when it is first needed: a model takes a second, a listing needs none."""

    load: Callable[[], Embedder | None]
    notes: list[str] = field(default_factory=list)
    """What was tried and how it went, for `doctor`."""
    _loaded: bool = False
    _embedder: Embedder | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def get(self) -> Embedder | None:
        """The embedder, or None for keyword-only recall; loads at the first call, once for all callers."""
        if not self._loaded:
            await on_a_loop()
            await anyio.to_thread.run_sync(self._load_once)
        return self._embedder

    def _load_once(self) -> None:
        with self._lock:
            if not self._loaded:
                self._embedder = self.load()
                self._loaded = True

    async def forget(self) -> None:
        """Lets go of what the embedder keeps of texts, if it was ever loaded; see `Forgetful`."""
        keeps: object = self._embedder
        if isinstance(keeps, Forgetful):
            await keeps.forget()

    async def aclose(self) -> None:
        """Closes the embedder if it was ever loaded."""
        if self._embedder is not None:
            await self._embedder.aclose()


def given(embedder: Embedder | None) -> EmbedderSlot:
    """A slot that holds an embedder made elsewhere."""
    return EmbedderSlot(load=lambda: embedder, notes=["given in code"])


def configured(settings: Settings) -> EmbedderSlot:
    """A slot for what the settings ask for; `auto` falls from e5 to use to keyword only."""
    slot = EmbedderSlot(load=lambda: None)
    slot.load = lambda: _cached(_choose(settings, slot.notes), settings)
    return slot


def _choose(settings: Settings, notes: list[str]) -> Embedder | None:
    wanted = settings.embedder
    if wanted == "auto":
        wanted_list = ["openai"] if settings.embedding_base_url else ["e5", "use"]
    else:
        wanted_list = [wanted]
    for name in wanted_list:
        if name == "none":
            break
        try:
            found = _LOADERS[name](settings)
        except (EbbingError, ImportError) as error:
            notes.append(f"{name}: {error}")
            if settings.embedder != "auto":
                raise _explained(name, error) from error
            continue
        notes.append(f"{name}: loaded ({found.model_id}, {found.dim} dimensions)")
        return found
    notes.append("none: keyword search only")
    return None


def _explained(name: str, error: Exception) -> EbbingError:
    if isinstance(error, EbbingError):
        return error
    extra = {"openai": "openai", "use": "use"}.get(name)
    how = f"pip install 'ebbing[{extra}]'" if extra else "pip install --force-reinstall ebbing"
    return MissingExtraError(f"embedder {name!r} needs a package that is not installed: {how}")


def _cached(embedder: Embedder | None, settings: Settings) -> Embedder | None:
    if embedder is None or not settings.embedding_cache_mib:
        return embedder
    from ebbing.adapters.embedding_cache import CachingEmbedder

    return CachingEmbedder(embedder, max_bytes=settings.embedding_cache_mib * 2**20)


def _e5(settings: Settings) -> Embedder:
    from ebbing.adapters.e5 import E5Embedder

    return E5Embedder.load(threads=settings.embedder_threads)


def _sentence_encoder(settings: Settings) -> Embedder:
    from ebbing.adapters.sentence_encoder import SentenceEncoderEmbedder

    return SentenceEncoderEmbedder.load(threads=settings.embedder_threads)


def _openai(settings: Settings) -> Embedder:
    from ebbing.adapters.openai_embeddings import OpenAIEmbedder

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


_LOADERS: dict[str, Callable[[Settings], Embedder]] = {"e5": _e5, "use": _sentence_encoder, "openai": _openai}
