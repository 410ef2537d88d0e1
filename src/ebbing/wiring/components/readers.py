"""Which reader serves, if any."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio.to_thread

from ebbing.domain.errors import EbbingError
from ebbing.ports.reader import Reader
from ebbing.wiring.components.embedders import EmbedderSlot
from ebbing.wiring.config.settings import Settings


@dataclass(slots=True)
class ReaderSlot:
    """The reader of one memory, made when it is first needed, beside the embedder whose word vectors it shares."""

    settings: Settings
    embedder: EmbedderSlot
    notes: list[str] = field(default_factory=list)
    """Why there is none."""
    _is_made: bool = False
    _reader: Reader | None = None

    async def get(self) -> Reader | None:
        """Return the reader; None where it is switched off, or the embedder is not the bundled one."""
        if not self._is_made:
            self._reader = await self._make()
            self._is_made = True
        return self._reader

    async def _make(self) -> Reader | None:
        if self.settings.reader == "off":
            self.notes.append("off by setting")
            return None
        try:
            from ebbing.adapters.embedders.e5 import E5Embedder
            from ebbing.adapters.embedders.embedding_cache import CachingEmbedder
            from ebbing.adapters.readers.cross_encoder import CrossEncoderReader
        except ImportError as error:
            self.notes.append(f"a package is missing: {error.name}")
            return None
        embedder = await self.embedder.get()
        model: object = embedder.inner if isinstance(embedder, CachingEmbedder) else embedder
        if not isinstance(model, E5Embedder):
            self.notes.append("the bundled embedder is not in use")
            return None
        try:
            return await anyio.to_thread.run_sync(CrossEncoderReader, model)
        except EbbingError as error:
            self.notes.append(str(error))
            return None


def given_reader(settings: Settings, embedder: EmbedderSlot, *, reader: Reader) -> ReaderSlot:
    """Return a slot that holds a reader made elsewhere."""
    return ReaderSlot(settings, embedder, _is_made=True, _reader=reader)
