"""The revision triangle: every published state of one series, by period and by knowledge time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from almanac_client import _generated_models as m
from almanac_client._codes import meant
from almanac_client._errors import ChoiceWarning, InvalidArgument, RevisionWarning, warn
from almanac_client._frames import Column, Table
from almanac_client._lookups import Way, walk
from almanac_client._query import UTC, bound, moment
from almanac_client._readings import Row, of_one_series
from almanac_client._revisions import NOT_INITIAL, later_of, revision_table
from almanac_client._series import Bound, Series, When, one_of_each
from almanac_client._transport import Plan


class Triangle:
    """
    All published states of one series from one source.

    States of two sources are no revisions of each other, so the triangle never mixes them, although the preferred
    source may change over time. `source_id` and `series_id` name the series. It is chosen from what is known at the
    client's as-of moment: the highest frequency and the preferred source.
    """

    def __init__(self, slug: str, states: Sequence[Row], attrs: Mapping[str, Any], now: datetime) -> None:
        """Build the triangle. `states` holds the states of all eligible series, at least one, in the service's order."""
        rows = of_one_series(states)
        chosen = rows[0]
        self.series_id = chosen.metadata.series_id
        self.source_id = chosen.source_id
        self.frequency = chosen.frequency
        self.indicator = slug
        self.entity_id = chosen.entity_id
        self.attrs = {**attrs, "series_id": self.series_id}
        #: The latest knowledge time.
        self.now = now
        #: When the series became known, and when each other eligible series did.
        self._since = min(row.observed_at for row in rows)
        self._others: dict[tuple[str, str], datetime] = {}
        for row in states:
            if row.metadata.series_id != self.series_id:
                name = row.frequency, row.source_id
                self._others[name] = min(self._others.get(name, row.observed_at), row.observed_at)
        self._cells: dict[datetime, list[Row]] = {}
        for row in sorted(rows, key=lambda row: (row.period_end, row.observed_at)):
            self._cells.setdefault(row.period_end, []).append(row)

    def __len__(self) -> int:
        return sum(len(states) for states in self._cells.values())

    @property
    def periods(self) -> list[date]:
        """Last days of the periods, oldest first."""
        return [end.date() for end in self._cells]

    @property
    def vintages(self) -> list[date]:
        """Days on which something became known, oldest first."""
        return sorted({row.observed_at.date() for states in self._cells.values() for row in states})

    def states(self, period_end: date) -> list[Row]:
        """
        Return every published state of the period that ends on this day, withdrawals included, oldest first. Raises
        InvalidArgument if there is no such period.
        """
        found = {end.date(): states for end, states in self._cells.items()}
        if period_end not in found:
            raise InvalidArgument(f"no period of the triangle ends on {period_end}")
        return list(found[period_end])

    # -- as known then ---------------------------------------------------------------------------------------------

    def as_of(self, when: When) -> Series:
        """Return the series as known then, as `/observations?as_of=` answers it. A bare date means its last second in UTC."""
        at = moment("as_of", when)
        if at > self.now:
            raise InvalidArgument(
                f"'as_of' is {at:%Y-%m-%dT%H:%M:%SZ}, and knowledge here ends at {self.now:%Y-%m-%dT%H:%M:%SZ}"
            )
        if at < self._since:
            self._say_what_was_known(at)
        known = (_known(states, at) for states in self._cells.values())
        return self._series([row for row in known if row is not None], at.strftime("%Y-%m-%dT%H:%M:%SZ"))

    def _say_what_was_known(self, at: datetime) -> None:
        known = [
            f"triangle(…, frequency={frequency!r}, source_id={source!r})"
            for (frequency, source), since in self._others.items()
            if since <= at
        ]
        if known:
            warn(
                f"nothing of {self.series_id} was known at {at:%Y-%m-%dT%H:%M:%SZ}; of another series there was: "
                f"{' or '.join(known)}",
                ChoiceWarning,
            )

    def latest(self) -> Series:
        """Return the series as known now."""
        known = (_known(states, self.now) for states in self._cells.values())
        return self._series([row for row in known if row is not None], self.attrs.get("as_of"))

    def vertical(self) -> Table:
        """
        Return a row for each period, and a column for each day on which something became known, with the values known
        at its end.
        """
        days = self.vintages
        columns = [Column("period_end", "date", self.periods)]
        for day in days:
            at = moment("day", day)
            values = [row.value_numeric if (row := _known(states, at)) else None for states in self._cells.values()]
            columns.append(Column(day.isoformat(), "float", values))
        return Table(columns, self.attrs, self._withheld())

    def horizontal(self) -> Table:
        """Return a row for each day on which something became known, and a column for each period."""
        days = self.vintages
        columns = [Column("vintage", "date", days)]
        for end, states in self._cells.items():
            values = [row.value_numeric if (row := _known(states, moment("day", day))) else None for day in days]
            columns.append(Column(f"{end:%Y-%m-%d}", "float", values))
        return Table(columns, self.attrs, self._withheld())

    # -- releases --------------------------------------------------------------------------------------------------

    def first(self) -> Series:
        """Return the first publication of each period."""
        return self.nth(1)

    def nth(self, k: int) -> Series:
        """Return the k-th publication of each period. Periods whose first publication is not kept are left out."""
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InvalidArgument(f"the number of a release counts from 1, and cannot be {k!r}")
        rows = [releases[k - 1] for releases in self._released() if len(releases) >= k]
        return self._series(rows, self.attrs.get("as_of"))

    def diagonal(self, n: int) -> Table:
        """Return a row for each period, and a column for each of its first n releases."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InvalidArgument(f"the number of releases has to be at least 1, not {n!r}")
        released = self._released()
        columns = [Column("period_end", "date", [releases[0].period_end.date() for releases in released])]
        for k in range(n):
            values = [releases[k].value_numeric if len(releases) > k else None for releases in released]
            columns.append(Column(f"release_{k + 1}", "float", values))
        return Table(columns, self.attrs, self._withheld())

    def revisions(self, initial: int = 1, later: str = "latest") -> Table:
        """
        Return the revision of release `initial` of each period: the later value less the initial one, and as a
        percentage of it.

        `later` is `latest`; `release:k` for the k-th release; or `months:m` for what was known m months after the
        initial one. Periods are left out if either value is missing, withheld or withdrawn, if the two have different
        bases, or if the months have not yet passed; a warning counts them by reason.
        """
        if isinstance(initial, bool) or not isinstance(initial, int) or initial < 1:
            raise InvalidArgument(f"'initial' counts releases from 1, and cannot be {initial!r}")
        find = later_of(later, self.now, _known)
        return revision_table(list(self._cells.values()), initial, find, self.attrs)

    def _released(self) -> list[list[Row]]:
        """Return the releases (states with a value, oldest first) of each period whose first publication is kept."""
        found, without = [], 0
        for states in self._cells.values():
            releases = released(states)
            if releases is None:
                without += 1
            elif releases:
                found.append(releases)
        if without:
            warn(
                f"{without} of {len(self._cells)} periods are left out: {NOT_INITIAL}, so that their first kept state may "
                "be a revision",
                RevisionWarning,
            )
        return found

    def _series(self, rows: list[Row], as_of: str | None) -> Series:
        return Series(self.indicator, self.entity_id, rows, {**self.attrs, "as_of": as_of})

    def _withheld(self) -> list[str | None]:
        return [row.rights.reason for states in self._cells.values() for row in states if row.rights.value_withheld]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the first publications and the values known now, and return the axes. Needs matplotlib."""
        from almanac_client._plot import triangle  # noqa: PLC0415 - an extra

        return triangle(self, ax, **options)

    def __repr__(self) -> str:
        counts = Counter(len(states) for states in self._cells.values())
        most = max(counts, default=0)
        return (
            f"<Triangle of {self.series_id}: {len(self._cells)} periods, {len(self)} states, at most {most} of one "
            f"period, data version {self.attrs['data_version']}>"
        )


def released(states: list[Row]) -> list[Row] | None:
    """Return the releases of a period, its states without withdrawals, or None if the first publication isn't kept."""
    releases = [row for row in states if not row.metadata.withdrawn]
    if releases and releases[0].revision_status != "initial":
        return None
    return releases


def _known(states: list[Row], at: datetime) -> Row | None:
    """Return the state known at a moment, or None if there was none or it had been withdrawn."""
    place = bisect_right(states, at, key=_observed)
    return None if place == 0 or states[place - 1].metadata.withdrawn else states[place - 1]


_observed: Callable[[Row], datetime] = lambda row: row.observed_at  # noqa: E731 - a key, not a function with a name


def triangle(
    way: Way,
    wall: float,
    name: str,
    place: str | None,
    *,
    start: Bound | None = None,
    end: Bound | None = None,
    source_id: str | None = None,
    frequency: str | None = None,
) -> Plan[Triangle]:
    """Request every published state of one series. `wall` is real time in unix seconds, the latest knowledge time."""
    one_of_each(name, place)
    first, last = bound("start", start, last=False), bound("end", end, last=True)
    what, entity, code = yield from meant(way, name, place)
    if code is not None:
        source_id = code.source_id if source_id is None else source_id
    found = yield from walk(
        way.options, way.pace, m.LIST_VINTAGES, indicator=what.slug, entity_id=entity,
        source_id=source_id, frequency=frequency, period_start=first, period_end=last, sources="all", quiet=True,
    )  # fmt: skip
    rows = [row for row in found.rows if code is None or row.metadata.series_id == code.id]
    if not rows:
        asked = {"source": source_id, "frequency": frequency, "start": start, "end": end, "as of": way.options.as_of}
        more = "".join(f", {what} {str(value)!r}" for what, value in asked.items() if value is not None)
        raise InvalidArgument(f"nothing is known of {what.slug} for {place or entity!r}{more}")
    then = found.attrs["as_of"]
    now = datetime.fromtimestamp(wall, tz=UTC) if then is None else moment("as_of", then)
    newest = max(row.observed_at for row in rows)
    return Triangle(what.slug, rows, found.attrs, max(now, newest))
