"""
An invented world small enough to be built hundreds of times: three sources, two countries, one formula per operator.

Payloads are JSON written by the generators below; the store lives in memory. All names and numbers are made up.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.load import build
from almanac.catalog.records import Catalog
from almanac.config import Settings, SourceSettings
from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Consent
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.derive.companies import CompanyDeriver
from almanac.pipeline.derive.derivation import Changes, Deriver
from almanac.pipeline.events.releases import ReleaseEvents
from almanac.pipeline.ingest.folding import Folding
from almanac.pipeline.processes import Processes
from almanac.sources.base import Block, Connector, Parsed, Payload
from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import meta
from almanac.store.log import payloads
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.pages import ObservationRow, read_page
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from almanac.store.observations.reading.reader import View
from almanac.store.observations.writing.batch import Batch
from almanac.store.raw.captures import Capture, RawStore

DAY_SECONDS = 86_400
#: 2025-03-20T00:00:00Z: the day before the first payload can come.
START = 1_742_428_800
ALPHA, BETA, GAMMA, MIXED = "alpha", "beta", "gamma", "almanac-derived"


def _source(name: str, provider: str, **rights: Any) -> dict[str, Any]:
    return {
        "id": name,
        "provider": provider,
        "name": name.title(),
        "description": "Invented.",
        "homepage": "https://publisher.example",
        "connector": "" if name == MIXED else "invented",
        "rights": {"license": "invented", "attribution": f"Invented by {name}", **rights},
    }


def _formula(slug: str, operator: str, inputs: list[str], **more: Any) -> dict[str, Any]:
    return {
        "slug": slug, "name": slug, "description": "Invented.", "category": "rates", "unit": "percent",
        "formula": slug, "operator": operator, "inputs": inputs, **more,
    }  # fmt: skip


RAW = {
    "level": ("M", {ALPHA: "aaa bbb", BETA: "aaa", GAMMA: "aaa bbb"}),
    "jobless": ("M", {ALPHA: "aaa", BETA: "bbb"}),
    "policy": ("D", {BETA: "aaa", GAMMA: "bbb"}),
    "yield_2y": ("D", {ALPHA: "aaa", BETA: "aaa"}),
    "yield_5y": ("D", {ALPHA: "aaa"}),
    "yield_10y": ("D", {ALPHA: "aaa bbb", BETA: "bbb", GAMMA: "aaa"}),
}
PART: dict[str, Any] = {
    "unit": [{"id": "percent", "label": "%"}],
    "provider": [
        {"id": p, "name": p, "kind": "service", "homepage": "https://publisher.example", "attribution": "Invented"}
        for p in ("first", "second", "almanac")
    ],
    "source": [
        _source(ALPHA, "first"),
        _source(BETA, "second"),
        _source(GAMMA, "second", channel="restricted", channel_reason="no consent yet"),
        _source(MIXED, "almanac"),
    ],
    "entity": [
        {"id": "country_aaa", "slug": "aaa", "name": "A", "kind": "country"},
        {"id": "country_bbb", "slug": "bbb", "name": "B", "kind": "country"},
    ],
    "indicator": [
        {
            "slug": slug, "name": slug, "description": "Invented.", "category": "rates", "kind": "raw",
            "unit": "percent", "preferred": [GAMMA, ALPHA],
        }
        for slug in RAW
    ],
    "derived": [
        _formula("level_yoy", "growth", ["level"], params={"lag": "1y"}),
        _formula("level_mom", "growth", ["level"], params={"lag": "1m", "power": 12}),
        _formula("jobless_change", "change", ["jobless"], params={"lag": "1p"}),
        _formula("sahm", "sahm", ["jobless"], params={"least_months": 2, "least_means": 10}),
        _formula("misery", "sum", ["jobless", "level_yoy"]),
        _formula("real_rate", "real_rate", ["policy", "level_yoy"]),
        _formula("slope", "difference", ["yield_10y", "yield_2y"], params={"same_source": True}),
        _formula("butterfly", "butterfly", ["yield_2y", "yield_5y", "yield_10y"]),
        _formula("spread", "spread_to", ["yield_10y", "country_aaa:yield_10y"], except_entities=["country_aaa"]),
        _formula("yield_change", "change", ["yield_10y"], params={"lag": "1y"}),
        _formula("cycle", "cycle", ["policy"], params={"lag": "12m", "move": 1.0}),
        _formula("level_gap", "peer_spread", ["level"], params={"members": "countries", "minimum": 1}),
        _formula("level_score", "peer_zscore", ["level"], params={"members": "countries", "minimum": 2, "years": 1}),
    ],
    "series": [
        {
            "source": source, "entity": f"country_{country}", "frequency": letter, "indicator": slug,
            "unit": "percent", "codes": [{"native": f"{slug}.{country}", "name": f"{slug} {country}"}],
        }
        for slug, (letter, sources) in RAW.items()
        for source, countries in sources.items()
        for country in countries.split()
    ]
    + [
        {
            "source": BETA, "entity": "country_aaa", "frequency": "D", "indicator": "policy", "variant": "former",
            "unit": "percent", "codes": [{"native": "policy.former", "name": "policy aaa, until then"}],
        }
    ],
}  # fmt: skip
CATALOG: Catalog = build([PART])


def spec(source: str, indicator: str, entity: str = "country_aaa", letter: str = "M", **more: Any) -> SeriesSpec:
    """Make a series of a store, in percent and monthly unless said otherwise."""
    own = {"native": "n", "frequency": Frequency(letter), "unit": "percent", "name": "n"}
    return SeriesSpec(source=source, indicator=indicator, entity=entity, **own | more)


#: Two stretches a year apart, so that lags meet; around the end of February, so that look-backs and leap days do.
MONTHS = [Period.parse(text).key for text in ("2023-12", "2024-01", "2024-02", "2024-12", "2025-01", "2025-02")]
DAYS = [
    Period.parse(text).key
    for text in (
        "2024-02-27", "2024-02-28", "2024-02-29", "2024-03-04", "2025-02-26", "2025-02-28", "2025-03-04", "2025-03-07",
    )
]  # fmt: skip


class Sent(NamedTuple):
    """One invented response: who sent it, when (unix seconds), and its blocks as JSON."""

    source: str
    fetched_at: int
    body: bytes

    @property
    def order(self) -> tuple[int, str]:
        return (self.fetched_at, hashlib.sha256(self.body).hexdigest())


class Reader(Connector):
    """The connector of the invented format."""

    version = 1

    def owns(self, url: str) -> bool:
        return url.startswith("https://publisher.example/")

    def plan(self, *_: Any) -> list[Any]:
        return []

    def parse(self, payload: Payload, source: Any, series: Mapping[str, Any]) -> Parsed:
        return Parsed(
            [
                Block(native, [ReportedValue(*line) for line in lines], tuple(complete) if complete else None, *updated)
                for native, lines, complete, *updated in json.loads(payload.body)
            ]
        )


class Blobs:
    """Storage of the raw store, in memory."""

    at_once = 1

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}

    def check(self) -> None:
        pass

    def get(self, name: str) -> bytes | None:
        return self._held.get(name)

    def put(self, name: str, content: bytes) -> None:
        self._held[name] = content

    def create(self, name: str, content: bytes) -> bool:
        return self._held.setdefault(name, content) is content

    def names(self, prefix: str) -> Iterator[str]:
        return iter(sorted(name for name in self._held if name.startswith(f"{prefix}/")))

    def size(self, prefix: str) -> int:
        return sum(len(self._held[name]) for name in self.names(prefix))

    def tidy(self) -> int:
        return 0


class NoReleases(ReleaseEvents):
    """The releases that are shipped are about indicators this world has not."""

    releases = ()

    def __init__(self) -> None:
        pass

    def forget(self) -> None:
        pass

    def note(self, *_: Any) -> None:
        pass

    def run(self, *_: Any) -> None:
        pass

    def recompute(self, *_: Any) -> int:
        return 0

    def write_meetings(self, *_: Any) -> None:
        pass

    def meetings_differ(self) -> bool:
        return False


class SmallWorld(PipelineContext):
    """A world with its store in memory and the small catalogue instead of the packaged one."""

    def __init__(self) -> None:
        self.settings = Settings(now="2026-01-01T00:00:00Z")
        self.db = opening.create(Path(":memory:"))
        self.kind = REAL
        self.catalog = CATALOG
        self.raw = RawStore(Blobs())
        self.processes = Processes(1)
        self.company_deriver = CompanyDeriver(self.db, self.processes)
        self.releases = NoReleases()
        self.sync()
        self.deriver = Deriver(self.catalog, self.db)
        self._directory: MetadataCache | None = None

    def send(self, sent: Iterable[Sent], *, together: bool = False) -> None:
        """Keep and fold responses in the order given, each in a transaction of its own or all in one."""
        responses = list(sent)
        for group in [responses] if together else [[one] for one in responses]:
            with self.batch("payload") as batch:
                changes: Changes = {}
                for one in group:
                    self._fold(batch, one, changes)
                self.deriver.run(batch, changes)

    def _fold(self, batch: Batch, one: Sent, changes: Changes) -> None:
        """One that was folded already says nothing new."""
        url = f"https://publisher.example/{one.source}"
        clock = self.settings.clock()
        capture = self.raw.keep(one.source, url, one.body, "application/json", one.fetched_at, clock)
        if payloads.find(self.db, capture.id) is not None:
            return
        self._entered(batch, capture, changes)

    def _entered(self, batch: Batch, capture: Capture, changes: Changes) -> None:
        source, series, reader = self.catalog.sources[capture.source], self.catalog.series[capture.source], Reader()
        body = self.raw.read(capture)
        parsed = reader.parse(Payload(capture.url, body, capture.ingested_at, "application/json"), source, series)
        row = payloads.put(self.db, capture, "run", payloads.FOLDED)
        Folding(self, source, reader, series).fold(batch, row, parsed, changes)

    def accept(self, one: Sent) -> None:
        """Let a response pass which would withdraw much: recorded, and taken in once more if it is held."""
        capture = self.raw.keep(
            one.source,
            "https://publisher.example/" + one.source,
            one.body,
            "application/json",
            one.fetched_at,
            self.settings.clock(),
        )
        self.raw.accept(one.source, capture.sha256, self.settings.clock())
        row = payloads.find(self.db, capture.id)
        if row is not None and row.held:
            with self.batch("accepted") as batch:
                changes: Changes = {}
                self._entered(batch, capture, changes)
                self.deriver.run(batch, changes)

    def restart(self) -> None:
        """What a new process would know."""
        self.deriver = Deriver(self.catalog, self.db)

    def allow(self, *sources: str) -> None:
        """Record consents for these sources, and for no others."""
        consent = Consent(by="someone", on="2025-01-01", reference="invented")
        allowed = {name: SourceSettings(consent=consent) for name in sources}
        self.settings = msgspec.structs.replace(self.settings, sources=allowed)
        self.sync()

    def prefer(self, *sources: str) -> None:
        """Change the order of sources, for every raw indicator."""
        indicators = {
            slug: msgspec.structs.replace(held, preferred=sources) if held.kind == "raw" else held
            for slug, held in self.catalog.indicators.items()
        }
        self.catalog = msgspec.structs.replace(self.catalog, indicators=indicators)
        self.sync()

    @property
    def version(self) -> int:
        return int(meta(self.db, "version") or 0)

    def view(self) -> View:
        reference = int(meta(self.db, "reference") or 0)
        if self._directory is None or self._directory.reference != reference:
            self._directory = MetadataCache(self.db, reference)
        return View(self.db, self.version, meta(self.db, "epoch") or "", self._directory, {})

    def rows(
        self,
        as_of: int | None = None,
        *,
        every: bool = True,
        sort: str = "topic",
        descending: bool = False,
        version: int | None = None,
        **selection: Any,
    ) -> list[ObservationRow]:
        """A whole list in one page."""
        view = self.view()
        found, place = read_page(view, ObservationQuery(
            ObservationFilter(**selection), version=view.version if version is None else version, as_of=as_of, every=every,
            sort=sort, descending=descending, after=None, limit=1 << 30))  # fmt: skip
        assert place is None
        return found

    def open_rows(self) -> list[tuple[Any, ...]]:
        """Every open vintage with all that is served of it: equal lists mean equal answers for every T."""
        return list(
            self.db.execute(
                "SELECT s.id, v.period, v.known_at, v.value, v.text, v.flags, v.released_at, v.ingested_at, (SELECT n.body FROM note n WHERE n.note = v.note),"
                f" l.inputs FROM vintages v JOIN series s USING(series) LEFT JOIN lineage l ON l.lineage = v.lineage"
                f" WHERE v.to_version = {sqlite.OPEN} ORDER BY s.id, v.period, v.known_at"
            )
        )

    def moments(self) -> list[int]:
        """Every instant at which something served changes, and the second before each."""
        known = {row[0] for row in self.db.execute(f"SELECT known_at FROM vintages WHERE to_version = {sqlite.OPEN}")}
        return sorted(known | {moment - 1 for moment in known})


def shown(rows: Sequence[ObservationRow]) -> list[tuple[Any, ...]]:
    """All of a row that goes out, in a form that compares and prints."""
    return [(row.series.id, row.shown) for row in rows]


Told = (
    tuple[str, list[ReportedValue], tuple[int, int] | None]
    | tuple[str, list[ReportedValue], tuple[int, int] | None, int]
)


def sent(source: str, day: int, *blocks: Told) -> Sent:
    """A response fetched so many days after START. A block may end with the state of the data that it says it is of."""
    return Sent(source, START + day * DAY_SECONDS, json.dumps(blocks).encode())


def value_of(row: ObservationRow) -> float | str:
    """The number a row shows, or its text."""
    number, text = row.value, row.text
    found = text if number is None else number
    assert found is not None
    return found
