"""
Questions of a past day asked through the Python client and through the tools for language models, over a store that knows
more and over one that knows nothing later.

Left out of both answers is what is told as of today, whatever the moment: the names and tickers of companies, the ids of
their series, which go by the currency they report in today, and the number of the data version.
"""

import asyncio
import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx2
import msgspec
import polars as pl
from clients.python.tests.served import BASE, client
from mcp.client.client import Client

from almanac.domain.times import end_of_day
from almanac_client import Almanac, AlmanacError, AsyncAlmanac
from almanac_client._frames import Table
from almanac_client._series import Series
from almanac_client._vintages import Triangle
from almanac_mcp.caller import Callers
from almanac_mcp.server import AlmanacServer
from tests.support.past_worlds import NOT_OF_THEN, OF_SERIES, OF_TODAY, Differing, compared, plainly
from tests.support.service import Service

#: What is asked of one store, without the day.
Ask = Callable[[Service, date], Any]

#: Identity is told as of today, and which data version an answer is of follows from how a store was loaded.
_IDENTITY = re.compile(r"[^\n,:;]*\((company_\d+)(, [^)\n]*)?\)")
_LISTED = re.compile(r'^(company_\d+),[^,\n]*,("(?:[^"\n]|"")*"|[^,\n]*),', re.MULTILINE)
_VERSION = re.compile(r"data version \d+")
_UNKNOWN = "is not the exact id of"
#: What there is of it now is said of an answer without rows, as help to whoever asks.
_OF_NOW = ("held are:", "it is held for")


# -- the client ----------------------------------------------------------------------------------------------------


def client_questions(service: Service, asked_of: date, count: int) -> Iterator[tuple[str, Any, Ask]]:
    """Random questions of everything of the client that picks for a past day, in turn: kind, what is asked, how."""
    rng = random.Random(asked_of.toordinal())
    pairs, of_companies = _pairs(service)
    # Who there is at all is told as of today: what is asked of several at once is asked of such as were there.
    known, known_companies = _pairs(service, asked_of)

    def pair() -> tuple[str, str]:
        return rng.choice(of_companies if of_companies and rng.random() < 0.5 else pairs)

    def several(most: int) -> list[tuple[str, str]]:
        return rng.sample(known_companies if known_companies and rng.random() < 0.5 else known, most)

    def days_before() -> list[int]:
        return sorted(rng.sample(range(1_500), 5))

    def panel() -> tuple[Any, Ask]:
        chosen = several(3)
        slugs, places = ([one[n] for one in chosen] for n in (0, 1))
        ago = [0, *days_before()]
        return (slugs, places, ago), lambda one, day: _asked(
            lambda: client(one).panel(slugs, places, at=[day - timedelta(days=n) for n in ago])
        )

    def bound_panel() -> tuple[Any, Ask]:
        slug, place = pair()
        return (slug, place), lambda one, day: _asked(
            lambda: _with_a_reading(
                client(one).at(day).panel(slug, place, at=day, max_age=400).to_records(), "observed_at"
            )
        )

    def join() -> tuple[Any, Ask]:
        slug, place = pair()
        ago = days_before()
        return (slug, place, ago), lambda one, day: _asked(
            lambda: _with_a_reading(
                client(one)
                .join_as_of(pl.DataFrame({"timestamp": _times(day, ago)}), indicator=slug, place=place)
                .drop("timestamp")
                .to_dicts(),
                f"{slug}_observed_at",
            )
        )

    def series() -> tuple[Any, Ask]:
        slug, place = pair()
        return (slug, place), lambda one, day: _asked(lambda: client(one).series(slug, place, as_of=day))

    def frame() -> tuple[Any, Ask]:
        wanted = {f"{slug} {place}": (slug, place) for slug, place in (*several(2), *several(1))}
        return wanted, lambda one, day: _asked(lambda: client(one).at(day).frame(wanted, how="long"))

    def gathered() -> tuple[Any, Ask]:
        wanted = {f"{slug} {place}": (slug, place) for slug, place in (rng.choice(pairs), rng.choice(pairs))}
        word, frequency = rng.choice(["last", "mean", "sum"]), rng.choice(["quarterly", "annual"])
        return (wanted, word, frequency), lambda one, day: _asked(
            lambda: client(one).frame(wanted, how=word, frequency=frequency, as_of=day)
        )

    def triangle() -> tuple[Any, Ask]:
        slug, place = pair()
        return (slug, place), lambda one, day: _asked(lambda: client(one).at(day).triangle(slug, place))

    def brief() -> tuple[Any, Ask]:
        place = rng.choice(pairs)[1]
        return place, lambda one, day: _asked(lambda: _brief(client(one), place, day))

    kinds = {
        "panel": panel, "panel of a bound client": bound_panel, "join": join, "series": series, "frame": frame,
        "gathered frame": gathered, "triangle": triangle, "brief": brief,
    }  # fmt: skip
    if of_companies:

        def statements() -> tuple[Any, Ask]:
            company, frequency = rng.choice(of_companies)[1], rng.choice(["annual", "quarterly"])
            return (company, frequency), lambda one, day: _asked(
                lambda: _statements(client(one), company, frequency, day)
            )

        kinds["statements"] = statements
    names = sorted(kinds)
    for n in range(count):
        yield names[n % len(names)], *kinds[names[n % len(names)]]()


def _pairs(service: Service, day: date | None = None) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Indicators and places that have values of them, now or as of a day: of economies, and of companies."""
    pairs, of_companies = set[tuple[str, str]](), set[tuple[str, str]]()
    asked = {} if day is None else {"as_of": day.isoformat()}
    for row in service.walk("/observations/latest", limit=500, **asked):
        one = row["indicatorId"].removeprefix("indicator_"), row["entityId"]
        (of_companies if row["entityId"].startswith("company_") else pairs).add(one)
    return sorted(pairs), sorted(of_companies)


def _with_a_reading(rows: list[dict[str, Any]], known: str) -> list[dict[str, Any]] | None:
    """Rows of which any has a reading, by the column that says since when it was known; a company that came later has none."""
    return rows if any(row[known] for row in rows) else None


def _times(day: date, ago: list[int]) -> list[datetime]:
    end = datetime.fromtimestamp(end_of_day(day), UTC)
    return [end - timedelta(days=n, hours=n % 24) for n in ago]


def _statements(almanac: Almanac, company: str, frequency: Any, day: date) -> Any:
    found = almanac.statements(company, frequency=frequency, as_of=day)
    tables = (found.income, found.balance, found.cash_flow, found.quality, found.table())
    # A company that had filed nothing is known by now, and of it nothing was known then.
    return [_plain(one) for one in tables] if len(found.quality) else None


def _brief(almanac: Almanac, place: str, day: date) -> Any:
    found = almanac.brief(place, as_of=day)
    return [found.headline, found.text, *(_plain(one) for one in (found.readings, found.events, found.releases))]


def _asked(ask: Callable[[], Any]) -> Any:
    """An answer without what is told of today, and what was warned of beside it."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            told = _plain(ask())
        except AlmanacError as error:
            told = f"{type(error).__name__}: {error}"
            # Nothing was known of it, or nobody knew that there was such a company.
            if "NotFound" in told or "nothing is known of" in told:
                return None
    said = [str(one.message) for one in warned if not any(part in str(one.message) for part in _OF_NOW)]
    return {"told": told, "warned": said} if told else None


def _plain(told: Any) -> Any:
    """An answer of the client as plain values."""
    if isinstance(told, Table):
        told = {
            "rows": told.to_records(),
            "attrs": {name: value for name, value in told.attrs.items() if name in {"without", "gathered", "periods"}},
        }
    elif isinstance(told, Series):
        told = [told.frequency, *told.rows] if told.rows else None
    elif isinstance(told, Triangle):
        # The rows of which its series is chosen are the later ones too; what was chosen is what is compared.
        told = [
            told.frequency, told.source_id, [row for end in told.periods for row in told.states(end)], told.latest().rows,
            told.first().rows, told.revisions().to_records(),
        ]  # fmt: skip
    return _without(msgspec.to_builtins(told))


_SNAKE = {re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name) for name in NOT_OF_THEN | OF_TODAY | OF_SERIES}


def _without(told: Any) -> Any:
    of_company = "company_" in str(told)[:200_000]
    return plainly(told, (NOT_OF_THEN | OF_TODAY | OF_SERIES | _SNAKE) if of_company else NOT_OF_THEN | {"ingested_at"})


def client_differences(later: Service, then: Service, day: date, count: int) -> list[Differing]:
    """What the client over a store that knows more answers otherwise as of a day."""
    return compared(
        ((kind, about, ask(later, day), ask(then, day)) for kind, about, ask in client_questions(later, day, count))
    )


# -- tools for language models -------------------------------------------------------------------------------------


def tool_questions(service: Service, asked_of: date, count: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Random calls of every tool that takes a past day, in turn: its name and arguments without the day."""
    rng = random.Random(asked_of.toordinal())
    pairs, of_companies = _pairs(service)
    known, known_companies = _pairs(service, asked_of)
    places = sorted({place for _, place in pairs})
    companies = sorted({company for _, company in of_companies})
    fields = sorted({slug for slug, _ in pairs})

    def some(most: int) -> tuple[list[str], list[str]]:
        # As with the client, several at once are such as were there.
        of_then = (known, known_companies) if most > 1 else (pairs, of_companies)
        chosen = rng.sample(of_then[1] if of_then[1] and rng.random() < 0.5 else of_then[0], most)
        return sorted({one[0] for one in chosen}), sorted({one[1] for one in chosen})

    def series() -> dict[str, Any]:
        slugs, where = some(1)
        return {"indicators": slugs, "places": where, "last": rng.choice([4, 12, 60])}

    def latest() -> dict[str, Any]:
        slugs, where = some(4)
        return {"indicators": slugs, "places": where}

    def revisions() -> dict[str, Any]:
        (slug,), (place,) = some(1)
        return {"indicator": slug, "place": place}

    def company() -> dict[str, Any]:
        return {
            "company": rng.choice(companies), "view": rng.choice(["income", "balance", "cash_flow"]),
            "frequency": rng.choice(["annual", "quarterly"]), "periods": 3,
        }  # fmt: skip

    def screen() -> dict[str, Any]:
        if companies and rng.random() < 0.5:
            return {"universe": "companies", "filter": f"net_margin:gt:{rng.choice([0, 0.1])}", "sort": "-total_assets"}
        slug = rng.choice(fields)
        return {"universe": "countries", "filter": f"{slug}:gt:{rng.choice([-100, 0, 2])}", "sort": f"-{slug}"}

    def brief() -> dict[str, Any]:
        return {"country": rng.choice(places)}

    def calendar() -> dict[str, Any]:
        year = rng.choice([0, -1]) + asked_of.year
        return {"start": f"{year}-01", "end": f"{year}-12", "place": rng.choice(places)}

    kinds: dict[str, Callable[[], dict[str, Any]]] = {
        "almanac_series": series, "almanac_latest": latest, "almanac_revisions": revisions, "almanac_screen": screen,
        "almanac_brief": brief, "almanac_calendar": calendar,
    }  # fmt: skip
    if companies:
        kinds["almanac_company"] = company
    names = sorted(kinds)
    for n in range(count):
        yield (name := names[n % len(names)]), kinds[name]()


def call(service: Service, tool: str, arguments: Mapping[str, Any]) -> str:
    """What a tool says, through the protocol."""

    async def asked() -> str:
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(service.app, client=("127.0.0.1", 5000)))
        almanac = AsyncAlmanac(url=BASE, api_key=service.keys["pro"], insecure=True, http_client=http, pace=False)
        async with Client(AlmanacServer(Callers(lambda: almanac, own_key=True))) as model:
            told = await model.call_tool(tool, dict(arguments))
        return "".join(getattr(one, "text", "") for one in told.content)

    return asyncio.run(asked())


def tools_of_past_days(service: Service) -> set[str]:
    """The tools that can be asked what was known on a day."""

    async def listed() -> set[str]:
        almanac = AsyncAlmanac(url=BASE, api_key=service.keys["pro"], insecure=True)
        async with Client(AlmanacServer(Callers(lambda: almanac, own_key=True))) as model:
            return {one.name for one in (await model.list_tools()).tools if "as_of" in one.input_schema["properties"]}

    return asyncio.run(listed())


def tool_differences(later: Service, then: Service, day: date, count: int) -> list[Differing]:
    """What tools over a store that knows more answer otherwise as of a day, line by line."""

    def said(one: Service, tool: str, arguments: Mapping[str, Any]) -> list[str] | None:
        text = call(one, tool, {**arguments, "as_of": day.isoformat()})
        # Nobody knew that there was such a company; or it is known by now, and not a number of it was then: each is cited.
        if _UNKNOWN in text or ("company_" in str(arguments) and "[1]" not in text):
            return None
        text = _LISTED.sub(r"\1,", _IDENTITY.sub(r"(\1)", _VERSION.sub("data version", text)))
        return [line for line in text.splitlines() if not any(part in line for part in _OF_NOW)]

    return compared(
        (tool, arguments, said(later, tool, arguments), said(then, tool, arguments))
        for tool, arguments in tool_questions(later, day, count)
    )
