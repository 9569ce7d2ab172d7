"""A small invented mirror in the Treasury's format, and a home it is taken into. Every number here is made up."""

import csv
import shutil
from pathlib import Path

from almanac.config import Settings
from almanac.domain.periods import end_of
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.ingest.outcome import RunOutcome
from almanac.store.observations.ids import observation_id

NOW = "2026-11-20T12:00:00Z"
SOURCE = "us-treasury-par"
FEED = "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
#: A feed of the same publisher that no source reads.
BILLS = f"{FEED}?data=daily_treasury_bill_rates&field_tdr_date_value=2026"
TWO_YEARS, TEN_YEARS, SLOPE = (
    f"{SOURCE}:country_usa:{slug}:D" for slug in ("gov_yield_2y", "gov_yield_10y", "yield_slope_2s10s")
)

_HEAD = (
    '<feed xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" '
    'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom">'
    "<title>invented</title>"
)


def url(year: int) -> str:
    return f"{FEED}?data=daily_treasury_yield_curve&field_tdr_date_value={year}"


def curve(days: dict[str, dict[str, float]]) -> bytes:
    """A year of the feed: day → element → percent."""
    entries = []
    for day, cells in days.items():
        inside = "".join(f"<d:{name}>{value}</d:{name}>" for name, value in cells.items())
        entries.append(
            f"<entry><id>x</id><content><m:properties><d:Id>1</d:Id><d:NEW_DATE>{day}T00:00:00</d:NEW_DATE>{inside}"
            "</m:properties></content></entry>"
        )
    return (_HEAD + "".join(entries) + "</feed>").encode()


def day(two: float, ten: float, **more: float) -> dict[str, float]:
    return {"BC_2YEAR": two, "BC_10YEAR": ten, **more}


FIRST = curve({"2026-01-02": day(3.5, 4.1, BC_4MONTH=3.9), "2026-01-05": day(3.6, 4.3)})
#: Corrects 2026-01-02 and adds a day.
SECOND = curve({"2026-01-02": day(3.55, 4.1), "2026-01-05": day(3.6, 4.3), "2026-01-06": day(3.7, 4.2)})
#: Leaves 2026-01-05 out: withdrawn.
THIRD = curve({"2026-01-02": day(3.55, 4.1), "2026-01-06": day(3.7, 4.2), "2026-01-07": day(3.8, 4.4)})
YEAR_BEFORE = curve({"2025-12-31": day(3.4, 4.0)})
BROKEN = b'<!DOCTYPE feed [<!ENTITY x "y">]>' + FIRST

#: (url, fetched_at, body, status)
Row = tuple[str, str, bytes, int]
ROWS: list[Row] = [
    (url(2026), "2026-01-05T23:30:00Z", FIRST, 200),
    (url(2026), "2026-01-06T23:30:00Z", SECOND, 200),
    (url(2026), "2026-01-07T23:30:00Z", THIRD, 200),
    (url(2025), "2026-01-07T23:31:00Z", YEAR_BEFORE, 200),
    (BILLS, "2026-01-07T23:32:00Z", b"<feed/>", 200),
    (url(2024), "2026-01-07T23:33:00Z", BROKEN, 200),
    (url(2023), "2026-01-07T23:34:00Z", b"gone", 404),
]
GOOD = ROWS[:4]


def write_mirror(folder: Path, rows: list[Row] = ROWS) -> Path:
    """A mirror folder; an older one of that name goes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with (folder / "mirror.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["url", "file", "fetched_at", "media_type", "status"])
        for number, (address, fetched, body, status) in enumerate(rows):
            (folder / f"{number}.xml").write_bytes(body)
            out.writerow([address, f"{number}.xml", fetched, "application/xml", status])
    return folder


def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", now=NOW)


def take(
    world: PipelineContext, folder: Path, rows: list[Row] = ROWS, sources: tuple[str, ...] = (SOURCE,)
) -> list[RunOutcome]:
    return from_mirror(
        world, [world.catalog.sources[name] for name in sources], write_mirror(folder, rows), lambda _: None
    )


#: Everything that is served of a vintage.
SERVED = (
    "SELECT s.id, v.period, v.known_at, v.value, v.text, v.flags, v.released_at, v.ingested_at, (SELECT n.body FROM note n WHERE n.note = v.note)"
    " FROM vintages v JOIN series s USING(series) WHERE v.to_version = 2147483647 ORDER BY s.id, v.period, v.known_at"
)
PAYLOADS = "SELECT capture, source, url, sha256, fetched_at, ingested_at, state, reason FROM payload ORDER BY capture"


def served(world: PipelineContext) -> dict[str, list[tuple[object, ...]]]:
    """What a rebuild must bring back: the ids of rows too."""
    found: dict[str, list[tuple[object, ...]]] = {
        sql: list(world.db.execute(sql))
        for sql in (SERVED, PAYLOADS, "SELECT source, native, rows FROM unmapped ORDER BY 1, 2")
    }
    return {**found, "ids": [(observation_id(*row[:3]),) for row in world.db.execute(SERVED)]}


def values(world: PipelineContext, series: str) -> list[tuple[str, float | None]]:
    """All open vintages of a series as (last day, value), by period and knowledge time."""
    found = world.db.execute(
        "SELECT v.period, v.value FROM vintages v JOIN series s USING(series)"
        " WHERE s.id = ? AND v.to_version = 2147483647 ORDER BY v.period, v.known_at",
        (series,),
    )
    return [(end_of(period).isoformat(), value) for period, value in found]
