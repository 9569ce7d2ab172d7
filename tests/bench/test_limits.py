"""Limits over workers and hosts, in small: what the full size is run for by hand (docs/performance.md)."""

import socket

import pytest

from bench import growth, limits

_REDIS = ("127.0.0.1", 6379)


def redis():
    """A Redis for tests, where there is one."""
    try:
        socket.create_connection(_REDIS, timeout=1).close()
    except OSError:
        return None
    return "redis://{}:{}/6".format(*_REDIS)


@pytest.mark.slow
def test_a_minute_admits_what_it_allows(tmp_path):
    home, key = growth.prepare(tmp_path, 1_000, lambda _: None)
    setting = limits.Setting(workers=2, connections=8, seconds=4.0, limit=40)
    lines = limits.measure(home, key, setting, redis(), lambda _: None).splitlines()[2:]
    assert len(lines) in {2, 4}
    for line in lines:
        _, _, asked, admitted, allowed = (part.strip().replace(",", "") for part in line.strip("|").split("|"))
        assert int(asked) > int(admitted) == int(allowed) == 40


def test_a_store_of_no_measurement_is_left_alone(tmp_path):
    (tmp_path / "growth-1000").mkdir()
    with pytest.raises(RuntimeError, match="left alone"):
        growth.prepare(tmp_path, 1_000, lambda _: None)
    assert list((tmp_path / "growth-1000").iterdir()) == []
