"""`almanac worker` and `almanac ingest --due` as processes: stopped, killed, two at once. The publisher is on this machine."""

import signal
import threading
import time
from collections import Counter
from contextlib import closing
from datetime import datetime

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.domain.cadence import Turn
from almanac.domain.times import instant
from almanac.store.engine import opening
from almanac.store.log import schedule
from tests.support.paths import ROOT
from tests.support.processes import PATIENCE, run, start
from tests.support.publisher import REDIRECTED, Publisher
from tests.support.treasury_home import curve, day

from .mirrors import NOW, TREASURY_SOURCE

START = instant(datetime.fromisoformat(NOW))
YEARS = ["2023", "2024", "2025", "2026"]
QUICK = {"HTTP__REQUESTS_PER_SECOND": "1000", "HTTP__ATTEMPTS": "1"}


class Curves:
    """One day's curve for each year. `gate` holds back the answers from `held` on; each takes `seconds`."""

    def __init__(self, held=None, seconds=0.0):
        self.held = held
        self.seconds = seconds
        self.reached = threading.Event()
        self.gate = threading.Event()

    def __call__(self, path):
        year = path.rpartition("=")[2]
        if year == self.held:
            self.reached.set()
            assert self.gate.wait(PATIENCE)
        time.sleep(self.seconds)
        return 200, curve({"2026-11-19" if year == "2026" else f"{year}-06-01": day(3.0, 4.0)}), {}


def redirected(publisher):
    few = "from almanac.sources.feeds import us_treasury\nus_treasury._FIRST_YEAR = 2023\n"
    return REDIRECTED.format(root=str(ROOT), port=publisher.port) + few


def asked(publisher):
    return Counter(path.rpartition("=")[2] for path in publisher.asked)


def held(home):
    with closing(opening.create(home / "data.db")) as db:
        return schedule.read(db).get(TREASURY_SOURCE)


def folded(home):
    with closing(opening.create(home / "data.db")) as db:
        return db.execute("SELECT count(*) FROM payload WHERE state = 'folded'").get


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_due_does_what_is_due_once_and_then_says_that_nothing_is(home):
    with Publisher(Curves()) as publisher:
        before = redirected(publisher)
        done = run(home, "ingest", "--due", "us-treasury", before=before, **QUICK)
        assert f"{TREASURY_SOURCE}: asking, due since 2026-11-19T23:30:00Z\n" in done.stderr
        header, figures = done.stdout.splitlines()
        assert (header.split()[:3], figures.split()[:3]) == (["source", "read", "known"], [TREASURY_SOURCE, "4", "0"])
        again = run(home, "ingest", "--due", "us-treasury", before=before, **QUICK)
        assert again.stdout == ""
        assert again.stderr == f"nothing is due; {TREASURY_SOURCE} is next, at 2026-11-20T23:30:00Z\n"
        assert asked(publisher) == Counter(YEARS)
        later = run(home, "worker", "us-treasury", "--once", before=before, **{**QUICK, "NOW": "2026-11-20T23:30:00Z"})
        assert later.stdout.splitlines()[1].split()[:3] == [TREASURY_SOURCE, "0", "2"]


@pytest.mark.slow
def test_the_exit_code_tells_what_failed(home):
    curves = Curves()
    with Publisher(lambda path: (404, b"", {}) if path.endswith("2024") else curves(path)) as publisher:
        before = redirected(publisher)
        done = run(home, "ingest", "--due", "us-treasury", before=before, expect=3, **QUICK)
        assert "; 1 failed, the 1st time in a row; again at 2026-11-20T12:0" in done.stderr
        publisher.answer = lambda _: (404, b"", {})
        late = {**QUICK, "NOW": "2026-11-20T12:05:00Z"}
        run(home, "ingest", "--due", "us-treasury", before=before, expect=1, **late)
        assert held(home).turn.failures == 2
        idle = run(home, "ingest", "--due", "fred", expect=0)
        assert "passed over: fred needs a key: set ALMANAC_SOURCES__FRED__API_KEY\n" in idle.stderr
        assert "nothing is due: there is no source to ask\n" in idle.stderr


def test_other_options_make_no_sense_with_due(home):
    def said(*words):
        result = CliRunner(env={"ALMANAC_HOME": str(home)}).invoke(main, words)
        assert result.exit_code == 2
        return result.stderr

    for more in (["--all"], ["--since", "2026-01-01"], ["--entity", "japan"], ["--from", "somewhere"]):
        assert "--due asks a source whole, by its cadence: no other option but --json goes with it" in said("ingest", "--due", *more)  # fmt: skip
    assert "there is no source 'us-tresury'; the nearest is us-treasury" in said("worker", "us-tresury")


@pytest.mark.slow
def test_a_command_by_hand_ends_the_turn_unless_it_was_narrowed(home):
    with Publisher(Curves()) as publisher:
        before = redirected(publisher)
        run(home, "ingest", "us-treasury", "--since", "2025-01-01", before=before, **QUICK)
        assert held(home) is None
        run(home, "ingest", "us-treasury", before=before, **QUICK)
        assert held(home) == schedule.SourceTurn(Turn(START))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_payload_in_hand_be_finished(home, number):
    curves = Curves(held="2026")
    with Publisher(curves) as publisher:
        process = start(home, "worker", "us-treasury", before=redirected(publisher), **QUICK)
        assert curves.reached.wait(PATIENCE)
        process.send_signal(number)
        time.sleep(0.3)
        assert process.poll() is None  # it waits for the answer
        curves.gate.set()
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert f"{TREASURY_SOURCE}: stopped; the next worker goes on from here\n" in said.decode()
        assert asked(publisher) == Counter(["2025", "2026"])
    assert folded(home) == 2
    assert held(home) == schedule.SourceTurn(Turn())


@pytest.mark.slow
def test_a_waiting_worker_ends_at_once(home):
    with Publisher(Curves()) as publisher:
        process = start(home, "worker", "us-treasury", before=redirected(publisher), **QUICK)
        lines = []
        for line in process.stderr:
            lines.append(line.decode())
            if "waiting" in lines[-1]:
                break
        assert lines[-1] == f"waiting: {TREASURY_SOURCE} is next, at 2026-11-20T23:30:00Z\n"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 0
    assert held(home) == schedule.SourceTurn(Turn(START))


@pytest.mark.slow
def test_after_a_kill_the_lease_runs_out_and_the_next_worker_goes_on(home):
    curves = Curves(held="2024")  # the newest first, then the past
    with Publisher(curves) as publisher:
        before = redirected(publisher)
        process = start(home, "worker", "us-treasury", before=before, **QUICK)
        assert curves.reached.wait(PATIENCE)
        process.kill()
        process.communicate(timeout=PATIENCE)
        curves.gate.set()
        owner = held(home).owner
        assert str(process.pid) in owner.split(":")
        other = run(home, "worker", "us-treasury", "--once", before=before, **QUICK)
        assert f"{TREASURY_SOURCE}: {owner} is asking it\n" in other.stderr
        assert asked(publisher) == Counter(["2025", "2026", "2024"])
        with closing(opening.create(home / "data.db")) as db:
            db.execute("UPDATE turn SET expires_at = ?", (int(time.time()) - 1,))
        run(home, "worker", "us-treasury", "--once", before=before, **QUICK)
    assert folded(home) == 4
    assert held(home) == schedule.SourceTurn(Turn(START))


def test_of_two_workers_one_asks_a_source(home):
    run(home, "status")  # so that both find a store
    with Publisher(Curves(seconds=0.5)) as publisher:
        before = redirected(publisher)
        both = [start(home, "worker", "us-treasury", "--once", before=before, **QUICK) for _ in range(2)]
        said = [process.communicate(timeout=PATIENCE)[1].decode() for process in both]
        assert [process.returncode for process in both] == [0, 0]
        assert asked(publisher) == Counter(YEARS)
    assert sum(text.count("2 read") for text in said) == 2  # what is new, and the past
    assert folded(home) == 4
