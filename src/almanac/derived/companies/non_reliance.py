"""What a company's own warnings (8-K item 4.02) say of the statements it had filed: that they are not to be relied upon."""

from __future__ import annotations

from datetime import date

from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.facts import known_at
from almanac.derived.companies.fiscal_calendar import DRIFT, ReportPeriod
from almanac.derived.companies.line_items import BALANCE
from almanac.derived.companies.quality_check import FAILED, QualityCheck
from almanac.domain.companies import Filing, is_warning

#: Days before the end of a fiscal year on which none of its own quarters ends.
_YEAR = 350


class NonReliance:
    """
    The warnings of one company, and which of its statements they are about at an instant.

    The index of filings does not say which periods a warning is about. It is taken to be about the last fiscal year that
    was reported and all that was after it, until a later filing changes the statement, reports on its period anew or shows
    it again beside the same one a year later.
    """

    def __init__(self, history: CompanyHistory) -> None:
        self._history = history
        #: The last first.
        self._warnings = sorted(filter(is_warning, history.company.filings.values()), key=known_at, reverse=True)
        self.moments = {known_at(warning) for warning in self._warnings}

    def touched(self, moment: int, kind: str, end: int) -> bool:
        """Whether a warning, or a report that may lift one, of this instant may speak of a statement."""
        if not self._warnings:
            return False
        owns = (own for own in self._history.calendar.owns if own.known == moment)
        return moment in self.moments or any(_reports(own, kind, end) for own in owns)

    def check(self, moment: int, kind: str, end: int, accession: str, items: tuple[str, ...]) -> QualityCheck | None:
        """Return what stands against a statement of the filing `accession`, with these lines; None if it may be relied upon."""
        for warning in self._warnings:
            if known_at(warning) <= moment and self._doubted(warning, moment, kind, end, accession):
                day = date.fromordinal(warning.filed).isoformat()
                said = "the company said that statements it had filed are not to be relied upon"
                detail = f"on {day} {said} (8-K {warning.accession}, item 4.02)"
                return QualityCheck("relied_upon", FAILED, detail, items)
        return None

    def _doubted(self, warning: Filing, moment: int, kind: str, end: int, accession: str) -> bool:
        since = known_at(warning)
        if known_at(self._history.company.filings[accession]) >= since or end > warning.filed:
            return False
        owns = [own for own in self._history.calendar.owns if own.known <= moment]
        years = [own.end for own in owns if own.kind == "year" and own.known <= since]
        anew = any(own.known > since and _reports(own, kind, end) for own in owns)
        return not anew and end > max(years, default=_YEAR) - _YEAR


def _reports(own: ReportPeriod, kind: str, end: int) -> bool:
    """
    Whether a report is about a period, or shows it as the one that ended a year before its own; of balances quarterly
    reports do not.
    """
    beside = abs(own.end - 365 - end) <= DRIFT and (kind != BALANCE or own.kind == "year")
    return own.end == end or beside
