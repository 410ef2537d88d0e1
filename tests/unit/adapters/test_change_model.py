"""The bundled change model: what takes the place of something is told from what only speaks of it."""

from __future__ import annotations

import numpy as np
import pytest

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.readers.change_model import BundledChangeModel, pair_features
from ebbing.ports.models.change_model import EarlierAndLater
from ebbing.remember.facts.outdated_memories import LEAST
from tests.hostile import KINDS

pytestmark = pytest.mark.anyio

DOSE = "Rhona: doctor has me on lisinopril, 10 mg every morning"
HALVED = "Rhona: blood pressure's better so she cut the lisinopril back to 5 mg"
ASKED = "Rhona: can you write a shopping list for sunday, six people"
DOSE_ZH = "阿泽: 大夫给我开的氨氯地平 5毫克 一天一片"
CHANGED_ZH = "阿泽: 今天复查 氨氯地平停了 换成缬沙坦80的"
ASKED_ZH = "阿泽: 帮我想个周末请客的菜单"


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder.load()


@pytest.fixture(scope="module")
def model(embedder: E5Embedder) -> BundledChangeModel:
    return BundledChangeModel(embedder)


def pairs_of(
    embedder: E5Embedder, *texts: tuple[str, str], before: str = "", in_company: bool = True
) -> list[EarlierAndLater]:
    return [
        EarlierAndLater(earlier, later, before, *embedder.embed([earlier, later], "passage"), in_company)
        for earlier, later in texts
    ]


@pytest.mark.parametrize(
    ("earlier", "ends", "other"), [(DOSE, HALVED, ASKED), (DOSE_ZH, CHANGED_ZH, ASKED_ZH)], ids=["en", "zh"]
)
async def test_another_dose_ends_a_dose_and_another_matter_does_not(
    model: BundledChangeModel, embedder: E5Embedder, earlier: str, ends: str, other: str
) -> None:
    over, stands = await model.changes(pairs_of(embedder, (earlier, ends), (earlier, other)))
    assert over > 0.5
    assert stands < 0.2


@pytest.mark.parametrize(
    ("earlier", "ends", "stands"),
    [
        ("I live in Berlin", "I moved to Lisbon last month", "my brother moved to Lisbon last month"),
        ("I drive a Skoda", "sold the Skoda, got myself a Kia", "my sister sold her Skoda, got herself a Kia"),
        ("Rhona: my dad's on warfarin", "Rhona: they took dad off it", "Rhona: they took my uncle off warfarin"),
        ("阿泽: 店里周一公休", "阿泽: 我们周一也开门了，现在全年无休", "阿泽: 对面那家周一也开了，全年无休"),
    ],
    ids=["home", "car", "medicine", "opening hours"],
)
async def test_what_somebody_else_changes_ends_nothing(
    model: BundledChangeModel, embedder: E5Embedder, earlier: str, ends: str, stands: str
) -> None:
    pairs = pairs_of(embedder, (earlier, ends), (earlier, stands), in_company=False)
    over, other = await model.changes(pairs)
    assert over > LEAST > other


async def test_a_pair_is_judged_by_itself(model: BundledChangeModel, embedder: E5Embedder) -> None:
    pairs = pairs_of(
        embedder, (DOSE, HALVED), (DOSE_ZH, CHANGED_ZH), (DOSE, ASKED), before="Rhona: back from the surgery"
    )
    alone = [(await model.changes([pair]))[0] for pair in pairs]
    assert np.allclose(await model.changes(pairs), alone, atol=1e-5)


async def test_nothing_to_judge_is_no_error(model: BundledChangeModel) -> None:
    assert await model.changes([]) == []


@pytest.mark.parametrize("text", [text for texts in KINDS.values() for text in texts])
def test_any_text_is_read(model: BundledChangeModel, embedder: E5Embedder, text: str) -> None:
    vector = np.asarray(embedder.embed([DOSE], "passage"))[0]
    odds = model.odds([EarlierAndLater(text, text, text, vector, vector)])
    assert np.isfinite(odds).all()


def test_what_the_regression_sees_depends_on_both_vectors_and_their_order() -> None:
    first, second = np.eye(384, dtype=np.float32)[:2]
    assert pair_features(first, second).shape == (3 * 384 + 2,)
    assert not np.array_equal(pair_features(first, second), pair_features(second, first))
    assert pair_features(first, first)[-1] == pytest.approx(8.0)
