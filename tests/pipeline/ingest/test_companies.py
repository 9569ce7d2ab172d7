"""Facts of companies on their way in: knowledge times, restatements, any order of arrival, and what is derived from them."""

import itertools
import json
from contextlib import closing
from datetime import date

import pytest

from almanac.domain.periods import Period
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.scores import explain_scores
from almanac.pipeline.operate import rebuild
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.companies.statements import pack, unpack
from almanac.store.engine.sqlite import OPEN
from almanac.store.events.events import fields_of
from almanac.store.observations.ids import observation_id
from almanac.store.observations.reading import lookup
from almanac.store.observations.reading.reader import Reader
from almanac.store.summary.coverage import coverage
from tests.support.filed_company import (
    CIK,
    DATASET_URL,
    ENTITY,
    EVENTS,
    FACTS_URL,
    FILINGS,
    INDEX_URL,
    NAME,
    facts,
    index,
    known,
    quarterly_dataset,
    six_years,
)
from tests.support.treasury_home import settings, take

INDEX = (INDEX_URL, "2024-06-01T00:00:01Z", index(), 200)
FACTS = (FACTS_URL, "2024-06-01T00:00:02Z", facts(), 200)
EARLIER = (FACTS_URL, "2024-03-01T00:00:00Z", facts(5), 200)


def built(folder, *rows):
    world = PipelineContext(settings(folder))
    for number, row in enumerate(rows):
        (outcome,) = take(world, folder / f"m{number}", [row], ("sec",))
        assert (outcome.quarantined, outcome.failed) == ({}, {})
    return world


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    opened = built(tmp_path_factory.mktemp("companies"), INDEX, FACTS)
    yield opened
    opened.db.close()


def vintages(world, slug, frequency):
    """(last day, known, value) of every open vintage of a company's indicator."""
    found = world.db.execute(
        "SELECT v.period >> 14, v.known_at, v.value FROM vintages v JOIN topic t USING(topic)"
        f" WHERE t.entity = ? AND t.indicator = ? AND t.frequency = ? AND v.to_version = {OPEN} ORDER BY 1, 2",
        (ENTITY, slug, frequency),
    )
    return [(date.fromordinal(day).isoformat(), moment, value) for day, moment, value in found]


#: All that is served of companies, without the numbers that a store gives out itself.
EVERYTHING = (
    (
        "SELECT s.id, v.period, v.known_at, v.value, v.flags, v.released_at, (SELECT n.body FROM note n WHERE n.note = v.note), l.inputs FROM vintages v"
        " JOIN series s ON s.series = v.series LEFT JOIN lineage l ON l.lineage = v.lineage"
        f" WHERE v.to_version = {OPEN} ORDER BY 1, 2, 3"
    ),
    "SELECT id, rows, vintages, first_period, last_period, first_known, last_known FROM series ORDER BY 1",
    f"SELECT entity, kind, frequency, period, known_at, body FROM statement WHERE to_version = {OPEN} ORDER BY 1, 2, 3, 4, 5",
    (
        "SELECT event, known_at, occurred_at, category, type, status, period, body FROM event"
        f" WHERE source = 'sec' AND to_version = {OPEN} ORDER BY 1, 2"
    ),
    "SELECT entity, slug, name, ticker, sector, template, currency, reports FROM company ORDER BY 1",
    "SELECT entity, accession, form, filed, known_at, exact, report_date, fiscal_year, fiscal_period FROM filing ORDER BY 1, 2",
    "SELECT entity, scheme, alias, norm, main FROM alias ORDER BY 1, 2, 3",
)


def everything(world):
    return [list(world.db.execute(sql)) for sql in EVERYTHING]


def at(number):
    return known(FILINGS[number - 1][3])


def test_a_fact_is_known_from_the_acceptance_of_its_filing(world):
    assert vintages(world, "us_gaap_revenues", "A") == [
        ("2022-12-31", at(1), 400.0),
        ("2023-12-31", at(5), 470.0),
    ]


def test_a_restated_fact_is_a_further_vintage_and_so_is_what_follows_from_it(world):
    assert vintages(world, "us_gaap_net_income_loss", "A")[1:] == [
        ("2023-12-31", at(5), 47.0),
        ("2023-12-31", at(6), 44.0),
    ]
    assert vintages(world, "net_income", "A")[1:] == [("2023-12-31", at(5), 47.0), ("2023-12-31", at(6), 44.0)]
    # The fourth quarter is the year without the first three: 47 − 33, and 44 − 33 when the year is restated.
    assert vintages(world, "net_income", "Q")[-2:] == [("2023-12-31", at(5), 14.0), ("2023-12-31", at(6), 11.0)]


def test_a_quarter_nobody_stated_is_the_year_without_the_others(world):
    assert vintages(world, "revenue", "Q") == [
        ("2023-03-31", at(2), 100.0),
        ("2023-06-30", at(3), 110.0),
        ("2023-09-30", at(4), 120.0),
        ("2023-12-31", at(5), 140.0),
    ]


def test_lineage_names_the_series_of_the_two_periods_subtracted(world):
    (text,) = world.db.execute(
        "SELECT DISTINCT l.inputs FROM vintages v JOIN topic t USING(topic) JOIN lineage l ON l.lineage = v.lineage"
        " WHERE t.entity = ? AND t.indicator = 'revenue' AND t.frequency = 'Q'"
        " AND (SELECT n.body FROM note n WHERE n.note = v.note) LIKE '%method%'",
        (ENTITY,),
    ).fetchone()
    assert json.loads(text) == [f"sec:{ENTITY}:us_gaap_revenues:A", f"sec:{ENTITY}:us_gaap_revenues:N"]


def test_statements_are_kept_as_they_stood_after_each_filing(world):
    bodies = [
        json.loads(unpack(body))
        for (body,) in world.db.execute(
            f"SELECT body FROM statement WHERE entity = ? AND kind = 0 AND frequency = 'A' AND to_version = {OPEN}"
            " ORDER BY period, known_at",
            (ENTITY,),
        )
    ]
    assert [(one["periodEnd"][:10], one["form"], one["items"]["net_income"]) for one in bodies] == [
        ("2022-12-31", "10-K", 40),
        ("2023-12-31", "10-K", 47),
        ("2023-12-31", "10-K/A", 44),
    ]


def test_filings_are_events(world):
    found = [
        (kind, moment, fields_of(ENTITY, body)["title"])
        for kind, moment, body in world.db.execute(
            "SELECT type, known_at, body FROM event WHERE entity = ? ORDER BY 2, 1", (ENTITY,)
        )
    ]
    assert (found[0][0], found[0][1]) == ("annual_report", at(1))
    assert [kind for kind, moment, _ in found if moment == known(EVENTS[0][3])] == ["results"]
    assert all(NAME in title for _, _, title in found)


def test_a_company_is_found_by_all_its_names(world):
    (row,) = world.db.execute("SELECT cik, slug, ticker, template, reports FROM company")
    assert row == (CIK, "invented-ploughs-inc", "PLOW", "industrial", 1)


@pytest.mark.parametrize(
    "rows",
    [(FACTS, INDEX), (EARLIER, INDEX, FACTS), (EARLIER, FACTS, INDEX)],
    ids=["index last", "two snapshots", "both"],
)
def test_the_order_of_arrival_does_not_matter(world, tmp_path, rows):
    other = built(tmp_path, *rows)
    try:
        assert everything(other) == everything(world)
    finally:
        other.db.close()


def test_a_current_report_is_an_event_for_each_of_its_items_whenever_these_are_known(tmp_path):
    """Facts may speak of it before the index does, which alone has its items."""
    body = json.loads(facts())
    accession, form, filed = EVENTS[0][:3]
    row = {"end": "2024-03-31", "val": 1010.0, "accn": accession, "fy": 2024, "fp": "Q1", "form": form, "filed": filed}
    body["facts"]["us-gaap"]["Assets"]["units"]["USD"].append(row)
    rows = INDEX, (FACTS_URL, FACTS[1], json.dumps(body).encode(), 200)
    stores = [built(tmp_path / str(number), *order) for number, order in enumerate((rows, rows[::-1]))]
    try:
        assert everything(stores[0]) == everything(stores[1])
    finally:
        for world in stores:
            world.db.close()


def named(world):
    """The same without what each store says of where a filing was read first."""
    return [rows for rows, sql in zip(everything(world), EVERYTHING, strict=True) if "FROM filing" not in sql]


def test_a_data_set_gives_way_to_the_company_s_own_facts(tmp_path):
    """And these are not lost when the index makes all of it be folded anew."""
    rows = (DATASET_URL, "2023-04-15T00:00:00Z", quarterly_dataset(), 200), FACTS, INDEX
    early = built(tmp_path / "early", rows[0])
    # 16:00 in New York, which the data set rounds to the minute.
    assert vintages(early, "us_gaap_revenues", "A") == [("2022-12-31", 1_676_926_830, 400.0)]
    early.db.close()
    stores = [built(tmp_path / str(number), *order) for number, order in enumerate(itertools.permutations(rows))]
    try:
        first = named(stores[0])
        assert vintages(stores[0], "revenue", "Q")[-1] == ("2023-12-31", at(5), 140.0)
        assert [named(other) == first for other in stores] == [True] * 6
    finally:
        for other in stores:
            other.db.close()


def test_another_main_currency_sorts_the_series_anew(tmp_path):
    """What was the main series becomes a variant, and the other way round, as if it had always been so."""
    euros = facts().replace(b'"USD"', b'"EUR"')
    later = (FACTS_URL, "2024-07-01T00:00:00Z", euros, 200)
    changed, plain = built(tmp_path / "changed", INDEX, EARLIER, later), built(tmp_path / "plain", INDEX, later)
    try:
        assert vintages(changed, "revenue", "A") == vintages(plain, "revenue", "A") == [
            ("2022-12-31", at(1), 400.0), ("2023-12-31", at(5), 470.0),
        ]  # fmt: skip
        sql = f"SELECT DISTINCT s.id FROM series s JOIN vintages v USING(series) WHERE s.id LIKE '%us_gaap_revenues%' AND v.to_version = {OPEN}"
        euro = {f"sec:{ENTITY}:us_gaap_revenues:{letter}" for letter in "QSNA"}
        assert {row[0] for row in plain.db.execute(sql)} == euro
        assert {row[0] for row in changed.db.execute(sql)} == euro | {
            f"sec:{ENTITY}:us_gaap_revenues:{letter}:USD" for letter in "QSNA"
        }
    finally:
        changed.db.close()
        plain.db.close()


def test_an_older_snapshot_that_comes_late_changes_nothing(world, tmp_path):
    other = built(tmp_path, INDEX, FACTS, EARLIER)
    try:
        assert everything(other) == everything(world)
    finally:
        other.db.close()


def test_without_the_index_a_filing_is_known_from_the_end_of_its_day_in_new_york(tmp_path):
    other = built(tmp_path, FACTS)
    try:
        # 23:59:59 of 2023-02-20 in New York is 04:59:59 of the next day in UTC.
        assert vintages(other, "revenue", "A")[0] == ("2022-12-31", 1_676_955_599, 400.0)
    finally:
        other.db.close()


def test_a_second_run_adds_nothing(world, tmp_path):
    other = built(tmp_path, INDEX, FACTS)
    try:
        before, version = everything(other), other.db.execute("SELECT max(version) FROM version").get
        (outcome,) = take(other, tmp_path / "again", [INDEX, FACTS], ("sec",))
        assert (outcome.folded, outcome.known, outcome.vintages) == (0, 2, 0)
        assert (everything(other), other.db.execute("SELECT max(version) FROM version").get) == (before, version)
    finally:
        other.db.close()


def test_a_renamed_company_s_events_carry_its_name(tmp_path):
    other = built(tmp_path, INDEX, FACTS, (INDEX_URL, "2024-06-02T00:00:01Z", index("Renamed Harrows Corp"), 200))
    try:
        sql = f"SELECT body FROM event WHERE entity = ? AND to_version = {OPEN}"
        titles = [fields_of(ENTITY, body)["title"] for (body,) in other.db.execute(sql, (ENTITY,))]
        assert titles
        assert all("Renamed Harrows Corp" in title for title in titles)
    finally:
        other.db.close()


def test_filings_that_came_before_the_company_s_record_carry_its_name(tmp_path):
    url = INDEX_URL.replace(".json", "-submissions-001.json")
    page = (url, "2024-06-01T00:00:00Z", json.dumps(json.loads(index())["filings"]["recent"]).encode(), 200)
    world = built(tmp_path, page, INDEX)
    try:
        bodies = world.db.execute(f"SELECT body FROM event WHERE entity = ? AND to_version = {OPEN}", (ENTITY,))
        titles = [fields_of(ENTITY, body)["title"] for (body,) in bodies]
        assert [title for title in titles if NAME not in title] == []
        assert len(titles) == len([*FILINGS, *EVENTS])
    finally:
        world.db.close()


def test_a_rebuild_gives_the_same(world):
    before = everything(world)
    rebuild.rebuild(world, lambda _: None)
    assert everything(world) == before


def test_recomputing_changes_nothing_and_all_can_be_verified(world):
    assert rebuild.recompute(world) == 0
    assert list(verify(world, Checked())) == []


def test_verify_finds_a_statement_and_an_item_that_do_not_follow(tmp_path):
    other = built(tmp_path, INDEX, FACTS)
    try:
        other.db.execute("UPDATE statement SET body = ? WHERE kind = 1 AND frequency = 'A'", (pack(b"{}"),))
        problems = list(verify(other, Checked()))
        assert len(problems) == 2
        assert all(ENTITY in problem and "statement" in problem for problem in problems)
    finally:
        other.db.close()


def row_of(view, slug, frequency, day):
    """The current row of a company's value."""
    series, period, known = view.execute(
        f"SELECT s.id, v.period, v.known_at FROM vintages v JOIN topic t USING(topic) JOIN series s USING(series) WHERE t.entity = ? AND t.indicator = ?"
        f" AND t.frequency = ? AND v.period >> 14 = ? AND v.to_version = {OPEN} ORDER BY v.known_at DESC LIMIT 1",
        (ENTITY, slug, frequency, date.fromisoformat(day).toordinal()),
    ).fetchone()
    return lookup.by_id(view, observation_id(series, period, known)).row


def test_a_derived_value_is_explained_by_the_facts_it_was_computed_from(world):
    reader = Reader(world.settings.home / "data.db")
    with reader.view() as view:
        found = explain_company(view, row_of(view, "net_income", "Q", "2023-12-31"))
        told = [
            (one.series.split(":")[2:], Period.from_key(one.period).end.isoformat(), one.vintage.value)
            for one in found.inputs
        ]
        # The year as the amendment restates it, and the nine months of the report before.
        assert found.value == 11.0
        assert told == [
            (["us_gaap_net_income_loss", "A"], "2023-12-31", 44.0),
            (["us_gaap_net_income_loss", "N"], "2023-09-30", 33.0),
        ]
        assert [one.vintage.known for one in found.inputs] == [at(6), at(4)]
        ratio = explain_company(view, row_of(view, "net_margin", "Q", "2023-12-31"))
        assert ratio.value == 0.0936170212766  # 44 of 470
        assert {one.series.split(":")[2] for one in ratio.inputs} == {"us_gaap_net_income_loss", "us_gaap_revenues"}
        balance = explain_company(view, row_of(view, "total_assets", "A", "2022-12-31"))
        assert [(one.period, one.vintage.value) for one in balance.inputs] == [
            (Period(None, date(2022, 12, 31)).key, 900.0)
        ]
    reader.close()


def test_scores_are_explained_from_the_lines_as_they_are_served(world):
    reader = Reader(world.settings.home / "data.db")
    with reader.view() as view:
        before, after = (explain_scores(view, ENTITY, at(number), None)["piotroskiF"] for number in (5, 6))
        tests = [{test["name"]: test["inputs"] for test in score["tests"]} for score in (before, after)]
        name = next(name for name, inputs in tests[0].items() if "net_income_ttm" in inputs)
        assert [one[name]["net_income_ttm"] for one in tests] == [47.0, 44.0]
        # Nothing of what ends before the window is shown.
        masked = explain_scores(view, ENTITY, at(6), date(2023, 6, 30))["piotroskiF"]
        shown = {key: value for test in masked["tests"] for key, value in test["inputs"].items()}
        assert shown["net_income_ttm"] == 44.0
        assert {value for key, value in shown.items() if key.endswith("_1y_ago")} == {None}
        # Values are written without a `.0`, like every number on the wire.
        assert '"net_income_ttm":44,' in json.dumps(masked, separators=(",", ":"))
        # Nor are the scores themselves, where they are of a period before it.
        assert explain_scores(view, ENTITY, at(6), date(2023, 12, 31))["piotroskiF"]["tests"] != []
        assert explain_scores(view, ENTITY, at(6), date(2024, 1, 1)) == {}
        assert explain_scores(view, "company_0000000001", at(6), None) == {}
    reader.close()


# -- companies that only data sets tell of -------------------------------------------------------------------------------

NEXT_URL = DATASET_URL.replace("2023q1", "2023q2")
#: What the data set of the next quarter gives of the company that is no amount of its own: none of it changes what is served.
NOT_ITS_OWN = {
    "a co-registrant's in its currency": [{"coreg": "PloughFinance", "tag": "NetIncomeLoss", "value": "4"}],
    "a co-registrant's in another currency": [{"coreg": "PloughFinance", "tag": "NetIncomeLoss", "value": "4", "uom": "CAD"}],
    "a count of shares": [
        {"tag": "WeightedAverageNumberOfSharesOutstandingBasic", "uom": "shares", "value": "7000"}
    ],
    "nothing": [],
}  # fmt: skip


def statements_of(world):
    """Key, time and body of every version of every statement."""
    found = world.db.execute(
        "SELECT kind, frequency, period, known_at, body FROM statement WHERE entity = ? ORDER BY 1, 2, 3, 4", (ENTITY,)
    )
    return [(*key, unpack(body)) for *key, body in found]


@pytest.mark.parametrize("rows", NOT_ITS_OWN.values(), ids=NOT_ITS_OWN)
def test_a_data_set_without_amounts_of_a_company_s_own_leaves_its_statements(tmp_path, rows):
    first = (DATASET_URL, "2023-04-15T00:00:00Z", quarterly_dataset(), 200)
    second = (NEXT_URL, "2023-07-15T00:00:00Z", quarterly_dataset(FILINGS[1], rows), 200)
    alone = built(tmp_path / "alone", first)
    both = [built(tmp_path / "1", first, second), built(tmp_path / "2", second, first)]
    try:
        before = vintages(alone, "net_income", "A")
        assert [value for _, _, value in before] == [40.0]
        for world in both:
            assert world.db.execute("SELECT currency FROM company WHERE entity = ?", (ENTITY,)).get == "USD"
            assert vintages(world, "net_income", "A") == before
            assert statements_of(world) == statements_of(alone) != []
            assert list(verify(world, Checked())) == []
        assert named(both[0]) == named(both[1])
        assert rebuild.recompute(both[0]) == 0
    finally:
        for world in (alone, *both):
            world.db.close()


def test_verify_finds_a_company_that_is_not_what_was_told_of_it(tmp_path):
    """Its statements follow from its row: where that is not what payloads say, they are not what a rebuild gives."""
    both = json.loads(facts())
    # Dollars for convenience beside dollars of its own would be one: a year of euros is a second currency.
    units = both["facts"]["us-gaap"]["Revenues"]["units"]
    units["EUR"] = [{**units["USD"][0], "val": 350.0}]
    world = built(tmp_path, INDEX, (FACTS_URL, "2024-06-01T00:00:02Z", json.dumps(both).encode(), 200))
    try:
        assert list(verify(world, Checked())) == []
        for main, told in ((None, "not known"), ("EUR", "EUR")):
            world.db.execute("UPDATE company SET currency = ? WHERE entity = ?", (main, ENTITY))
            problems = list(verify(world, Checked()))
            assert f"{ENTITY}: currency is {main!r}, of what was told of it comes 'USD'" in problems
            kept = f"{ENTITY}: its facts in EUR are kept as of another currency than its own, which is {told}"
            assert kept in problems
        world.db.execute("UPDATE company SET currency = 'USD' WHERE entity = ?", (ENTITY,))
        world.db.execute("DELETE FROM statement WHERE entity = ?", (ENTITY,))
        gone = list(verify(world, Checked()))
        assert gone[0] == f"{ENTITY}: reports is 1, of what was told of it comes 0"
        assert len(gone) > 1
        assert all("its statement" in one for one in gone[1:])
        world.db.execute("DELETE FROM company WHERE entity = ?", (ENTITY,))
        assert f"{ENTITY}: has facts, and is no company" in list(verify(world, Checked()))
    finally:
        world.db.close()


@pytest.mark.parametrize("after", [("us-gaap", "USD"), ("ifrs-full", "USD"), ("ifrs-full", "EUR")])
def test_statements_are_counted_and_explained_as_they_are_served(tmp_path, after):
    """Those of the years before another currency too."""
    world = built(tmp_path, (FACTS_URL, "2024-06-01T00:00:00Z", six_years(("us-gaap", "USD"), after), 200))
    try:
        assert coverage(world.db).statements == len(statements_of(world)) == 3 * 6
        with closing(Reader(world.settings.home / "data.db")) as reader, reader.view() as view:
            incomes = [explain_company(view, row_of(view, "net_income", "A", f"{year}-12-31")) for year in (2018, 2023)]
        assert [(income.value, len(income.inputs)) for income in incomes] == [(50 * 1_000_003, 1), (55 * 1_000_003, 1)]
    finally:
        world.db.close()
