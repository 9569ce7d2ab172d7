"""GET /briefs/{country}: every number in a text is a reading; readings, ranks and percentiles are those of the rows served."""

import re
from collections import Counter
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest

from almanac.domain.events import EventState, event_id
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.reports.wording import rounded
from almanac.sandbox.economy import COUNTRIES, Economy
from almanac.sandbox.feeds import fred
from almanac.sandbox.world import Response
from almanac.store.events import events
from tests.support.service import Service, copy, settings
from tests.support.worlds import once

from . import simulated_countries
from .digits import less

SECTIONS = ["growth", "inflation", "labor", "rates", "external", "fiscal"]
TOPICS = ["growth", "inflation", "the labour market", "interest rates", "the external position", "public finances"]
MEMBERS = sorted(code for code, country in COUNTRIES.items() if country.euro)
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905  (read faster than twelve quoted words)
QUARTERS = {"first": 3, "second": 6, "third": 9, "fourth": 12}
NUMBER = re.compile(r"(?<![A-Za-z0-9])([−-]?)([0-9][0-9,]*(?:\.[0-9]+)?)")
FIELDS = ("value", "previous", "change", "percentile10y", "peerRank", "peerCount")


@pytest.fixture(scope="session")
def built_countries(tmp_path_factory, worker_id):
    return once(tmp_path_factory, worker_id, "contract-countries", simulated_countries.build)


@pytest.fixture(scope="session")
def countries(built_countries, tmp_path_factory):
    one = Service(copy(built_countries, tmp_path_factory.mktemp("countries") / "home"))
    yield one
    one.close()


@pytest.fixture
def own_countries(built_countries, tmp_path):
    one = Service(copy(built_countries, tmp_path / "home"))
    yield one
    one.close()


def readings(brief):
    return [one for section in brief["sections"] for one in section["readings"]]


def of(brief, slug):
    (one,) = [one for one in readings(brief) if one["indicatorId"] == f"indicator_{slug}"]
    return one


# -- numbers in texts ---------------------------------------------------------------------------------------------------


def unexplained(text, rows):
    """What a text says of dates and numbers that is none of the rows."""
    ends = [date.fromisoformat(row["periodEnd"][:10]) for row in rows if row["value"] is not None]
    wrong = []

    def month(match):
        day, name, year = match.groups()
        same = [end for end in ends if (end.year, end.month) == (int(year), MONTHS.index(name) + 1)]
        if not [end for end in same if day is None or end.day == int(day)]:
            wrong.append(match[0])
        return " "

    def quarter(match):
        if (int(match[2]), QUARTERS[match[1]]) not in {(end.year, end.month) for end in ends}:
            wrong.append(match[0])
        return " "

    def year(match):
        if date(int(match[1]), 12, 31) not in ends:
            wrong.append(match[0])
        return " "

    text = re.sub(rf"(?:\b([0-9]{{1,2}}) )?\b({'|'.join(MONTHS)}) ([0-9]{{4}})\b", month, text)
    text = re.sub(r"\b(first|second|third|fourth) quarter of ([0-9]{4})\b", quarter, text)
    text = re.sub(r"\bin ([0-9]{4})\b", year, text)
    held = [float(row[field]) for row in rows for field in FIELDS if row[field] is not None]
    for sign, digits in NUMBER.findall(text):
        number, decimals = float(digits.replace(",", "")), len(digits.partition(".")[2])
        if sign:
            fits = [one for one in held if rounded(one, decimals) == -number]
        else:
            fits = [one for one in held if rounded(abs(one), decimals) == number]
        if not fits:
            wrong.append(sign + digits)
    return wrong


def check_numbers(brief):
    for section in brief["sections"]:
        assert unexplained(section["text"], section["readings"]) == [], section["text"]
    assert unexplained(brief["headline"], readings(brief)) == [], brief["headline"]


@pytest.mark.parametrize("place", simulated_countries.IN_DEPTH)
def test_every_number_is_a_reading(countries, place):
    """Text is made by rule from the readings: every number in it is one of them."""
    check_numbers(countries.ok(f"/briefs/{place}"))


@pytest.mark.slow
@pytest.mark.parametrize("place", sorted(COUNTRIES))
def test_every_number_of_the_whole_world_is_a_reading(whole, place):
    check_numbers(whole.ok(f"/briefs/{place}"))


def test_the_check_of_numbers_can_fail(countries):
    """Another value, another month, another quarter, another year: each is seen."""
    brief = countries.ok("/briefs/PRT")
    text = {section["key"]: section["text"] for section in brief["sections"]}
    rows = {section["key"]: section["readings"] for section in brief["sections"]}
    for key, old, new in (
        ("inflation", "October 2026", "October 2025"),
        ("growth", "third quarter of 2026", "third quarter of 2025"),
        ("external", "in 2025", "in 2024"),
        ("labor", "%", "7%"),
        ("fiscal", "-highest", "9-highest"),
    ):
        assert old in text[key], text[key]
        spoilt = (
            re.sub(r"[a-z]{2}-highest", "777th-highest", text[key])
            if new == "9-highest"
            else text[key].replace(old, new)
        )
        assert unexplained(spoilt, rows[key]) != []


# -- readings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["USA", "PRT", "EUR", "CHE", "ARG"])
def test_readings_are_the_latest_rows(countries, place):
    """Each reading is the latest reading served, with its unit, period, series, freshness and rights."""
    brief = countries.ok(f"/briefs/{place}")
    assert [section["key"] for section in brief["sections"]] == SECTIONS
    latest = {row["indicatorId"]: row for row in countries.walk("/observations/latest", country=place)}
    for one in readings(brief):
        row = latest[one["indicatorId"]]
        assert (one["value"], one["unit"], one["periodEnd"], one["freshnessStatus"], one["seriesId"], one["rights"]) == (
            row["valueNumeric"], row["unit"], row["periodEnd"], row["freshnessStatus"], row["metadata"]["seriesId"], row["rights"],
        )  # fmt: skip
        assert one["name"] == countries.ok(f"/indicators/{one['indicatorId']}")["name"]
    assert brief["derivedFrom"] == sorted({one["seriesId"] for one in readings(brief)})
    assert brief["asOf"] >= max(latest[one["indicatorId"]]["observedAt"] for one in readings(brief))


@pytest.mark.parametrize(
    ("place", "slug", "path"),
    [
        ("USA", "unemployment_rate", "/observations"),
        ("PRT", "cpi_inflation_yoy", "/derived-observations"),
        ("JPN", "current_account_pct_gdp", "/observations"),
    ],
)
def test_previous_and_change(countries, place, slug, path):
    """`previous` is the reading of the series before it, `change` the difference."""
    newest, before = countries.ok(path, country=place, indicator=slug, order="desc", limit=2)
    one = of(countries.ok(f"/briefs/{place}"), slug)
    assert (one["value"], one["previous"]) == (newest["valueNumeric"], before["valueNumeric"])
    assert one["change"] == less(newest["valueNumeric"], before["valueNumeric"])


@pytest.mark.parametrize("slug", ["cpi_inflation_yoy", "unemployment_rate", "policy_rate", "government_debt_pct_gdp"])
def test_ranks(countries, slug):
    """peerRank 1 is the highest value; regions take no part, nor do countries that have no rate of their own."""
    rows = countries.walk("/observations/latest", indicator=slug)
    values = {
        row["entityId"]: row["valueNumeric"]
        for row in rows
        if row["entityId"].startswith("country_") and row["freshnessStatus"] == "fresh"
    }
    assert len(values) == (35 - len(MEMBERS) if slug == "policy_rate" else 35)
    for place in ("USA", "JPN", "ARG"):
        one = of(countries.ok(f"/briefs/{place}"), slug)
        value = values[f"country_{place.lower()}"]
        assert (one["peerRank"], one["peerCount"]) == (1 + sum(v > value for v in values.values()), len(values))
    highest = max(values, key=values.get)
    assert of(countries.ok(f"/briefs/{highest}"), slug)["peerRank"] == 1
    assert of(countries.ok("/briefs/EUR"), slug)["peerRank"] is None


@pytest.mark.parametrize(
    ("place", "slug"), [("USA", "cpi_inflation_yoy"), ("FRA", "gdp_growth_yoy"), ("USA", "unemployment_rate")]
)
def test_percentile(countries, place, slug):
    """percentile10y: mid-rank among the ten years before the reading, as known when it was; not of numbers with a trend."""
    brief = countries.ok(f"/briefs/{place}")
    one = of(brief, slug)
    (row,) = countries.ok("/observations/latest", country=place, indicator=slug)
    end = row["periodEnd"][:10]
    since = f"{int(end[:4]) - 10}{end[4:]}"
    path = "/observations" if slug == "unemployment_rate" else "/derived-observations"
    then = countries.walk(path, country=place, indicator=slug, as_of=row["observedAt"])
    past = [r["valueNumeric"] for r in then if since <= r["periodEnd"][:10] < end]
    # A month without a survey is missing: nine tenths of them are ten years.
    assert len(past) == {"gdp_growth_yoy": 40, "cpi_inflation_yoy": 120, "unemployment_rate": 119}[slug]
    below, same = sum(v < one["value"] for v in past), sum(v == one["value"] for v in past)
    assert one["percentile10y"] == pytest.approx(100 * (below + same / 2) / len(past))
    if place == "USA":
        assert of(brief, "nonfarm_payrolls_change")["percentile10y"] is None


def test_a_value_has_one_percentile(countries):
    """A reading that a brief and the summary of its release both tell, with one value, has one percentile in both."""
    told = 0
    for place in ("USA", "GBR", "DEU", "PRT", "JPN", "BRA"):
        brief = countries.ok(f"/briefs/{place}")
        rows = countries.ok("/release-summaries", country=place, limit=20)
        newest = {}
        for row in rows:
            for one in row["readings"]:
                newest.setdefault(one["indicatorId"], (row["periodEnd"], one))
        for one in readings(brief):
            period, released = newest.get(one["indicatorId"], (None, None))
            if period == one["periodEnd"] and released["actual"] == one["value"]:
                assert one["percentile10y"] == released["percentile10y"], (place, one, released)
                told += one["percentile10y"] is not None
    assert told > 10


@pytest.mark.parametrize("plan", ["pro", "free"])
def test_a_move_is_judged_by_its_own_ten_years(countries, plan):
    """By the mean absolute change from one reading to the next of the ten years before, as much of them as the plan reaches."""
    verbs = Counter()
    for place in ("USA", "PRT", "DEU", "JPN", "ARG", "CHE", "SWE", "BRA"):
        brief = countries.ok(f"/briefs/{place}", plan)
        one = of(brief, "unemployment_rate")
        (row,) = countries.ok("/observations/latest", country=place, indicator="unemployment_rate")
        end = row["periodEnd"][:10]
        since = "2024-11-20" if plan == "free" else f"{int(end[:4]) - 10}{end[4:]}"
        rows = countries.walk("/observations", country=place, indicator="unemployment_rate", as_of=row["observedAt"])
        past = [r["valueNumeric"] for r in rows if since <= r["periodEnd"][:10] < end]
        assert len(past) in ({22, 23} if plan == "free" else {119, 120})
        ratio = abs(one["change"]) * (len(past) - 1) / sum(abs(two - one) for one, two in pairwise(past))
        (verb,) = re.findall(
            r"^The unemployment rate (was|edged|rose|fell|jumped|dropped)\b", brief["sections"][2]["text"]
        )
        allowed = (
            {"was"}
            if ratio < 0.5
            else {"edged"}
            if ratio < 1
            else {"rose", "fell"}
            if ratio < 2
            else {"jumped", "dropped"}
        )
        assert verb in allowed, (place, ratio)
        verbs[verb] += 1
    assert len(verbs) > 2


def test_withheld_readings(countries):
    """The reading keeps its place, numbers null, with `rights`; it never appears in text."""
    brief = countries.ok("/briefs/USA")
    one = of(brief, "consumer_confidence")
    assert [one[name] for name in FIELDS] == [None] * 6
    assert (one["rights"]["valueWithheld"], one["rights"]["exposure"]) == (True, "restricted")
    assert one["seriesId"] == "sandbox-licensed:country_usa:consumer_confidence:M"
    assert "onfidence" not in brief["sections"][0]["text"]
    assert "Consumer confidence" in countries.ok("/briefs/PRT")["sections"][0]["text"]


def test_what_the_plan_does_not_reach(countries):
    """Readings older than the window take no part; what takes ten years has no value where they are not reached."""
    answer = countries.get("/briefs/PRT", "free")
    assert answer.headers["x-history-from"] == "2024-11-20"
    free, pro = answer.json()["data"], countries.ok("/briefs/PRT")
    assert {one["periodEnd"] >= "2024-11-20" for one in readings(free)} == {True}
    assert {one["percentile10y"] for one in readings(free)} == {None}
    assert of(pro, "cpi_inflation_yoy")["percentile10y"] is not None
    assert of(free, "cpi_inflation_yoy")["value"] == of(pro, "cpi_inflation_yoy")["value"]
    assert of(pro, "current_account_pct_gdp")["previous"] is not None
    # The year 2024 ends inside the window.
    assert of(free, "current_account_pct_gdp")["previous"] == of(pro, "current_account_pct_gdp")["previous"]
    assert countries.error("/briefs/PRT", 403, "free", as_of="2020-01-01")["code"] == "forbidden"


@pytest.mark.parametrize("place", MEMBERS)
def test_members_of_the_euro_area(countries, place):
    """EUR members' rates section points to the euro area, not a copied rate."""
    (rates,) = [one for one in countries.ok(f"/briefs/{place}")["sections"] if one["key"] == "rates"]
    assert "see the brief of the euro area, /briefs/EUR." in rates["text"]
    assert "indicator_policy_rate" not in {one["indicatorId"] for one in rates["readings"]}
    own = countries.ok("/briefs/EUR")
    assert of(own, "policy_rate")["value"] is not None
    assert "/briefs/EUR" not in str(own)


def test_after_years_without_a_survey_nothing_is_compared(countries):
    """In October 2026 the survey of August was the first since 2018: that is said, and no change is told across the years."""
    brief = countries.ok("/briefs/BRA", as_of="2026-10-15")
    one = of(brief, "labor_force_participation_rate")
    assert (one["periodEnd"][:10], one["previous"], one["change"], one["percentile10y"]) == ("2026-08-31", *[None] * 3)
    (text,) = [section["text"] for section in brief["sections"] if section["key"] == "labor"]
    assert re.search(
        r"The participation rate stood at [0-9.]+% in August 2026; this is the first reading since December 2018[.]",
        text,
    )
    now = of(countries.ok("/briefs/BRA"), "labor_force_participation_rate")
    assert now["previous"] == one["value"]


def test_kinds_of_curve_are_named(countries):
    """Mixed curve types in the rates section are noted."""
    text = countries.ok("/briefs/USA")["sections"][3]["text"]
    assert (
        "Mind that this is a par yield, while others are benchmark and spot yields, which are not quite alike." in text
    )


def test_a_past_that_came_later_is_not_counted(own_countries):
    """The ten years are as known when the reading was: a month that came to be known only afterwards takes no part."""
    slug, place = "cpi_inflation_yoy", "PRT"
    (row,) = own_countries.ok("/observations/latest", country=place, indicator=slug)
    then = own_countries.walk("/derived-observations", country=place, indicator=slug)
    end = row["periodEnd"][:10]
    past = {
        r["periodEnd"]: r["valueNumeric"] for r in then if f"{int(end[:4]) - 10}{end[4:]}" <= r["periodEnd"][:10] < end
    }
    assert len(past) == 120
    late = max(past, key=past.get)
    cell = "series = (SELECT series FROM series WHERE id = ?) AND period >> 14 = ?"
    named = (row["metadata"]["seriesId"], date.fromisoformat(late[:10]).toordinal())
    known = int(datetime.fromisoformat(row["observedAt"]).timestamp())
    with PipelineContext(settings(own_countries.home), SIMULATED) as world, world.batch("test") as batch:
        batch.touch()
        world.db.execute(f"DELETE FROM vintages WHERE {cell} AND to_version < 1 << 61", named)
        first = world.db.execute(f"SELECT max(known_at) FROM vintages WHERE {cell}", named).get
        world.db.execute(f"DELETE FROM vintages WHERE {cell} AND known_at < ?", (*named, first))
        world.db.execute(f"UPDATE vintages SET known_at = ? WHERE {cell}", (known + 1, *named))
    left = [value for when, value in past.items() if when != late]
    below, same = (sum(v < row["valueNumeric"] for v in left), sum(v == row["valueNumeric"] for v in left))
    expected = 100 * (below + same / 2) / 119
    assert expected != pytest.approx(100 * (below + same / 2) / 120)
    assert of(own_countries.ok(f"/briefs/{place}"), slug)["percentile10y"] == pytest.approx(expected)


def test_a_members_copy_of_the_policy_rate_is_left_out(own_countries):
    """Not a copied rate: where a source lists one for a member, the brief has none, and no other country is ranked by it."""
    before = of(own_countries.ok("/briefs/NOR"), "policy_rate")
    with PipelineContext(settings(own_countries.home), SIMULATED) as world, world.batch("test") as batch:
        batch.touch()
        world.db.execute(
            "UPDATE topic SET entity = 'country_prt' WHERE entity = 'country_swe' AND indicator = 'policy_rate'"
        )
    assert own_countries.ok("/observations/latest", country="PRT", indicator="policy_rate") != []
    member = own_countries.ok("/briefs/PRT")
    assert "indicator_policy_rate" not in {one["indicatorId"] for one in readings(member)}
    # Sweden's rate is gone from the ranking, and Portugal's has not come.
    assert of(own_countries.ok("/briefs/NOR"), "policy_rate")["peerCount"] == before["peerCount"] - 1


# -- addresses, moments, workers ------------------------------------------------------------------------------------------


def test_a_country_without_data(countries):
    """Six sections always; one without data says so, and promises no source that nobody has asked."""
    brief = countries.ok("/briefs/ISR")
    assert [(one["key"], one["readings"]) for one in brief["sections"]] == [(key, []) for key in SECTIONS]
    assert (brief["asOf"], brief["derivedFrom"]) == (None, [])
    assert brief["headline"] == "There are no readings to show for Israel."
    for section, topic in zip(brief["sections"], TOPICS, strict=True):
        assert section["text"] == f"There is nothing on {topic} for Israel."


def test_the_same_whether_warmed_or_not(countries):
    """What is made when the service starts is what a first request would have made, for every plan."""
    other = Service(countries.home)
    other.app.warm()
    for place, plan in (("USA", "pro"), ("PRT", "free"), ("EUR", "pro")):
        cold, warm = (one.get(f"/briefs/{place}", plan).content.split(b',"meta":')[0] for one in (countries, other))
        assert cold == warm
    other.close()


def test_a_past_moment_stays_as_it_is(own_countries):
    """With a past as_of the same bytes after later data arrived."""

    def asked(**params):
        return own_countries.get("/briefs/PRT", **params).content.split(b',"meta":')[0]

    before, today = asked(as_of="2026-03-31"), asked()
    later = settings(own_countries.home, NOW="2027-01-15T12:00:00Z")
    now = later.clock()
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    with PipelineContext(later, SIMULATED) as world:
        wanted = [one for one in fred(economy, now, None) if "series_id=SIMPRT" in one.url]
        pages = [
            Response(one.source, one.url, simulated_countries.cut(one, daily=False), one.fetched_at, one.media_type)
            for one in wanted
            if one.fetched_at == now
        ]
        assert pages
        take_in(world, pages, lambda _: None)
    own_countries.data_now = now
    assert asked(as_of="2026-03-31") == before
    assert asked() != today
    brief = own_countries.ok("/briefs/PRT", as_of="2026-03-31")
    assert brief["asOf"] == "2026-03-31T23:59:59Z"
    assert max(one["periodEnd"] for one in readings(brief)) <= "2026-03-31T00:00:00Z"


def test_a_stale_reading_says_so(own_countries):
    """A stale reading says so, is not ranked, and is in no headline."""
    own_countries.data_now = own_countries.settings.clock() + 120 * 86_400
    brief = own_countries.ok("/briefs/PRT")
    one = of(brief, "unemployment_rate")
    assert (one["freshnessStatus"], one["peerRank"], one["peerCount"]) == ("stale", None, None)
    assert one["value"] is not None
    text = brief["sections"][2]["text"]
    assert f"stood at {one['value']:.1f}% in October 2026; this is the last reading, and it is stale." in text
    assert "countries compared" not in text
    assert "unemployment" not in brief["headline"]
    # A quarter is fresh for longer than a month.
    assert "real GDP" in brief["headline"]
    # By now the plan's window has left the year 2024 behind.
    account = of(own_countries.ok("/briefs/PRT", "free"), "current_account_pct_gdp")
    whole = of(brief, "current_account_pct_gdp")
    assert (account["value"], account["previous"], account["change"]) == (whole["value"], None, None)
    assert whole["previous"] is not None


def test_recent_releases(countries):
    """The newest release summaries of the country."""
    for params in ({}, {"as_of": "2026-06-30"}):
        found = countries.ok("/briefs/PRT", **params)["recentReleases"]
        assert [one["entityId"] for one in found] == ["country_prt"] * 5
        times = [one["releasedAt"] for one in found]
        assert times == sorted(times, reverse=True)
        assert times[0] <= (params.get("as_of", "2026-11-20") + "T23:59:59Z")
    assert countries.ok("/briefs/PRT")["recentReleases"] == countries.ok("/release-summaries", country="PRT", limit=5)


# -- events -------------------------------------------------------------------------------------------------------------


def coming(number, day, **more):
    told = {
        "event": event_id("sandbox-fred", f"release-{number}", day), "known_at": 1_790_000_000,
        "occurred_at": int(datetime.fromisoformat(f"{day}T09:30:00+00:00").timestamp()), "precision": "minute",
        "time_zone": "UTC", "category": "macro_release", "type": "release", "title": f"Release {number}",
        "status": "scheduled", "source": "sandbox-fred", "country": "country_isr",
    }  # fmt: skip
    return EventState(**{**told, **more})


def test_upcoming_events(own_countries):
    """Events of the country that are still to come, soonest first, at most ten."""
    states = [coming(n, f"2026-12-{n:02d}") for n in range(12, 0, -1)]
    states += [
        coming(20, "2026-11-20"), coming(21, "2026-11-19"), coming(22, "2026-11-30", status="canceled"),
        coming(23, "2026-11-30", country="country_rou"), coming(24, "2026-11-25", status="rescheduled", category="central_bank"),
        coming(25, "2026-11-24", source="sandbox-licensed"),
    ]  # fmt: skip
    with PipelineContext(settings(own_countries.home), SIMULATED) as world, world.batch("test") as batch:
        batch.touch()
        events.put(world.db, batch.version, states)
    found = own_countries.ok("/briefs/ISR")["upcomingEvents"]
    assert [one["title"] for one in found] == [f"Release {n}" for n in (20, 25, 24, 1, 2, 3, 4, 5, 6, 7)]
    assert found[1]["rights"]["valueWithheld"] is True
    assert found[3] == own_countries.ok("/events", country="ISR", start_date="2026-12-01", end_date="2026-12-01")[0]
    then = own_countries.ok("/briefs/ISR", as_of="2026-11-19")["upcomingEvents"]
    assert [one["title"] for one in then][:2] == ["Release 20", "Release 25"]
    assert [one["title"] for one in own_countries.ok("/briefs/ROU")["upcomingEvents"]] == ["Release 23"]
