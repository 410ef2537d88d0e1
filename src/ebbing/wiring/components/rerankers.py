"""Which reranker serves, if any."""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.ports.erasable import Forgetful
from ebbing.ports.reranker import Reranker
from ebbing.ports.token_embedder import TokenEmbedder
from ebbing.recall.model_scores import RerankOptions
from ebbing.wiring.components.embedders import EmbedderSlot
from ebbing.wiring.config.settings import Settings


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


def reranker_slot(settings: Settings, embedder: EmbedderSlot, *, given: Reranker | None = None) -> RerankerSlot:
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
    if given is not None:
        return RerankerSlot(settings, embedder, options, _made=True, _reranker=given)
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
