"""
The interface of connectors: one plans requests and reads payloads. It never writes, fetches or reads the clock.

What a name in a payload may cost is one rule for all of them. A name that nobody knows (an attribute, a field) and one
that was expected and is not there (an item, a column) are reported in `Parsed`, and all else is read. The whole payload
is refused (`SourceChanged`) only where its meaning is in doubt: an unknown dimension or measure, another unit or
multiplier, another order of columns, a type that does not parse, none of the names that were expected. A value that is in
doubt by itself (a NaN, an infinity) costs its row alone and is reported by name.
"""

from __future__ import annotations

import abc
import importlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import BinaryIO, Protocol, Self
from urllib.parse import urlsplit

from almanac.domain.companies import CompanyFacts, CompanyRecord, Filing
from almanac.domain.observations import ReportedValue
from almanac.domain.reference import PublisherLimit, SeriesSpec, Source
from almanac.domain.rights import Exposure


class SourceChanged(Exception):  # noqa: N818  (the name says what happened upstream)
    """
    A payload is not what the publisher used to send. It is quarantined; the last good data stays served.

    The message names the culprit (column, element, value) and, where known, what was expected.
    """


@dataclass(frozen=True, slots=True)
class Limit:
    """A publisher's own limit on requests, counted over all its hosts together under one name."""

    name: str
    #: Evenly spaced.
    per_second: float | None = None
    #: At most so many in any span of so many seconds.
    budgets: tuple[tuple[int, float], ...] = ()
    #: Seconds for which a 403 means that we are shut out; None: it means nothing of the kind.
    shut_out: float | None = None
    #: Hosts whose requests count; none: all of them.
    hosts: frozenset[str] = frozenset()
    #: Seconds of silence before an answer begins that are nothing unusual.
    silence: float = 0.0

    def counts(self, host: str) -> bool:
        """Return whether a request to this host is one of those that are limited."""
        return not self.hosts or host in self.hosts


def limit_of(name: str, stated: PublisherLimit | None, *, with_key: bool) -> Limit | None:
    """Return what a publisher states as a limit of the transport; None if it states nothing."""
    if stated is None:
        return None
    day = stated.per_day_with_key if with_key and stated.per_day_with_key is not None else stated.per_day
    spans = ((stated.per_minute, 60.0), (stated.per_hour, 3_600.0), (day, 86_400.0))
    budgets = tuple((most, seconds) for most, seconds in spans if most is not None)
    shut_out = None if stated.shut_out_hours is None else stated.shut_out_hours * 3_600
    hosts, silence = frozenset(stated.hosts), stated.silent_seconds or 0.0
    return Limit(name, stated.per_second, budgets, shut_out, hosts, silence)


@dataclass(frozen=True, slots=True)
class Request:
    """One GET. `secret` holds query parameters (an API key) that are added on the wire only: never kept, never logged."""

    url: str
    secret: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Kept beside the settings' own pace: the slower of the two holds.
    limit: Limit | None = None
    #: Of the past that hardly changes: asked on a slow round, so that late revisions still come.
    closed: bool = False
    #: The newest part of what another request brings whole: asked each turn in its place, never beside it.
    newest: bool = False
    #: Changes so seldom that of several turns of a day the first one asks it.
    once_a_day: bool = False
    #: Statuses by which the publisher says that there is nothing in what was asked for: an answer, and no failure.
    empty: frozenset[int] = frozenset()
    #: Words of an answer with such a status by which the publisher says that it has no such data set: a failure.
    gone: tuple[str, ...] = ()
    #: The data set that is asked for: where every request of one finds nothing, it is gone. None: nothing is said of it.
    dataset: str | None = None
    #: Words of a short answer, or of a refusal, by which the publisher says that it prepares the data: later, not failed.
    later: tuple[str, ...] = ()
    #: Bytes that the answer may have beyond the settings' bound, which is then written to a file and never held; None: it is held.
    most_in_file: int | None = None
    #: What the answer leads to is asked for only where the publisher's lists name it (`news_since` of another request).
    led_by_news: bool = False
    #: Leads to the publisher's lists of what is new since then (unix seconds): where all of them can be read, what other answers
    #: lead to is asked for only if they name it, if it was never asked for, or on its day of the slow round.
    news_since: int | None = None
    #: Of a list of news: from when on it has nothing new for who has asked (unix seconds), and is itself not asked for again.
    settled_at: int | None = None


#: What the catalogue says of the series of a source, by native code.
Specs = Mapping[str, SeriesSpec]
#: Days of a month in which the one before may still be completed in a file of all that is over.
TURN_OF_MONTH = 7
#: Days after its end in which a window still fills and is revised often.
_SETTLING = 400


def is_closed(last: date | None, today: date) -> bool:
    """Return whether a window that ends on that day (None: is open) is of the past that hardly changes."""
    return last is not None and (today - last).days > _SETTLING


@dataclass(frozen=True, slots=True)
class Payload:
    """One upstream response, byte for byte, and the time it counts as fetched (unix seconds)."""

    url: str
    body: bytes
    fetched_at: int
    media_type: str
    #: What stands in the body's place where that is too large to be held.
    file: BinaryIO | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """
    The statements of one payload about one native series.

    `complete` is the span of period keys, inclusive, that the payload claims to list completely; None: no such claim.
    `updated` is when the publisher last updated the data that the payload shows (unix seconds; of a day its first), None where it
    does not say. It dates no value: it tells an older state of the data, fetched late, from the newest.
    """

    native: str
    statements: Sequence[ReportedValue]
    complete: tuple[int, int] | None = None
    updated: int | None = None

    @property
    def proven(self) -> tuple[int, int] | None:
        """
        Return the span in which a cell known before and not listed is withdrawn: the one claimed, from the first value on.

        An answer may begin later than what was asked for (a licence of three years) or hold no value: neither takes back any.
        """
        values = [line.period for line in self.statements if line.value is not None or line.text is not None]
        if self.complete is None or not values:
            return None
        first, last = max(self.complete[0], min(values)), self.complete[1]
        return (first, last) if first <= last else None


@dataclass(frozen=True, slots=True)
class NamedRelease:
    """A publication series of the publisher (the Employment Situation), by the publisher's own id."""

    native: str
    name: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseDate:
    """One day on which a release was or will be published. Feeds of this shape state a day, never an hour."""

    release: str
    day: date


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """
    One entry of a publisher's calendar of releases, as it stands in one payload.

    `start` is an instant in unix seconds where the hour is stated (`precision` `minute`), else None; `day` is then the
    day itself, and for an instant the day in `zone`. `sequence` grows with each change the publisher makes.
    """

    #: The publisher's own name of the entry, the same through every change of it.
    uid: str
    release: str
    start: int | None
    day: date
    #: IANA name of the zone in which the publisher states the time.
    zone: str
    #: `minute` or `day`.
    precision: str
    #: `scheduled`, `tentative` or `canceled`.
    status: str
    sequence: int = 0
    #: When the publisher last changed it, unix seconds, where told.
    last_modified: int | None = None
    url: str | None = None
    #: What the release is about, where told, as people write it: `2026-10`, `2026-Q3`, `2026`.
    period: str | None = None


#: What `Parsed.meet` calls a value that was left out because it is in doubt by itself.
DOUBT = "value"


@dataclass(slots=True)
class Parsed:
    """All that a payload held. Nothing is dropped silently: what is not taken is counted or named here."""

    blocks: list[Block] = field(default_factory=list)
    #: Native series the catalogue does not map, with the number of rows passed over.
    unmapped: Counter[str] = field(default_factory=Counter)
    #: Names that nobody knows, with how often each was met (a column once). What stands beside them was read.
    unknown: Counter[str] = field(default_factory=Counter)
    #: Mapped native series that the payload should have and has not. The others were read.
    missing: set[str] = field(default_factory=set)
    #: Why the whole payload was not read (a kind of response that carries no observations for us); None if it was.
    ignored: str | None = None
    #: Native series whose own metadata tightens their rights, with the reason served beside the withheld value.
    tightened: dict[str, tuple[Exposure, str]] = field(default_factory=dict)
    releases: list[NamedRelease] = field(default_factory=list)
    release_dates: list[ReleaseDate] = field(default_factory=list)
    calendar: list[CalendarEntry] = field(default_factory=list)
    companies: list[CompanyRecord] = field(default_factory=list)
    #: With the CIK of the company that filed.
    filings: list[tuple[int, Filing]] = field(default_factory=list)
    facts: list[CompanyFacts] = field(default_factory=list)

    @property
    def unread(self) -> list[str]:
        """Both of these in words, sorted."""
        return [f"unknown {name}" for name in sorted(self.unknown)] + [
            f"missing {name}" for name in sorted(self.missing)
        ]

    def meet(self, names: Iterable[str], kind: str) -> None:
        """Report names that nobody knows. `kind` says what they are: `attribute`, `column`."""
        self.unknown.update(f"{kind} {name}" for name in names)

    def lack(self, expected: Iterable[str], found: Collection[str], where: str) -> None:
        """Report native series that are not among those found. Raises SourceChanged where not one of them is."""
        wanted = set(expected)
        absent = wanted.difference(found)
        if absent and absent == wanted:
            raise SourceChanged(f"{where}: none of {', '.join(sorted(absent))}, which were expected")
        self.missing |= absent


@dataclass(frozen=True, match_args=False)  # so that its attributes are read only
class Options(Protocol):
    """An operator's options for a source beside its key (the settings' `sources.ID`)."""

    companies: tuple[str, ...]
    bulk: bool


class Connector(abc.ABC):
    """Base of the connectors: each module of `feeds` has one object `CONNECTOR`; `Source.connector` names the module."""

    #: Grows by one whenever the same payload would be read differently; kept with each run.
    version: int
    #: Hosts of the publisher, and the folder of them that this connector reads where others read the rest.
    hosts: frozenset[str] = frozenset()
    folder = ""
    #: True if a response may lead to further requests or list what is new: it is read again where it has not changed.
    leads_further = False

    def owns(self, url: str) -> bool:
        """Return True if a mirrored response of this URL belongs to this connector's publisher (mapped or not)."""
        parts = urlsplit(url)
        return parts.hostname in self.hosts and parts.path.startswith(self.folder)

    def chosen(self, options: Options) -> Self:
        """Return this connector as an operator's settings want it. Raises ValueError naming the setting at fault."""
        return self

    @abc.abstractmethod
    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """
        Return the requests that bring the mapped series up to date, in a fixed order. `since` None: the whole history.

        Raises ValueError naming the setting when the source needs a key and has none.
        """

    @abc.abstractmethod
    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one payload. `series` maps the native codes of this source. Raises SourceChanged."""

    def follow(self, payload: Payload, source: Source, key: str | None) -> list[Request]:
        """Return the requests that a response leads to, in a fixed order. Raises SourceChanged, ValueError naming the setting."""
        return []

    def announced(self, payload: Payload) -> Mapping[str, int]:
        """
        Return what a list of news names: URL → from when on whoever asks for it has all that is new (unix seconds).

        Raises SourceChanged.
        """
        return {}

    def unpack(self, payload: Payload) -> Iterator[Payload]:
        """
        Yield the payload, or if it is an archive the responses in it, each under the URL it has of its own.

        They are kept and read in the archive's place. Raises SourceChanged when it comes to a damaged one.
        """
        yield payload

    def turn(self, url: str) -> int:
        """Return when a response costs least to take in: lower numbers first. What is served is the same in any order."""
        return 0


def connector(name: str) -> Connector:
    """
    Return the connector in module `almanac.sources.feeds.<name>`. A missing module is an error, never a default.

    `sdmx:ecb-yc`: the module serves several sources, and its function `connector` makes the one of that name.
    """
    module, _, one = name.partition(":")
    read = importlib.import_module(f"almanac.sources.feeds.{module}")
    found: Connector = read.connector(one) if one else read.CONNECTOR
    return found
