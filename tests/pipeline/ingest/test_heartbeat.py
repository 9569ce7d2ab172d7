"""Signs of life of a worker: there while it lives and goes on, gone when it ends as it should, old when it was killed."""

import signal
import time

import pytest

from almanac.ops import HostGauges
from almanac.pipeline.ingest import heartbeat
from almanac.pipeline.ingest.heartbeat import Heartbeat, folder_of, signs
from tests.support.processes import PATIENCE, start
from tests.support.treasury_home import settings


def test_it_lives_by_itself_and_goes_on_when_told(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "_BEAT_SECONDS", 0.02)
    monkeypatch.setattr(heartbeat, "_STEP_SECONDS", 0.0)
    with Heartbeat(tmp_path / "workers", ["snb", "ecb", "snb"]) as heart:
        (first,) = signs(tmp_path / "workers")
        assert first.sources == "ecb+snb"
        until = time.monotonic() + PATIENCE
        while (later := next(signs(tmp_path / "workers"))).lived == first.lived:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert later.went_on == first.went_on  # nobody said so
        heart.step()
        assert next(signs(tmp_path / "workers")).went_on > first.went_on
    assert list(signs(tmp_path / "workers")) == []


def test_one_that_fails_is_missed(tmp_path):
    with pytest.raises(ValueError, match="no"), Heartbeat(tmp_path, []):
        raise ValueError("no")
    assert [one.sources for one in signs(tmp_path)] == ["all"]


def test_many_names_make_a_short_file_name_and_no_room_makes_no_fault(tmp_path):
    with Heartbeat(tmp_path, [f"a-source-{n}" for n in range(100)]):
        (found,) = signs(tmp_path)
    assert found.sources.startswith("100-sources-")
    (tmp_path / "file").write_text("in the way")
    with Heartbeat(tmp_path / "file", []) as heart:
        heart.step()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_leaves_its_signs_to_grow_old_and_one_that_ends_takes_them(tmp_path, number):
    chosen = settings(tmp_path)
    with start(chosen.home, "worker", "fred") as process:  # which lacks its key, so that nobody is asked
        until = time.monotonic() + PATIENCE
        while not list(signs(folder_of(chosen.home))) or b"there is no source to ask" not in process.stderr.readline():
            assert process.poll() is None
            assert time.monotonic() < until
        process.send_signal(number)
        process.wait(PATIENCE)
    found = {one.name: one for one in HostGauges(chosen).collect()}
    for name in ("heartbeat", "step"):
        shown = found[f"almanac_worker_{name}_timestamp_seconds"].samples
        assert [one.labels for one in shown] == ([{"sources": "fred"}] if number == signal.SIGKILL else [])
        assert all(time.time() - one.value < PATIENCE for one in shown)
