"""Methods of the asynchronous client, one for each operation.

Made by `make docs` from what the service declares: change it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from almanac_client import _generated_models as m
from almanac_client._resources import AsyncRawResource, AsyncResource, Response
from almanac_client._rows import AsyncRows


class AsyncObservations(AsyncResource):
    """Values of series, their published states, what changed, and where they come from."""

    __slots__ = ()

    def list(
        self,
        *,
        sort: m.SortChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Observation]:
        """
        Raw observations. Values as their publishers stated them, one row per entity, indicator, frequency and
        period. A derived indicator named here gives an empty list.

        sort: Sort field; ties keep the default order.
        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        indicator_id: Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.
        indicator: Id, slug or alias of an indicator.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        license: What the terms of the source ask for: `open`: nothing is asked; `attribution`: the source is named;
            `non-commercial`: not for money, or not for more of it; `consent`: the owner is asked first. Several
            separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from
            several sources counts as `consent`.
        frequency: Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.
        period: Reference periods lying inside 2026, 2026-Q3, 2026-10 or 2026-10-31 of the calendar; of companies
            also FY2026, FY2026-Q3 or FY2026-H1: those inside of what each calls so.
        period_start: Periods starting on or after this time; what is of one day alone, as a balance sheet is, on or
            after it.
        period_end: Periods ending on or before this time.
        start_date: Rows known (observedAt) from this time on.
        end_date: Rows known (observedAt) up to this time.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        sources: `preferred`: one row per entity, indicator, frequency and period; `all`: every provider's row.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_OBSERVATIONS,
            {},
            {
                "sort": sort,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    def latest(
        self,
        *,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        kind: m.KindChoice | None = None,
        freshness: m.FreshnessChoice | None = None,
        as_of: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.DerivedObservation]:
        """
        Latest reading per indicator and entity. The newest period that is no forecast, then the higher frequency,
        then the preferred source; raw and derived. What may not be sent is a reading only where nothing else is.

        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        indicator_id: Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.
        indicator: Id, slug or alias of an indicator.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        license: What the terms of the source ask for: `open`: nothing is asked; `attribution`: the source is named;
            `non-commercial`: not for money, or not for more of it; `consent`: the owner is asked first. Several
            separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from
            several sources counts as `consent`.
        frequency: Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.
        kind: Only raw or only derived indicators.
        freshness: Only readings of this freshness.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_LATEST_OBSERVATIONS,
            {},
            {
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "kind": kind,
                "freshness": freshness,
                "as_of": as_of,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    def vintages(
        self,
        *,
        sort: m.ObservationsVintagesSortChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.DerivedObservation]:
        """
        Every vintage of every cell. One row per published state, oldest first within a cell; a withdrawal has no
        value and metadata.withdrawn true.

        sort: Sort field; ties keep the default order.
        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        indicator_id: Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.
        indicator: Id, slug or alias of an indicator.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        license: What the terms of the source ask for: `open`: nothing is asked; `attribution`: the source is named;
            `non-commercial`: not for money, or not for more of it; `consent`: the owner is asked first. Several
            separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from
            several sources counts as `consent`.
        frequency: Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.
        period: Reference periods lying inside 2026, 2026-Q3, 2026-10 or 2026-10-31 of the calendar; of companies
            also FY2026, FY2026-Q3 or FY2026-H1: those inside of what each calls so.
        period_start: Periods starting on or after this time; what is of one day alone, as a balance sheet is, on or
            after it.
        period_end: Periods ending on or before this time.
        start_date: Rows known (observedAt) from this time on.
        end_date: Rows known (observedAt) up to this time.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        sources: `preferred`: one row per entity, indicator, frequency and period; `all`: every provider's row.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_VINTAGES,
            {},
            {
                "sort": sort,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    def changes(
        self,
        *,
        since: int,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.DerivedObservation]:
        """
        Cells that changed since a data version. What is served now of every cell that was served otherwise at an
        earlier data version. A cell that is served no more has no value and metadata.withdrawn true. A change of
        rights, of unit or of the order of sources lists all cells it concerns.

        since: Data version of an earlier answer, from its x-data-version; 0 lists all that is served.
        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        indicator_id: Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.
        indicator: Id, slug or alias of an indicator.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        license: What the terms of the source ask for: `open`: nothing is asked; `attribution`: the source is named;
            `non-commercial`: not for money, or not for more of it; `consent`: the owner is asked first. Several
            separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from
            several sources counts as `consent`.
        frequency: Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.
        period: Reference periods lying inside 2026, 2026-Q3, 2026-10 or 2026-10-31 of the calendar; of companies
            also FY2026, FY2026-Q3 or FY2026-H1: those inside of what each calls so.
        period_start: Periods starting on or after this time; what is of one day alone, as a balance sheet is, on or
            after it.
        period_end: Periods ending on or before this time.
        start_date: Rows known (observedAt) from this time on.
        end_date: Rows known (observedAt) up to this time.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        sources: `preferred`: one row per entity, indicator, frequency and period; `all`: every provider's row.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_CHANGES,
            {},
            {
                "since": since,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    async def provenance(
        self,
        id: str,
        /,
    ) -> m.Provenance:
        """
        Where one observation comes from. All known states of its cell; for a derived value the formula, the inputs
        as known at its knowledge time and whether it comes out equal when computed again; for a raw one the
        payload, by hash, and the run that took it in.

        id: Id of an observation.
        """
        return await self._item(m.GET_PROVENANCE, {"id": id}, {})


class AsyncIndicators(AsyncResource):
    """The concepts of the catalogue, and the series behind them."""

    __slots__ = ()

    def list(
        self,
        *,
        category: m.CategoryChoice | None = None,
        kind: m.KindChoice | None = None,
        q: str | None = None,
        sort: m.IndicatorsListSortChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Indicator]:
        """
        Indicators. Every concept of the catalogue, raw and derived, with how much of it there is.

        category: Only indicators of this category.
        kind: Only raw or only derived indicators.
        q: Words to look for in slug, name, description and aliases, publishers' names among them, or a publisher's
            own code of a series (CPIAUCSL), or a part of one with a digit or a sign in it (NY.GDP.MKTP.CD); case does
            not matter.
        sort: By id, or by relevance to the words of `q`: first what is called so, then what has a name that begins
            with them, then what has them in a name, then what mentions them; measures of companies after others that
            are as near.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_INDICATORS,
            {},
            {
                "category": category,
                "kind": kind,
                "q": q,
                "sort": sort,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    async def get(
        self,
        id_or_slug: str,
        /,
    ) -> m.Indicator:
        """
        One indicator.

        id_or_slug: Id, slug or alias of an indicator.
        """
        return await self._item(m.GET_INDICATOR, {"idOrSlug": id_or_slug}, {})

    def series(
        self,
        id_or_slug: str,
        /,
        *,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        frequency: m.FrequencyChoice | None = None,
        native_id: str | Iterable[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Series]:
        """
        Series of one indicator.

        id_or_slug: Id, slug or alias of an indicator.
        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        frequency: Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.
        native_id: Publishers' own codes of series, as `nativeId` tells them; case does not matter, and / is as good
            as a point. Several separated by commas.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_INDICATOR_SERIES,
            {"idOrSlug": id_or_slug},
            {
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "source_id": source_id,
                "provider_id": provider_id,
                "frequency": frequency,
                "native_id": native_id,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )


class AsyncDerived(AsyncResource):
    """Indicators that are computed by a formula, and their values."""

    __slots__ = ()

    def list(
        self,
        *,
        category: m.CategoryChoice | None = None,
        q: str | None = None,
        sort: m.IndicatorsListSortChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Indicator]:
        """
        Derived indicators.

        category: Only indicators of this category.
        q: Words to look for in slug, name, description and aliases, publishers' names among them, or a publisher's
            own code of a series (CPIAUCSL), or a part of one with a digit or a sign in it (NY.GDP.MKTP.CD); case does
            not matter.
        sort: By id, or by relevance to the words of `q`: first what is called so, then what has a name that begins
            with them, then what has them in a name, then what mentions them; measures of companies after others that
            are as near.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_DERIVED_INDICATORS,
            {},
            {"category": category, "q": q, "sort": sort, "limit": page_size, "cursor": cursor, "order": order},
            limit,
        )

    async def get(
        self,
        id_or_slug: str,
        /,
    ) -> m.Indicator:
        """
        One derived indicator.

        id_or_slug: Id, slug or alias of a derived indicator.
        """
        return await self._item(m.GET_DERIVED_INDICATOR, {"idOrSlug": id_or_slug}, {})

    def entities(
        self,
        id_or_slug: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.DerivedIndicatorEntity]:
        """
        Entities that a derived indicator has data for.

        id_or_slug: Id, slug or alias of a derived indicator.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_DERIVED_INDICATOR_ENTITIES,
            {"idOrSlug": id_or_slug},
            {"limit": page_size, "cursor": cursor, "order": order},
            limit,
        )

    def observations(
        self,
        *,
        sort: m.SortChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.DerivedObservation]:
        """
        Observations of derived indicators. Values computed by a formula, each with the ids of the input series it
        was computed from. Filterable like /observations.

        sort: Sort field; ties keep the default order.
        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        indicator_id: Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.
        indicator: Id, slug or alias of an indicator.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        license: What the terms of the source ask for: `open`: nothing is asked; `attribution`: the source is named;
            `non-commercial`: not for money, or not for more of it; `consent`: the owner is asked first. Several
            separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from
            several sources counts as `consent`.
        frequency: Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.
        period: Reference periods lying inside 2026, 2026-Q3, 2026-10 or 2026-10-31 of the calendar; of companies
            also FY2026, FY2026-Q3 or FY2026-H1: those inside of what each calls so.
        period_start: Periods starting on or after this time; what is of one day alone, as a balance sheet is, on or
            after it.
        period_end: Periods ending on or before this time.
        start_date: Rows known (observedAt) from this time on.
        end_date: Rows known (observedAt) up to this time.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        sources: `preferred`: one row per entity, indicator, frequency and period; `all`: every provider's row.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_DERIVED_OBSERVATIONS,
            {},
            {
                "sort": sort,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )


class AsyncCountries(AsyncResource):
    """Countries and regions."""

    __slots__ = ()

    def list(
        self,
        *,
        has_data: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Country]:
        """
        Countries and regions.

        has_data: Only those with observations of their own, or only those without.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_COUNTRIES, {}, {"has_data": has_data, "limit": page_size, "cursor": cursor, "order": order}, limit
        )

    async def get(
        self,
        id_or_iso: str,
        /,
    ) -> m.Country:
        """
        One country or region. By id, slug, ISO-2, ISO-3 or ISO numeric code, or any name that /entities/resolve
        finds exactly; EUR for the euro area.

        id_or_iso: Id, slug, ISO code or exact name of a country or region; EUR for the euro area.
        """
        return await self._item(m.GET_COUNTRY, {"idOrIso": id_or_iso}, {})


class AsyncEntities(AsyncResource):
    """Names of countries, regions and companies, and which one a name means."""

    __slots__ = ()

    async def resolve(
        self,
        *,
        alias: str,
        type: m.TypeChoice | None = None,
        scheme: m.SchemeChoice | None = None,
        as_of: str | date | datetime | None = None,
    ) -> m.Resolved:
        """
        Which entity a name means. By name (of a country in the large languages too: Allemagne, 日本), former name,
        ISO code, ticker, CIK, LEI, slug or id. Exact first (case does not matter), else but for punctuation,
        accents, legal form and the like, else by likeness. A name valid on the day asked goes before one that is
        not; of companies of one name the only one with statements goes first. Where several fit as well, `entityId`
        is null and all of them are candidates; likeness alone never answers for what looks like a ticker or a CIK.
        Nothing close: 404. With `scheme=native` the entity of which a published series has this code of its
        publisher's.

        alias: The name.
        type: Only entities of this type.
        scheme: Only names of this scheme.
        as_of: The day the name was in use. Without it names of today come first, then former ones.
        """
        return await self._item(m.RESOLVE_ENTITY, {}, {"alias": alias, "type": type, "scheme": scheme, "as_of": as_of})

    def aliases(
        self,
        id_or_slug: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Alias]:
        """
        Names of one entity. Of a country, region or company, by id, slug or any name that /entities/resolve finds
        exactly: name, former names, codes, tickers and identifiers, with the days they were used where these are
        stated. A ticker of today has no last day; a retired one ends with the day it was last seen.

        id_or_slug: Id, slug or exact name of an entity.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_ENTITY_ALIASES,
            {"idOrSlug": id_or_slug},
            {"limit": page_size, "cursor": cursor, "order": order},
            limit,
        )


class AsyncCompanies(AsyncResource):
    """Companies with their scores, profiles and statements."""

    __slots__ = ()

    def list(
        self,
        *,
        sector: str | None = None,
        industry: str | None = None,
        country: str | Iterable[str] | None = None,
        q: str | None = None,
        sort: m.CompaniesListSortChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Company]:
        """
        Scored companies. Companies that have statements. The score compares a company with those of its sector that
        have a statement of the last 18 months, from values that may be shown; it is computed when asked. Any
        company that is known by name only is found by /entities/resolve.

        sector: Only companies of this sector; case does not matter.
        industry: Only companies of this industry; case does not matter.
        country: Domicile: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; several separated by
            commas.
        q: Words to look for in name and ticker; case and accents do not matter.
        sort: Sort field; companies without the value come last either way, ties are by name, then id.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_COMPANIES,
            {},
            {
                "sector": sector,
                "industry": industry,
                "country": country,
                "q": q,
                "sort": sort,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    async def profile(
        self,
        id_or_lookup: str,
        /,
    ) -> m.Profile:
        """
        Profile of one company. Names, identifiers, latest filings, figures over twelve months, each test of each
        score, and up to eight companies of its industry, the nearest in revenue first. By entity id, ticker, CIK,
        LEI, slug or any name that /entities/resolve finds exactly.

        id_or_lookup: Entity id, ticker, CIK, LEI, slug or exact name of a company.
        """
        return await self._item(m.GET_COMPANY_PROFILE, {"idOrLookup": id_or_lookup}, {})

    async def financials(
        self,
        id_or_lookup: str,
        /,
        *,
        frequency: m.CompaniesFinancialsFrequencyChoice | None = None,
        limit: int | None = None,
        as_of: str | date | datetime | None = None,
    ) -> m.Financials:
        """
        Financial statements of one company. Income statements, balance sheets and cash-flow statements, newest
        first, one per period: each assembled from what was known at the moment asked. By entity id, ticker, CIK,
        LEI, slug or any name that /entities/resolve finds exactly. Quarters that a filing does not state are
        derived where that can be done, and say how. Values are as filed, never adjusted for splits.

        id_or_lookup: Entity id, ticker, CIK, LEI, slug or exact name of a company.
        frequency: Only annual or only quarterly statements: quarters, and half-years where no quarter ends with
            them.
        limit: Statements per type, annual and quarterly together.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        """
        return await self._item(
            m.GET_COMPANY_FINANCIALS,
            {"idOrLookup": id_or_lookup},
            {"frequency": frequency, "limit": limit, "as_of": as_of},
        )


class AsyncRates(AsyncResource):
    """Sovereign spreads and slopes."""

    __slots__ = ()

    async def get(
        self,
        scope: str,
        /,
    ) -> m.Rates:
        """
        Sovereign rates analytics. Spreads per tenor (2y, 5y, 10y, 30y) against each peer and the peer mean, and
        curve slopes (2s10s, 5s30s), in basis points, from the latest public yield of each; a slope on the newest
        day on which both its legs are known. Scopes: AUS, CAN, CHE, EUR, GBR, JPN, USA, by any name that
        /entities/resolve finds exactly. Takes no parameters: the past is asked of /rates/{scope}/history.

        scope: One of AUS, CAN, CHE, EUR, GBR, JPN, USA, or another name of the same place.
        """
        return await self._item(m.GET_RATES, {"scope": scope}, {})

    def history(
        self,
        scope: str,
        /,
        *,
        as_of: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.RatesOfDay]:
        """
        Sovereign rates analytics of past days. What /rates/{scope} says, of other days and as known at other
        moments. With `as_of` alone one row: what it would have said then. With `start_date` or `end_date` a row for
        each day of that span on which the scope has a yield: its curve, spreads to each peer and slopes, from the
        latest public yield of that day or of one before, as known at `as_of`. An excluded spread or slope says so
        as there.

        scope: One of AUS, CAN, CHE, EUR, GBR, JPN, USA, or another name of the same place.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        start_date: Days from this one on.
        end_date: Days up to this one.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_RATES_HISTORY,
            {"scope": scope},
            {
                "as_of": as_of,
                "start_date": start_date,
                "end_date": end_date,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )


class AsyncBriefs(AsyncResource):
    """Countries in words."""

    __slots__ = ()

    async def get(
        self,
        country: str,
        /,
        *,
        as_of: str | date | datetime | None = None,
    ) -> m.Brief:
        """
        A country in words. Headline and six sections (growth, inflation, labour market, interest rates, external
        position, public finances), written by rule from the latest readings: every number in a text is one of them.
        Ranks are among countries, 1 the highest value; ranks and percentiles are over public values only. Then the
        next official events and the newest releases. By ISO-2, ISO-3, id, slug or any name that /entities/resolve
        finds exactly; EUR for the euro area.

        country: Id, slug, ISO code or exact name of a country or region; EUR for the euro area.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        """
        return await self._item(m.GET_COUNTRY_BRIEF, {"country": country}, {"as_of": as_of})


class AsyncReleases(AsyncResource):
    """What publications said, beside what was known before."""

    __slots__ = ()

    def list(
        self,
        *,
        country: str | Iterable[str] | None = None,
        indicator: str | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.ReleaseSummary]:
        """
        Release summaries. What each publication said of one period: its readings beside the ones before and the ten
        years behind them, as known when it was out, and one sentence. Newest first. Numbers that may not be
        redistributed are null.

        country: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the
            area's own rows; several separated by commas.
        indicator: Id, slug or alias of an indicator that the release brings.
        start_date: Releases that were out from this time on.
        end_date: Releases that were out up to this time.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_RELEASE_SUMMARIES,
            {},
            {
                "country": country,
                "indicator": indicator,
                "start_date": start_date,
                "end_date": end_date,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )


class AsyncScreener(AsyncResource):
    """Countries by their latest readings."""

    __slots__ = ()

    def screen(
        self,
        *,
        filter: str,
        country: str | None = None,
        sort: str | None = None,
        fields: str | Iterable[str] | None = None,
        freshness: m.ScreenerScreenFreshnessChoice | None = None,
        as_of: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.ScreenerRow]:
        """
        Countries and regions by macro readings. Those whose latest readings satisfy every clause of the filter; one
        without a value that may be shown for a filtered field is left out. `total` counts all matches, not only
        this page's.

        filter: Comma-separated clauses `field:operator:value`, all of which must hold; at most 30. Operators: gt,
            lt, gte, lte, eq, in (values of `in` separated by pipes); texts only eq and in. GET /screener/filters lists
            the fields.
        country: Only this country or region: an ISO code or its name; EUR for the euro area.
        sort: Any field of the filter or `name`, which is the default; those without the value come last either way,
            ties are by name, then id.
        fields: Further fields of the filter whose values the rows shall tell, by comma; they leave no row out.
        freshness: Only fresh readings are considered.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.SCREEN_ENTITIES,
            {},
            {
                "filter": filter,
                "country": country,
                "sort": sort,
                "fields": fields,
                "freshness": freshness,
                "as_of": as_of,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    async def fields(
        self,
    ) -> m.ScreenerFilters:
        """
        Fields of the macro screener. Every field a filter may name, with unit, operators and the bounds of its
        latest public readings; the operators, the syntax and an example.
        """
        return await self._item(m.LIST_SCREENER_FILTERS, {}, {})


class AsyncEquities(AsyncResource):
    """Companies by their latest figures."""

    __slots__ = ()

    def screen(
        self,
        *,
        filter: str,
        sort: str | None = None,
        fields: str | Iterable[str] | None = None,
        as_of: str | date | datetime | None = None,
        quality: m.QualityChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.EquityScreenerRow]:
        """
        Companies by fundamentals, ratios, sector, industry and country. Companies whose newest statement ends
        within 18 months before the moment asked and whose latest readings, of these months too, satisfy every
        clause of the filter; one without a value that may be shown for a filtered field is left out. Ratios are
        fractions (0.25 is 25 %). Companies that report in another currency than USD are left out of clauses on
        money, and sort last by it, unless the filter has a clause on `currency`. `total` counts all matches, not
        only this page's.

        filter: Comma-separated clauses `field:operator:value`, all of which must hold; at most 30. Operators: gt,
            lt, gte, lte, eq, in (values of `in` separated by pipes); texts only eq and in. GET /equity-screener/filters
            lists the fields.
        sort: Any field of the filter, `ticker` or `name`; companies without the value come last either way.
        fields: Further fields of the filter whose values the rows shall tell, by comma; they leave no row out.
        as_of: Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.
        quality: `ok`: what rests on a statement that fails a grave check (a sign, an identity, a part for the
            whole, a warning not to rely on it) is no value; such a company is left out by a clause on it. `all`: it is
            one, and the row says `failed`.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.SCREEN_COMPANIES,
            {},
            {
                "filter": filter,
                "sort": sort,
                "fields": fields,
                "as_of": as_of,
                "quality": quality,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )

    async def fields(
        self,
    ) -> m.ScreenerFilters:
        """
        Fields of the equity screener. Every field a filter may name, with unit, operators and the bounds of its
        latest public readings; the operators, the syntax and an example.
        """
        return await self._item(m.LIST_EQUITY_SCREENER_FILTERS, {}, {})


class AsyncEvents(AsyncResource):
    """Official events: releases, decisions, filings."""

    __slots__ = ()

    def list(
        self,
        *,
        indicator: str | None = None,
        indicator_id: str | Iterable[str] | None = None,
        category: m.EventsListCategoryChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
        form: str | Iterable[str] | None = None,
        status: m.StatusChoice | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        sort: m.EventsListSortChoice | None = None,
        as_of: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Event]:
        """
        Official events. Releases, decisions, filings, notices: each in the latest state known, by when it happens,
        newest first. A moved event keeps its id. Numbers of a source that may not be redistributed are null. An
        indicator that nothing is known by gives an empty list, and `meta.warnings` says so.

        indicator: Canonical field name, storage id, slug or alias of an indicator; the same filter as
            `indicator_id`.
        indicator_id: Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.
        category: Only events of this category.
        country: ISO-2, ISO-3 or numeric code, id or slug of a country, of a company's event its domicile; several
            separated by commas.
        entity: Id or slug of an entity; several separated by commas.
        entity_id: Id or slug of an entity; several separated by commas.
        source_id: Id of a source, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        provider_id: Id of a provider, which narrows the candidates before the preferred one is chosen; several
            separated by commas.
        type: Types of events: a release, a meeting, what a filing is; several separated by commas.
        form: Forms of filings, as filed (10-K is not 10-K/A); several separated by commas.
        status: Only events in this state.
        start_date: Events that happen from this time on.
        end_date: Events that happen up to this time.
        sort: Sort field; ties are by id.
        as_of: Point-in-time cutoff: the latest state of each event known by then. A bare date means its last
            second, UTC.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_EVENTS,
            {},
            {
                "indicator": indicator,
                "indicator_id": indicator_id,
                "category": category,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "source_id": source_id,
                "provider_id": provider_id,
                "type": type,
                "form": form,
                "status": status,
                "start_date": start_date,
                "end_date": end_date,
                "sort": sort,
                "as_of": as_of,
                "limit": page_size,
                "cursor": cursor,
                "order": order,
            },
            limit,
        )


class AsyncSources(AsyncResource):
    """Feeds, with their licences."""

    __slots__ = ()

    def list(
        self,
        *,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Source]:
        """
        Sources. Feeds, each with its licence, rights, health and freshness.

        license: What the terms of the source ask for: `open`: nothing is asked; `attribution`: the source is named;
            `non-commercial`: not for money, or not for more of it; `consent`: the owner is asked first. Several
            separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from
            several sources counts as `consent`.
        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(
            m.LIST_SOURCES, {}, {"license": license, "limit": page_size, "cursor": cursor, "order": order}, limit
        )


class AsyncProviders(AsyncResource):
    """Publishers."""

    __slots__ = ()

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
        page_size: int | None = None,
    ) -> AsyncRows[m.Provider]:
        """
        Providers. Who publishes.

        limit: Most rows in all; without it there are all of them.
        page_size: Rows per page, of one request; else as many as may be.
        cursor: The next_cursor of the page before. Opaque, and bound to this query.
        order: Direction of the whole sort key.
        """
        return self._rows(m.LIST_PROVIDERS, {}, {"limit": page_size, "cursor": cursor, "order": order}, limit)


class AsyncOwn(AsyncResource):
    """What the client itself has a method for."""

    __slots__ = ()

    async def coverage(
        self,
    ) -> m.Coverage:
        """
        What the service holds. The cheapest authenticated call: 200 says that the key is live.
        """
        return await self._item(m.GET_COVERAGE, {}, {})

    async def overview(
        self,
    ) -> str:
        """
        The interface in one page of plain text. For language models: what there is, how to ask, and what an answer
        means.
        """
        return await self._item(m.GET_OVERVIEW, {}, {})

    async def description(
        self,
    ) -> Mapping[str, Any]:
        """
        This description. The description of the service as OpenAPI 3.1.
        """
        return await self._item(m.GET_DESCRIPTION, {}, {})


class AsyncResources(AsyncOwn):
    """The client's resources."""

    __slots__ = ()

    @property
    def observations(self) -> AsyncObservations:
        """Values of series, their published states, what changed, and where they come from."""
        return AsyncObservations(self._core)

    @property
    def indicators(self) -> AsyncIndicators:
        """The concepts of the catalogue, and the series behind them."""
        return AsyncIndicators(self._core)

    @property
    def derived(self) -> AsyncDerived:
        """Indicators that are computed by a formula, and their values."""
        return AsyncDerived(self._core)

    @property
    def countries(self) -> AsyncCountries:
        """Countries and regions."""
        return AsyncCountries(self._core)

    @property
    def entities(self) -> AsyncEntities:
        """Names of countries, regions and companies, and which one a name means."""
        return AsyncEntities(self._core)

    @property
    def companies(self) -> AsyncCompanies:
        """Companies with their scores, profiles and statements."""
        return AsyncCompanies(self._core)

    @property
    def rates(self) -> AsyncRates:
        """Sovereign spreads and slopes."""
        return AsyncRates(self._core)

    @property
    def briefs(self) -> AsyncBriefs:
        """Countries in words."""
        return AsyncBriefs(self._core)

    @property
    def releases(self) -> AsyncReleases:
        """What publications said, beside what was known before."""
        return AsyncReleases(self._core)

    @property
    def screener(self) -> AsyncScreener:
        """Countries by their latest readings."""
        return AsyncScreener(self._core)

    @property
    def equities(self) -> AsyncEquities:
        """Companies by their latest figures."""
        return AsyncEquities(self._core)

    @property
    def events(self) -> AsyncEvents:
        """Official events: releases, decisions, filings."""
        return AsyncEvents(self._core)

    @property
    def sources(self) -> AsyncSources:
        """Feeds, with their licences."""
        return AsyncSources(self._core)

    @property
    def providers(self) -> AsyncProviders:
        """Publishers."""
        return AsyncProviders(self._core)


class AsyncRawObservations(AsyncRawResource):
    """Values of series, their published states, what changed, and where they come from. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        sort: m.SortChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Observation]]:
        """Raw observations."""
        return await self._rows(
            m.LIST_OBSERVATIONS,
            {},
            {
                "sort": sort,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def latest(
        self,
        *,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        kind: m.KindChoice | None = None,
        freshness: m.FreshnessChoice | None = None,
        as_of: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.DerivedObservation]]:
        """Latest reading per indicator and entity."""
        return await self._rows(
            m.LIST_LATEST_OBSERVATIONS,
            {},
            {
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "kind": kind,
                "freshness": freshness,
                "as_of": as_of,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def vintages(
        self,
        *,
        sort: m.ObservationsVintagesSortChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.DerivedObservation]]:
        """Every vintage of every cell."""
        return await self._rows(
            m.LIST_VINTAGES,
            {},
            {
                "sort": sort,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def changes(
        self,
        *,
        since: int,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.DerivedObservation]]:
        """Cells that changed since a data version."""
        return await self._rows(
            m.LIST_CHANGES,
            {},
            {
                "since": since,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def provenance(
        self,
        id: str,
        /,
    ) -> Response[m.Provenance]:
        """Where one observation comes from."""
        return await self._item(m.GET_PROVENANCE, {"id": id}, {})


class AsyncRawIndicators(AsyncRawResource):
    """The concepts of the catalogue, and the series behind them. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        category: m.CategoryChoice | None = None,
        kind: m.KindChoice | None = None,
        q: str | None = None,
        sort: m.IndicatorsListSortChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Indicator]]:
        """Indicators."""
        return await self._rows(
            m.LIST_INDICATORS,
            {},
            {
                "category": category,
                "kind": kind,
                "q": q,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def get(
        self,
        id_or_slug: str,
        /,
    ) -> Response[m.Indicator]:
        """One indicator."""
        return await self._item(m.GET_INDICATOR, {"idOrSlug": id_or_slug}, {})

    async def series(
        self,
        id_or_slug: str,
        /,
        *,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        frequency: m.FrequencyChoice | None = None,
        native_id: str | Iterable[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Series]]:
        """Series of one indicator."""
        return await self._rows(
            m.LIST_INDICATOR_SERIES,
            {"idOrSlug": id_or_slug},
            {
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "source_id": source_id,
                "provider_id": provider_id,
                "frequency": frequency,
                "native_id": native_id,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )


class AsyncRawDerived(AsyncRawResource):
    """Indicators that are computed by a formula, and their values. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        category: m.CategoryChoice | None = None,
        q: str | None = None,
        sort: m.IndicatorsListSortChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Indicator]]:
        """Derived indicators."""
        return await self._rows(
            m.LIST_DERIVED_INDICATORS,
            {},
            {"category": category, "q": q, "sort": sort, "limit": limit, "cursor": cursor, "order": order},
        )

    async def get(
        self,
        id_or_slug: str,
        /,
    ) -> Response[m.Indicator]:
        """One derived indicator."""
        return await self._item(m.GET_DERIVED_INDICATOR, {"idOrSlug": id_or_slug}, {})

    async def entities(
        self,
        id_or_slug: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.DerivedIndicatorEntity]]:
        """Entities that a derived indicator has data for."""
        return await self._rows(
            m.LIST_DERIVED_INDICATOR_ENTITIES,
            {"idOrSlug": id_or_slug},
            {"limit": limit, "cursor": cursor, "order": order},
        )

    async def observations(
        self,
        *,
        sort: m.SortChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        indicator_id: str | Iterable[str] | None = None,
        indicator: str | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        frequency: m.FrequencyChoice | None = None,
        period: str | None = None,
        period_start: str | date | datetime | None = None,
        period_end: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        as_of: str | date | datetime | None = None,
        sources: m.SourcesChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.DerivedObservation]]:
        """Observations of derived indicators."""
        return await self._rows(
            m.LIST_DERIVED_OBSERVATIONS,
            {},
            {
                "sort": sort,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "indicator_id": indicator_id,
                "indicator": indicator,
                "source_id": source_id,
                "provider_id": provider_id,
                "license": license,
                "frequency": frequency,
                "period": period,
                "period_start": period_start,
                "period_end": period_end,
                "start_date": start_date,
                "end_date": end_date,
                "as_of": as_of,
                "sources": sources,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )


class AsyncRawCountries(AsyncRawResource):
    """Countries and regions. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        has_data: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Country]]:
        """Countries and regions."""
        return await self._rows(
            m.LIST_COUNTRIES, {}, {"has_data": has_data, "limit": limit, "cursor": cursor, "order": order}
        )

    async def get(
        self,
        id_or_iso: str,
        /,
    ) -> Response[m.Country]:
        """One country or region."""
        return await self._item(m.GET_COUNTRY, {"idOrIso": id_or_iso}, {})


class AsyncRawEntities(AsyncRawResource):
    """Names of countries, regions and companies, and which one a name means. Each answer with its headers."""

    __slots__ = ()

    async def resolve(
        self,
        *,
        alias: str,
        type: m.TypeChoice | None = None,
        scheme: m.SchemeChoice | None = None,
        as_of: str | date | datetime | None = None,
    ) -> Response[m.Resolved]:
        """Which entity a name means."""
        return await self._item(m.RESOLVE_ENTITY, {}, {"alias": alias, "type": type, "scheme": scheme, "as_of": as_of})

    async def aliases(
        self,
        id_or_slug: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Alias]]:
        """Names of one entity."""
        return await self._rows(
            m.LIST_ENTITY_ALIASES, {"idOrSlug": id_or_slug}, {"limit": limit, "cursor": cursor, "order": order}
        )


class AsyncRawCompanies(AsyncRawResource):
    """Companies with their scores, profiles and statements. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        sector: str | None = None,
        industry: str | None = None,
        country: str | Iterable[str] | None = None,
        q: str | None = None,
        sort: m.CompaniesListSortChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Company]]:
        """Scored companies."""
        return await self._rows(
            m.LIST_COMPANIES,
            {},
            {
                "sector": sector,
                "industry": industry,
                "country": country,
                "q": q,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def profile(
        self,
        id_or_lookup: str,
        /,
    ) -> Response[m.Profile]:
        """Profile of one company."""
        return await self._item(m.GET_COMPANY_PROFILE, {"idOrLookup": id_or_lookup}, {})

    async def financials(
        self,
        id_or_lookup: str,
        /,
        *,
        frequency: m.CompaniesFinancialsFrequencyChoice | None = None,
        limit: int | None = None,
        as_of: str | date | datetime | None = None,
    ) -> Response[m.Financials]:
        """Financial statements of one company."""
        return await self._item(
            m.GET_COMPANY_FINANCIALS,
            {"idOrLookup": id_or_lookup},
            {"frequency": frequency, "limit": limit, "as_of": as_of},
        )


class AsyncRawRates(AsyncRawResource):
    """Sovereign spreads and slopes. Each answer with its headers."""

    __slots__ = ()

    async def get(
        self,
        scope: str,
        /,
    ) -> Response[m.Rates]:
        """Sovereign rates analytics."""
        return await self._item(m.GET_RATES, {"scope": scope}, {})

    async def history(
        self,
        scope: str,
        /,
        *,
        as_of: str | date | datetime | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.RatesOfDay]]:
        """Sovereign rates analytics of past days."""
        return await self._rows(
            m.LIST_RATES_HISTORY,
            {"scope": scope},
            {
                "as_of": as_of,
                "start_date": start_date,
                "end_date": end_date,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )


class AsyncRawBriefs(AsyncRawResource):
    """Countries in words. Each answer with its headers."""

    __slots__ = ()

    async def get(
        self,
        country: str,
        /,
        *,
        as_of: str | date | datetime | None = None,
    ) -> Response[m.Brief]:
        """A country in words."""
        return await self._item(m.GET_COUNTRY_BRIEF, {"country": country}, {"as_of": as_of})


class AsyncRawReleases(AsyncRawResource):
    """What publications said, beside what was known before. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        country: str | Iterable[str] | None = None,
        indicator: str | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.ReleaseSummary]]:
        """Release summaries."""
        return await self._rows(
            m.LIST_RELEASE_SUMMARIES,
            {},
            {
                "country": country,
                "indicator": indicator,
                "start_date": start_date,
                "end_date": end_date,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )


class AsyncRawScreener(AsyncRawResource):
    """Countries by their latest readings. Each answer with its headers."""

    __slots__ = ()

    async def screen(
        self,
        *,
        filter: str,
        country: str | None = None,
        sort: str | None = None,
        fields: str | Iterable[str] | None = None,
        freshness: m.ScreenerScreenFreshnessChoice | None = None,
        as_of: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.ScreenerRow]]:
        """Countries and regions by macro readings."""
        return await self._rows(
            m.SCREEN_ENTITIES,
            {},
            {
                "filter": filter,
                "country": country,
                "sort": sort,
                "fields": fields,
                "freshness": freshness,
                "as_of": as_of,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def fields(
        self,
    ) -> Response[m.ScreenerFilters]:
        """Fields of the macro screener."""
        return await self._item(m.LIST_SCREENER_FILTERS, {}, {})


class AsyncRawEquities(AsyncRawResource):
    """Companies by their latest figures. Each answer with its headers."""

    __slots__ = ()

    async def screen(
        self,
        *,
        filter: str,
        sort: str | None = None,
        fields: str | Iterable[str] | None = None,
        as_of: str | date | datetime | None = None,
        quality: m.QualityChoice | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.EquityScreenerRow]]:
        """Companies by fundamentals, ratios, sector, industry and country."""
        return await self._rows(
            m.SCREEN_COMPANIES,
            {},
            {
                "filter": filter,
                "sort": sort,
                "fields": fields,
                "as_of": as_of,
                "quality": quality,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    async def fields(
        self,
    ) -> Response[m.ScreenerFilters]:
        """Fields of the equity screener."""
        return await self._item(m.LIST_EQUITY_SCREENER_FILTERS, {}, {})


class AsyncRawEvents(AsyncRawResource):
    """Official events: releases, decisions, filings. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        indicator: str | None = None,
        indicator_id: str | Iterable[str] | None = None,
        category: m.EventsListCategoryChoice | None = None,
        country: str | Iterable[str] | None = None,
        entity: str | Iterable[str] | None = None,
        entity_id: str | Iterable[str] | None = None,
        source_id: str | Iterable[str] | None = None,
        provider_id: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
        form: str | Iterable[str] | None = None,
        status: m.StatusChoice | None = None,
        start_date: str | date | datetime | None = None,
        end_date: str | date | datetime | None = None,
        sort: m.EventsListSortChoice | None = None,
        as_of: str | date | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Event]]:
        """Official events."""
        return await self._rows(
            m.LIST_EVENTS,
            {},
            {
                "indicator": indicator,
                "indicator_id": indicator_id,
                "category": category,
                "country": country,
                "entity": entity,
                "entity_id": entity_id,
                "source_id": source_id,
                "provider_id": provider_id,
                "type": type,
                "form": form,
                "status": status,
                "start_date": start_date,
                "end_date": end_date,
                "sort": sort,
                "as_of": as_of,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )


class AsyncRawSources(AsyncRawResource):
    """Feeds, with their licences. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        license: m.LicenseChoice | Iterable[m.LicenseChoice] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Source]]:
        """Sources."""
        return await self._rows(
            m.LIST_SOURCES, {}, {"license": license, "limit": limit, "cursor": cursor, "order": order}
        )


class AsyncRawProviders(AsyncRawResource):
    """Publishers. Each answer with its headers."""

    __slots__ = ()

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: m.OrderChoice | None = None,
    ) -> Response[Sequence[m.Provider]]:
        """Providers."""
        return await self._rows(m.LIST_PROVIDERS, {}, {"limit": limit, "cursor": cursor, "order": order})


class AsyncRawOwn(AsyncRawResource):
    """What the client itself has a method for. Each answer with its headers."""

    __slots__ = ()

    async def coverage(
        self,
    ) -> Response[m.Coverage]:
        """What the service holds."""
        return await self._item(m.GET_COVERAGE, {}, {})

    async def overview(
        self,
    ) -> Response[str]:
        """The interface in one page of plain text."""
        return await self._item(m.GET_OVERVIEW, {}, {})

    async def description(
        self,
    ) -> Response[Mapping[str, Any]]:
        """This description."""
        return await self._item(m.GET_DESCRIPTION, {}, {})


class AsyncRawResources(AsyncRawOwn):
    """The client's resources, each answer with its headers."""

    __slots__ = ()

    @property
    def observations(self) -> AsyncRawObservations:
        """Values of series, their published states, what changed, and where they come from."""
        return AsyncRawObservations(self._core)

    @property
    def indicators(self) -> AsyncRawIndicators:
        """The concepts of the catalogue, and the series behind them."""
        return AsyncRawIndicators(self._core)

    @property
    def derived(self) -> AsyncRawDerived:
        """Indicators that are computed by a formula, and their values."""
        return AsyncRawDerived(self._core)

    @property
    def countries(self) -> AsyncRawCountries:
        """Countries and regions."""
        return AsyncRawCountries(self._core)

    @property
    def entities(self) -> AsyncRawEntities:
        """Names of countries, regions and companies, and which one a name means."""
        return AsyncRawEntities(self._core)

    @property
    def companies(self) -> AsyncRawCompanies:
        """Companies with their scores, profiles and statements."""
        return AsyncRawCompanies(self._core)

    @property
    def rates(self) -> AsyncRawRates:
        """Sovereign spreads and slopes."""
        return AsyncRawRates(self._core)

    @property
    def briefs(self) -> AsyncRawBriefs:
        """Countries in words."""
        return AsyncRawBriefs(self._core)

    @property
    def releases(self) -> AsyncRawReleases:
        """What publications said, beside what was known before."""
        return AsyncRawReleases(self._core)

    @property
    def screener(self) -> AsyncRawScreener:
        """Countries by their latest readings."""
        return AsyncRawScreener(self._core)

    @property
    def equities(self) -> AsyncRawEquities:
        """Companies by their latest figures."""
        return AsyncRawEquities(self._core)

    @property
    def events(self) -> AsyncRawEvents:
        """Official events: releases, decisions, filings."""
        return AsyncRawEvents(self._core)

    @property
    def sources(self) -> AsyncRawSources:
        """Feeds, with their licences."""
        return AsyncRawSources(self._core)

    @property
    def providers(self) -> AsyncRawProviders:
        """Publishers."""
        return AsyncRawProviders(self._core)
