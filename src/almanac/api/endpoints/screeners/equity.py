"""GET /equity-screener: companies by fundamentals, ratios, scores, sector and industry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.params import Param
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.screeners import screening
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.api.endpoints.screeners.peers import Peers
from almanac.api.endpoints.screeners.records import EquityScreenerRow, ScreenerField
from almanac.api.rows.names import place as place_called
from almanac.domain.periods import end_of
from almanac.domain.reference import Indicator
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import CURRENCY, CURRENCY_PER_SHARE, is_amount, is_money
from almanac.reports.filter_text import Clause, Field
from almanac.reports.scoring import MEASURES
from almanac.reports.screener import Column, Numbers, Texts, matching, page, place
from almanac.store.companies.rows import last_tickers
from almanac.store.observations.newest.columns import QUALITIES
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.reader import View

_EXAMPLE = "revenue_ttm:gt:1e9,net_margin:gte:0.1"
_PATH = "/equity-screener"
_SCORE = "score"
_CURRENCY = (
    "ISO code of the currency the company reports in. With a clause on it, amounts of money are compared as they stand; "
    "without one, companies that report in another currency than USD are left out of clauses on money, and sort last by it."
)
_QUALITIES_TOLD = (
    "What checks say of the statements that the row's other filtered and sorted numbers rest on: ok, warning, and with "
    "`quality=all` failed. A company of which no number is asked has none."
)
_TEXTS = {
    "sector": ("Sector", "Sector of the company, from its industry code; today's."),
    "industry": ("Industry", "Industry of the company, as the regulator names it; today's."),
    "currency": ("Reporting currency", _CURRENCY),
    "country": (
        "Country",
        "Country of the company's domicile, by its id; a clause may name it by ISO code, slug or name. Today's.",
    ),
    "quality": ("Quality", _QUALITIES_TOLD),
}
_QUALITY = "quality"
_RATIO = "ratio"
_FRACTION = "As a fraction: 0.25 is 25 %."
_DOLLARS = (
    "In the currency each company reports in; without a clause on currency only companies that report in US dollars."
)
#: Sort fields that no clause may name.
_IDENTITY = ("ticker", "name")


class EquityScreener:
    """The equity screener of one process."""

    def __init__(self, cache: screening.ProcessCache) -> None:
        self._cache = cache

    def screen(self, ctx: Context) -> ListAnswer:
        """One page of the companies that satisfy the filter."""
        fields = _screen_fields(ctx.view.directory)
        asked = tuple(_of_place(ctx, clause) for clause in screening.clauses(ctx, fields))
        by = screening.sort_field(ctx, fields, *_IDENTITY)
        further = screening.further_fields(ctx, fields, *_IDENTITY)
        screening.check_window(ctx)
        wanted = dict.fromkeys(clause.field.name for clause in asked)
        if by is not None and by not in _IDENTITY:
            wanted[by] = None
        wanted |= dict.fromkeys(further)
        self._cache.readings.see(ctx.view)
        peers = Peers(self._cache, ctx)
        dollars = not any(clause.field.name == "currency" for clause in asked)
        readings: dict[str, AlignedColumn] = {}
        columns: dict[str, Column] = {}
        for name in wanted:
            if name in _TEXTS and name != _QUALITY:
                columns[name] = _texts(peers, name)
            elif name == _SCORE:
                columns[name] = peers.scores().score
            elif name != _QUALITY:
                readings[name] = peers.readings(name, dollars=dollars)
                columns[name] = readings[name].values
        ends = _row_ends(peers, asked, readings, columns)
        of_row = {name: one.ending(ends) for name, one in readings.items()}
        columns |= {name: one.values for name, one in of_row.items()}
        if _SCORE in columns:
            columns[_SCORE] = np.where(peers.score_ends() == ends, peers.scores().score, np.nan)
        quality = _quality(peers, of_row.values(), columns.get(_SCORE))
        if _QUALITY in wanted:
            columns[_QUALITY] = quality
        screening.warn_of_texts(ctx, asked, columns)
        key = None if by is None or by == "name" else peers.table.tickers if by == "ticker" else columns[by]
        cut = page(
            matching(asked, columns, peers.taking_part), peers.table.ties, key,
            descending=ctx.params["order"] == "desc", after=ctx.after, limit=ctx.params["limit"],
        )  # fmt: skip
        rows = cut.rows.tolist()
        following = place(rows[-1], peers.table.ties, key) if cut.more else None
        as_of, ids = ctx.params["as_of"], peers.table.companies.ids
        delisted = {} if as_of is None else last_tickers(ctx.view, [ids[row] for row in rows])
        return ListAnswer(_rows(peers, columns, of_row, ends, quality, rows, delisted), following, total=cut.total)

    def filters(self, ctx: Context) -> ItemAnswer:
        """Return the fields, operators and syntax of the filter."""
        peers = Peers(self._cache, ctx)
        companies, there = peers.table.companies, peers.taking_part
        told = [self._describe(peers, indicator) for _, indicator in sorted(_fields(ctx.view.directory).items())]
        scores = peers.scores().score
        told.append(
            screening.number_field(
                _SCORE, "Score", None,
                "From 0 to 100: where the company stands among its sector in profitability, growth, strength, efficiency and quality.",
                scores,
            )
        )  # fmt: skip
        values: dict[str, Sequence[str | None]] = {
            "sector": companies.sectors,
            "industry": companies.industries,
            "currency": companies.currencies,
            "country": companies.countries,
        }
        found = _quality(peers, (), scores)
        values[_QUALITY] = tuple(found.at(row) for row in range(len(there)))
        for name, (title, description) in _TEXTS.items():
            taking_part = (value for value, takes in zip(values[name], there, strict=True) if takes)
            told.append(screening.text_field(name, title, description, taking_part))
        return ItemAnswer(screening.encoded_filters(told, _EXAMPLE))

    def warm(self, view: View, _: int) -> None:
        """Line up what scores are made of, and the companies: else whoever asks first waits for it."""
        self._cache.readings.see(view)
        self._cache.universe.companies(view)
        # The measures first: whoever screens by score needs them all, and the list of fields needs every field.
        for name in dict.fromkeys([*MEASURES, *_fields(view.directory)]):
            self._cache.readings.column(view, name, version=view.version, as_of=None)

    @staticmethod
    def _describe(peers: Peers, indicator: Indicator) -> ScreenerField:
        found = peers.readings(indicator.slug, dollars=True)
        values = np.where(peers.taking_part, found.values, np.nan)
        unit, currency, notes = _unit(indicator, found), None, []
        if unit in {CURRENCY, CURRENCY_PER_SHARE}:
            # Each company counts in its own; bounds are of those that count in dollars.
            currency, notes = "USD", [_DOLLARS]
        elif unit == _RATIO:
            notes = [_FRACTION]
        description = " ".join([indicator.description, *notes])
        return screening.number_field(indicator.slug, indicator.name, unit, description, values, currency)


def _fields(directory: Directory) -> dict[str, Indicator]:
    """Return indicators that companies may be screened by."""
    return {
        i.slug: i
        for i in directory.indicators.values()
        if i.screenable and i.kind == "derived" and i.category == "fundamentals" and i.slug not in {_SCORE, *_TEXTS}
    }


def _unit(indicator: Indicator, found: AlignedColumn) -> str | None:
    """Return the unit of a field as it is listed: `currency` of money, which each company counts in its own; None of a score."""
    if indicator.unit is None and any(is_money(one) for one in found.column.units):
        return CURRENCY if any(is_amount(one) for one in found.column.units) else CURRENCY_PER_SHARE
    return indicator.unit


def _screen_fields(directory: Directory) -> screening.ScreenFields:
    fields = _fields(directory)
    called: dict[str, Sequence[str]] = {slug: (one.name, *one.other_names) for slug, one in fields.items()}
    called |= dict.fromkeys((*_TEXTS, _SCORE), ())
    return screening.ScreenFields(lambda name: _find(directory, fields, name), called)


def _find(directory: Directory, fields: dict[str, Indicator], name: str) -> Field | None:
    word = name.lower()
    if word in _TEXTS:
        return Field(word, text=True)
    if word == _SCORE:
        return Field(word, text=False)
    indicator = directory.indicator(name)
    if indicator is None or indicator.slug not in fields:
        return None
    return Field(indicator.slug, text=False)


def _of_place(ctx: Context, clause: Clause) -> Clause:
    """Return a clause on the country with ids in place of its names, as far as they name one."""
    if clause.field.name != "country":
        return clause
    found = [place_called(ctx, name) for name in clause.written]
    ids = (value if one is None else one.id for one, value in zip(found, clause.values, strict=True))
    return clause._replace(values=tuple(str(value) for value in ids))


def _texts(peers: Peers, name: str) -> Texts:
    table = peers.table
    return {
        "sector": table.sectors,
        "industry": table.industries,
        "currency": table.currencies,
        "country": table.countries,
    }[name]


def _quality(peers: Peers, readings: Iterable[AlignedColumn], scores: Numbers | Texts | None) -> Texts:
    """Return what checks say of what each row's numbers rest on; of a score that is what it was made of."""
    worst = np.full(len(peers.newest), -1, dtype=np.int8)
    for one in readings:
        worst = np.maximum(worst, one.qualities())
    if isinstance(scores, np.ndarray):
        worst = np.maximum(worst, np.where(np.isnan(scores), np.int8(-1), peers.qualities()))
    return Texts(worst.astype(np.int32), QUALITIES).in_order()


def _row_ends(
    peers: Peers, asked: Iterable[Clause], readings: dict[str, AlignedColumn], columns: dict[str, Column]
) -> npt.NDArray[np.int64]:
    """
    Return the last day of the period that each row is of, as an ordinal: the newest of the numbers in its clauses, else of those that
    it is sorted by or tells; 0 where it has none.

    Values of other periods are none of the row's. Further fields do not move its period, for they leave no row out.
    """
    ends = {name: one.ends() for name, one in readings.items()}
    if _SCORE in columns:
        ends[_SCORE] = peers.score_ends()
    in_clauses = {clause.field.name for clause in asked} & ends.keys()
    nothing = np.zeros(len(peers.newest), dtype=np.int64)
    found: npt.NDArray[np.int64] = np.maximum.reduce([nothing, *(ends[name] for name in in_clauses or ends)])
    return found


def _rows(
    peers: Peers,
    columns: dict[str, Column],
    readings: dict[str, AlignedColumn],
    ends: npt.NDArray[np.int64],
    quality: Texts,
    rows: list[int],
    delisted: dict[str, str],
) -> list[bytes]:
    """Rows as JSON. `delisted`: the tickers of companies that have none today."""
    companies = peers.table.companies
    dated = {row: [one for one in readings.values() if not np.isnan(one.values[row])] for row in rows}
    known = peers.statement_known([row for row, found in dated.items() if not found])
    encoded = []
    for row in rows:
        found = dated[row]
        end = date.fromordinal(int(ends[row])) if ends[row] else end_of(int(peers.newest[row]))
        at = max((one.known(row) for one in found), default=known.get(row, 0))
        encoded.append(
            msgspec.json.encode(
                {
                    "entityId": companies.ids[row],
                    "name": companies.names[row],
                    "ticker": companies.tickers[row] or delisted.get(companies.ids[row]),
                    "cik": f"{companies.ciks[row]:010d}",
                    "country": companies.countries[row],
                    "sector": companies.sectors[row],
                    "industry": companies.industries[row],
                    "periodEnd": wire_day(end),
                    "observedAt": wire_time(at),
                    "values": _values(columns, row),
                    "quality": quality.at(row),
                }
            )
        )
    return encoded


def _values(columns: dict[str, Column], row: int) -> dict[str, msgspec.Raw | str]:
    """Return what the row has of the filtered and sorted fields, and the further ones."""
    found: dict[str, msgspec.Raw | str] = {}
    for name, column in columns.items():
        if isinstance(column, Texts):
            text = column.at(row)
            if text is not None:
                found[name] = text
        elif not np.isnan(column[row]):
            found[name] = wire_number(float(column[row]))
    return found


def endpoints(cache: screening.ProcessCache) -> tuple[Endpoint, ...]:
    """Return the equity screener and its fields."""
    screener = EquityScreener(cache)
    return (
        Endpoint(
            path=_PATH,
            operation_id="screenCompanies",
            summary="Companies by fundamentals, ratios, sector, industry and country",
            description="Companies whose newest statement ends within 18 months before the moment asked and whose latest readings, "
            "of these months too, satisfy every clause of the filter; one without a value that may be shown for a filtered field is left out. Ratios are "
            "fractions (0.25 is 25 %). Companies that report in another currency than USD are left out of clauses on money, and sort "
            "last by it, unless the filter has a clause on `currency`. `total` counts all matches, not only this page's.",
            handler=screener.screen,
            scope="screeners:read",
            params=(
                screening.filter_param(_EXAMPLE, f"GET {_PATH}/filters"),
                Param(
                    "sort",
                    "Any field of the filter, `ticker` or `name`; companies without the value come last either way.",
                    example="revenue_ttm",
                ),
                replace(screening.FURTHER, example="return_on_equity,country"),
                screening.SCREEN_AS_OF,
                Param(
                    "quality",
                    "`ok`: what rests on a statement that fails a grave check (a sign, an identity, a part for the whole, a "
                    "warning not to rely on it) is no value; such a company is left out by a clause on it. `all`: it is one, "
                    "and the row says `failed`.",
                    kind="enum",
                    choices=("ok", "all"),
                    default="ok",
                    example="all",
                ),
            ),
            kind="list",
            record=EquityScreenerRow,
            dated=True,
            total=True,
            max_limit=200,
            warm=screener.warm,
            cost=screening.where_screened,
            cached=True,
            tag="Screeners",
        ),
        screening.filters_endpoint(
            f"{_PATH}/filters",
            "listEquityScreenerFilters",
            "Fields of the equity screener",
            screener.filters,
        ),
    )
