"""The daily round: every step in its order, for one owner or for all, done or only told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from ebbing import AsyncMemory
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.errors import ConfigurationError, ConflictError, InvalidInputError
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.scope import Scope
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.daily_round import ORDER, run_steps
from ebbing.upkeep.step import PlannedChange, Step, StepContext, StepReport

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ADA = Scope(user_id="ada")


def deps() -> StepContext:
    return StepContext(
        SqliteMemoryStore.in_memory(clock=ManualClock()), FakeEmbedder(), SequentialIds(), UpkeepPolicy()
    )


def noting(name: str, ran: list[str], *, conflicts: int = 0) -> Step:
    """A step that only notes that it ran, after being disturbed so many times."""
    left = [conflicts]

    async def step(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
        ran.append(name)
        if left[0]:
            left[0] -= 1
            raise ConflictError("somebody wrote")
        return StepReport(name, {"done": 1}, [PlannedChange("m1", name, "because")])

    return step


@pytest.mark.anyio
async def test_the_steps_of_a_round_run_in_the_order_of_the_house_whatever_the_table_says() -> None:
    ran: list[str] = []
    report = await run_steps(deps(), ADA, steps={name: noting(name, ran) for name in reversed(ORDER)}, now=NOW)
    assert ran == [step.step for step in report.steps] == [*ORDER]


@pytest.mark.anyio
async def test_a_step_that_was_disturbed_by_another_writer_runs_again_but_not_for_ever() -> None:
    ran: list[str] = []
    await run_steps(deps(), ADA, steps={"decay": noting("decay", ran, conflicts=2)}, now=NOW)
    assert ran == ["decay"] * 3
    with pytest.raises(ConflictError):
        await run_steps(deps(), ADA, steps={"decay": noting("decay", ran, conflicts=3)}, now=NOW)


@pytest.mark.parametrize("bad", [{"grace_days": -1}, {"grace_days": float("nan")}, {"llm_timeout_seconds": 0}])
def test_a_policy_refuses_numbers_out_of_their_bounds(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(bad))):
        UpkeepPolicy(**bad)  # type: ignore[arg-type]


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.from_config({"store": "ephemeral", "embedder": "none"}) as memory:
        yield memory


@pytest.mark.anyio
async def test_the_upkeep_of_everybody_goes_from_owner_to_owner_and_tells_how_far_it_is(memory: AsyncMemory) -> None:
    for user in ("ada", "bob"):
        await memory.add("I live in Leeds.", user_id=user)
    await memory.add("I answer in short sentences.", agent_id="helper", infer=False)
    seen: list[tuple[int, int]] = []
    done = await memory.maintenance.run(now="2026-01-01", progress=lambda *at: seen.append(at))
    assert (done["owners"], done["now"], done["dry_run"]) == (3, "2026-01-01T00:00:00+00:00", False)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert (await memory.maintenance.run(user_id="ada"))["owners"] == 1
    assert (await memory.maintenance.run(user_id="ada", dry_run=True))["changes"] == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "bad", [{"user_id": "ada", "run_id": "r"}, {"user_id": " "}, {"now": "some day"}, {"dry_run": "false"}]
)
async def test_an_upkeep_that_is_not_put_right_changes_nothing(memory: AsyncMemory, bad: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        await memory.maintenance.run(**bad)
