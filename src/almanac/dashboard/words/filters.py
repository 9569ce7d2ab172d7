"""The words that templates use as filters: `{{ row.periodEnd | day }}`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from almanac.dashboard.words import company_names, dates, numbers, periods, reasons, units, values
from almanac.reports.wording import country, listed, place

FILTERS: dict[str, Callable[..., Any]] = {
    "number": numbers.number,
    "change": numbers.change,
    "percent": numbers.percent,
    "fraction": numbers.fraction,
    "compact": numbers.compact,
    "in_words": numbers.in_words,
    "many": numbers.many,
    "company_name": company_names.company_name,
    "full": numbers.full,
    "day": dates.day,
    "short_day": dates.short_day,
    "long_day": dates.long_day,
    "day_code": dates.day_code,
    "clock": dates.clock,
    "clock_tag": dates.clock_tag,
    "moment": dates.moment,
    "when": dates.when,
    "time_tag": dates.time_tag,
    "period": periods.period,
    "written": periods.written,
    "event_title": periods.event_title,
    "fiscal": periods.fiscal,
    "unit_of": units.unit_of,
    "look": values.look,
    "look_column": values.look_column,
    "look_reading": values.look_reading,
    "look_release": values.look_release,
    "look_yield": values.look_yield,
    "listed": listed,
    "nth": place,
    "category": units.category,
    "reason_for": reasons.reason_for,
    "notes_for": reasons.notes_for,
    "in_text": country,
}
