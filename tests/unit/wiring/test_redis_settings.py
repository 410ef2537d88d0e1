"""Where the Redis is that replicas share."""

from __future__ import annotations

import pytest

from ebbing.domain.errors import ConfigurationError
from ebbing.wiring.build import load_settings
from ebbing.wiring.config.settings import handed_on
from ebbing.wiring.config.store_place import redis_place
from ebbing.wiring.diagnose import _shown

ADDRESS = "rediss://ada:s3cret@redis.internal:6380/2"


def test_an_address_is_read_and_its_password_is_shown_to_nobody() -> None:
    settings = load_settings({"redis_url": ADDRESS})
    assert settings.redis_url is not None
    assert settings.redis_url.get_secret_value() == ADDRESS
    assert "s3cret" not in repr(settings) + str(settings) + str(_shown(settings)) + settings.model_dump_json()
    assert redis_place(ADDRESS) == "rediss://redis.internal:6380/2"


def test_a_process_of_our_own_is_handed_the_whole_address() -> None:
    assert ADDRESS in handed_on(load_settings({"redis_url": ADDRESS}))


@pytest.mark.parametrize(
    "address",
    [
        "redis.internal:6379",
        "http://ada:s3cret@host",
        "redis://",
        "redis://ada:s3cret@host:port/0",
        "redis://host/s3cret",
        "redis://ada:s3cret/more@host",
    ],
)
def test_what_is_no_address_of_redis_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(ConfigurationError, match=r"redis_url: .*rediss://…") as error:
        load_settings({"redis_url": address})
    assert "s3cret" not in str(error.value)
