"""The worker on an invented clock: what it asks when, what it tells, and what another one does meanwhile."""

import random
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import msgspec
import pytest
from structlog.testing import capture_logs

from almanac.config import Http, Settings, SourceSettings
from almanac.domain.cadence import Turn
from almanac.domain.rights import Consent
from almanac.domain.times import wire_time
from almanac.pipeline.context import PipelineContext, WorldError
from almanac.pipeline.ingest import asking, worker
from almanac.pipeline.ingest.liveness import LEASE_SECONDS, Leaseholder
from almanac.pipeline.ingest.outcome import RunOutcome, exit_code
from almanac.pipeline.ingest.worker import Worker
from almanac.pipeline.operate.status import status
from almanac.sources.base import Request, SourceChanged
from almanac.sources.feeds import us_treasury
from almanac.store.engine import opening, sqlite
from almanac.store.engine.errors import StoreError
from almanac.store.log import schedule
from tests.support.publisher import Publisher, ToLoopback
from tests.support.treasury_home import curve, day

TREASURY, MOF, RBA = "us-treasury-par", "mof-japan", "rba"


def at(text):
    return int(datetime.fromisoformat(text).timestamp())


#: A Friday, after the turns of mof-japan (03:00) and rba (08:00), before that of us-treasury-par (23:30).
START = at("2026-11-20T12:00:00Z")


class Clock:
    now = START


class Moving(Settings, frozen=True):
    """Settings whose clock goes on."""

    def clock(self):
        return Clock.now


class Waits:
    """Stands for the event that stops a worker: waiting moves the clock; after so many waits it is set."""

    def __init__(self, waits=0):
        self.left = waits
        self.waited = []
        self.now = False

    def is_set(self):
        return self.now

    def wait(self, timeout):
        self.waited.append(timeout)
        Clock.now += int(timeout)
        self.left -= 1
        self.now = self.left <= 0
        return self.now


class Asked:
    """Stands for asking a publisher: writes down what is asked when, and answers from a script."""

    def __init__(self, script=None, takes=0):
        self.script = script or {}
        self.takes = takes
        self.when = []
        self.extents = []

    def __call__(self, world, source, say, track, between, extent):
        between()
        self.between = between
        self.when.append((source.id, wire_time(Clock.now)))
        self.extents.append(extent)
        Clock.now += self.takes
        answers = self.script.get(source.id, [])
        answer = answers.pop(0) if answers else RunOutcome(source.id, folded=1)
        if callable(answer):
            answer = answer()
        between()
        return answer


@pytest.fixture(autouse=True)
def _start(monkeypatch):
    Clock.now = START
    # What stands for asking keeps no register, so that the past would be asked for ever; with a publisher it is as it is.
    monkeypatch.setattr(worker, "plan_of", lambda *_: (None, []))


@pytest.fixture
def home(tmp_path):
    return Moving(home=tmp_path / "home", http=Http(requests_per_second=1_000.0, attempts=1))


def make(home, asked, names=(TREASURY, MOF, RBA), stop=None, owner="a", told=None):
    lines = [] if told is None else told
    made = Worker(
        home, names, Leaseholder(owner, lambda: Clock.now, 60), lines.append, stop or Waits(), chance=random.Random(1),
        asking=asked,
    )  # fmt: skip
    made.lines = lines
    return made


def held(home):
    with closing(opening.create(home.home / "data.db")) as db:
        return schedule.read(db)


def failed(source, **more):
    return RunOutcome(source, failed={"https://x.example/": "answered 503"}, **more)


# -- one round ----------------------------------------------------------------------------------------------------------


def test_at_first_everything_is_due_the_longest_waiting_first_then_nothing(home):
    asked = Asked()
    one = make(home, asked)
    done = one.round()
    assert [name for name, _ in asked.when] == [TREASURY, MOF, RBA]
    assert exit_code(done.outcomes) == 0
    assert (done.next_source, wire_time(done.next_at)) == (TREASURY, "2026-11-20T23:30:00Z")
    again = one.round()
    assert (again.outcomes, again.next_at) == ([], done.next_at)
    assert len(asked.when) == 3
    assert one.lines == [
        f"{TREASURY}: asking, due since 2026-11-19T23:30:00Z",
        f"{TREASURY}: 1 read, 0 known, 0 quarantined; next at 2026-11-20T23:30:00Z",
        f"{MOF}: asking, due since 2026-11-20T03:00:00Z",
        f"{MOF}: 1 read, 0 known, 0 quarantined; next at 2026-11-23T03:00:00Z",
        f"{RBA}: asking, due since 2026-11-20T08:00:00Z",
        f"{RBA}: 1 read, 0 known, 0 quarantined; next at 2026-11-23T08:00:00Z",
    ]
    assert {name: one.owner for name, one in held(home).items()} == dict.fromkeys((TREASURY, MOF, RBA))


def test_of_first_turns_the_quickest_goes_first_and_later_ones_go_by_how_long_they_waited(home, monkeypatch):
    sizes = {TREASURY: 130, MOF: 3, RBA: 2}

    def plan(_settings, _catalog, source):
        return None, [Request(f"https://{source.id}.example/{number}") for number in range(sizes[source.id])]

    monkeypatch.setattr(worker, "plan_of", plan)
    asked = Asked()
    one = make(home, asked)
    one.round()
    assert [name for name, _ in asked.when][:3] == [RBA, MOF, TREASURY]
    asked.when.clear()
    Clock.now += 4 * 86_400
    one.round()
    assert [name for name, _ in asked.when][:3] == [TREASURY, MOF, RBA]


def test_a_turn_that_comes_while_others_are_asked_is_taken_in_the_same_round(home):
    Clock.now = at("2026-11-20T07:59:00Z")
    make(home, Asked(), names=(RBA,)).round()
    asked = Asked(takes=90)
    make(home, asked, names=(MOF, RBA)).round()
    assert asked.when == [(MOF, "2026-11-20T07:59:00Z"), (RBA, "2026-11-20T08:00:30Z")]


def test_what_is_only_quarantined_is_not_asked_again_before_its_turn(home):
    asked = Asked({RBA: [RunOutcome(RBA, quarantined={"u": "renamed"})]})
    done = make(home, asked, names=(RBA,)).round()
    assert exit_code(done.outcomes) == 1
    assert held(home)[RBA].turn == Turn(START)


# -- for ever -----------------------------------------------------------------------------------------------------------


def test_each_source_at_its_own_cadence_over_a_weekend(home, monkeypatch):
    monkeypatch.setattr(worker, "_LOOK_AGAIN", 3_600)
    asked, stop = Asked(), Waits(100)  # of an hour at most: a good three days
    one = make(home, asked, stop=stop)
    one.run()
    assert asked.when[3:] == [
        (TREASURY, "2026-11-20T23:30:00Z"),
        (MOF, "2026-11-23T03:00:00Z"),
        (RBA, "2026-11-23T08:00:00Z"),
        (TREASURY, "2026-11-23T23:30:00Z"),
        (MOF, "2026-11-24T03:00:00Z"),
        (RBA, "2026-11-24T08:00:00Z"),
    ]
    assert max(stop.waited) == 3_600
    assert one.lines.count(f"waiting: {TREASURY} is next, at 2026-11-20T23:30:00Z") == 1


def test_after_failures_it_waits_longer_each_time_and_a_good_answer_ends_that(home):
    asked = Asked({RBA: [failed(RBA), failed(RBA), failed(RBA)]})
    one = make(home, asked, names=(RBA,), stop=Waits(25))
    one.run()
    times = [at(when) for _, when in asked.when]
    assert len(times) == 4
    pauses = [b - a for a, b in pairwise(times)]
    chance = random.Random(1)
    assert pauses == [int(longest * (1 + chance.random()) / 2) for longest in (300, 600, 1_200)]
    assert held(home)[RBA].turn == Turn(times[3])
    assert [line for line in one.lines if "in a row" in line][2].startswith(
        f"{RBA}: 0 read, 0 known, 0 quarantined; 1 failed, the 3rd time in a row; again at "
    )


def test_a_publisher_that_asks_to_be_left_alone_is(home):
    one = make(home, Asked({RBA: [failed(RBA, retry_after=7_200.0)]}), names=(RBA,))
    assert one.round().next_at == START + 7_200


def test_a_fault_costs_one_source_its_turn_and_shows_in_the_status(home):
    def broken():
        raise KeyError("no such thing")

    def unusable():
        raise ValueError("setting companies: nobody knows GONE")

    asked = Asked({TREASURY: [broken], MOF: [unusable]})
    one = make(home, asked)
    with capture_logs() as lines:
        done = one.round()
    assert [(line["event"], line["source"]) for line in lines] == [("a source could not be asked", TREASURY)]
    assert [(o.source, list(o.failed.values())) for o in done.outcomes] == [
        (TREASURY, ["KeyError, see the log"]),
        (MOF, ["setting companies: nobody knows GONE"]),
        (RBA, []),
    ]
    assert exit_code(done.outcomes) == 3
    assert f"failed {MOF}: setting companies: nobody knows GONE" in one.lines
    with PipelineContext(home) as world:
        found = {s.id: (s.health, s.reason) for s in status(world.db, Clock.now).sources}
    assert found[MOF] == ("failing", "setting companies: nobody knows GONE; no success yet")
    assert found[TREASURY] == ("failing", "KeyError, see the log; no success yet")


@pytest.mark.sqlite  # its driver's error
def test_a_store_that_fails_later_on_is_tried_again_one_that_fails_at_first_is_not(home, monkeypatch):
    asked, stop = Asked(), Waits(3)
    one = make(home, asked, names=(RBA,), stop=stop)
    real, broken = opening.create, []

    def create(path, **more):
        if len(broken) < 1 and asked.when:
            broken.append(1)
            raise sqlite.apsw.BusyError("invented")
        return real(path, **more)

    monkeypatch.setattr(worker.opening, "create", create)
    one._opened = True
    one.run()
    assert f"{home.home / 'data.db'} is held by another writer: run the command again when that one has ended; trying again in 60 s" in one.lines  # fmt: skip
    assert len(asked.when) == 1
    assert stop.waited[0] == 60
    other = make(home, asked, names=(RBA,), stop=Waits(3))
    broken.clear()
    with pytest.raises(StoreError):
        other.run()


def test_a_store_of_the_simulated_world_is_refused(home):
    with PipelineContext(home, kind="simulated") as world:
        world.claim()
    with pytest.raises(WorldError, match="holds simulated data and cannot take real data"):
        make(home, Asked(), stop=Waits(3)).run()


# -- what is missing ----------------------------------------------------------------------------------------------------


def test_a_source_that_lacks_a_key_or_a_consent_is_passed_over_with_one_line(home):
    asked = Asked()
    one = make(home, asked, names=("fred", "boe-glc", RBA), stop=Waits(5))
    one.run()
    assert {name for name, _ in asked.when} == {RBA}
    by, on, reference = (f"ALMANAC_SOURCES__BOE_GLC__CONSENT__{part}" for part in ("BY", "ON", "REFERENCE"))
    assert one.lines[:2] == [
        "passed over: fred needs a key: set ALMANAC_SOURCES__FRED__API_KEY",
        f"passed over: boe-glc needs its owner's consent: once it is given, set {by}, {on} and {reference}",
    ]
    assert len([line for line in one.lines if "passed over" in line]) == 2
    keyed = msgspec.structs.replace(home, sources={"fred": SourceSettings(api_key="k")})
    assert "needs its owner's consent" in make(keyed, asked, names=("fred",)).lines[0]
    consent = Consent(by="the owner", on="2026-10-01", reference="letter 1")
    whole = msgspec.structs.replace(home, sources={"fred": SourceSettings(api_key="k", consent=consent)})
    done = make(whole, asked, names=("fred",)).round()
    assert [o.source for o in done.outcomes] == ["fred"]


def test_with_nothing_to_ask_it_says_so(home):
    one = make(home, Asked(), names=("fred",), stop=Waits(2))
    one.run()
    assert one.lines[1:] == ["there is no source to ask"]


# -- two workers --------------------------------------------------------------------------------------------------------


def test_while_one_asks_a_source_another_leaves_it_and_asks_the_next(home):
    other_asked, told = Asked(), []

    def meanwhile():
        done = make(home, other_asked, names=(RBA, MOF), owner="b", told=told).round()
        assert [o.source for o in done.outcomes] == [RBA]
        # The one being asked is looked at again when its lease would end, the other at its turn.
        assert (done.next_source, done.next_at) == (MOF, START + LEASE_SECONDS)
        return RunOutcome(MOF, folded=1)

    first = Asked({MOF: [meanwhile]})
    make(home, first, names=(MOF, RBA)).round()
    assert [name for name, _ in first.when] == [MOF]  # rba was done meanwhile
    assert [name for name, _ in other_asked.when] == [RBA]
    assert f"{MOF}: a is asking it" in told
    assert held(home)[MOF].turn == held(home)[RBA].turn == Turn(START)


def test_a_turn_that_another_ended_since_we_looked_is_not_taken_twice(home):
    def meanwhile():
        make(home, Asked(), names=(RBA,), owner="b").round()
        return RunOutcome(MOF, folded=1)

    asked = Asked({MOF: [meanwhile]})
    make(home, asked).round()
    assert [name for name, _ in asked.when] == [TREASURY, MOF]
    assert held(home)[RBA] == schedule.SourceTurn(Turn(START))


def test_after_a_crash_the_lease_runs_out_and_another_goes_on(home):
    class Killed(BaseException):
        pass

    def die():
        raise Killed

    asked = Asked({RBA: [die]})
    one = make(home, asked, names=(RBA,))
    # A killed process gives nothing back.
    one_leaves = schedule.leave
    try:
        schedule.leave = lambda *_: None
        with pytest.raises(Killed):
            one.round()
    finally:
        schedule.leave = one_leaves
    assert held(home)[RBA].owner == "a"
    other = Asked()
    assert make(home, other, names=(RBA,), owner="b").round().outcomes == []
    Clock.now += LEASE_SECONDS - 1
    assert make(home, other, names=(RBA,), owner="b").round().outcomes == []
    Clock.now += 1
    assert [o.source for o in make(home, other, names=(RBA,), owner="b").round().outcomes] == [RBA]


def test_one_that_lost_its_lease_stops_and_writes_nothing_of_the_turn(home):
    def slept():
        Clock.now += LEASE_SECONDS
        assert [o.source for o in make(home, Asked(), names=(RBA,), owner="b").round().outcomes] == [RBA]
        return failed(RBA)

    one = make(home, Asked({RBA: [slept]}), names=(RBA,))
    done = one.round()
    assert (done.outcomes, done.stopped) == ([], False)
    assert f"{RBA}: another worker may have taken over, so this one leaves it" in one.lines
    assert held(home)[RBA] == schedule.SourceTurn(Turn(START + LEASE_SECONDS))


def test_a_stopped_worker_gives_the_turn_back_unended(home):
    stop = Waits()

    def stopped():
        stop.now = True
        return RunOutcome(MOF, folded=1)

    one = make(home, Asked({MOF: [stopped]}), names=(MOF, RBA), stop=stop)
    done = one.round()
    assert (done.outcomes, done.stopped) == ([], True)
    assert held(home)[MOF] == schedule.SourceTurn(Turn())
    assert one.lines[-1] == f"{MOF}: stopped; the next worker goes on from here"


# -- with a publisher ---------------------------------------------------------------------------------------------------


def years(last_day, value=4.0):
    """A curve for each year asked: one day in each, and in 2026 up to the last day."""

    def answer(path):
        year = path.rpartition("=")[2]
        days = [last_day] if year == "2026" else [f"{year}-06-01"]
        return 200, curve({name: day(3.0, value) for name in days}), {}

    return answer


@pytest.fixture
def publisher(monkeypatch):
    monkeypatch.setattr(us_treasury, "_FIRST_YEAR", 2023)
    monkeypatch.setattr(worker, "plan_of", asking.plan_of)
    with Publisher(years("2026-11-19")) as made:
        real = asking.Fetcher
        monkeypatch.setattr(
            asking,
            "Fetcher",
            lambda http, **more: real(http, transport=ToLoopback(made.port), **more),
        )
        yield made


def health(home):
    with PipelineContext(home) as world:
        return next(s for s in status(world.db, Clock.now).sources if s.id == TREASURY)


def real(home, stop=None, owner="a"):
    lines = []
    made = Worker(
        home, [TREASURY], Leaseholder(owner, lambda: Clock.now), lines.append, stop or Waits(), chance=random.Random(1)
    )
    made.lines = lines
    return made


def test_what_a_later_version_can_read_is_read_though_the_publisher_has_nothing_new(home, publisher, monkeypatch):
    whole, given = publisher.answer, set()

    def answer(path):
        if path in given:
            return 304, b"", {"etag": '"1"'}
        given.add(path)
        status_, body, headers = whole(path)
        return status_, body, {**headers, "etag": '"1"'}

    def refuse(self, payload, source, series):
        raise SourceChanged("cannot be read yet")

    publisher.answer = answer
    with monkeypatch.context() as before:
        before.setattr(us_treasury.UsTreasury, "parse", refuse)
        (outcome,) = real(home).round().outcomes
    assert (outcome.folded, len(outcome.quarantined)) == (0, 4)
    told = []
    for _ in range(2):
        Clock.now += 3 * 86_400
        (outcome,) = real(home).round().outcomes
        told.append((outcome.folded, outcome.known, outcome.quarantined, outcome.failed))
    # What could not be read is asked for again, of the past too; then the past has its own days only.
    assert told == [(4, 0, {}, {}), (0, 2, {}, {})]
    assert len(publisher.asked) == 10
    assert health(home).unreadable == 0


def year_of(path):
    return int(path.rpartition("=")[2])


def test_a_turn_asks_for_what_is_new_and_the_past_comes_once_and_then_on_days_of_its_own(home, publisher):
    one = real(home)
    (outcome,) = one.round().outcomes
    assert (outcome.folded, outcome.failed) == (4, {})
    assert [year_of(path) for path in publisher.asked] == [2025, 2026, 2024, 2023]
    one.round()
    assert len(publisher.asked) == 4
    Clock.now = at("2026-11-20T23:30:00Z")
    publisher.answer = years("2026-11-20")
    (outcome,) = one.round().outcomes
    assert (outcome.folded, outcome.known) == (1, 1)
    assert health(home).health == "ok"
    del publisher.asked[:]
    for _ in range(28):
        Clock.now += 86_400
        one.round()
    asked = Counter(year_of(path) for path in publisher.asked)
    assert asked == {2025: 20, 2026: 20, 2024: 1, 2023: 1}  # twenty working days


def test_only_what_failed_is_asked_for_again(home, publisher):
    good = publisher.answer
    publisher.answer = lambda path: (404, b"", {}) if year_of(path) == 2025 else good(path)
    one = real(home)
    (outcome,) = one.round().outcomes
    assert (outcome.folded, len(outcome.failed)) == (1, 1)
    del publisher.asked[:]
    Clock.now = held(home)[TREASURY].turn.retry_at
    one.round()
    assert [year_of(path) for path in publisher.asked] == [2025]
    assert health(home).health == "failing"
    publisher.answer = good
    Clock.now = held(home)[TREASURY].turn.retry_at
    del publisher.asked[:]
    one.round()
    assert [year_of(path) for path in publisher.asked] == [2025, 2024, 2023]  # and the past, which waited for it
    assert health(home).health == "ok"


def test_one_dead_address_does_not_keep_the_past_away_for_ever(home, publisher):
    good = publisher.answer
    publisher.answer = lambda path: (404, b"", {}) if year_of(path) == 2025 else good(path)
    one = real(home)
    one.round()
    for _ in range(3):  # each after a longer pause
        Clock.now = held(home)[TREASURY].turn.retry_at
        one.round()
    assert [year_of(path) for path in publisher.asked] == [2025, 2026, 2025, 2025, 2024, 2023, 2025]


def test_data_that_a_publisher_prepares_come_later_and_the_source_does_not_fail(home, publisher, monkeypatch):
    good, plan = publisher.answer, us_treasury.UsTreasury.plan
    words = ("IN_PREPARATION",)
    monkeypatch.setattr(
        us_treasury.UsTreasury, "plan", lambda *given: [replace(one, later=words) for one in plan(*given)]
    )
    publisher.answer = lambda path: (413, b"IN_PREPARATION", {}) if year_of(path) == 2025 else good(path)
    one = real(home)
    (outcome,) = one.round().outcomes
    assert (outcome.folded, outcome.failed, [year_of(url) for url in outcome.later]) == (1, {}, [2025])
    assert exit_code([outcome]) == 3
    assert health(home).health != "failing"
    turn = held(home)[TREASURY].turn
    assert START < turn.retry_at <= START + 300
    Clock.now = turn.retry_at
    publisher.answer = good
    del publisher.asked[:]
    one.round()
    assert [year_of(path) for path in publisher.asked] == [2025, 2024, 2023]


def test_a_publisher_that_says_only_later_was_not_asked_with_success(home, publisher, monkeypatch):
    plan = us_treasury.UsTreasury.plan
    monkeypatch.setattr(
        us_treasury.UsTreasury, "plan", lambda *given: [replace(one, later=("BUSY",)) for one in plan(*given)]
    )
    publisher.answer = lambda path: (200, b"BUSY", {})
    (outcome,) = real(home).round().outcomes
    assert (outcome.failed, len(outcome.later)) == ({}, 2)
    assert health(home).health == "failing"


def test_a_failure_in_the_past_is_owed_alone(home, publisher):
    good = publisher.answer
    publisher.answer = lambda path: (404, b"", {}) if year_of(path) == 2024 else good(path)
    one = real(home)
    one.round()
    assert health(home).health == "failing"
    publisher.answer = good
    del publisher.asked[:]
    Clock.now = held(home)[TREASURY].turn.retry_at
    one.round()
    assert [year_of(path) for path in publisher.asked] == [2024]
    assert health(home).health == "ok"


def test_a_setting_that_became_unusable_ends_no_worker(home, monkeypatch):
    """Looking for a past plans like a turn does: what is wrong is told at the source's own turn."""

    def plan_of(world_settings, catalog, source):
        raise ValueError("sources.sec.companies: nobody knows GONE")

    monkeypatch.setattr(worker, "plan_of", plan_of)
    asked = Asked()
    done = make(home, asked, names=(RBA,)).round()
    assert ([one.source for one in done.outcomes], done.outcomes[0].failed) == ([RBA], {})


def test_what_is_needed_first_goes_first_and_what_takes_long_lets_others_go_between(home):
    Clock.now = at("2026-11-20T13:29:59Z")  # a Friday; both others are due on Monday morning
    asked = Asked()

    def hours():
        between = asked.between
        for _ in range(3):
            Clock.now += 86_400
            between()
        return RunOutcome("sec", folded=1)

    chosen = msgspec.structs.replace(home, sources={"sec": SourceSettings(contact="jane@example.org")})
    asked.script = {"sec": [hours]}
    one = make(chosen, asked, names=("sec", "world-bank", RBA))
    one._holder = Leaseholder("a", lambda: START, 60)  # days pass for the data, not for the lease
    one.round()
    assert [name for name, _ in asked.when] == [RBA, "world-bank", "sec", RBA, "world-bank"]
    assert held(home)["sec"].turn == Turn(at("2026-11-20T13:29:59Z"))


def test_a_feed_that_answers_the_same_for_ever_is_late_when_its_series_are(home, publisher):
    one = real(home)
    one.round()
    found = []
    # The daily allowance is ten days from the newest day in the answers, the 19th.
    for text in ("2026-11-27T23:30:00Z", "2026-11-29T23:59:59Z", "2026-11-30T23:30:00Z"):
        Clock.now = at(text)
        one.round()
        now = health(home)
        found.append((now.health, now.last_error, now.stale_series))
    assert found == [("ok", None, 0), ("ok", None, 0), ("late", None, 2)]
    now = health(home)
    assert now.reason == "answers, but every daily series is stale"
    assert (now.last_success_at, now.last_ingested_at) == ("2026-11-30T23:30:00Z", "2026-11-20T12:00:00Z")
    publisher.answer = years("2026-11-30", 4.5)
    Clock.now = at("2026-12-01T23:30:00Z")
    one.round()
    assert (health(home).health, health(home).stale_series) == ("ok", 0)


def test_a_publisher_that_fails_is_failing_until_it_answers_again(home, publisher):
    good = publisher.answer
    publisher.answer = lambda path: (503, b"", {"retry-after": "1800"}) if path.endswith("2026") else good(path)
    one = real(home)
    done = one.round()
    assert exit_code(done.outcomes) == 3
    assert done.next_at == START + 1_800  # as it asked
    assert health(home).health == "failing"
    assert "answered 503" in health(home).reason
    publisher.answer = good
    Clock.now += 1_800
    shutil.rmtree(home.home / "pace")  # real time has not moved, so its pause would still hold
    done = one.round()
    assert [(o.folded, o.known) for o in done.outcomes] == [(3, 0)]
    assert health(home).health == "ok"


def test_a_stop_lets_the_payload_in_hand_be_finished_and_the_next_worker_goes_on(home, publisher):
    stop = Waits()
    good = publisher.answer

    def answer(path):
        if path.endswith("=2026"):
            stop.now = True
        return good(path)

    publisher.answer = answer
    one = real(home, stop=stop)
    done = one.round()
    assert done.stopped
    assert len(publisher.asked) == 2  # 2025 and 2026, and no further
    with PipelineContext(home) as world:
        assert world.db.execute("SELECT count(*) FROM payload WHERE state = 'folded'").get == 2
    publisher.answer = good
    (outcome,) = real(home, owner="b").round().outcomes
    assert (outcome.known, outcome.folded) == (2, 2)
