"""Rights as records: of a row of observations, and of what a source says beside them (statements, events)."""

from __future__ import annotations

from almanac.api.contract.endpoint import Context
from almanac.api.contract.records import RowRights
from almanac.domain.rights import Exposure, effective
from almanac.store.observations.reading.metadata import SeriesRights


def of_row(rights: SeriesRights) -> RowRights:
    """Rights of a row, as the store knows them."""
    return _record(rights.exposure, rights.reason, rights.license, rights.license_class, rights.attribution)


def of_source(ctx: Context, name: str) -> RowRights:
    """Rights of a source as they are now, without tighter words of single series. A source that is not known is shut."""
    directory = ctx.view.directory
    source = directory.sources.get(name)
    if source is None:
        return _record(Exposure.blocked, f"the source '{name}' is not known any more", "unknown", "consent", "unknown")
    exposure = effective(source.rights, Exposure.public, directory.consents.get(name))
    reason = None
    if exposure is not Exposure.public:
        own = source.rights.reason if exposure == source.rights.exposure else None
        reason = own or source.rights.channel_reason or source.rights.reason
        reason = reason or f"{source.name} may not be redistributed"
    return _record(exposure, reason, source.rights.license, source.rights.asks_for, source.rights.attribution)


def _record(exposure: Exposure, reason: str | None, license_: str, license_class: str, attribution: str) -> RowRights:
    public = exposure is Exposure.public
    return RowRights(
        exposure=exposure.name,  # type: ignore[arg-type]  # the names of the enumeration are these
        redistributable=public,
        value_withheld=not public,
        reason=reason,
        license=license_,
        license_class=license_class,  # type: ignore[arg-type]  # the catalogue has these alone
        attribution=attribution,
    )
