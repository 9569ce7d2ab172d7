"""The parts that a pipeline command works with, opened together: settings, catalogue, raw store and data database."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import msgspec

from almanac.catalog.currencies import apart, in_currency
from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog, is_simulated, simulated_copy
from almanac.config import Settings, real_time
from almanac.domain.errors import UserError
from almanac.pipeline import raw_store_binding
from almanac.pipeline.derive.companies import CompanyDeriver
from almanac.pipeline.derive.derivation import Changes, Deriver
from almanac.pipeline.events.releases import ReleaseEvents
from almanac.pipeline.processes import Processes, cores
from almanac.pipeline.raw_store_binding import RawStoreError
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.errors import StoreError, UnavailableError
from almanac.store.observations import specs
from almanac.store.observations.reading.metadata import MIXED_SOURCE
from almanac.store.observations.writing.batch import Batch
from almanac.store.raw.captures import RawStore
from almanac.store.summary import records

REAL, SIMULATED = "real", "simulated"
#: Seconds a command waits for another writer: longer than any transaction of an ingest.
_WAIT_SECONDS = 120.0
#: Seconds to wait for readers after a load, so that the log can be truncated; requests take far less.
_LOG_SECONDS = 5.0


class WorldError(UserError):
    """The store holds the other world. Real and simulated data are never mixed."""


class PipelineContext:
    """
    The open parts for one store of one world, used as a context manager.

    `kind` is the world to ingest; None means no ingestion, in whichever world the store holds (real if it is empty).
    Raises WorldError on a mix, RawStoreError if payloads would go into a raw store other than the data's, and, on entry
    and exit, StoreError with advice if the database is unavailable. `rebuilding` says that the tables are about to be
    recreated, so they may have any schema and are not read. `tell` receives messages on what delays the opening.
    """

    deriver: Deriver
    company_deriver: CompanyDeriver
    releases: ReleaseEvents
    #: The data version whose series the deriver knows; None if it may know series that don't exist.
    _known: int | None = None
    _rebuilding = False
    _cleared = False
    _tell: Callable[[str], object] = staticmethod(lambda _: None)

    def __init__(
        self,
        settings: Settings,
        kind: str | None = None,
        *,
        rebuilding: bool = False,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self.settings = settings
        self._tell = tell or self._tell
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._place = opening.place(settings.data_place)
        self.raw = RawStore.at(settings.raw_place)
        self._rebuilding = rebuilding
        try:
            with opening.faults():
                self._open(kind)
        except UnavailableError as error:
            raise StoreError(opening.advice(error, self._place)) from None
        except (WorldError, RawStoreError):
            self.db.close()
            raise

    def _open(self, kind: str | None) -> None:
        settings = self.settings
        self.db = opening.create(self._place, any_schema=self._rebuilding, busy_seconds=_WAIT_SECONDS)
        stored = meta(self.db, "world")
        if stored is None and (source := self.raw.any_source()) is not None:
            # The data database may be new while the payloads are not.
            stored = SIMULATED if is_simulated(source) else REAL
        if kind is not None and stored is not None and stored != kind:
            raise WorldError(
                f"the store in {settings.home} holds {stored} data and cannot take {kind} data: "
                f"the two are never mixed; choose another ALMANAC_HOME"
            )
        if kind is not None:
            with contextlib.suppress(
                ConnectionError
            ):  # the storage is away: `claim` looks again before anything is kept
                raw_store_binding.check(self.db, self.raw, settings)
        self.kind = kind or stored or REAL
        self.processes = Processes(settings.processes or cores())
        self.company_deriver = CompanyDeriver(self.db, self.processes)
        self.catalog = self._catalog()
        self.releases = ReleaseEvents(self.catalog, self.db, self._orders(), simulated_world=self.kind == SIMULATED)
        if not self._rebuilding:
            self.sync()
            self.renew()

    def _catalog(self) -> Catalog:
        if self.kind != SIMULATED:
            return shipped()
        from almanac.sandbox.world import catalog  # noqa: PLC0415  (numpy-heavy, and only this world needs it)

        return catalog()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.processes.close()
            if error is None and self.db.written():
                self.db.truncate_log(_LOG_SECONDS)
        finally:
            self.db.close()
        fault = opening.fault(error)
        if isinstance(fault, UnavailableError):
            raise StoreError(opening.advice(fault, self._place)) from error
        if fault is not None and fault is not error:
            raise fault from error

    @contextmanager
    def batch(self, cause: str) -> Iterator[Batch]:
        """Open one write transaction with at most one data version. At its start the deriver knows all existing series."""
        try:
            with Batch(self.db, real_time(), cause, real_time) as batch:
                # Another process may have written meanwhile, or our batch was undone together with its new series.
                if self._known != batch.version - 1 and not self._rebuilding:
                    self.renew()
                yield batch
        except BaseException:  # whatever ended it, a signal too: what was learnt of it is undone with it
            self._known = None
            self.company_deriver.forget()
            self.releases.forget()
            raise
        self._known = batch.version if batch.changed else batch.version - 1

    def update_derived(self, batch: Batch, changes: Changes) -> None:
        """
        Recompute everything that depends on changed cells and companies, inside the batch that changed them. Derived
        changes are added to `changes`.
        """
        self.deriver.run(batch, changes)
        self.company_deriver.run(batch)
        self.releases.run(batch, changes)

    def claim(self) -> None:
        """
        Bind the store to this world and this raw store before the first payload goes in, and remove the remains of
        killed runs.

        Raises RawStoreError if the store belongs to another raw store.
        """
        if not self._cleared:
            self.raw.blobs.check()
            self.raw.blobs.tidy()
            raw_store_binding.settle(self.db, self.raw, self.settings)
            self._cleared = True
        if meta(self.db, "world") != self.kind:
            with self.db.transaction():
                set_meta(self.db, "world", self.kind)

    def renew(self) -> None:
        """Read the known series from the store again."""
        self._known = int(meta(self.db, "version") or 0)
        self.deriver = Deriver(self.catalog, self.db)

    def write_catalog(self, batch: Batch) -> None:
        """Write the reference records into the store as part of a batch."""
        orders = self._orders()
        records.sync(self.db, batch, self._records(orders), orders)
        self.releases.write_meetings(batch)

    def sync(self) -> None:
        """
        Update reference records, consents, orders of preference and series specifications in the store from catalogue
        and settings.
        """
        orders = self._orders()
        kinds = self._records(orders)
        stored = {spec.id: spec for spec in specs.in_use(self.db)}
        known = self.catalog.series_by_id
        wanted = dict(known)
        for key, spec in stored.items():
            code = apart(spec.native)[1]
            for end in () if code is None else (f":{code.lower()}", f"-{code.lower()}"):
                if code is not None and (main := known.get(key.removesuffix(end))) is not None:
                    wanted[key] = in_currency(main, code)
                    break
        moved = [spec for key, spec in wanted.items() if stored.get(key, spec) != spec]
        if moved or records.differs(self.db, kinds, orders) or self.releases.meetings_differ():
            if stored:
                self._tell("the store is brought into step with catalogue and settings")
            with self.batch("catalogue") as batch:
                records.sync(self.db, batch, kinds, orders)
                self.releases.write_meetings(batch)
                for spec in moved:
                    batch.series(spec, "raw")
                    self.deriver.register(spec)
                # The preferred inputs depend on rights and orders.
                self.deriver.reconsider()
                self.update_derived(batch, {})

    def _records(self, orders: Mapping[str, Sequence[str]]) -> dict[str, dict[str, msgspec.Struct]]:
        catalog = self.catalog
        simulated = self.kind == SIMULATED
        sources = {key: s for key, s in catalog.sources.items() if key == MIXED_SOURCE or s.simulated == simulated}
        providers = {s.provider for s in sources.values()}
        consents = {key: consent for key in sources if (consent := self.settings.consent(key)) is not None}
        indicators = {
            i.id: msgspec.structs.replace(i, preferred=tuple(orders.get(i.slug, ())))
            for i in catalog.indicators.values()
        }
        return {
            "provider": {key: p for key, p in catalog.providers.items() if key in providers},
            "source": dict(sources),
            "indicator": dict(indicators),
            "entity": dict(catalog.entities),
            "consent": dict(consents),
            "unit": dict(catalog.units),
            "release": {release.type: release for release in self.releases.releases},
        }

    def _orders(self) -> dict[str, list[str]]:
        """
        Return the sources of every indicator by preference. A derived one has our own mixed values first, then the
        order of its first input.

        A simulated source takes the place of the source that it imitates.
        """
        orders: dict[str, list[str]] = {}

        def order(slug: str) -> list[str]:
            if slug not in orders:
                indicator = self.catalog.indicators[slug]
                named = [] if indicator.kind == "raw" else [s for s in order(indicator.inputs[0]) if s != MIXED_SOURCE]
                for source in indicator.preferred:
                    copy = simulated_copy(source, self.catalog.sources) if self.kind == SIMULATED else None
                    named += [copy or source]
                orders[slug] = [MIXED_SOURCE, *named] if indicator.kind == "derived" else named
            return orders[slug]

        for slug in self.catalog.indicators:
            order(slug)
        return orders
