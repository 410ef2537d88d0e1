"""The contract of `VectorIndex` as tests. An adapter gives `open_index`; see `VectorIndexSuite`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, suppress

import numpy as np
import pytest

from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorIndex, VectorRoom, Vectors

DIM = 16
ADA = VectorRoom("default", "1", "model-a", DIM)
BOB = VectorRoom("default", "2", "model-a", DIM)
ELSEWHERE = VectorRoom("other", "1", "model-a", DIM)
OTHER_MODEL = VectorRoom("default", "1", "model-b", DIM)


def vectors_of(count: int, *, dim: int = DIM, seed: int = 1) -> Vectors:
    """Unit vectors that are far from each other."""
    drawn = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def seqs_of(*numbers: int) -> Seqs:
    """Rows by their numbers."""
    return np.array(numbers, dtype=np.int64)


@pytest.mark.anyio
class VectorIndexSuite:
    """Everything that a vector index promises. Needs pytest, and a fixture `anyio_backend` that returns "asyncio"."""

    def open_index(self) -> AbstractAsyncContextManager[VectorIndex]:
        """An index over the same place at every call of one test, empty at first; closed at the end of the context."""
        raise NotImplementedError

    def unreachable_index(self) -> VectorIndex | None:
        """An index whose server is down, or whose file is damaged; None where there is no such thing."""
        raise NotImplementedError

    @pytest.fixture
    async def index(self) -> AsyncIterator[VectorIndex]:
        """An empty index for one test."""
        async with self.open_index() as index:
            yield index

    async def put(self, index: VectorIndex, room: VectorRoom, *, seqs: Seqs, vectors: Vectors) -> None:
        """Add vectors and save."""
        await index.upsert(room, seqs, vectors=vectors)
        await index.save()

    async def test_an_empty_index_has_no_answer_and_no_rows(self, index: VectorIndex) -> None:
        assert (await index.search(ADA, vectors_of(1)[0], limit=5)).tolist() == []
        assert await index.count(ADA) == 0

    async def test_the_nearest_row_comes_first(self, index: VectorIndex) -> None:
        vectors = vectors_of(40)
        await self.put(index, ADA, seqs=np.arange(1, 41), vectors=vectors)
        for at in (0, 17, 39):
            answer = (await index.search(ADA, vectors[at], limit=5)).tolist()
            assert answer[0] == at + 1
            assert len(answer) == len(set(answer)) == 5
        assert await index.count(ADA) == 40

    async def test_an_answer_is_in_the_order_of_the_cosine(self, index: VectorIndex) -> None:
        vectors, question = vectors_of(60), vectors_of(1, seed=2)[0]
        await self.put(index, ADA, seqs=np.arange(60), vectors=vectors)
        exact = np.argsort(-(vectors @ question), kind="stable")[:10].tolist()
        answer = (await index.search(ADA, question, limit=30)).tolist()
        assert len(set(exact) & set(answer)) >= 9
        assert answer[0] in exact[:2]

    async def test_a_row_that_is_put_twice_is_there_once(self, index: VectorIndex) -> None:
        vectors = vectors_of(6)
        await self.put(index, ADA, seqs=seqs_of(1, 2, 3), vectors=vectors[:3])
        await self.put(index, ADA, seqs=seqs_of(1, 2, 3), vectors=vectors[:3])
        assert await index.count(ADA) == 3
        await self.put(index, ADA, seqs=seqs_of(2), vectors=vectors[5:])
        assert (await index.search(ADA, vectors[5], limit=3)).tolist()[0] == 2
        assert sorted((await index.search(ADA, vectors[1], limit=9)).tolist()) == [1, 2, 3]

    async def test_a_deleted_row_is_in_no_answer(self, index: VectorIndex) -> None:
        vectors = vectors_of(5)
        await self.put(index, ADA, seqs=np.arange(5), vectors=vectors)
        await index.delete(ADA.partition, seqs_of(2, 4, 77))
        await index.delete(ADA.partition, seqs_of(2))
        await index.save()
        assert sorted((await index.search(ADA, vectors[2], limit=9)).tolist()) == [0, 1, 3]
        assert await index.count(ADA) == 3
        await self.put(index, ADA, seqs=seqs_of(2), vectors=vectors[2:3])
        assert (await index.search(ADA, vectors[2], limit=9)).tolist()[0] == 2
        assert await index.count(ADA) == 4

    async def test_an_erased_owner_has_nothing_left_and_others_have_all(self, index: VectorIndex) -> None:
        vectors = vectors_of(5)
        for room in (ADA, BOB):
            await self.put(index, room, seqs=np.arange(5), vectors=vectors)
        await index.delete(ADA.partition)
        await index.delete("unknown")
        await index.save()
        assert (await index.count(ADA), await index.count(BOB)) == (0, 5)
        assert (await index.search(ADA, vectors[0], limit=9)).tolist() == []

    async def test_rooms_do_not_see_each_other(self, index: VectorIndex) -> None:
        vectors = vectors_of(8)
        await self.put(index, ADA, seqs=seqs_of(1, 2), vectors=vectors[:2])
        await self.put(index, BOB, seqs=seqs_of(1, 3), vectors=vectors[2:4])
        assert sorted((await index.search(ADA, vectors[3], limit=9)).tolist()) == [1, 2]
        assert sorted((await index.search(BOB, vectors[0], limit=9)).tolist()) == [1, 3]
        assert (await index.search(BOB, vectors[2], limit=1)).tolist() == [1]

    async def test_a_room_without_rows_gets_nobody_elses(self, index: VectorIndex) -> None:
        vectors = vectors_of(50)
        await self.put(index, ADA, seqs=np.arange(50), vectors=vectors)
        for room in (BOB, ELSEWHERE, OTHER_MODEL):
            assert (await index.search(room, vectors[0], limit=9)).tolist() == []
            assert await index.count(room) == 0

    async def test_an_answer_is_as_long_as_there_are_rows(self, index: VectorIndex) -> None:
        vectors = vectors_of(400)
        await self.put(index, BOB, seqs=np.arange(390), vectors=vectors[:390])
        await self.put(index, ADA, seqs=np.arange(10), vectors=vectors[390:])
        assert len(await index.search(ADA, vectors[0], limit=200)) == 10
        assert len(await index.search(BOB, vectors[395], limit=100)) == 100

    async def test_a_row_is_seen_as_soon_as_it_is_saved(self, index: VectorIndex) -> None:
        vectors = vectors_of(30)
        for at in range(30):
            await self.put(index, ADA, seqs=seqs_of(at), vectors=vectors[at : at + 1])
            assert (await index.search(ADA, vectors[at], limit=1)).tolist() == [at]

    async def test_what_was_saved_is_there_after_a_restart(self, index: VectorIndex) -> None:
        vectors = vectors_of(20)
        await self.put(index, ADA, seqs=np.arange(20), vectors=vectors)
        await index.delete(ADA.partition, seqs_of(3))
        await index.save()
        await index.aclose()
        await index.aclose()
        async with self.open_index() as other:
            assert await other.count(ADA) == 19
            assert (await other.search(ADA, vectors[7], limit=1)).tolist() == [7]
            await self.put(other, ADA, seqs=seqs_of(3), vectors=vectors[3:4])
            assert (await other.search(ADA, vectors[3], limit=1)).tolist() == [3]

    async def test_two_who_share_the_place_see_what_the_other_saved(self, index: VectorIndex) -> None:
        vectors = vectors_of(4)
        await self.put(index, ADA, seqs=seqs_of(1, 2), vectors=vectors[:2])
        async with self.open_index() as other:
            assert await other.count(ADA) == 2
            await self.put(other, ADA, seqs=seqs_of(3), vectors=vectors[2:3])
            assert (await index.search(ADA, vectors[2], limit=1)).tolist() == [3]

    async def test_what_another_process_cleared_is_missed_once_at_most(self, index: VectorIndex) -> None:
        vectors = vectors_of(3)
        await self.put(index, ADA, seqs=seqs_of(1, 2), vectors=vectors[:2])
        async with self.open_index() as other:
            assert await other.count(ADA) == 2
            await index.clear()
            with suppress(VectorIndexError):
                await other.count(ADA)
            assert await other.count(ADA) == 0
            await self.put(other, ADA, seqs=seqs_of(3), vectors=vectors[2:])
            assert await other.count(ADA) == 1

    async def test_a_vector_of_another_length_is_refused(self, index: VectorIndex) -> None:
        await self.put(index, ADA, seqs=seqs_of(1), vectors=vectors_of(1))
        with pytest.raises(VectorIndexError, match="name of its own"):
            await index.upsert(ADA, seqs_of(2), vectors=vectors_of(1, dim=DIM * 2))
        with pytest.raises(VectorIndexError, match="name of its own"):
            await index.search(ADA, vectors_of(1, dim=DIM * 2)[0], limit=3)
        assert await index.count(ADA) == 1

    async def test_models_of_other_lengths_lie_side_by_side(self, index: VectorIndex) -> None:
        longer = VectorRoom("default", "1", "model-c", DIM * 2)
        vectors, long_vectors = vectors_of(3), vectors_of(3, dim=DIM * 2)
        await self.put(index, ADA, seqs=np.arange(3), vectors=vectors)
        await self.put(index, longer, seqs=np.arange(3), vectors=long_vectors)
        assert (await index.search(longer, long_vectors[2], limit=1)).tolist() == [2]
        await index.delete("1", seqs_of(2))
        await index.save()
        assert (await index.count(ADA), await index.count(longer)) == (2, 2)

    async def test_a_cleared_index_has_nothing_and_goes_on(self, index: VectorIndex) -> None:
        vectors = vectors_of(3)
        for room in (ADA, BOB, OTHER_MODEL):
            await self.put(index, room, seqs=np.arange(3), vectors=vectors)
        await index.clear()
        assert [await index.count(room) for room in (ADA, BOB, OTHER_MODEL)] == [0, 0, 0]
        await self.put(index, ADA, seqs=seqs_of(7), vectors=vectors[:1])
        assert (await index.search(ADA, vectors[0], limit=3)).tolist() == [7]

    async def test_an_index_that_is_down_says_what_to_do(self) -> None:
        index = self.unreachable_index()
        if index is None:
            pytest.skip("nothing of this index can be down")
        with pytest.raises(VectorIndexError, match=r"check|delete|start|build"):
            await index.search(ADA, vectors_of(1)[0], limit=3)
        await index.aclose()
