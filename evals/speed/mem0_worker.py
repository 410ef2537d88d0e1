"""Runs inside mem0's own environment: one JSON request a line in, one JSON answer a line out.

mem0 gets the same texts, the same vectors and its default local store (Qdrant, on disk). Its LLM is never called.
"""

import json
import os
import sys
import time
import zlib

os.environ["MEM0_TELEMETRY"] = "False"

import numpy as np
from mem0 import Memory

DIM = 384
POOL = 16_384


class ConstantEmbedding:
    """The same vectors as `ConstantEmbedder`, in the shape that mem0 asks for."""

    def __init__(self):
        pool = np.random.default_rng(7).standard_normal((POOL, DIM)).astype(np.float32)
        self._vectors = (pool / np.linalg.norm(pool, axis=1, keepdims=True)).tolist()

    def embed(self, text, *_args, **_kwargs):
        """One vector as a list of floats."""
        return self._vectors[zlib.crc32(text.encode()) % POOL]

    def embed_batch(self, texts, *_args, **_kwargs):
        """A list of vectors."""
        return [self.embed(text) for text in texts]


def opened(folder):
    """A `Memory` on local Qdrant in this folder."""
    qdrant = {"path": f"{folder}/qdrant", "on_disk": True, "embedding_model_dims": DIM, "collection_name": "evals"}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": qdrant},
            "embedder": {"provider": "lmstudio", "config": {"embedding_dims": DIM}},
            "llm": {"provider": "lmstudio", "config": {}},
            "history_db_path": f"{folder}/history.db",
        }
    )
    memory.embedding_model = ConstantEmbedding()
    return memory


def fill(memory, users):
    """The bulk load goes around `add` (which takes one point at a time) to the store that it writes to."""
    for user, texts in users.items():
        for at in range(0, len(texts), 256):
            batch = texts[at : at + 256]
            memory.vector_store.insert(
                vectors=memory.embedding_model.embed_batch(batch),
                ids=[f"{zlib.crc32(user.encode()):08x}-0000-4000-8000-{at + row:012x}" for row in range(len(batch))],
                payloads=[{"data": text, "user_id": user, "hash": "", "created_at": "2026-01-01"} for text in batch],
            )


def main():
    """Answers `fill`, `search` and `add` until the input ends."""
    memory = opened(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever mem0 prints stays out of the answers
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        began = time.perf_counter_ns()
        found = None
        if request["do"] == "fill":
            fill(memory, request["users"])
        elif request["do"] == "search":
            hits = memory.search(request["text"], filters={"user_id": request["user"]}, top_k=20, threshold=0.0)
            found = len(hits["results"])
        else:
            memory.add(request["text"], user_id=request["user"], infer=False)
        print(json.dumps({"ms": (time.perf_counter_ns() - began) / 1e6, "found": found}), file=answers)


if __name__ == "__main__":
    main()
