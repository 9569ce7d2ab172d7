"""Folding payloads: what is not mapped, rights a feed tightens, releases, and replay of what comes out of order."""

import io
import random
import zipfile
from contextlib import nullcontext
from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.config import Http, Settings, SourceSettings
from almanac.domain.observations import DAY, ReportedValue
from almanac.domain.periods import Period
from almanac.domain.rights import Exposure
from almanac.ops import store_gauges
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest import asking
from almanac.pipeline.ingest.asking import from_network
from almanac.pipeline.ingest.folding import Folding
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.ingest.outcome import exit_code
from almanac.sources.base import Block, Parsed, ReleaseDate
from almanac.sources.feeds.sec import connector as sec
from almanac.sources.transport import body as bodies
from almanac.store.log import payloads
from almanac.store.raw.captures import Capture
from tests.support.publisher import Publisher, ToLoopback
from tests.support.sec_invented import CIK, encoded, facts_body, submissions_body
from tests.support.service import Service, make_accounts, settings
from tests.support.small_world import ALPHA, DAY_SECONDS, START, Reader, SmallWorld, sent

JANUARY, FEBRUARY = Period.parse("2025-01").key, Period.parse("2025-02").key
LEVEL = "alpha:country_aaa:level:M"


@pytest.fixture
def world():
    with SmallWorld() as opened:
        yield opened


def level(day, *lines, complete=None):
    return sent(ALPHA, day, ("level.aaa", [ReportedValue(*line) for line in lines], complete))


def rows(world, series=LEVEL):
    return [((row[2] - START) // DAY_SECONDS, row[1], row[3]) for row in world.open_rows() if row[0] == series]


def fold(world, parsed, day=1):
    """Fold something parsed, as if it had come on a day."""
    source = world.catalog.sources[ALPHA]
    capture = Capture(
        id=f"{day:032}", source=ALPHA, url="https://publisher.example/alpha", sha256="0" * 64, media_type="application/json",
        fetched_at=START + day * DAY_SECONDS, ingested_at=START + day * DAY_SECONDS, bytes=1,
    )  # fmt: skip
    folding = Folding(world, source, Reader(), world.catalog.series[ALPHA])
    changes = {}
    with world.batch("payload") as batch:
        unmapped = folding.fold(batch, payloads.put(world.db, capture, "run", payloads.FOLDED), parsed, changes)
        world.deriver.run(batch, changes)
    return unmapped, changes, folding.vintages


def test_a_payload_s_cells_are_counted_and_named(world):
    unmapped, changes, cells = fold(
        world, Parsed([Block("level.aaa", [ReportedValue(JANUARY, 1.0), ReportedValue(FEBRUARY, 2.0)])])
    )
    assert (unmapped, cells) == ({}, 2)
    assert changes[LEVEL] == {JANUARY, FEBRUARY}
    assert changes["alpha:country_aaa:level_mom:M"] == {FEBRUARY}


def test_native_series_that_are_not_mapped_are_counted_never_dropped_silently(world):
    parsed = Parsed(
        [Block("cheese", [ReportedValue(JANUARY, 1.0)] * 3), Block("cheese", [ReportedValue(FEBRUARY, 1.0)])],
        unmapped={"wine": 5},
    )
    assert fold(world, parsed)[0] == {"cheese": 4, "wine": 5}
    fold(world, Parsed(unmapped={"wine": 2}), day=2)
    found = list(world.db.execute("SELECT native, rows, seen_at FROM unmapped ORDER BY native"))
    assert found == [("cheese", 4, START + DAY_SECONDS), ("wine", 5, START + 2 * DAY_SECONDS)]


def test_what_was_not_read_is_kept_and_a_missing_series_is_forgotten_once_it_is_there(world):
    def unread():
        return [
            (row.kind, row.name, row.met, (row.seen_at - START) // DAY_SECONDS) for row in payloads.unread(world.db)
        ]

    level = Block("level.aaa", [ReportedValue(JANUARY, 1.0)])
    fold(world, Parsed(unknown={"attribute MOOD": 3}, missing={"level.aaa"}), day=2)
    fold(world, Parsed([level], unknown={"attribute MOOD": 2}), day=1)  # older: it says nothing of now
    assert unread() == [("missing", "level.aaa", 0, 2), ("unknown", "attribute MOOD", 3, 2)]
    gauges = store_gauges(nullcontext(world.view()), START)
    metrics = {metric.name: metric.samples for metric in gauges}
    shown = [(*sample.labels.values(), sample.value) for sample in metrics["almanac_unread_names"]]
    assert shown == [("alpha", "missing", 1), ("alpha", "unknown", 1)]
    fold(world, Parsed([level]), day=3)
    assert unread() == [("unknown", "attribute MOOD", 3, 2)]


def test_a_feed_can_tighten_the_rights_of_its_series_and_never_loosen_them(world):
    block = Block("level.aaa", [ReportedValue(JANUARY, 1.0)])
    fold(
        world,
        Parsed([block], tightened={"level.aaa": (Exposure.restricted, "says so"), "cheese": (Exposure.blocked, "x")}),
    )
    fold(world, Parsed(tightened={"level.aaa": (Exposure.internal_only, "less")}), day=2)
    (row,) = world.rows()
    assert (row.series.rights.exposure, row.series.rights.reason) == (Exposure.restricted, "says so")


def test_days_of_releases_are_kept_from_the_first_that_said_so(world):
    day = ReleaseDate("10", date(2025, 4, 1))
    for when in (3, 2, 4):
        fold(world, Parsed(release_dates=[day]), day=when)
    assert list(world.db.execute("SELECT native, day, known_at FROM release_date")) == [
        ("10", date(2025, 4, 1).toordinal(), START + 2 * DAY_SECONDS)
    ]


def test_a_repeated_value_that_was_not_stored_counts_once_an_older_payload_shows_that_it_matters(world):
    # x at 1; x again at 5 (equal, not stored); then y at 3 arrives late: x comes back at 5.
    world.send([level(1, (JANUARY, 1.0)), level(5, (JANUARY, 1.0))])
    assert rows(world) == [(1, JANUARY, 1.0)]
    world.send([level(3, (JANUARY, 2.0))])
    assert rows(world) == [(1, JANUARY, 1.0), (3, JANUARY, 2.0), (5, JANUARY, 1.0)]


def test_a_complete_payload_withdraws_what_an_older_one_that_comes_later_still_lists(world):
    world.send([level(5, (JANUARY, 1.0), complete=(JANUARY, FEBRUARY))])
    world.send([level(2, (JANUARY, 1.0), (FEBRUARY, 2.0))])
    assert rows(world) == [(2, JANUARY, 1.0), (2, FEBRUARY, 2.0), (5, FEBRUARY, None)]


MONTHS = [Period.parse(f"2025-{month:02}").key for month in range(1, 7)]


def test_an_answer_without_a_value_withdraws_nothing(world):
    world.send([level(1, (JANUARY, 1.0), (FEBRUARY, 2.0))])
    world.send([level(2, complete=(JANUARY, FEBRUARY))])
    assert rows(world) == [(1, JANUARY, 1.0), (1, FEBRUARY, 2.0)]
    # A value that it says is none is one.
    world.send([level(3, (FEBRUARY, None), complete=(JANUARY, FEBRUARY))])
    assert rows(world) == [(1, JANUARY, 1.0), (1, FEBRUARY, 2.0), (3, FEBRUARY, None)]


def test_what_lies_before_the_first_value_listed_is_not_withdrawn_and_what_lies_behind_it_is(world):
    world.send([level(1, *((month, 1.0) for month in MONTHS))])
    world.send([level(2, (MONTHS[2], 1.0), (MONTHS[4], 1.0), complete=(MONTHS[0], MONTHS[-1]))])
    withdrawn = [(2, MONTHS[3], None), (2, MONTHS[5], None)]
    assert [row for row in rows(world) if row[0] == 2] == withdrawn
    # Nor where it is taken in out of order.
    world.send([level(0, *((month, 1.0) for month in MONTHS))])
    assert [row for row in rows(world) if row[2] is None] == withdrawn


def of_state(day, updated, *lines, complete=(JANUARY, FEBRUARY)):
    return sent(ALPHA, day, ("level.aaa", [ReportedValue(*line) for line in lines], complete, updated))


def test_an_older_state_of_the_data_that_is_fetched_later_undoes_nothing(world):
    old, new = [(JANUARY, 1.0)], [(JANUARY, 2.0), (FEBRUARY, 3.0)]
    world.send([of_state(1, 10, *old), of_state(2, 30, *new)])
    before = rows(world)
    assert before == [(1, JANUARY, 1.0), (2, JANUARY, 2.0), (2, FEBRUARY, 3.0)]
    # Once more the old one, and one from between: February is not withdrawn, and January is not as it was.
    world.send([of_state(3, 10, *old), of_state(4, 20, (JANUARY, 7.0))])
    assert rows(world) == before
    # A newer one counts, and the same state stated otherwise, and what says nothing of its state.
    world.send([of_state(5, 40, (JANUARY, 4.0)), of_state(6, 40, (JANUARY, 5.0)), level(7, (JANUARY, 6.0))])
    assert [row for row in rows(world) if row[0] > 4] == [
        (5, JANUARY, 4.0), (6, JANUARY, 5.0), (7, JANUARY, 6.0), (5, FEBRUARY, None)
    ]  # fmt: skip


def test_an_older_state_fills_what_nothing_is_known_of_from_when_it_was_fetched(world):
    world.send([of_state(2, 30, (FEBRUARY, 3.0), complete=None), of_state(3, 10, (JANUARY, 1.0), (FEBRUARY, 9.0))])
    assert rows(world) == [(3, JANUARY, 1.0), (2, FEBRUARY, 3.0)]


def test_which_state_is_older_follows_from_the_order_of_fetching_whatever_arrives_first(world):
    """A response that was held, or one of a state that was the newest when it was fetched, is no older one."""
    world.send([of_state(4, 20, (JANUARY, 2.0)), of_state(6, 30, (JANUARY, 3.0))])
    world.send([of_state(2, 25, (JANUARY, 1.0))])
    assert rows(world) == [(2, JANUARY, 1.0), (6, JANUARY, 3.0)]


def test_a_documented_time_counts_for_the_first_capture_in_order_whichever_came_first(world):
    documented = START - DAY_SECONDS
    first = (JANUARY, 1.0, documented, documented, DAY, None, True)
    later = (JANUARY, 2.0, documented, documented, DAY, None, True)
    world.send([level(4, later)])
    assert rows(world) == [(-1, JANUARY, 2.0)]
    world.send([level(2, first)])
    assert rows(world) == [(-1, JANUARY, 1.0), (4, JANUARY, 2.0)]
    released = [row[6] for row in world.open_rows()]
    assert released == [documented, None]


def test_a_replay_is_one_data_version_and_leaves_equal_rows_alone(world):
    world.send([level(1, (JANUARY, 1.0)), level(5, (JANUARY, 3.0), (FEBRUARY, 4.0))])
    before = world.version
    world.send([level(3, (JANUARY, 2.0))])
    assert world.version == before + 1
    written = list(
        world.db.execute(
            "SELECT known_at FROM vintages v JOIN series s USING(series) WHERE s.id = ? AND from_version = ? ORDER BY 1",
            (LEVEL, before + 1),
        )
    )
    # The new one, and the one before it, which says now until when it stood; not the later ones.
    assert written == [(START + DAY_SECONDS,), (START + 3 * DAY_SECONDS,)]


def test_a_payload_that_says_nothing_new_is_no_data_version(world):
    world.send([level(1, (JANUARY, 1.0))])
    before = world.version
    world.send([level(2, (JANUARY, 1.0)), level(3)])
    assert world.version == before


def test_several_blocks_of_one_late_series_are_all_folded(world):
    world.send([level(5, (JANUARY, 1.0))])
    world.send(
        [
            sent(
                ALPHA,
                2,
                ("level.aaa", [ReportedValue(JANUARY, 7.0)], None),
                ("level.aaa", [ReportedValue(FEBRUARY, 8.0)], None),
            )
        ]
    )
    assert rows(world) == [(2, JANUARY, 7.0), (5, JANUARY, 1.0), (2, FEBRUARY, 8.0)]


# -- a data set asked for without a version: which version was read is told with each value. All is invented ----------


VERSION_DAY, VERSION_START = 86_400, 1_790_812_800  # 2026-10-01
CONSENT = {
    f"SOURCES__IMF__CONSENT__{name}": value
    for name, value in {"BY": "someone", "ON": "2026-01-02", "REFERENCE": "an invented letter"}.items()
}
HEAD = (
    '<m:StructureSpecificData xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"'
    ' xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"><m:Header><m:ID>x</m:ID>'
    '<m:Structure structureID="S"><c:StructureUsage>{usage}</c:StructureUsage></m:Structure></m:Header>'
)
REF = '<Ref agencyID="IMF.RES" id="{flow}" version="{version}"/>'
URN = "<URN>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=IMF.RES:{flow}({version})</URN>"


def outlook(version, values, released, usage=REF):
    """An edition of the World Economic Outlook: Germany's unemployment by year."""
    rows = "".join(f'<Obs TIME_PERIOD="{year}" OBS_VALUE="{value}"/>' for year, value in values.items())
    body = (
        HEAD.format(usage=usage.format(flow="WEO", version=version))
        + f'<m:DataSet action="Replace" PUBLICATION_DATE="{released}T13:00:00Z">'
        f'<Series COUNTRY="DEU" INDICATOR="LUR" FREQUENCY="A" LATEST_ACTUAL_ANNUAL_DATA="2025">{rows}</Series>'
        "</m:DataSet></m:StructureSpecificData>"
    )
    return "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,WEO/.LUR.A", body


def copper(version, values):
    """Prices of copper, as text: the other form in which the service answers."""
    lines = "".join(f"IMF.RES:PCPS({version}),G001,PCOPP,USD,M,{month},{value}\n" for month, value in values.items())
    head = "DATAFLOW,COUNTRY,INDICATOR,DATA_TRANSFORMATION,FREQUENCY,TIME_PERIOD,OBS_VALUE\n"
    return "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,PCPS/G001.PCOPP.USD.M", head + lines


@pytest.fixture
def told(tmp_path):
    """What the service answers, from a home that has taken in some messages, one a day."""
    made = settings(tmp_path / "home", **CONSENT)
    running = []

    def take(*messages):
        with PipelineContext(made) as world:
            outcome = Ingest(world, world.catalog.sources["imf"], lambda _: None).run(
                Arrival(url, body.encode(), "", VERSION_START + number * VERSION_DAY)
                for number, (url, body) in enumerate(messages)
            )
        assert (outcome.folded, outcome.quarantined, outcome.unmapped) == (len(messages), {}, {})
        make_accounts(made)
        running.append(Service(made.home, more=CONSENT))
        return running[0].ok

    yield take
    for one in running:
        one.close()


def versions(rows):
    return {row["periodEnd"][:7]: (row["valueNumeric"], row["metadata"].get("dataflow")) for row in rows}


@pytest.mark.parametrize("usage", [REF, URN], ids=["a reference", "a name"])
def test_each_value_tells_the_version_that_it_was_first_read_in(told, usage):
    get = told(
        outlook("9.0.0", {2024: 3.4, 2025: 3.5}, "2026-04-14", usage),
        outlook("10.0.0", {2024: 3.4, 2025: 3.7}, "2026-10-01", usage),
    )
    rows = get("/observations", source_id="imf", frequency="A")
    # What the later version says alike is no new state: it is of the version that first said it, like its release.
    assert versions(rows) == {"2024-12": (3.4, "IMF.RES:WEO(9.0.0)"), "2025-12": (3.7, "IMF.RES:WEO(10.0.0)")}
    revised = next(row for row in rows if row["valueNumeric"] == 3.7)
    lineage = get(f"/observations/{revised['id']}/provenance")
    assert [one["metadata"]["dataflow"] for one in lineage["vintages"]] == ["IMF.RES:WEO(9.0.0)", "IMF.RES:WEO(10.0.0)"]
    assert lineage["payload"]["url"].endswith("IMF.RES,WEO/.LUR.A")  # the address names none


def test_prices_tell_it_too_and_a_message_that_names_none_says_nothing(told):
    get = told(copper("9.0.0", {"2026-M07": 9_700.5}), outlook("", {2025: 3.5}, "2026-04-14", '<Ref id="WEO"/>'))
    rows = get("/observations", source_id="imf")
    assert versions(rows) == {"2026-07": (9_700.5, "IMF.RES:PCPS(9.0.0)"), "2025-12": (3.5, None)}


@pytest.mark.parametrize(
    ("written", "left", "code"),
    [("6.0", {2024: 3.4, 2025: 6.0}, 0), ("NaN", {2024: 3.4}, 0), ("INF", {2024: 3.4, 2025: 3.7}, 3)],
)
def test_a_value_in_doubt_neither_replaces_nor_withdraws_and_the_run_says_so(tmp_path, written, left, code):
    """NaN is SDMX's word for a number missing on purpose; of an infinity nothing is known."""
    made = settings(tmp_path / "home", **CONSENT)
    messages = [
        outlook("9.0.0", {2024: 3.4, 2025: value}, day)
        for value, day in (("3.7", "2026-04-14"), (written, "2026-10-14"))
    ]
    with PipelineContext(made) as world:
        outcome = Ingest(world, world.catalog.sources["imf"], lambda _: None).run(
            Arrival(url, body.encode(), "", VERSION_START + number * 20 * VERSION_DAY)
            for number, (url, body) in enumerate(messages)
        )
    assert (outcome.folded, outcome.quarantined, exit_code([outcome])) == (2, {}, code)
    assert ["'INF' is not a number" in name for name in outcome.unread] == [True] * (code == 3)
    make_accounts(made)
    service = Service(made.home, more=CONSENT)
    rows = service.ok("/observations", country="DEU", indicator="unemployment_rate", source_id="imf")
    service.close()
    assert {int(row["periodEnd"][:4]): row["valueNumeric"] for row in rows} == left


# The nightly archives of all companies, larger than a body may be: written to a file, read from there, gone after it. Invented.


NOW = "2026-11-20T12:00:00Z"
LISTING = b'{"fields":["cik","name","ticker","exchange"],"data":[[9900001,"Invented Widgets Inc.","IWDG","NYSE"]]}'
#: Bytes of a body that is held, and of an archive: many times as many.
HELD, ARCHIVE = 100_000, 3_000_000


def archive(member, body):
    """One response, beside much that is not read."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as made:
        made.writestr("readme.bin", random.Random(1).randbytes(ARCHIVE))
        made.writestr(member, encoded(body))
    return held.getvalue()


@pytest.fixture
def answers():
    name = f"CIK{CIK:010d}.json"
    return {
        "/files/company_tickers_exchange.json": LISTING,
        "/Archives/edgar/daily-index/xbrl/companyfacts.zip": archive(name, facts_body()),
        "/Archives/edgar/daily-index/bulkdata/submissions.zip": archive(name, submissions_body()),
    }


@pytest.fixture
def loaded(tmp_path, answers, monkeypatch):
    """Loads the archives into a home, and tells what came of it, what is kept, and the pieces that were written at a time."""
    real = asking.Fetcher

    def load():
        with Publisher(lambda path: (200, answers[path], {})) as publisher:
            monkeypatch.setattr(
                asking, "Fetcher", lambda http, **more: real(http, transport=ToLoopback(publisher.port), **more)
            )
            settings = Settings(
                home=tmp_path / "home",
                now=NOW,
                http=Http(max_bytes=HELD, requests_per_second=1_000.0, attempts=1),
                sources={"sec": SourceSettings(contact="a@example.org", bulk=True)},
            )
            with PipelineContext(settings, kind=REAL) as world:
                (outcome,) = from_network(world, [shipped().sources["sec"]], None, lambda _: None)
                kept = {capture.url: world.raw.read(capture) for capture in world.raw.captures("sec")}
        return outcome, kept, settings.home / "run" / "bodies"

    return load


def test_each_response_of_an_archive_beyond_the_bound_is_kept_as_it_was_and_the_file_is_gone(loaded, monkeypatch):
    largest = []
    writing = bodies.write_body

    def watched(pieces, encoding, most, file):
        def counted():
            for piece in pieces:
                largest.append(len(piece))
                yield piece

        writing(counted(), encoding, most, file)

    monkeypatch.setattr(bodies, "write_body", watched)
    outcome, kept, folder = loaded()
    assert (outcome.failed, outcome.quarantined) == ({}, {})
    data = "https://data.sec.gov"
    assert kept[f"{data}/api/xbrl/companyfacts/CIK{CIK:010d}.json"] == encoded(facts_body())
    assert kept[f"{data}/submissions/CIK{CIK:010d}.json"] == encoded(submissions_body())
    assert len(kept) == 3
    assert sum(largest) > 2 * ARCHIVE
    assert max(largest) <= 1 << 17  # what is held at a time
    assert list(folder.iterdir()) == []


def test_an_archive_has_a_bound_of_its_own_and_one_that_is_broken_is_told(loaded, answers, monkeypatch):
    answers["/Archives/edgar/daily-index/bulkdata/submissions.zip"] = b"<html>busy</html>"
    monkeypatch.setattr(sec, "_IN_FILE", ARCHIVE - 1)
    outcome, kept, folder = loaded()
    reasons = sorted(outcome.failed.values())
    assert [reason.partition("allowed")[1] or reason.partition("zip archive")[1] for reason in reasons] == [
        "zip archive",
        "allowed",
    ]
    assert list(kept) == ["https://www.sec.gov/files/company_tickers_exchange.json"]
    assert list(folder.iterdir()) == []
