"""almanac_rates: a sovereign yield curve, its slopes, and its spreads to its peers."""

from __future__ import annotations

from almanac_mcp import names
from almanac_mcp.asking import Api, Item, Record, UnknownError
from almanac_mcp.references import References, references
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table
from almanac_mcp.text.citations import Citations
from almanac_mcp.text.refusals import RefusalError


async def rates(api: Api, scope: str) -> Answer:
    """Answer with yields in percent, and spreads and slopes in basis points."""
    told = await _read_scope(api, scope)
    record = told.record
    series = [one["seriesId"] for one in record["curve"]]
    series += [leg["seriesId"] for slope in record["peerSlopes"] for leg in slope["legs"]]
    parts = [one.split(":") for one in series]
    found = await references(api, {one[1] for one in parts}, {one[2] for one in parts})
    answer = Answer(
        [
            words.known(None, told.version),
            f"{record['name']} ({record['scope']}), {record['currency']}, as of {words.instant(record['asOf'])}",
        ]
    )
    cite = answer.citations
    answer.tables.append(
        Table(
            "yields, percent per year",
            ("tenor", "yield", "period", "observed", "curve", "compounding", "source"),
            [
                (
                    one["tenor"],
                    words.number(one["yield"]),
                    words.day(one["periodEnd"]),
                    words.day(one["observedAt"]),
                    one["curveType"],
                    one["compounding"],
                    _number(cite, found, one["seriesId"]),
                )
                for one in record["curve"]
            ],
            keep="first",
        )
    )
    slopes = [(record["scope"], one) for one in record["slopes"]]
    slopes += [(one["scope"], one) for one in record["peerSlopes"]]
    answer.tables.append(
        Table(
            "slopes, basis points",
            ("scope", "slope", "bp", "excluded", "source"),
            [
                (scope, one["name"], words.number(one["valueBp"]), one["excluded"] or "", _sources(cite, found, one))
                for scope, one in slopes
            ],
            [
                f"{scope} {one['name']}: {one['excluded']}, its yields are of {' and '.join(map(_leg, one['legs']))}; "
                f"{rows.DO_NOT_ESTIMATE}"
                for scope, one in slopes
                if one["excluded"]
            ],
            keep="first",
        )
    )
    answer.tables.append(
        Table(
            f"spreads, {record['scope']} less peer, basis points",
            ("tenor", "peer", "peer_yield", "bp", "period", "days_apart", "excluded"),
            [
                (
                    one["tenor"],
                    peer["scope"],
                    words.number(peer["yield"]),
                    words.number(peer["spreadBp"]),
                    words.day(peer["periodEnd"]),
                    peer["dateGapDays"],
                    peer["excluded"] or "",
                )
                for one in record["spreads"]
                for peer in one["peers"]
            ],
            [
                f"{one['tenor']}: to the mean of {words.counted(one['peerCount'], 'peer')} "
                f"({words.number(one['peerMean'])}) {words.number(one['spreadToMeanBp'])} bp"
                for one in record["spreads"]
                if one["peerMean"] is not None
            ],
            keep="first",
        )
    )
    answer.notes += [f"note: {words.plain(one)}" for one in record["comparability"]]
    answer.notes.append("a tenor that is not listed has no yield that may be shown: nothing is interpolated")
    return answer


async def _read_scope(api: Api, scope: str) -> Item:
    """Request a scope. For a place without its own curve, raise a refusal that names the scopes of its currency."""
    try:
        return await api.item("rates.get", scope)
    except UnknownError as error:
        try:
            place = await names.entity(api, scope, names.PLACES)
        except RefusalError:
            raise error from None
        every = (await api.page("countries.list", limit=500)).rows
        currency = next((one["currency"] for one in every if one["id"] == place["entityId"]), None)
        scopes = [one for one in every if one["ratesScope"] and one["currency"] == currency and currency]
        if not scopes:
            raise
        told = ", ".join(f"{one['isoAlpha3'] or one['currency']} ({one['name']})" for one in scopes)
        message = f"{place['name']} has no curve of its own here; its currency, {currency}, has: {told}"
        raise RefusalError(message, allowed=error.allowed, suggestion=told.partition(" ")[0]) from error


def _leg(leg: Record) -> str:
    return f"{words.day(leg['periodEnd'])} ({leg['tenor']})"


def _number(citations: Citations, found: References, series: str) -> str:
    number = found.cite(citations, series)
    return series.partition(":")[0] if number is None else f"[{number}]"


def _sources(citations: Citations, found: References, slope: Record) -> str:
    return "".join(dict.fromkeys(_number(citations, found, leg["seriesId"]) for leg in slope["legs"]))
