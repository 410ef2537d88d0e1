"""Builds `e5_means.npy` and `e5_token_means.npy` in `src/ebbing/adapters/data` from the sentences in
`scripts/embedder_data/means.tsv`.

    python scripts/build_e5_means.py

Whoever changes the sentences changes the vectors: give `E5Embedder.model_id` a new number then.
"""

from __future__ import annotations

import asyncio
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.embedders.e5 import FILE_NAME, ROLES, TOKENS_FILE_NAME, E5Embedder, Role

SENTENCES = Path(__file__).parent / "embedder_data" / "means.tsv"


def main() -> None:
    embedder = E5Embedder.load(centred=False)
    rows = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    means = np.zeros((len(ROLES), 2, embedder.dim), np.float16)
    token_means = np.zeros_like(means)
    for number, role in enumerate(ROLES):
        for language in (0, 1):
            texts = [row[1 + language] for row in rows if row[0] == role]
            means[number, language] = embedder.embed(texts, role).mean(axis=0)
            token_means[number, language] = mean_token(embedder, texts, role=role)
    # Halfway only: the rest of what sets questions apart is a taste for longer passages, worth 5 points of R@10 on
    # chat (LoCoMo) and costing 1 on lists of facts (MemDaily).
    means[ROLES.index("query")] = means.mean(axis=0)
    for name, built in ((FILE_NAME, means), (TOKENS_FILE_NAME, token_means)):
        np.save(str(files("ebbing.adapters").joinpath("data", name)), built)
        print(f"{name}: lengths of the means (query, passage x en, zh)\n{np.linalg.norm(built, axis=-1).round(3)}")


def mean_token(embedder: E5Embedder, texts: list[str], *, role: Role) -> NDArray[np.float32]:
    """Shape (dim,)."""
    vectors: NDArray[np.float32] = np.concatenate(asyncio.run(embedder.token_vectors(texts, role))).mean(axis=0)
    return vectors


if __name__ == "__main__":
    main()
