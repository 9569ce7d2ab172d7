"""What this version of Almanac needs of a store that another version may have left, found out without changing anything."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from almanac.config import Settings
from almanac.distribution import version
from almanac.pipeline.workplace import Workplace
from almanac.store.accounts.file import AREA as ACCOUNTS
from almanac.store.engine import detached, opening
from almanac.store.engine.areas import Area
from almanac.store.engine.data_schema import DATA, meta, vintages_held
from almanac.store.engine.errors import SchemaError, StoreError, UnavailableError
from almanac.store.engine.protocol import Database
from almanac.store.usage.counts import AREA as USAGE

#: Seconds for each vintage: of a rebuild, of all that is derived, of one step in place. Measured on two cores (the simulated
#: world), and less or more by these factors elsewhere.
_REBUILD, _DERIVE, _STEP = 100e-6, 50e-6, 5e-6
_LESS, _MORE = 0.5, 3.0


class Duration(msgspec.Struct, frozen=True):
    """About how long something takes, seconds."""

    least: int
    most: int


class UpgradePlan(msgspec.Struct, frozen=True, rename="camel"):
    """
    What is to be done before this version serves a store.

    `needs`: `nothing`; `start`: the next start brings it into step by itself, in place; `rebuild`: `almanac rebuild` has to make
    the data anew; `another_version`: a later one wrote it. `found` and `known` are schemas of the data, `found` None where there
    are none yet. `steps` say what is changed in place, `reason` why not. `vintages` and `bytes`: what the store holds, None where that
    cannot be counted. `takes`: how long what it needs takes.
    """

    almanac: str
    needs: str
    found: int | None
    known: int
    reason: str | None = None
    steps: tuple[str, ...] = ()
    catalogue: bool = False
    accounts: tuple[str, ...] = ()
    vintages: int | None = None
    bytes: int | None = None
    takes: Duration | None = None


class _Area(NamedTuple):
    what: str
    area: Area
    place: Path | str


def plan(settings: Settings) -> UpgradePlan:
    """Look at the store. Nothing is made, upgraded or locked. Raises StoreError where it cannot be looked at."""
    beside, barred = _plan_areas(settings)
    place = opening.place(settings.data_place)
    if isinstance(place, Path) and not place.exists():
        needs = "another_version" if barred else "start" if beside else "nothing"
        return _plan(needs, None, accounts=tuple(beside), reason=barred)
    try:
        with opening.faults(), contextlib.closing(opening.connect(place, read_only=True)) as db:
            return _planned(settings, db, str(place), tuple(beside), barred)
    except UnavailableError as error:
        raise StoreError(opening.advice(error, place)) from None


def _planned(settings: Settings, db: Database, where: str, beside: tuple[str, ...], barred: str | None) -> UpgradePlan:
    if "meta" not in db.tables():
        return _plan("another_version" if barred else "start", None, accounts=beside, reason=barred)
    found = int(meta(db, "schema") or 0)
    vintages, size = vintages_held(db), _size(settings)

    def make_plan(needs: str, seconds: float, **more: object) -> UpgradePlan:
        takes = _span(seconds) if seconds else None
        return _plan(needs, found, accounts=beside, vintages=vintages, bytes=size, takes=takes, **more)

    if barred is not None or found > DATA.newest:
        return make_plan("another_version", 0, reason=barred or _refusal(found, where))
    held = vintages or 0
    try:
        ahead = DATA.ahead(found, where)
    except SchemaError as error:
        return make_plan("rebuild", max(1.0, held * _REBUILD), reason=str(error))
    steps = tuple(f"schema {one.schema}: {one.what}" for one in ahead)
    # Of tables of another schema nothing else can be asked; what the catalogue needs is then not known, and is done beside.
    moved = not ahead and _out_of_step(settings)
    seconds = len(ahead) * held * _STEP + (held * _DERIVE if moved else 0)
    needs = "start" if ahead or moved or beside else "nothing"
    return make_plan(needs, max(1.0, seconds) if ahead or moved else 0, steps=steps, catalogue=moved)


def _plan(needs: str, found: int | None, **more: object) -> UpgradePlan:
    return UpgradePlan(almanac=version(), needs=needs, found=found, known=DATA.newest, **more)  # type: ignore[arg-type]  # fields by name


def _refusal(found: int, where: str) -> str:
    try:
        DATA.ahead(found, where)
    except SchemaError as error:
        return str(error)
    return ""


def _out_of_step(settings: Settings) -> bool:
    """Whether catalogue, consents or orders of sources are others than the store was made with."""
    with Workplace(settings, looking=True) as world:
        return world.out_of_step()


def _plan_areas(settings: Settings) -> tuple[list[str], str | None]:
    """What is changed in accounts and counts of use when they are opened; and why they cannot be used, None where they can."""
    steps: list[str] = []
    for one in (
        _Area("the accounts", ACCOUNTS, settings.accounts_place),
        _Area("the counts of requests", USAGE, settings.usage_place),
    ):
        found = _schema(one)
        if found is None or found == one.area.schema:
            continue
        if found > one.area.schema:
            told = f"{one.what} have schema {found} of a newer version of Almanac, this one knows {one.area.schema}"
            return steps, f"{told}: {one.area.newer}"
        steps.append(
            f"{one.what} are brought from schema {found} to {one.area.schema}; an earlier version refuses them then"
        )
    return steps, None


def _schema(one: _Area) -> int | None:
    """The schema of what is kept beside the data; None where there is nothing yet."""
    place = opening.place(one.place)
    if isinstance(place, Path):
        return detached.user_version(place) if place.exists() else None
    try:
        with opening.faults(), contextlib.closing(opening.connect(place, read_only=True)) as db:
            return one.area.schema_on_server(db)
    except UnavailableError as error:
        raise StoreError(opening.advice(error, place)) from None


def _size(settings: Settings) -> int | None:
    place = settings.data_place
    return place.stat().st_size if isinstance(place, Path) else None


def _span(seconds: float) -> Duration:
    return Duration(max(1, round(seconds * _LESS)), max(1, round(seconds * _MORE)))
