"""Measures an embedder on the bilingual sentences in `scripts/embedder_data/pairs.tsv`.

    python scripts/calibrate_embedder.py e5                    # or: e5-raw, sentence-encoder
    EMBEDDINGS_KEY=… python scripts/calibrate_embedder.py https://api.openai.com/v1 --model text-embedding-3-small

Prints the four anchors of its `Calibration` and how well questions find their fact in a store that mixes Chinese and
English. Every row of the file holds, in both languages, a fact, the same fact in other words, a different statement
about the same thing (the near miss), and a question about the fact.
"""

from __future__ import annotations

import argparse
import csv
import os
from pathlib import Path

import anyio
import numpy as np

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.embedders.openai_embeddings import OpenAIEmbedder
from ebbing.adapters.embedders.sentence_encoder import SentenceEncoderEmbedder
from ebbing.ports.models.embedder import Embedder, Vectors

PAIRS = Path(__file__).parent / "embedder_data" / "pairs.tsv"
LANGUAGES = ("en", "zh")
Columns = dict[str, Vectors]


def open_embedder(name: str, model: str) -> Embedder:
    if name.startswith("http"):
        return OpenAIEmbedder(name, os.environ.get("EMBEDDINGS_KEY", ""), model=model)
    if name == "sentence-encoder":
        return SentenceEncoderEmbedder.load()
    return E5Embedder.load(centred=name != "e5-raw")


async def embed_columns(embedder: Embedder) -> Columns:
    with PAIRS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns: Columns = {}
    for name in rows[0]:
        embed = embedder.embed_queries if name.startswith("question") else embedder.embed_passages
        columns[name] = await embed([row[name] for row in rows])
    for language in LANGUAGES:
        retyped = [row[f"fact_{language}"].rstrip(".。").lower() for row in rows]
        columns[f"retyped_{language}"] = await embedder.embed_passages(retyped)
    return columns


def cosines(columns: Columns, other: str, *, within_language: bool = False) -> np.ndarray:
    """Cosine of each fact with the row's `other` sentence, in every combination of languages."""
    pairs = [(a, b) for a in LANGUAGES for b in LANGUAGES if a == b or not within_language]
    return np.concatenate([(columns[f"fact_{a}"] * columns[f"{other}_{b}"]).sum(axis=1) for a, b in pairs])


def unrelated_cosines(columns: Columns) -> np.ndarray:
    facts = np.concatenate([columns[f"fact_{language}"] for language in LANGUAGES])
    rows = np.tile(np.arange(len(columns["fact_en"])), 2)
    return (facts @ facts.T)[rows[:, None] < rows[None, :]]


def print_anchors(columns: Columns) -> None:
    unrelated, near = unrelated_cosines(columns), cosines(columns, "near")
    anchors = {
        "unrelated": np.percentile(unrelated, 95),
        "related": np.percentile(near, 50),
        "paraphrase": np.percentile(near, 99),
        "same": np.percentile(cosines(columns, "retyped", within_language=True), 50),
    }
    print("anchors: " + "  ".join(f"{name} {value:.2f}" for name, value in anchors.items()))
    print(f"unrelated: median {np.median(unrelated):.3f}, 99 % {np.percentile(unrelated, 99):.3f}")
    for language, other in (("en", "en"), ("zh", "zh"), ("en", "zh")):
        same = (columns[f"fact_{language}"] * columns[f"paraphrase_{other}"]).sum(axis=1)
        different = (columns[f"fact_{language}"] * columns[f"near_{other}"]).sum(axis=1)
        auc = (same[:, None] > different[None, :]).mean()
        caught = (same > anchors["paraphrase"]).mean()
        print(
            f"{language}-{other}: paraphrase {np.median(same):.2f}, near miss {np.median(different):.2f}, "
            f"AUC {auc:.3f}, paraphrases above the anchor {caught:.0%}"
        )


def print_mixed_store(columns: Columns) -> None:
    """Half of the facts and near misses are stored in Chinese, half in English; then the other way round."""
    count = len(columns["fact_en"])
    print(f"mixed store ({2 * count} texts)      R@1    R@5")
    for asked in LANGUAGES:
        ranks: dict[str, list[int]] = {"same language": [], "other language": []}
        for fold in (0, 1):
            stored_in = [LANGUAGES[(row + fold) % 2] for row in range(count)]
            kinds = ("fact", "near")
            store = np.stack([columns[f"{kind}_{stored_in[row]}"][row] for kind in kinds for row in range(count)])
            scores = columns[f"question_{asked}"] @ store.T
            better = (scores > scores[np.arange(count), np.arange(count)][:, None]).sum(axis=1)
            for row in range(count):
                ranks["same language" if stored_in[row] == asked else "other language"].append(int(better[row]))
        for stored, values in (*ranks.items(), ("all", [rank for group in ranks.values() for rank in group])):
            found = np.array(values)
            print(f"  {asked}, fact in {stored:15}  {(found < 1).mean():.3f}  {(found < 5).mean():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("embedder", help="e5, e5-raw, sentence-encoder, or the base URL of an endpoint")
    parser.add_argument("--model", default="", help="model name at the endpoint")
    arguments = parser.parse_args()
    embedder = open_embedder(arguments.embedder, arguments.model)
    columns = anyio.run(embed_columns, embedder)
    print(f"{embedder.model_id}, {embedder.dim} numbers a text")
    print_anchors(columns)
    print_mixed_store(columns)


if __name__ == "__main__":
    main()
