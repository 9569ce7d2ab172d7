"""
Stores of the simulated world that know nothing later than a day, and questions to hold them beside one that knows more.

What is picked for a past day must not follow from what came later: an answer as of a day is that of a store which was
loaded with nothing that came to be known after it.
"""

import json
import operator
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from almanac.domain.times import end_of_day
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.reports.rates import SCOPES
from almanac.sandbox.calendars import calendars
from almanac.sandbox.companies import responses
from almanac.sandbox.companies.filers import companies
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import TREASURY, PendingResponse, fred, mof, treasury
from almanac.sandbox.world import Response
from tests.support.service import Service, make_accounts, settings

#: Told of what is kept and not of what was known: when a page was fetched, of which the store of then has another edition.
NOT_OF_THEN = {"ingestedAt", "payload", "requestId"}
#: What a company is called and counted among is today's, whatever the moment, as the interface's document says.
OF_TODAY = {"ticker", "name", "slug", "sector", "industry", "country", "exchange", "matchedAlias", "validTo"}
#: How series of companies are called goes by the currency a company reports in today: numbers of another one have its code.
OF_SERIES = {"id", "seriesId", "derivedFrom"}
#: What was known on a day was fetched by the small hours of the next; what became known in these is not asked of.
_NIGHT = 4 * 3_600
_STATEMENTS = ("incomeStatements", "balanceSheets", "cashFlowStatements")
#: A question: its kind, path and parameters without the day.
Question = tuple[str, str, dict[str, Any]]
Wanted = Callable[[str], bool]


def _every(_: str) -> bool:
    return True


def economy_pages(day: date, wanted: Wanted = _every) -> Iterator[Response]:
    """
    What the publishers of the economy had told by the end of a day. The last pages of feeds without release times would
    tell more. `wanted` by address.
    """
    now, economy = end_of_day(day) + 1, Economy(day + timedelta(days=1))
    captures = [*treasury(economy, now), *mof(economy, now), *fred(economy, now, None), *calendars(now)]
    for one in sorted(captures, key=lambda one: one.fetched_at):
        stated = one.source == TREASURY or "realtime_start" in one.url
        if (one.fetched_at < now or stated) and wanted(one.url):
            yield _made(one)


def company_pages(day: date, numbers: Iterable[int] | None = None) -> Iterator[Response]:
    """What companies (None: all) had filed by the end of a day, as far as it could have been fetched then."""
    now = end_of_day(day) + _NIGHT
    found = responses.company_pages(now) if numbers is None else responses.pages_of(numbers, now)
    for one in sorted(found, key=lambda one: one.fetched_at):
        if one.fetched_at < now:
            yield _made(one)


def _made(one: PendingResponse) -> Response:
    return Response(one.source, one.url, one.make(), one.fetched_at, one.media_type)


def load(home: Path, day: date, *pages: Iterator[Response]) -> Service:
    """A home whose store knows nothing that came to be known after a day."""
    then = datetime.fromtimestamp(end_of_day(day) + _NIGHT, UTC).isoformat().replace("+00:00", "Z")
    chosen = settings(home, NOW=then)
    with PipelineContext(chosen, SIMULATED) as world:
        for some in pages:
            take_in(world, some, lambda _: None)
    make_accounts(chosen)
    return Service(home, more={"NOW": then, "REQUEST_SECONDS": "120"})


def questions(service: Service, seed: int, count: int) -> list[Question]:
    """Random questions of everything that picks of countries and of companies, where the store has any, in turn."""
    rng = random.Random(seed)
    places = [row["slug"] for row in service.walk("/countries", limit=500, has_data="true")]
    listed = service.walk("/indicators", limit=500)
    slugs = [row["slug"] for row in listed if row["seriesCount"] and row["screenable"]]
    raw = [row["slug"] for row in listed if row["seriesCount"] and row["kind"] == "raw"]
    derived = [row["slug"] for row in service.walk("/derived-indicators", limit=500) if row["seriesCount"]]
    fields = _with_numbers(service, "/screener/filters")
    scopes = [one for one in SCOPES if service.get(f"/rates/{one}/history", "pro", None, limit=1).json()["data"]]
    listed_companies = service.walk("/companies", limit=200)
    filers = [row["entityId"] for row in listed_companies]
    numbers = [row["cik"] for row in listed_companies]
    kinds: dict[str, Callable[[], tuple[str, dict[str, Any]]]] = {
        "latest of a place": lambda: ("/observations/latest", {"country": rng.choice(places), "limit": 500}),
        "latest of indicators": lambda: (
            "/observations/latest",
            {"indicator_id": ",".join(rng.sample(slugs, 3)), "limit": 200},
        ),
        "latest by freshness": lambda: (
            "/observations/latest",
            {"freshness": rng.choice(["fresh", "stale"]), "limit": 500},
        ),
        "values": lambda: (
            "/observations",
            {"indicator": rng.choice(raw), "order": "desc"},
        ),
        "values of every source": lambda: (
            "/observations",
            {"country": rng.choice(places), "sources": "all", "sort": "observed_at", "order": "desc", "limit": 50},
        ),
        "derived values": lambda: (
            "/derived-observations",
            {"indicator": rng.choice(derived), "order": "desc"},
        ),
        "rates": lambda: (f"/rates/{rng.choice(scopes)}/history", {}),
        "brief": lambda: (f"/briefs/{rng.choice(places)}", {}),
        "screen": lambda: (
            "/screener",
            {"filter": f"{rng.choice(fields)}:gt:{rng.choice([-100, 0, 2])}", "limit": 50},
        ),
        "screen of what is fresh": lambda: (
            "/screener",
            {"filter": f"{rng.choice(fields)}:gt:{rng.choice([-100, 0, 2])}", "freshness": "fresh", "limit": 50},
        ),
        "events": lambda: ("/events", {"country": rng.choice(places), "limit": 50}),
        "events by status": lambda: (
            "/events",
            {"status": rng.choice(["scheduled", "unknown", "revised"]), "limit": 50},
        ),
    }
    if filers:
        figures = _with_numbers(service, "/equity-screener/filters")
        kinds |= {
            "statements": lambda: (f"/companies/{rng.choice(filers)}/financials", {"limit": 20}),
            "statements of a frequency": lambda: (
                f"/companies/{rng.choice(filers)}/financials",
                {"frequency": rng.choice(["annual", "quarterly"]), "limit": 8},
            ),
            "latest of a company": lambda: ("/observations/latest", {"entity": rng.choice(filers), "limit": 500}),
            "figures of a company": lambda: (
                "/derived-observations",
                {"entity": rng.choice(filers), "order": "desc", "limit": 200},
            ),
            "screen of companies": lambda: (
                "/equity-screener",
                {"filter": f"{(one := rng.choice(figures))}:gt:{rng.choice([-1, 0, 1])}", "sort": one, "limit": 200},
            ),
            "screen with columns": lambda: (
                "/equity-screener",
                {"filter": f"{rng.choice(figures)}:lt:{rng.choice([1, 100])}", "fields": "revenue_ttm,net_margin",
                 "sort": "total_assets", "order": "desc", "quality": rng.choice(["ok", "all"]), "limit": 200},
            ),
            # Tickers are today's, whatever the day asked of.
            "numbers of companies": lambda: ("/entities/resolve", {"alias": rng.choice(numbers)}),
        }  # fmt: skip
    names = sorted(kinds)
    return [(kind := names[n % len(names)], *kinds[kind]()) for n in range(count)]


def _with_numbers(service: Service, path: str) -> list[str]:
    """Number fields of a screener of which anybody has one."""
    return [row["field"] for row in service.ok(path)["fields"] if row["type"] == "number" and row["entityCount"]]


def plainly(value: Any, without: Collection[str] = frozenset(NOT_OF_THEN)) -> Any:
    """An answer without what is told of the store and not of then."""
    if isinstance(value, dict):
        return {name: plainly(one, without) for name, one in value.items() if name not in without}
    return [plainly(one, without) for one in value] if isinstance(value, list) else value


def asked(service: Service, path: str, parameters: dict[str, Any]) -> Any:
    answer = service.get(path, "pro", None, **parameters)
    assert answer.status_code in {200, 404}, answer.text
    of_companies = path.startswith(("/companies", "/equity-screener", "/entities"))
    without = NOT_OF_THEN | OF_TODAY if of_companies else NOT_OF_THEN
    told = plainly(answer.json()["data"], without) if answer.status_code == 200 else None
    told = [plainly(row, OF_SERIES) if _of_company(row) else row for row in told] if isinstance(told, list) else told
    if path.startswith("/companies") and told:
        told = plainly(told, OF_SERIES)
    if path == "/equity-screener" and told:
        told = sorted(told, key=operator.itemgetter("entityId"))  # equal figures stand by today's name
    if path == "/events" and told:
        told = [
            {k: v for k, v in row.items() if k != "title" or not _of_company(row)} for row in told
        ]  # it has the name
    # A company that had filed nothing is known by now, and of it nothing was known then.
    return None if path.endswith("/financials") and told and not any(map(told.get, _STATEMENTS)) else told


def _of_company(row: dict[str, Any]) -> bool:
    return str(row.get("entityId")).startswith("company_")


#: What differs: the kind of question, what was asked, and where and how its answers differ first.
Differing = tuple[Any, ...]


def differences(later: Service, then: Service, day: date, count: int) -> list[Differing]:
    """What a store that knows more answers otherwise as of a day, of so many random questions."""

    def answers() -> Iterator[tuple[str, Any, Any, Any]]:
        for kind, path, parameters in questions(later, day.toordinal(), count):
            now, before = (asked(one, path, {**parameters, "as_of": day.isoformat()}) for one in (later, then))
            # Who there is at all is told as of today: a company that came later is resolved, and was unknown then.
            unknown_then = path == "/entities/resolve" and before is None
            yield kind, (path, parameters), now, now if unknown_then else before

    return compared(answers())


def compared(answers: Iterable[tuple[str, Any, Any, Any]]) -> list[Differing]:
    """Which of these pairs of answers differ: kind of question, what was asked, what one store says and the other."""
    found = []
    told = dict[str, int]()
    for kind, about, now, before in answers:
        told[kind] = told.get(kind, 0) + bool(now)
        if now != before:
            found.append((kind, about, first_difference(now, before)))
    # A kind of question that nothing answers would hold whatever happens.
    assert sum(map(bool, told.values())) > 3 * len(told) / 4, told
    return found


def first_difference(a: Any, b: Any, where: str = "") -> str | None:
    """Where two answers differ first, and how."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next((found for name in a if (found := first_difference(a[name], b[name], f"{where}.{name}"))), None)
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            odd = [one for one in a if one not in b][:1] or [one for one in b if one not in a][:1]
            return f"{where}: {len(a)} of {len(b)}: {json.dumps(odd)[:300]}"
        pairs = enumerate(zip(a, b, strict=True))
        return next((found for n, (x, y) in pairs if (found := first_difference(x, y, f"{where}[{n}]"))), None)
    return None if a == b else f"{where}: {json.dumps(a)[:160]} is {json.dumps(b)[:160]}"


#: A world of a few seconds: two places in depth, a curve, a series that stopped, one that was taken back, withheld ones
#: beside public ones.
_SERIES = re.compile(
    r"series_id=(SIMUSA(CPI|CORE|UNRATE|PAYEMS|RGDP|POLICY|CONF|GAP)|SIMGBR(CPI|UNRATE|TURN|POLICY|CA)|SIMPRTHOUSE|SIMCANY10Y|SIMBRA(PART|Y10Y)|SIMDEUVACANCY)(&|$)"
)
#: Gone since 2024, and restated in 2024. The deep world has companies of every kind.
SMALL_FILERS = (147, 201)
_YEARS = re.compile(r"=(2023|2024)(&|$)")


def in_small_world(url: str) -> bool:
    """Whether the small world has a page of the economy."""
    return bool(_SERIES.search(url) or ("daily_treasury" in url and _YEARS.search(url)))


#: Of the law with many days: some places in depth with all their calendars, and every twelfth company beside those that
#: report as few others do.
_PLACES = re.compile(r"series_id=SIM(USA|GBR|PRT|JPN|CAN|BRA|EUR|WLD|DEUVACANCY)")


def in_depth(url: str) -> bool:
    """Whether the world of some places has a page of the economy."""
    return "series_id=" not in url or bool(_PLACES.search(url))


def some_filers() -> list[int]:
    """Numbers of the companies of that world."""
    return [one.number for one in companies() if one.number % 12 == 4 or one.kind or one.gone or one.seat]
