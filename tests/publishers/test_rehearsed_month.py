"""
A month of the worker against publishers that behave as publishers do, by a clock that runs it in minutes.

It begins with an empty store. One answer in a hundred fails, a publisher is down for a day, a series is retired, a column
renamed for three days, a file shrinks for one, old figures are revised.
"""

import random
from collections import Counter
from datetime import datetime

import pytest

from almanac.catalog.load import shipped
from almanac.domain.cadence import Cadence
from almanac.domain.periods import end_of
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest import worker
from almanac.pipeline.ingest.liveness import Leaseholder
from almanac.pipeline.ingest.worker import Worker
from tests.publishers import table, troubles
from tests.publishers.clock import SimulatedClock
from tests.publishers.rehearsal import rehearsal
from tests.support.service import Service, make_accounts

pytestmark = pytest.mark.deep

#: A Monday, and a month that the slow round fits into after the last revision.
START, END = "2026-11-02T08:00:00+00:00", "2026-12-04T08:00:00+00:00"
#: Seconds after a source's next turn until which a release has to be there, whatever fails now and then.
ALLOWANCE = 3_600
#: Pauses between five minutes and a day, each twice the one before.
DOUBLINGS = 9
SCOPES = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")
#: Source, native code and an old period whose figure is revised, some of them in windows that are asked on the slow round.
REVISED = [
    ("us-treasury-par", "BC_10YEAR", "2024-11-18"), ("fred", "CPIAUCSL", "2022-03"), ("mof-japan", "10Y", "2025-02-03"),
    ("ecb-yc", "YC.B.U2.EUR.4F.G_N_A.SV_C_YM.SR_10Y", "2024-11-14"), ("ecb-exr", "EXR.D.USD.EUR.SP00.A", "2024-11-14"),
    ("boc-valet", "V39079", "2024-11-13"), ("bis", "WS_EER.M.R.B.US", "2022-05"), ("bls", "CUSR0000SA0", "2022-06"),
    ("boe-iadb", "IUDMNZC", "2024-12-02"), ("eurostat", "UNE_RT_M.M.SA.TOTAL.PC_ACT.T.DE", "2022-07"),
    ("oecd", "DSD_STES@DF_CLI.USA.M.LI.IX._Z.AA.IX._Z.H", "2021-04"), ("snb", "rendoblim{10J}", "2022-02"),
    ("norges-bank", "GOVT_GENERIC_RATES.B.10Y.GBON", "2024-11-12"), ("rba", "FCMYGBAG10D", "2024-11-12"),
    ("world-bank", "USA/NY.GDP.MKTP.CD", "2019"), ("insee", "SERIES_BDM.011814630", "2022-03"),
    ("bundesbank", "BBSIS.D.I.ZST.ZI.EUR.S1311.B.A604.R10XX.R.A.A._Z._Z.A", "2024-11-12"),
]  # fmt: skip


#: Two months, of many publishers and of the three with the most requests: each ends in minutes, and both may run at once.
MANY = ("eurostat", "fred", "sec")
MONTHS = {
    "most publishers": [
        source.id
        for source in shipped().sources.values()
        if source.connector and source.cadence and source.id not in MANY
    ],
    "many requests": list(MANY),
}


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


#: When Norges Bank is there again after a day, and when a column of Australia's has its name back.
UP_AGAIN, NAMED_AGAIN = at("2026-11-11T00:00:00Z"), at("2026-11-19T00:00:00Z")


class Until:
    """Stands for the event that stops a worker: it is set from a time on, and waiting moves the clock."""

    def __init__(self, clock: SimulatedClock, end: float) -> None:
        self._clock = clock
        self._end = end

    def is_set(self) -> bool:
        return self._clock.now >= self._end

    def wait(self, timeout: float) -> bool:
        self._clock.sleep(min(timeout, max(self._end - self._clock.now, 0.0)))
        return self.is_set()


def work(settings, clock, end, names=()):
    """Let a worker over these sources, or all, work until then, and give what it said."""
    said = []
    Worker(settings, names, Leaseholder("a"), said.append, Until(clock, end), chance=random.Random(3)).run()
    return said


def served(settings, clock, look):
    """What `look` finds through the interface now."""
    if not (settings.home / "keys").exists():
        make_accounts(settings)
    service = Service(settings.home, more={"PROCESSES": "1"}, data_now=int(clock.now))
    try:
        return look(service)
    finally:
        service.close()


def first_numbers(service):
    """Scopes with a curve, countries with a sentence, and how many a screen finds."""
    rates = [scope for scope in SCOPES if service.get(f"/rates/{scope}").json()["data"]["curve"]]
    briefs = [place for place in ("USA", "EUR", "JPN") if service.get(f"/briefs/{place}").status_code == 200]
    found = service.get("/screener", filter="gov_yield_10y:gt:0").json()["meta"]["pagination"]["total"]
    return rates, briefs, found


def differing(settings, stand_in, figures):
    """Series whose newest figures, or old ones, are served otherwise than their publisher has them now."""
    now = stand_in.clock.now
    with PipelineContext(settings, kind=REAL) as world:
        rows = world.db.execute(
            "SELECT s.id, v.period, v.value FROM vintages v JOIN series s USING(series)"
            " WHERE v.to_version = 2147483647 ORDER BY s.id, v.period, v.known_at"
        )
        held = {}
        for identifier, period, value in rows:
            held.setdefault(identifier, {})[end_of(period)] = value
    for room in stand_in.rooms.values():
        shared = Counter(spec.id for spec in room.series.values())
        for native, seen in stand_in.fetched[room.name].items():
            spec = room.series[native]
            if shared[spec.id] > 1:
                continue  # one code succeeds another: each speaks for its own years
            # What was published since it was last asked may wait for its source's next turn; an old figure that was
            # revised is there by now.
            then = {one.span: one.value for one in figures.published(spec, room.rules.publishes, seen[-1][1])}
            own, wrong = held.get(spec.id, {}), []
            for one in figures.published(spec, room.rules.publishes, now):
                values = (
                    {one.value} if (spec.source, native, one.span.text) in REVISED else {one.value, then.get(one.span)}
                )
                if one.span in then and not any(own.get(one.span.last) == pytest.approx(value) for value in values):
                    wrong.append((one.span.text, one.value, own.get(one.span.last)))
            if wrong:
                yield spec.id, len(wrong), wrong[:3]


def _next(source, after):
    """Until when a release has to be there that a source could not give before."""
    return Cadence(shipped().sources[source].cadence).next(int(after)) + ALLOWANCE


@pytest.mark.parametrize("keys", [False, True], ids=["without keys", "with keys"])
def test_the_first_numbers_are_there_within_a_minute(tmp_path, monkeypatch, keys):
    with rehearsal(tmp_path / "home", START, monkeypatch.setattr, keys=keys) as (settings, stand_in, _):
        work(settings, stand_in.clock, at(START) + 60)
        rates, briefs, found = served(settings, stand_in.clock, first_numbers)
        assert rates == list(SCOPES)
        assert briefs == ["USA", "EUR", "JPN"]
        assert found >= len(SCOPES)
        assert stand_in.broken == []


@pytest.mark.parametrize("names", MONTHS.values(), ids=MONTHS)
def test_a_month_of_the_worker(tmp_path, monkeypatch, names):
    monkeypatch.setattr(worker, "_LOOK_AGAIN", DAY_SECONDS)  # there is no other worker to look out for
    with rehearsal(tmp_path / "home", START, monkeypatch.setattr, keys=True) as (settings, stand_in, figures):
        clock, series = stand_in.clock, shipped().series
        retired = series["boc-valet"]["TB.CDN.60D.MID"]
        figures.retire(retired, at("2026-11-12T12:00:00Z"))
        for source, native, period in (one for one in REVISED if one[0] in names):
            figures.revise(series[source][native], period, at("2026-11-05T12:00:00Z"))
        stand_in.trouble += [
            troubles.down("norges-bank", at("2026-11-10T00:00:00Z"), UP_AGAIN),
            troubles.altered(
                "rba", "f2-data.csv", at("2026-11-16T00:00:00Z"), NAMED_AGAIN,
                lambda body: body.replace(b"FCMYGBAG2D", b"FCMYGBAG2E"),
            ),
            troubles.altered(
                "mof", "jgbcme_all.csv", at("2026-11-17T00:00:00Z"), at("2026-11-18T00:00:00Z"),
                troubles.without_the_middle,
            ),
            troubles.now_and_then(0.01, random.Random(11)),
        ]  # fmt: skip
        work(settings, clock, at(END), names)
        late = list(table.releases(stand_in, figures, at(START), at(END), ALLOWANCE))
        assert stand_in.broken == []
        assert late
        # Who was down, or wrote a column otherwise, is read at the next turn after that at the latest.
        excused = {"norges-bank": _next("norges-bank", UP_AGAIN), "rba": _next("rba", NAMED_AGAIN)}
        missed = [one for one in late if one.fetched is None or one.fetched > max(one.due, excused.get(one.room, 0.0))]
        assert missed == []
        assert list(differing(settings, stand_in, figures)) == []
        if retired.source not in names:
            return
        # An address that is no more is asked for after pauses that double, by chance up to halved, to a day.
        gone = [one for one in stand_in.log if retired.code in one.url and one.status == 404]
        days = (clock.now - gone[0].at) / DAY_SECONDS
        assert max(Counter(one.url for one in gone).values()) <= DOUBLINGS + 2 * days
        # A publisher that is down: every request as often as a turn tries, at as many turns as the same pauses leave.
        down = [one for one in stand_in.log if one.room == "norges-bank" and one.status == 503]
        assert len(down) <= settings.http.attempts * len(series["norges-bank"]) * (DOUBLINGS + 1)
