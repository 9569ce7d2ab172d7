"""The equity screener over invented companies, against plain Python over what was made up."""

import json
import random
import shutil
from datetime import UTC, date, datetime

import msgspec
import numpy as np
import pytest

from almanac.api.endpoints.screeners.screeners import EquityScreenerRow
from almanac.api.endpoints.screeners.screening import AlignedColumn, ScreenerFilters
from almanac.domain.observations import FAILED, WARNED
from almanac.domain.periods import add_months
from almanac.domain.times import end_of_day, wire_time
from almanac.reports.filter_text import folded
from almanac.reports.scoring import MEASURES, score
from almanac.store.engine import opening
from almanac.store.engine.data_schema import set_meta
from almanac.store.observations.reading.newest import Readings
from almanac.store.observations.writing.batch import Batch
from tests.support.service import Service, copy
from tests.support.withholding import withhold
from tests.support.worlds import once

from . import invented_companies
from .invented_companies import FIELDS, QUARTERS, SECTORS, Made, companies, known, write_readings

PATH = "/equity-screener"
EVERYONE = "sector:in:technology|financials|énergie"
MADE = companies(90)
TEXTS = ("sector", "industry", "currency", "country")
NOW = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp())


@pytest.fixture(scope="session")
def made_up(tmp_path_factory, worker_id):
    return once(
        tmp_path_factory, worker_id, "contract-companies", lambda folder: invented_companies.build(folder, MADE)
    )


@pytest.fixture(scope="session")
def screen(made_up, tmp_path_factory):
    """The service over the invented companies. Never changed."""
    one = Service(copy(made_up, tmp_path_factory.mktemp("companies") / "home"))
    yield one
    one.close()


@pytest.fixture
def changing(made_up, tmp_path):
    """The same, for a test that changes something."""
    one = Service(copy(made_up, tmp_path / "home"))
    yield one
    one.close()


# -- plain Python -------------------------------------------------------------------------------------------------------


def seconds(text):
    return end_of_day(date.fromisoformat(text))


def reading(company: Made, field: str, at: int, *, dollars: bool, first: date = date.min, failed_too: bool = False):
    """(value, quarter, known) of the latest reading known at a moment, None where none may be shown."""
    if field == "secret_margin" or (field == "net_margin" and company.shut):
        return None
    if dollars and FIELDS[field] is None and company.currency not in {"USD", None}:
        return None
    if not failed_too and company.marks.get(field) == FAILED:
        return None
    for quarter in reversed(QUARTERS):
        values = company.values.get(field, {}).get(quarter, [])
        seen = [(value, known(quarter, n)) for n, value in enumerate(values) if known(quarter, n) <= at]
        if seen:
            # One equal to the one before is no new state.
            value, when = seen[-1]
            if len(seen) == 2 and seen[0][0] == value:
                when = seen[0][1]
            return (value, quarter, when) if quarter.end >= first else None
    return None


def months_before(at):
    """The day eighteen months before a moment."""
    return add_months(datetime.fromtimestamp(at, UTC).date(), -18)


def statement(company: Made, at: int, first: date = date.min):
    """The newest quarter with a statement in the eighteen months before a moment."""
    day = datetime.fromtimestamp(at, UTC).date()
    return next(
        (
            quarter
            for quarter in reversed(company.quarters)
            if known(quarter, 0) <= at and max(first, months_before(at)) <= quarter.end <= day
        ),
        None,
    )


def value_of(company, field, at, dollars, first=date.min):
    if field in TEXTS:
        return getattr(company, field)
    found = reading(company, field, at, dollars=dollars, first=first)
    return None if found is None else found[0]


def row_of(company, filtered, names, at, **how):
    """Field → reading of a row: those of the newest period that its clauses ask for, without numbers in them of all its fields."""
    read = {name: one for name in names if name not in TEXTS and (one := reading(company, name, at, **how)) is not None}
    ends = [read[name][1].end for name in filtered if name in read] if set(filtered) - set(TEXTS) else []
    newest = max(ends or [one[1].end for one in read.values()], default=None)
    if set(filtered) - set(TEXTS) and not ends:
        return {}
    return {name: one for name, one in read.items() if one[1].end == newest}


def passes(value, verb, given):
    if value is None:
        return False
    if isinstance(value, str):
        return folded(value) in [folded(one) for one in given]
    return {
        "gt": value > given[0], "lt": value < given[0], "gte": value >= given[0], "lte": value <= given[0],
        "eq": value == given[0], "in": value in given,
    }[verb]  # fmt: skip


def expected(clauses, *, sort=None, order="asc", at=NOW, first=date.min):
    """Rows that a screen must give: (entity id, values, period end, observed at), in order."""
    dollars = "currency" not in [field for field, _, _ in clauses]
    first = max(first, months_before(at))  # what is older is no reading of today's either
    found = []
    for company in MADE:
        newest = statement(company, at, first)
        names = dict.fromkeys(
            [field for field, _, _ in clauses] + ([sort] if sort not in (None, "name", "ticker") else [])
        )
        read = row_of(company, [field for field, _, _ in clauses], names, at, dollars=dollars, first=first)
        values = {
            name: getattr(company, name) if name in TEXTS else read[name][0] if name in read else None for name in names
        }
        if newest is None or not all(passes(values[field], verb, given) for field, verb, given in clauses):
            continue
        end = max((quarter.end for _, quarter, _ in read.values()), default=newest.end)
        when = max((when for _, _, when in read.values()), default=known(newest, 0))
        key = company.ticker if sort == "ticker" else None if sort in (None, "name") else values[sort]
        found.append(
            (key, (company.name, company.entity),
             (company.entity, {n: v for n, v in values.items() if v is not None}, f"{end}T00:00:00Z", wire_time(when)))
        )  # fmt: skip
    turned = order == "desc"
    if sort in (None, "name"):
        return [row for *_, row in sorted(found, key=lambda one: one[1], reverse=turned)]
    there = sorted((one for one in found if one[0] is not None), key=lambda one: one[:2], reverse=turned)
    none = sorted((one for one in found if one[0] is None), key=lambda one: one[1], reverse=turned)
    return [row for *_, row in there + none]


def shown(rows):
    return [(row["entityId"], row["values"], row["periodEnd"], row["observedAt"]) for row in rows]


def written(clauses):
    """A filter's text."""
    return ",".join(
        f"{field}:{verb}:" + "|".join(quote(one) if isinstance(one, str) else repr(one) for one in given)
        for field, verb, given in clauses
    )


def quote(text):
    return '"' + text.replace('"', '""') + '"'


def random_clauses(rng):
    clauses = []
    for _ in range(rng.randint(1, 3)):
        field = rng.choice([*FIELDS, *TEXTS])
        if field in TEXTS:
            words = [getattr(company, field) for company in MADE if getattr(company, field)]
            given = [rng.choice([str.upper, str.lower, str])(rng.choice(words)) for _ in range(rng.randint(1, 3))]
            verb = rng.choice(["eq", "in"])
        else:
            given = [rng.choice(invented_companies._STEPS[field]) for _ in range(rng.randint(1, 3))]
            verb = rng.choice(["gt", "lt", "gte", "lte", "eq", "in"])
        clauses.append((field, verb, given if verb == "in" else given[:1]))
    return clauses


# -- the interface's sentences -------------------------------------------------------------------------------------------


def test_random_screens(screen):
    """Screens companies by fundamentals, ratios, sector and industry; any sort, order and moment; meta.pagination.total present."""
    rng = random.Random(3)
    matched = 0
    for _ in range(150):
        clauses = random_clauses(rng)
        sort = rng.choice([None, "name", "ticker", *FIELDS, *TEXTS])
        order = rng.choice(["asc", "desc"])
        as_of = rng.choice([None, None, "2024-03-31", "2025-02-09", "2025-06-01", "2026-08-09", "2026-08-08"])
        query = {"filter": written(clauses), "order": order}
        query |= {"sort": sort} if sort else {}
        query |= {"as_of": as_of} if as_of else {}
        whole = expected(clauses, sort=sort, order=order, at=NOW if as_of is None else seconds(as_of))
        body = screen.get(PATH, **query, limit=200).json()
        assert shown(body["data"]) == whole, query
        assert body["meta"]["pagination"]["total"] == len(whole)
        matched += bool(whole)
    assert matched > 30


def test_the_row(screen):
    """Row: entityId, name, ticker?, cik?, country?, sector, industry?, periodEnd, observedAt, values, quality."""
    rows = screen.walk(PATH, filter="revenue_ttm:gte:0,sector:in:technology|ÉNERGIE")
    assert rows
    by_id = {company.entity: company for company in MADE}
    for row in rows:
        msgspec.convert(row, EquityScreenerRow, strict=True)
        company = by_id[row["entityId"]]
        assert (row["name"], row["ticker"], row["cik"], row["country"], row["sector"], row["industry"]) == (
            company.name, company.ticker, f"{company.cik:010d}", company.country, company.sector, company.industry,
        )  # fmt: skip
        assert list(row["values"]) == ["revenue_ttm", "sector"]


@pytest.mark.parametrize("limit", [2, 7])
@pytest.mark.parametrize("sort", [None, "ticker", "net_margin", "secret_margin", "score", "industry"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages(screen, limit, sort, order):
    """Cursor: opaque, from meta.pagination.next_cursor; the total is the full number of matches on every page."""
    query = {"filter": "piotroski_f:gte:5", "order": order, **({"sort": sort} if sort else {})}
    whole = screen.get(PATH, **query, limit=200).json()
    assert len(whole["data"]) == whole["meta"]["pagination"]["total"] > 14
    assert screen.walk(PATH, limit=limit, **query) == whole["data"]
    first = screen.get(PATH, **query, limit=limit).json()["meta"]["pagination"]
    second = screen.get(PATH, **query, limit=limit, cursor=first["next_cursor"]).json()["meta"]["pagination"]
    assert first["total"] == second["total"] == len(whole["data"])


def test_sort_is_any_field_ticker_or_name(screen):
    """Sort: any screenable field, plus `ticker` and `name`."""
    fields = [field["field"] for field in screen.ok(f"{PATH}/filters")["fields"]]
    for sort in [*fields, "ticker", "name", "NET_MARGIN", "indicator_net_margin", "sales"]:
        assert screen.get(PATH, filter="sector:eq:technology", sort=sort).status_code == 200
    error = screen.error(PATH, 400, filter="sector:eq:technology", sort="tickr")
    assert error["message"].startswith("'sort' ")
    assert error["details"]["suggestion"] == "ticker"
    assert set(error["details"]["allowed"]) == {*fields, "ticker", "name"}


def test_a_field_goes_by_slug_id_or_alias(screen):
    """A field may be slug, `indicator_` id or alias; the answer uses the slug."""
    rows = screen.walk(PATH, filter="revenue_ttm:gte:1e9")
    for name in ("REVENUE_TTM", "indicator_revenue_ttm", "Sales"):
        assert screen.walk(PATH, filter=f"{name}:gte:1e9") == rows


def test_fields_are_those_of_filters(screen):
    """Valid fields are listed by GET /equity-screener/filters: each takes each operator it lists, and no other."""
    told = screen.ok(f"{PATH}/filters")
    msgspec.convert(told, ScreenerFilters, strict=True)
    assert [field["field"] for field in told["fields"]] == [*sorted(FIELDS), "score", *TEXTS, "quality"]
    assert [one["operator"] for one in told["operators"]] == ["gt", "lt", "gte", "lte", "eq", "in"]
    for field in told["fields"]:
        for verb in ("gt", "lt", "gte", "lte", "eq", "in"):
            value = "1" if field["type"] == "number" else "Technology"
            status = screen.get(PATH, filter=f"{field['field']}:{verb}:{value}").status_code
            assert status == (200 if verb in field["operators"] else 400)
    assert screen.get(PATH, filter=told["example"]).status_code == 200


def test_bounds_of_the_fields(screen):
    """min, max and entityCount of /filters: over the companies that take part, of public values; money in US dollars."""
    told = {field["field"]: field for field in screen.ok(f"{PATH}/filters")["fields"]}
    for name, unit in FIELDS.items():
        values = [
            value
            for company in MADE
            if statement(company, NOW) and (value := value_of(company, name, NOW, dollars=True)) is not None
        ]
        field = told[name]
        assert (field["min"], field["max"], field["entityCount"]) == (
            min(values, default=None),
            max(values, default=None),
            len(values),
        )
        assert field["unit"] == unit or unit in {None, "score"}
        assert ("0.25 is 25 %" in field["description"]) == (unit == "ratio")
    units = {name: (field["unit"], field["currency"]) for name, field in told.items()}
    assert units["revenue_ttm"] == units["total_assets"] == ("currency", "USD")
    assert units["earnings_per_share_basic_ttm"] == ("currency_per_share", "USD")
    assert units["piotroski_f"] == units["score"] == (None, None)
    assert units["net_margin"] == ("ratio", None)
    for name in TEXTS:
        count = sum(getattr(company, name) is not None for company in MADE if statement(company, NOW))
        assert (told[name]["type"], told[name]["entityCount"], told[name]["min"]) == ("text", count, None)


def test_money_is_in_dollars_unless_a_currency_is_named(screen):
    """Money clauses and money sorts leave out reporters in another currency than USD unless a `currency` clause is there."""
    currency = {company.entity: company.currency for company in MADE}
    rows = screen.walk(PATH, filter="revenue_ttm:gte:0")
    assert {currency[row["entityId"]] for row in rows} == {"USD", None}
    rows = screen.walk(PATH, filter="revenue_ttm:gte:0,currency:in:eur|jpy")
    assert {currency[row["entityId"]] for row in rows} == {"EUR", "JPY"}
    rows = screen.walk(PATH, filter="net_margin:gte:-1", sort="revenue_ttm", order="desc")
    assert {currency[row["entityId"]] for row in rows} == {"USD", None, "EUR", "JPY"}
    assert {currency[row["entityId"]] for row in rows if "revenue_ttm" in row["values"]} == {"USD", None}
    # Shares and ratios are no money: they compare all.
    assert {currency[r["entityId"]] for r in screen.walk(PATH, filter="shares_outstanding:gt:0")} == {
        "USD",
        None,
        "EUR",
        "JPY",
    }


def test_a_company_that_stopped_reporting_is_left_out(screen):
    """Companies whose newest statement period ends within 18 months before the moment asked."""
    last = {company.entity: company.quarters[-1] for company in MADE if company.quarters}
    reporting = {entity for entity, quarter in last.items() if quarter == QUARTERS[-1]}
    assert {row["entityId"] for row in screen.walk(PATH, filter=EVERYONE)} == reporting
    # 2024-Q2 was the last of some: they take part until the end of 2025, and again at any moment before.
    some = {entity for entity, quarter in last.items() if quarter.end == date(2024, 6, 30)}
    assert some
    for as_of, there in (("2024-09-01", True), ("2025-12-31", True), ("2026-01-01", False)):
        found = {row["entityId"] for row in screen.walk(PATH, filter=EVERYONE, as_of=as_of)}
        assert (some <= found, some & found == set()) == (there, not there)


def test_a_line_that_is_not_reported_any_more_is_no_reading(screen):
    """Of a company that takes part, a reading whose period ended more than 18 months ago is none."""
    as_of, field = "2025-12-20", "current_ratio"
    old = {
        company.entity
        for company in MADE
        if statement(company, seconds(as_of))
        and (found := reading(company, field, seconds(as_of), dollars=True)) is not None
        and found[1].end < date(2024, 6, 20)
    }
    assert old
    assert old & {row["entityId"] for row in screen.walk(PATH, filter=f"{field}:gt:-1000", as_of=as_of)} == set()
    rows = {row["entityId"]: row for row in screen.walk(PATH, filter=EVERYONE, sort=field, as_of=as_of)}
    assert [field in rows[entity]["values"] for entity in sorted(old)] == [False] * len(old)
    # A quarter earlier it was still within the months.
    before = {row["entityId"] for row in screen.walk(PATH, filter=f"{field}:gt:-1000", as_of="2025-09-20")}
    assert old <= before


@pytest.mark.parametrize("as_of", ["0001-01-01", "0001-01-01T00:00:00+14:00", "0002-06-30", "0999-12-31"])
def test_a_moment_before_all_companies(screen, as_of):
    """However early the moment: nobody takes part, and no month before it is asked of the calendar."""
    assert screen.walk(PATH, filter=EVERYONE, as_of=as_of) == []


def change(changing, *statements):
    """Execute statements as one data version."""
    db = opening.create(changing.settings.home / "data.db")
    with Batch(db, 1, "test") as batch:
        for sql, values in statements:
            db.execute(sql, values)
        batch.touch()
    db.close()


def test_what_takes_part_moves_with_the_day(changing):
    """Without `as_of` the moment asked is now."""
    changing.data_now = seconds("2026-09-20")
    earlier = {row["entityId"] for row in changing.walk(PATH, filter=EVERYONE)}
    span = (date(2025, 3, 20), date(2026, 9, 20))
    assert earlier == {c.entity for c in MADE if any(span[0] <= quarter.end <= span[1] for quarter in c.quarters)}
    changing.data_now = NOW
    assert (
        {row["entityId"] for row in changing.walk(PATH, filter=EVERYONE)}
        == {c.entity for c in MADE if statement(c, NOW)}
        < earlier
    )
    changing.data_now = NOW + 600 * 86_400
    assert changing.walk(PATH, filter=EVERYONE) == []


def test_a_withdrawn_statement_counts_no_more(changing):
    """A statement that there is none any more, from the moment that is known."""
    company = next(c for c in MADE if len(c.quarters) > 1 and c.quarters[-1] == QUARTERS[-1])
    gone, at = known(company.quarters[-1], 0) + 86_400, "2026-11-12T00:00:00Z"
    sql = (
        "INSERT INTO statement SELECT entity, kind, frequency, period, ?, from_version, to_version, ?"
        " FROM statement WHERE entity = ?"
    )
    change(changing, (sql, (gone, b"", company.entity)))
    assert company.entity not in {row["entityId"] for row in changing.walk(PATH, filter=EVERYONE)}
    assert company.entity not in {row["entityId"] for row in changing.walk(PATH, filter=EVERYONE, as_of=at)}
    assert company.entity in {row["entityId"] for row in changing.walk(PATH, filter=EVERYONE, as_of="2026-11-09")}


def test_dollars_are_those_of_the_reading_and_of_the_company(changing):
    """Neither an amount in a local currency of a company that reports in dollars now, nor the other way round."""
    query = {"filter": "revenue_ttm:gte:0"}
    rows = changing.walk(PATH, **query)
    change(changing, ("UPDATE company SET currency = 'USD' WHERE currency IN ('EUR', 'JPY')", ()))
    assert changing.walk(PATH, **query) == rows
    change(changing, ("UPDATE company SET currency = 'EUR' WHERE entity = ?", (rows[0]["entityId"],)))
    assert changing.walk(PATH, **query) == rows[1:]


WORDS = {0: "ok", WARNED: "warning", FAILED: "failed"}


def test_what_fails_a_grave_check_is_no_value_unless_all_is_asked(screen):
    """`quality` (`ok` default, `all`): failed signs, identities and non-reliance leave no value unless `quality=all`."""
    query = {"filter": "return_on_assets:gte:-1", "sort": "asset_turnover"}
    by_id = {company.entity: company for company in MADE}
    for asked in ("ok", "all"):
        rows = screen.walk(PATH, **query, quality=asked)
        assert rows == screen.walk(PATH, **query) if asked == "ok" else len(rows) > len(screen.walk(PATH, **query))
        failed_too = asked == "all"
        first = months_before(NOW)
        assert {row["entityId"] for row in rows} == {
            company.entity
            for company in MADE
            if statement(company, NOW, first)
            and reading(company, "return_on_assets", NOW, dollars=True, first=first, failed_too=failed_too)
        }
        for row in rows:
            marks = [by_id[row["entityId"]].marks.get(field, 0) for field in row["values"]]
            assert row["quality"] == WORDS[max(marks)]
            assert (FAILED in marks) <= failed_too
    assert {row["quality"] for row in rows} == {"ok", "warning", "failed"}


def test_quality_is_a_field_of_words(screen):
    """Of what the other numbers of a row rest on; a row without a number has none."""
    rows = {word: screen.walk(PATH, filter=f"return_on_assets:gte:-1,quality:eq:{word}") for word in ("ok", "warning")}
    assert all(row["quality"] == row["values"]["quality"] == word for word, found in rows.items() for row in found)
    every = screen.walk(PATH, filter="return_on_assets:gte:-1")
    assert sorted(row["entityId"] for found in rows.values() for row in found) == sorted(
        row["entityId"] for row in every
    )
    assert rows["ok"] != [] != rows["warning"]
    assert screen.walk(PATH, filter="return_on_assets:gte:-1,quality:eq:failed") == []
    assert (
        screen.walk(PATH, filter="return_on_assets:gte:-1,quality:in:failed|warning", quality="all") != rows["warning"]
    )
    assert {row["quality"] for row in screen.walk(PATH, filter="sector:eq:technology")} == {None}
    assert {row["quality"] for row in screen.walk(PATH, filter="score:gte:0")} <= {"ok", "warning"}
    error = screen.error(PATH, 400, filter="score:gte:0", quality="any")
    assert (error["details"]["parameter"], error["details"]["allowed"]) == ("quality", ["ok", "all"])


def test_scores_of_one_plan_are_not_those_of_another(screen):
    """What a plan does not reach takes no part in a score either, whoever asked before."""
    query = {"filter": "score:gte:0", "as_of": "2025-03-01"}
    both = [screen.walk(PATH, key, **query) for key in ("pro", "free")]
    assert both[0] != both[1] != []
    for key, rows in zip(("free", "pro"), both[::-1], strict=True):
        alone = Service(screen.home)
        assert alone.walk(PATH, key, **query) == rows
        alone.close()


def test_scores(screen):
    """`score` is a field, computed at read time among the companies of the moment asked."""
    rows = screen.walk(PATH, filter="score:gte:0", sort="score", order="desc")
    scores = [row["values"]["score"] for row in rows]
    assert len(scores) > 20
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] < scores[0] <= 100
    middle = scores[len(scores) // 2]
    above = screen.walk(PATH, filter=f"score:gt:{middle!r}")
    assert {row["entityId"] for row in above} == {row["entityId"] for row in rows if row["values"]["score"] > middle}
    before = screen.walk(PATH, filter="score:gte:0", as_of="2025-06-01")
    assert {r["entityId"]: r["values"]["score"] for r in before} != {r["entityId"]: r["values"]["score"] for r in rows}


# -- plans, rights, cursors ----------------------------------------------------------------------------------------------


def test_the_window_of_a_plan(screen):
    """Values whose `periodEnd` lies before the window take no part."""
    first = date(2024, 11, 20)
    rng = random.Random(5)
    for as_of in (None, "2025-01-15", "2025-03-01"):
        differs = 0
        for _ in range(40):
            clauses = random_clauses(rng)
            at = NOW if as_of is None else seconds(as_of)
            more = {} if as_of is None else {"as_of": as_of}
            rows = screen.walk(PATH, "free", filter=written(clauses), limit=200, **more)
            assert shown(rows) == expected(clauses, at=at, first=first)
            assert all(row["periodEnd"][:10] >= "2024-11-20" for row in rows)
            differs += shown(rows) != expected(clauses, at=at)
        assert (differs > 0) == (as_of is not None)


def test_before_the_window(screen):
    """A request wholly before it is 403, after the parameters (400)."""
    error = screen.error(PATH, 403, "free", filter="net_margin:gt:0", as_of="2024-11-19")
    assert error["details"] == {"parameter": "as_of", "plan": "free", "historyFrom": "2024-11-20"}
    assert screen.get(PATH, filter="net_margin:gt:0", as_of="2024-11-19").status_code == 200
    for bad in ({"filter": "nothing:gt:0"}, {"filter": "net_margin:gt:x"}, {"filter": "net_margin:gt:0", "sort": "x"}):
        assert screen.error(PATH, 400, "free", **bad, as_of="2024-11-19")["code"] == "bad_request"


BATTERY = [
    {"filter": "secret_margin:gt:-1e9"}, {"filter": "secret_margin:lt:0"}, {"filter": "secret_margin:eq:0.05"},
    {"filter": "secret_margin:in:0|0.05|0.1|0.3"}, {"filter": "net_margin:gte:0.1"}, {"filter": "net_margin:lt:0.1", "sort": "net_margin"},
    {"filter": "sector:in:technology|financials", "sort": "secret_margin"},
    {"filter": "sector:in:technology|financials", "sort": "secret_margin", "order": "desc"},
    {"filter": "piotroski_f:gt:0", "sort": "net_margin", "order": "desc"}, {"filter": "piotroski_f:gt:0", "sort": "score"},
    {"filter": "score:gt:40,net_margin:gt:-9"}, {"filter": "secret_margin:gt:0", "as_of": "2025-06-01"},
    {"filter": "net_margin:gt:0", "as_of": "2025-06-01", "sort": "net_margin"},
]  # fmt: skip


def test_answers_do_not_depend_on_withheld_values(screen, tmp_path):
    """Withheld values take no part in screener filters, sorting, totals, scores, `min`/`max`/`entityCount` of /filters."""

    def others(company):
        values = dict(company.values)
        for field in ["secret_margin", *(["net_margin"] if company.shut else [])]:
            values[field] = {quarter: [-seen[0] - 7.25] for quarter, seen in values.get(field, {}).items()}
        return company._replace(values=values)

    invented_companies.build(tmp_path / "home", [others(company) for company in MADE])
    other = Service(tmp_path / "home")
    try:
        for query in BATTERY:
            for limit in (3, 200):
                answers = [one.get(PATH, **query, limit=limit) for one in (screen, other)]
                assert [a.status_code for a in answers] == [200, 200]
                assert answers[0].json()["data"] == answers[1].json()["data"], query
                assert len({a.json()["meta"]["pagination"]["total"] for a in answers}) == 1
        assert screen.ok(f"{PATH}/filters") == other.ok(f"{PATH}/filters")
    finally:
        other.close()
    assert screen.walk(PATH, filter="secret_margin:gt:-1e9") == []
    shut = {company.entity for company in MADE if company.shut}
    assert shut & {row["entityId"] for row in screen.walk(PATH, filter="net_margin:gt:-9")} == set()


def open_up(changing, exposure):
    """Change the rights of the closed feed, as the pipeline does: a data version and a reference version."""
    db = opening.create(changing.settings.home / "data.db")
    with Batch(db, 1, "rights") as batch:
        at = (invented_companies.CLOSED,)
        body = json.loads(db.execute("SELECT body FROM record WHERE kind = 'source' AND id = ?", at).get)
        body["rights"]["exposure"] = exposure
        db.execute("UPDATE record SET body = ? WHERE kind = 'source' AND id = ?", (json.dumps(body), *at))
        set_meta(db, "reference", str(batch.version))
        batch.touch()
    db.close()


def test_rights_hold_at_once_and_are_not_pinned(changing):
    """A change of rights is a data version; rights are never pinned: a further page of a walk answers by the rights of now."""
    assert changing.walk(PATH, filter="secret_margin:gt:-9") == []
    open_up(changing, 0)
    query = {"filter": "secret_margin:gt:-9", "sort": "secret_margin", "limit": 5}
    whole = changing.walk(PATH, **query)
    assert len(whole) > 20
    first = changing.get(PATH, **query).json()["meta"]["pagination"]
    open_up(changing, 2)
    second = changing.get(PATH, **query, cursor=first["next_cursor"]).json()
    assert (second["data"], second["meta"]["pagination"]["total"]) == ([], 0)
    assert changing.walk(PATH, **query) == []


def test_a_walk_is_pinned(changing):
    """New vintages arriving between two pages, back-dated ones too, neither shift, repeat nor lose a row."""
    query = {"filter": "net_margin:gte:-1", "sort": "net_margin", "limit": 6}
    whole = changing.walk(PATH, **query)
    first = changing.get(PATH, **query).json()
    # Three times, so that the version the walk is pinned to is not among the last two any more.
    for value in (0.07, 0.08, 0.09):
        db = opening.create(changing.settings.home / "data.db")
        with Batch(db, 1, "payload") as batch:
            for company in MADE:
                write_readings(
                    batch, company._replace(values={"net_margin": {QUARTERS[-1]: [value], QUARTERS[-2]: [value]}})
                )
        db.close()
        assert {row["values"]["net_margin"] for row in changing.walk(PATH, **query)} == {value}
    rows, page = first["data"], first["meta"]["pagination"]
    while page["has_more"]:
        answer = changing.get(PATH, **query, cursor=page["next_cursor"]).json()
        rows, page = rows + answer["data"], answer["meta"]["pagination"]
        assert page["total"] == len(whole)
    assert rows == whole


def test_an_empty_store_has_fields_and_no_companies(made_up, tmp_path):
    """Screens of a store without companies are empty, never an error."""
    home = tmp_path / "empty"
    invented_companies.build(home, [])
    one = Service(home)
    try:
        for text in ("revenue_ttm:gt:1", "sector:eq:x", "score:gt:1"):
            body = one.get(PATH, filter=text).json()
            assert (body["data"], body["meta"]["pagination"]["total"]) == ([], 0)
        assert {field["entityCount"] for field in one.ok(f"{PATH}/filters")["fields"]} == {0}
    finally:
        one.close()
    shutil.rmtree(home)


# -- the macro screener over the same store: a field of texts ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "countries"),
    [
        ("invented_cycle:eq:CUTTING", ["USA", "region_world"]),
        ('invented_cycle:eq:"Hiking, ""slowly"""', ["JPN"]),
        ('invented_cycle:in:cutting|"hiking, ""slowly"""', ["JPN", "USA", "region_world"]),
        ("invented_cycle:in:on_hold|on hold", []),
        ("invented_cycle:eq:cut", []),
    ],
)
def test_a_macro_field_of_texts(screen, text, countries):
    """A withheld text takes no part either; `country` is what the parameter of that name takes."""
    rows = screen.walk("/screener", filter=text)
    assert [row["country"] for row in rows] == countries
    for row in rows:
        (match,) = row["matches"]
        assert (match["value"], match["unit"]) == (invented_companies.CYCLES[row["entityId"]][1], "text")
        assert screen.walk("/screener", filter=text, country=row["country"]) == [row]


def test_operators_of_a_macro_field_of_texts(screen):
    """Texts take eq and in only; their bounds are null."""
    for verb in ("gt", "lt", "gte", "lte"):
        error = screen.error("/screener", 400, filter=f"invented_cycle:{verb}:a")
        assert error["details"]["allowed"] == ["eq", "in"]
    (field,) = screen.ok("/screener/filters")["fields"]
    assert (field["field"], field["type"], field["unit"], field["min"], field["max"], field["entityCount"]) == (
        "invented_cycle", "text", "text", None, None, 3,
    )  # fmt: skip


# -- further fields, and the country ----------------------------------------------------------------------------------


def test_further_fields_are_told_and_leave_no_row_out(screen):
    """`fields`: further columns of the filter's, by comma."""
    plain = screen.get(PATH, filter="net_margin:gt:0", limit=200).json()
    wide = screen.get(PATH, filter="net_margin:gt:0", limit=200, fields="return_on_assets, country,sales,ticker").json()
    assert wide["meta"]["pagination"]["total"] == plain["meta"]["pagination"]["total"] > 10
    assert [row["entityId"] for row in wide["data"]] == [row["entityId"] for row in plain["data"]]
    assert "warnings" not in wide["meta"]
    made, lacking, older = {company.entity: company for company in MADE}, 0, 0
    for row, before in zip(wide["data"], plain["data"], strict=True):
        values = dict(row["values"])
        assert values.pop("net_margin") == before["values"]["net_margin"]
        assert values.pop("country", None) == row["country"] == made[row["entityId"]].country
        for field, dollars in (("return_on_assets", False), ("revenue_ttm", True)):
            found = reading(made[row["entityId"]], field, NOW, dollars=dollars)
            told = found is not None and f"{found[1].end}T00:00:00Z" == row["periodEnd"] == before["periodEnd"]
            assert values.pop(field, None) == (found[0] if told else None)
            lacking += found is None
            older += found is not None and not told
        assert values == {}
    assert lacking
    assert older


def test_days_and_quality_are_of_all_that_a_row_tells(screen):
    query = {"filter": "net_margin:gt:0", "as_of": "2025-10-01", "limit": 200}
    plain = {row["entityId"]: row for row in screen.ok(PATH, **query)}
    wide = screen.ok(PATH, **query, fields="current_ratio,revenue_ttm,asset_turnover")
    assert all(row["observedAt"] >= plain[row["entityId"]]["observedAt"] for row in wide)
    assert any(row["observedAt"] > plain[row["entityId"]]["observedAt"] for row in wide)
    assert {row["quality"] for row in wide} == {"ok", "warning"}
    assert any(row["quality"] != plain[row["entityId"]]["quality"] for row in wide)


def test_a_score_is_of_the_measures_of_one_period(screen):
    """An older measure takes no part in it, and a row of another period does not tell it."""
    there = [company for company in MADE if statement(company, NOW)]
    read = [
        {
            field: found
            for field in set(FIELDS) & set(MEASURES)
            if (found := reading(company, field, NOW, dollars=False, first=months_before(NOW))) is not None
        }
        for company in there
    ]
    ends = [max((found[1].end for found in one.values()), default=None) for one in read]
    columns = {
        field: np.array([
            one[field][0] if field in one and one[field][1].end == end else np.nan
            for one, end in zip(read, ends, strict=True)
        ])
        for field in set(FIELDS) & set(MEASURES)
    }  # fmt: skip
    sectors = np.array([sorted(SECTORS).index(company.sector) for company in there])
    scored = score(columns, sectors, np.ones(len(there), dtype=np.bool_)).score
    rows = {row["entityId"]: row for row in screen.walk(PATH, filter="score:gte:0")}
    assert {entity: (row["values"]["score"], row["periodEnd"][:10]) for entity, row in rows.items()} == {
        company.entity: (value, str(end))
        for company, value, end in zip(there, scored, ends, strict=True)
        if not np.isnan(value)
    }
    assert any(len({found[1].end for found in one.values()}) > 1 for one in read)
    both = screen.walk(PATH, filter="total_assets:gt:0", fields="score")
    assert any("score" not in row["values"] and row["entityId"] in rows for row in both)
    assert all(row["periodEnd"] == rows[row["entityId"]]["periodEnd"] for row in both if "score" in row["values"])


def test_a_withheld_further_field_is_not_told(screen):
    rows = screen.ok(PATH, filter=EVERYONE, limit=200, fields="secret_margin")
    assert rows
    assert all("secret_margin" not in row["values"] for row in rows)


@pytest.mark.parametrize("path", [PATH, "/screener"])
def test_a_further_field_that_is_none(screen, path):
    field = "net_margin" if path == PATH else "invented_cycle"
    error = screen.error(
        path, 400, filter=f"{field}:in:1|2" if path == PATH else f"{field}:eq:cutting", fields=f"{field},{field}x"
    )
    assert error["message"].startswith(f"'fields' must be fields of the filter, and '{field}x' is none")
    assert error["details"]["suggestion"] == field
    many = ",".join(f"f{number}" for number in range(31))
    assert "at most 30" in screen.error(path, 400, filter=EVERYONE, fields=many)["message"]


def test_a_country_that_no_company_is_in_is_warned_of(screen):
    answer = screen.get(PATH, filter="country:in:JPN|Atlantis").json()
    assert answer["data"] == []
    assert [(one["value"], one["reason"]) for one in answer["meta"]["warnings"]] == [
        ("JPN", "is a country that nothing here has"), ("Atlantis", "is a country that nothing here has"),
    ]  # fmt: skip
    (told,) = [one for one in screen.ok(f"{PATH}/filters")["fields"] if one["field"] == "country"]
    assert (told["type"], told["operators"]) == ("text", ["eq", "in"])
    assert told["entityCount"] > 10


# -- the fields of both screeners: read from every column once, then kept until the data or the rights change ---------


PATHS = ["/screener/filters", "/equity-screener/filters"]


def whole(service: Service, path: str) -> bytes:
    """The answer but for the request's own number."""
    answer = service.get(path)
    assert answer.status_code == 200
    return answer.content.partition(b',"meta"')[0]


@pytest.mark.parametrize("path", PATHS)
def test_fields_asked_again_read_no_column(own, monkeypatch, path):
    """What everybody asks at each look is not made anew: the same bytes, without a look at a column."""
    first, read = whole(own, path), []
    made = AlignedColumn.of
    monkeypatch.setattr(AlignedColumn, "of", lambda column, numbers: read.append(1) or made(column, numbers))
    for _ in range(3):
        assert whole(own, path) == first
    assert not read


def test_kept_fields_follow_rights_and_plans(own):
    """A source that is restricted takes its values out of the bounds at once; another plan has its own answer."""
    for _ in range(3):
        told = {one["field"]: one for one in own.ok("/screener/filters")["fields"]}
    assert told["gov_yield_10y"]["entityCount"] == 2
    free = [own.get("/screener/filters", "free").json()["data"] for _ in range(3)]
    assert free[0] == free[1] == free[2]
    withhold(own, "mof-japan")
    after = {one["field"]: one for one in own.ok("/screener/filters")["fields"]}
    assert after["gov_yield_10y"]["entityCount"] == 1
    assert after["gov_yield_10y"]["min"] == after["gov_yield_10y"]["max"] != told["gov_yield_10y"]["min"]


def test_no_column_is_left_to_make_after_the_start(own, monkeypatch):
    """Whoever asks first for the fields of either screener, or screens by score, waits for no column."""
    other, made = Service(own.home), []
    other.app.warm()
    make = Readings._made
    monkeypatch.setattr(Readings, "_made", lambda *given: made.append(given[2]) or make(*given))
    for path in PATHS:
        other.ok(path)
    other.ok("/equity-screener", filter="score:gte:0", sort="score")
    assert made == []
    other.close()
