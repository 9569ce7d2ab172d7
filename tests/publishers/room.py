"""What a room of the stand-in is: a publisher's rules as data, and its answers in the publisher's own format."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl, unquote, urlsplit

from almanac.catalog.load import shipped
from almanac.domain.reference import SeriesSpec
from tests.publishers.figures import Figure, Figures, Timetable


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How a publisher wants to be asked, and how it answers. Times in seconds."""

    #: Where that is written down. What nobody could read says so.
    documented: str
    #: At most so many requests in any span of so many seconds.
    limits: tuple[tuple[int, float], ...] = ()
    #: The same for those who send a key.
    limits_with_key: tuple[tuple[int, float], ...] | None = None
    #: What is answered beyond that, and how long it asks to be left alone, where it says so.
    over: int = 429
    retry_after: int | None = None
    #: For how long whoever goes beyond it is shut out.
    shut_out: float = 0.0
    #: How long an answer takes.
    seconds: float = 0.3
    #: Whether an answer has an ETag, and is 304 for who has it.
    etag: bool = False
    #: The same by date: `Last-Modified`.
    last_modified: bool = False
    #: Refuses (403) a User-Agent that does not say in parentheses who asks; `contact`: and by what address.
    named: bool = False
    contact: bool = False
    #: From so many values on an answer is prepared first, for so many seconds, in which `Room.preparing` is said.
    prepares: tuple[int, float] | None = None
    #: Folder → where it has moved to: answered by a redirect.
    moved: Mapping[str, str] = field(default_factory=dict)
    publishes: Timetable = field(default_factory=Timetable)


@dataclass(frozen=True)
class Asked:
    """A request as it came. `now`: unix seconds of the rehearsal."""

    url: str
    headers: Mapping[str, str]
    now: float

    @cached_property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @cached_property
    def path(self) -> str:
        return unquote(urlsplit(self.url).path)

    @cached_property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))


@dataclass(frozen=True)
class Reply:
    """An answer. `series`: what it has of series, to be told what was fetched when."""

    body: bytes
    media: str = "text/csv"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Native code → when the newest figure in the answer was published.
    series: Mapping[str, float] = field(default_factory=dict)
    #: How many values it has, where that decides how it is given.
    values: int = 0
    #: Whether the connection ends in the middle of the body.
    cut: bool = False
    #: When what it says last changed, where the publisher states it.
    changed: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it is of no use to who asked."""
        return self.cut or self.status not in {200, 301, 304, 404}


class Room:
    """A publisher. A room says its `hosts`, its `rules`, the `sources` it has, and answers (`answer`)."""

    name: str
    hosts: tuple[str, ...]
    rules: Rules
    #: Ids of the catalogue's sources that it publishes.
    sources: tuple[str, ...]
    #: What is said while an answer is prepared.
    preparing = Reply(b"")

    def __init__(self, figures: Figures) -> None:
        self.figures = figures

    def answer(self, asked: Asked) -> Reply:
        """What is answered to who keeps the rules."""
        raise NotImplementedError

    @cached_property
    def series(self) -> dict[str, SeriesSpec]:
        """Native code → series of the catalogue, of all its sources."""
        return {
            spec.code: spec
            for source in self.sources
            for spec in shipped().series.get(source, {}).values()
            if spec.currency is None or spec.code == spec.native
        }

    def published(self, spec: SeriesSpec, asked: Asked, first: str = "", last: str = "") -> list[Figure]:
        """What is published of a series, between two days or periods as written, where given."""
        every = self.figures.published(spec, self.rules.publishes, asked.now)
        if not first and not last:
            return every
        return [
            one
            for one in every
            if one.span.last.isoformat() >= _begin(first) and (not last or one.span.first.isoformat() <= _end(last))
        ]


def newest(figures: Iterable[tuple[str, list[Figure]]]) -> dict[str, float]:
    """What an answer has of each series: when its newest figure was published."""
    return {native: max(one.released for one in found) for native, found in figures if found}


def as_json(told: object, **more: object) -> Reply:
    """An answer in JSON."""
    return Reply(json.dumps(told).encode(), "application/json", **more)  # type: ignore[arg-type]  # fields of Reply


_QUARTERS = {"Q1": ("01-01", "03-31"), "Q2": ("04-01", "06-30"), "Q3": ("07-01", "09-30"), "Q4": ("10-01", "12-31")}


def _begin(text: str) -> str:
    """The first day of a period as written: a day, a month, a quarter, a year."""
    year, _, rest = text.partition("-")
    if rest in _QUARTERS:
        return f"{year}-{_QUARTERS[rest][0]}"
    return text if len(text) != 7 else f"{text}-01"


def _end(text: str) -> str:
    """A text behind every day of the period."""
    year, _, rest = text.partition("-")
    return f"{year}-{_QUARTERS[rest][1]}" if rest in _QUARTERS else f"{text}~"
