"""Which series tell how a source does. The series are invented; none has a row."""

from contextlib import closing

import msgspec
import pytest

from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights
from almanac.store.engine import opening
from almanac.store.engine.sql_compat import next_id
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.reader import View
from almanac.store.observations.writing.numbering import SpecNumbers
from almanac.store.summary import feeds

A, Q = Frequency.ANNUAL, Frequency.QUARTERLY


@pytest.fixture
def view(tmp_path):
    with closing(opening.create(tmp_path / "data.db")) as db:
        for name in ("office", "filings"):
            made = Source(
                id=name, provider="p", name=name, description="Invented.", homepage="/", connector="x",
                rights=Rights(license="x", attribution="x"),
            )  # fmt: skip
            db.execute("INSERT INTO record VALUES('source', ?, ?)", (name, msgspec.json.encode(made).decode()))
        made = View(db, 0, "epoch", MetadataCache(db, 0), {})
        made.insert = db.insert
        yield made


def add(view, source, entity, frequency, last, kind="raw", rows=1, **more):
    """One series whose newest period is `last`. Returns its id."""
    spec = SeriesSpec(
        source=source, native="n", indicator="i", entity=entity, frequency=frequency, unit="u", name="n", **more
    )
    topic = (spec.indicator, entity, frequency.value, kind)
    view.execute(f"INSERT INTO topic VALUES({next_id('topic', 'topic')}, ?, ?, ?, ?) ON CONFLICT DO NOTHING", topic)
    number = view.execute(
        "SELECT topic FROM topic WHERE (indicator, entity, frequency, kind) = (?, ?, ?, ?)", topic
    ).get
    (spec_number,) = SpecNumbers(view).put([msgspec.structs.replace(spec, entity="")])
    view.execute(
        f"INSERT INTO series VALUES({next_id('series', 'series')}, ?, ?, ?, ?, 0, 0, NULL, NULL, ?, ?, NULL, ?, NULL, NULL, 0, 0)",
        (spec.id, number, source, spec_number, rows, rows, Period.parse(last).key),
    )
    return spec.id


def test_a_sources_own_series_are_counted_and_companies_speak_through_their_newest(view):
    asked = []

    def freshness(series):
        asked.append(series.id)
        return "stale" if series.spec.discontinued or series.spec.frequency is A else "fresh"

    own = add(view, "office", "country_a", Q, "2026-Q2")
    over = add(view, "office", "country_b", Q, "1999-Q4", discontinued=True)
    add(view, "office", "country_c", Q, "2026-Q2", kind="derived")
    add(view, "office", "country_d", Q, "2026-Q2", rows=0)
    near = add(view, "office", "companya", Q, "2026-Q2")  # no company, though its id begins nearly so
    add(view, "filings", "company_1", Q, "2026-Q1")
    newest = add(view, "filings", "company_2", Q, "2026-Q2")
    annual = add(view, "filings", "company_1", A, "2019")
    found = feeds.feeds(view, freshness)
    assert asked == [near, own, over, annual, newest]
    assert (found["office"].series, found["office"].stale, found["office"].words) == (2, 0, {"fresh", "stale"})
    assert (found["filings"].series, found["filings"].stale, found["filings"].words) == (0, 0, {"fresh", "stale"})
    assert found["filings"].stopped == []
