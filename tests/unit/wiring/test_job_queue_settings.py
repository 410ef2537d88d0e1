"""Where jobs wait: in the store unless the settings say otherwise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.wiring.build import build, load_settings

REDIS = "redis://ada:s3cret@127.0.0.1:1/0"


def test_jobs_wait_in_the_store_also_where_a_redis_is_named(tmp_path: Path) -> None:
    settings = load_settings({"path": tmp_path, "embedder": "none"})
    assert settings.job_queue == "store"
    assert build(settings).separate_jobs is None


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [({}, "set EBBING_REDIS_URL"), ({"redis_url": REDIS, "store": "ephemeral"}, "set EBBING_JOB_QUEUE=store")],
)
def test_a_queue_that_cannot_be_used_is_refused_when_the_memory_is_opened(
    tmp_path: Path, wrong: dict[str, str], advice: str
) -> None:
    with pytest.raises(ConfigurationError, match=advice):
        build(load_settings({"path": tmp_path, "embedder": "none", "job_queue": "bullmq", **wrong}))
    assert not list(tmp_path.iterdir())


def test_a_queue_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="job_queue"):
        load_settings({"path": tmp_path, "job_queue": "rabbits"})


def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("ebbing.adapters.bullmq")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bullmq", None)
    settings = load_settings({"path": tmp_path, "embedder": "none", "job_queue": "bullmq", "redis_url": REDIS})
    with pytest.raises(MissingExtraError, match=r"pip install 'ebbing\[bullmq\]'"):
        build(settings)
