"""Invented financials, written as years, quarters, halves and balances of a company; amounts know what they are by their tags."""

from datetime import date, timedelta

from almanac.derived.companies.financials import Amount, CompanyFinancials


def day(text):
    return date.fromisoformat(text).toordinal()


def spans(last_days, first_day):
    """(start, end) of periods that follow each other: the first starts on `first_day`."""
    found, start = [], day(first_day)
    for text in last_days:
        found.append((start, day(text)))
        start = day(text) + 1
    return found


def quarters_of(years):
    """Calendar quarters of these years."""
    ends = [f"{year}-{text}" for year in years for text in ("03-31", "06-30", "09-30", "12-31")]
    return spans(ends, f"{years[0]}-01-01")


def years_of(years):
    return [(day(f"{year}-01-01"), day(f"{year}-12-31")) for year in years]


def amount(value, start, end, tag="us-gaap:Invented", **kept):
    return Amount(float(value), start, end, (tag,), **kept)


def series(item, spans_, values, **kept):
    """Last day → amount. A value None leaves its period out."""
    return {
        end: amount(value, start, end, f"us-gaap:{item}", **kept)
        for (start, end), value in zip(spans_, values, strict=True)
        if value is not None
    }


def instants(item, ends, values):
    return {
        day(end): amount(value, None, day(end), f"us-gaap:{item}")
        for end, value in zip(ends, values, strict=True)
        if value is not None
    }


def financials(
    *, quarters=None, years=None, halves=None, to_date=None, balances=None, template="industrial", currency="USD"
):
    """CompanyFinancials whose fiscal periods are made of the periods of its amounts."""
    quarters, years, halves, balances = quarters or {}, years or {}, halves or {}, balances or {}
    year_ends = {end for cells in years.values() for end in cells}
    quarter_ends = {end for cells in (*quarters.values(), *(to_date or {}).values()) for end in cells}
    if quarter_ends:
        quarter_ends |= year_ends
    return CompanyFinancials(
        quarters=quarters,
        years=years,
        halves=halves,
        to_date=to_date or {},
        balances=balances,
        year_ends=tuple(sorted(year_ends)),
        quarter_ends=tuple(sorted(quarter_ends)),
        template=template,
        currency=currency,
    )


def annual(ends, flows, balances=None, *, first_day=None, template="industrial"):
    """CompanyFinancials of fiscal years ending on these days: item → values, flows over the years, balances at their ends."""
    first_day = first_day or (date.fromisoformat(ends[0]) - timedelta(days=364)).isoformat()
    over = spans(ends, first_day)
    return financials(
        years={item: series(item, over, values) for item, values in flows.items()},
        balances={item: instants(item, ends, values) for item, values in (balances or {}).items()},
        template=template,
    )
