"""Fiscal periods beside calendar ones: what `period` selects of companies, and where its name means another of their own."""

from __future__ import annotations

from datetime import date, timedelta

from almanac.api.contract.endpoint import Context
from almanac.domain.companies import FiscalPeriod, is_company
from almanac.domain.periods import Period
from almanac.store.companies.statements import OwnPeriod, own_periods

#: Companies of which own periods are looked at: a millisecond each.
_COMPANIES = 10
#: Frequencies of which a calendar period can be told from a fiscal one, by its months.
_BY_MONTHS = {12: "A", 6: "S", 3: "Q"}
#: Days by which a fiscal year that is named by its first day, or by its last, lies off the calendar's at most.
_OFF = timedelta(days=400)


def warn_of_fiscal(
    ctx: Context, period: Period | FiscalPeriod, entities: tuple[str, ...] | None, kind: str | None
) -> None:
    """
    Say what a `period` leaves out of the companies named: of a calendar period, fiscal ones that have its name or most of its
    days and lie partly outside of it; of a fiscal one, rows that have none.
    """
    if isinstance(period, FiscalPeriod):
        if kind == "raw":
            ctx.warn(
                "period",
                str(period),
                "names a fiscal period, which facts as filed do not have: see /derived-observations",
            )
        elif entities is not None and not any(map(is_company, entities)):
            ctx.warn("period", str(period), "names a fiscal period, and no company is asked for")
        return
    frequency, start = _frequency(period), period.start
    if frequency is None or start is None or kind == "raw":
        return
    for entity in [one for one in entities or () if is_company(one)][:_COMPANIES]:
        own = own_periods(
            ctx.view, entity, frequency, version=ctx.version, known_by=ctx.as_of,
            first=_moved(start, -_OFF), last=_moved(period.end, _OFF),
        )  # fmt: skip
        for one in reversed(own):
            if _meant(one, period, frequency, start) and not start <= one.start <= one.end <= period.end:
                ctx.warn(
                    "period",
                    _written(period, frequency),
                    f"is a calendar period, and {one.called} of {entity} is {one.start} to {one.end}, which is not inside it: "
                    f"ask for period={one.called}",
                    str(one.called),
                )


def _meant(one: OwnPeriod, period: Period, frequency: str, start: date) -> bool:
    """Whether a fiscal period may have been meant by a calendar one: it has the same name, or more than half of its days."""
    if one.called == _named(period, frequency):
        return True
    common = (min(one.end, period.end) - max(one.start, start)).days + 1
    return 2 * common > (period.end - start).days + 1


def _frequency(period: Period) -> str | None:
    if period.start is None or period.start.day != 1 or (period.end + timedelta(days=1)).day != 1:
        return None
    return _BY_MONTHS.get(period.end.month - period.start.month + 1)


def _named(period: Period, frequency: str) -> FiscalPeriod:
    """The fiscal period that has the name of a calendar one."""
    year, month = period.end.year, period.end.month
    return FiscalPeriod(year, {"A": None, "S": f"H{month // 6}", "Q": f"Q{month // 3}"}[frequency])


def _written(period: Period, frequency: str) -> str:
    """A calendar period as it was asked for."""
    year, month = period.end.year, period.end.month
    return {"A": f"{year:04}", "S": f"{year:04}-S{month // 6}", "Q": f"{year:04}-Q{month // 3}"}[frequency]


def _moved(day: date, by: timedelta) -> date:
    return date.fromordinal(min(max(day.toordinal() + by.days, 1), date.max.toordinal()))
