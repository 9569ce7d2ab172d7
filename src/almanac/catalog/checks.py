"""Checks of the catalogue for contradictions: each problem names the record at fault and what is wrong with it."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from almanac.catalog.records import Catalog, input_slugs, is_simulated
from almanac.catalog.services import CONNECTOR, Service, named
from almanac.catalog.succession import AGREED, by_series, start
from almanac.domain.cadence import Cadence
from almanac.domain.periods import Period
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Exposure
from almanac.domain.units import currency_of, is_money

if TYPE_CHECKING:
    from almanac.catalog.companies import Item, Style
    from almanac.catalog.filing_events import FilingEventsFile
    from almanac.catalog.measures import Measure
    from almanac.catalog.releases import Bank, Schedule
    from almanac.domain.releases import Release, ReleaseCalendar

#: The record at fault, and what is wrong with it.
Found = Iterator[tuple[str, str]]


def _unknown(where: str, what: str, names: Iterable[str | None], known: Collection[str], context: str = "") -> Found:
    """Yield names that are there and not known."""
    return ((where, f"unknown {what} {name}{context}") for name in names if name is not None and name not in known)


def twice(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def circles(kind: str, inputs: Mapping[str, Collection[str]]) -> Found:
    """Yield a circle of records that are computed from each other; `inputs` are names by the name of what is computed from them."""
    try:
        TopologicalSorter(inputs).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        yield f"{kind} {circle[0]}", f"is computed from itself: {' → '.join(circle)}"


# -- the catalogue of series ------------------------------------------------------------------------------------------


def contradictions(catalog: Catalog) -> Found:
    """Yield every contradiction of the catalogue but those of the tables about companies and events."""
    for indicator in catalog.indicators.values():
        where = f"indicator {indicator.slug}"
        yield from _unknown(where, "unit", [indicator.unit], catalog.units)
        yield from _unknown(where, "source", indicator.preferred, catalog.sources, " in its order")
        for published in indicator.published_as:
            if all(spec.indicator != indicator.slug for spec in catalog.series.get(published.source, {}).values()):
                yield where, f"{published.source} has no series of it to be called {published.name}"
    yield from _shared_names(catalog)
    for source in catalog.sources.values():
        yield from _source(source, catalog)
    derived: dict[str, list[str]] = {}
    for formula in catalog.formulas.values():
        where, inputs = f"derived {formula.slug}", [part for text in formula.inputs for part in input_slugs(text)]
        derived[formula.slug] = [slug for _, slug in inputs]
        yield from _unknown(where, "input", derived[formula.slug], catalog.indicators)
        places = (*(entity for entity, _ in inputs), *formula.except_entities, *formula.redefined)
        yield from _unknown(where, "entity", places, catalog.entities)
    yield from circles("derived", derived)
    yield from currencies(catalog)
    for service in catalog.services.values():
        yield from _service(service)
    hosts = [(host, service.id) for service in catalog.services.values() for host in service.hosts]
    for host in twice(host for host, _ in hosts):
        yield f"services {' and '.join(name for own, name in hosts if own == host)}", f"share the host {host}"
    for source_id, natives in catalog.series.items():
        yield from _unknown(f"series {source_id}", "source", [source_id], catalog.sources)
        for spec in natives.values():
            yield from _series(spec, catalog)
        yield from successions(source_id, natives)


def _shared_names(catalog: Catalog) -> Found:
    """Names by which people find a record, given to two."""
    names = [
        ("indicator name", name, one.slug)
        for one in catalog.indicators.values()
        for name in (one.slug, *one.other_names)
    ]
    for entity in catalog.entities.values():
        names += [("entity name", name, entity.id) for name in (entity.slug, entity.iso2, entity.iso3) if name]
        if entity.rates_scope is not None:
            names.append(("rates scope", entity.rates_scope, entity.id))
    owners: dict[tuple[str, str], str] = {}
    for kind, name, owner in names:
        first = owners.setdefault((kind, name.lower()), owner)
        if first != owner:
            yield f"{kind} {name}", f"belongs to both {first} and {owner}"


def _source(source: Source, catalog: Catalog) -> Found:
    where, rights = f"source {source.id}", source.rights
    yield from _unknown(where, "provider", [source.provider], catalog.providers)
    if is_simulated(source.id) != source.simulated:
        yield where, f"simulated is {str(source.simulated).lower()}, which its id contradicts"
    if source.declared_release and not source.release_url:
        yield where, "a declared release needs release_url"
    if source.cadence is not None:
        try:
            Cadence(source.cadence)
        except ValueError as error:
            yield where, f"cadence: {error}"
    if rights.license_class not in {None, rights.asks_for}:
        yield where, f"license_class is {rights.license_class}, its other rights say {rights.asks_for}"
    if rights.exposure is not Exposure.public and not rights.reason:
        yield where, f"exposure {rights.exposure.name} needs a reason"
    if rights.channel is not Exposure.public and not rights.channel_reason:
        yield where, f"channel {rights.channel.name} needs a channel_reason"
    if source.connector.startswith(CONNECTOR):
        try:
            service = named(source.connector.removeprefix(CONNECTOR), catalog.services)
        except KeyError as error:
            yield where, error.args[0]
        else:
            for spec in catalog.series.get(source.id, {}).values():
                yield from _native(service, spec)


def _series(spec: SeriesSpec, catalog: Catalog) -> Found:
    where = f"series {spec.source} {spec.native}"
    indicator, entity = catalog.indicators.get(spec.indicator), catalog.entities.get(spec.entity)
    yield from _unknown(where, "indicator", [spec.indicator], catalog.indicators)
    if indicator is not None and indicator.kind == "derived":
        yield where, f"{spec.indicator} is derived"
    yield from _unknown(where, "entity", [spec.entity], catalog.entities)
    if entity and is_money(spec.unit) and currency_of(spec.unit, spec.currency or entity.currency) is None:
        yield where, f"money in {spec.unit}, and neither it nor {spec.entity} has a currency"
    yield from _unknown(where, "unit", [spec.unit], catalog.units)
    if spec.exposure is not Exposure.public and not spec.reason:
        yield where, f"exposure {spec.exposure.name} needs a reason"


def successions(source: str, natives: Mapping[str, SeriesSpec]) -> Found:
    """Yield every reason why the native codes of a source do not make series."""
    for identifier, codes in by_series(natives).items():
        if len(codes) == 1 and codes[0].copy_of is None:
            continue  # the rule; there are thousands of them
        where, own = f"series {identifier}", [spec for spec in codes if spec.copy_of is None]
        for spec in own:
            first = next(one for one in own if start(one) == start(spec))
            if first is not spec:
                since = "" if spec.from_date is None else f" from {spec.from_date}"
                yield where, f"two native codes make it{since}, {first.native} and {spec.native}"
        for spec in codes:
            place = f"series {source} {spec.native}"
            if spec.copy_of is not None and spec.from_date is not None:
                yield place, f"a copy has the from_date of {spec.copy_of}, not one of its own"
            if spec.copy_of is not None and spec.copy_of not in {one.native for one in own}:
                yield place, f"copy_of {spec.copy_of} is no code of {identifier} in its own right"
            for field in AGREED:
                if own and getattr(spec, field) != getattr(own[0], field):
                    yield where, f"{own[0].native} and {spec.native} differ in {field}"


def currencies(catalog: Catalog) -> Found:
    """Yield every contradiction between currencies, those who had another one, and entities."""
    known = catalog.currencies
    for change in catalog.changeovers.values():
        where, entity = f"changeover {change.id}", catalog.entities.get(change.entity)
        if entity is None:
            yield where, f"unknown entity {change.entity}"
        elif entity.currency == change.currency:
            yield where, f"{change.currency} is the currency of today"
        yield from _unknown(where, "currency", [change.currency], known)
    for entity in catalog.entities.values() if known else ():
        yield from _unknown(f"entity {entity.id}", "currency", [entity.currency], known)


def _service(service: Service) -> Found:
    where = f"service {service.id}"
    if not set(service.confidential) <= set(service.flags):
        yield where, f"confidential {service.confidential} is not among its flags {service.flags}"
    yield from _unknown(where, "time zone", [service.zone], available_timezones())
    names = Counter((name, flow.version) for flow in service.flow for name in (flow.id, *flow.names))
    for name, version in sorted((key for key, count in names.items() if count > 1), key=str):
        yield where, f"two flows are called {name}" + (f" in version {version}" if version else "")
    for flow in service.flow:
        if "." in flow.id:
            yield where, f"flow {flow.id} has a dot in its name, which ends it in a native code"
        for name in (*flow.every, *flow.public):
            if name not in flow.dimensions:
                yield where, f"flow {flow.id} has no dimension {name}"


def _native(service: Service, spec: SeriesSpec) -> Found:
    where = f"series {spec.source} {spec.native}"
    name, *codes = spec.native.split(".")
    flow = next((flow for flow in service.flow if flow.id == name), None)
    if flow is None:
        yield where, f"no flow of service {service.id}"
    elif len(codes) != len(flow.dimensions) or not all(codes) or "*" in codes:
        yield where, f"not one code for each of {', '.join(flow.dimensions)}"
    elif spec.exposure is Exposure.public:
        own = dict(zip(flow.dimensions, codes, strict=True))
        shut = [name for name, allowed in flow.public.items() if own.get(name) not in allowed]
        if shut:
            yield where, f"may not be public for its {', '.join(shut)}"


# -- tables about companies -------------------------------------------------------------------------------------------


def items(lines: Sequence[Item], styles: Mapping[str, Style]) -> Found:
    """Yield every contradiction of the lines of statements."""
    yield from ((f"item {key}", "is there twice") for key in twice(item.key for item in lines))
    found = {item.key: item for item in lines}
    for item in found.values():
        where = f"item {item.key}"
        if item.is_instant != (item.statement == "balance"):
            yield where, f"a {item.kind} does not belong on the {item.statement} statement"
        if item.additive and item.is_instant:
            yield where, f"a {item.kind} is not additive"
        if not item.candidates and not item.formulas:
            yield where, "neither tags nor formulas"
        if (item.agrees or item.proven) and not item.proofs:
            yield where, "it must agree, and with nothing"
        for names, known, what in (
            (item.slices, item.tags(), "is a slice and no candidate"),
            (item.lines, item.slices, "is a line of business and no slice"),
            (item.notes, item.tags(), "is a note and in no candidate"),
        ):
            yield from ((where, f"{name} {what}") for name in sorted(set(names) - known))
        yield from _unknown(where, "style", sorted(item.for_style), styles)
        for what, sums in (("formula", item.formulas), ("proof", (*item.proofs, *item.at_least))):
            for term in (term for terms in sums for term in terms):
                if ":" in term.name:
                    yield where, f"{term.name} is a tag in its {what}"
                elif term.name not in found:
                    yield where, f"unknown item {term.name} in its {what}"
                elif found[term.name].is_instant != item.is_instant:
                    yield where, f"{term.name} in its {what} is of another kind"
    yield from circles(
        "item", {key: [term.name for terms in item.formulas for term in terms] for key, item in found.items()}
    )


def measures(lines: Sequence[Measure], sums: Collection[Measure], items: Mapping[str, Item]) -> Found:
    """Yield every contradiction of the measures of a file, beside twelve-month figures, over these items."""
    known = {item.key for item in items.values() if item.served and item.is_instant} | {ttm.key for ttm in sums}
    for key in twice([*(measure.key for measure in (*sums, *lines)), *items]):
        yield f"measure {key}", "is there twice"
    for measure in lines:
        where = f"measure {measure.key}"
        if measure.kind == "ttm" or measure.of_item is not None:
            yield where, "twelve-month figures follow from the items, allowed are ratio, score"
        if not measure.templates:
            yield where, "no kind of company has it"
        yield from _unknown(where, "input", measure.inputs, known)


def filing_events(read: FilingEventsFile) -> Found:
    """Yield every contradiction of the table of filings that are events."""
    every = [*read.form, *read.item, read.current_report]
    for kind in every:
        where = f"event {kind.type}"
        fields = {name for _, name, _, _ in string.Formatter().parse(kind.title) if name is not None}
        if "company" not in fields or fields - {"company", "form"}:
            yield where, f"the title must hold {{company}}, may hold {{form}}, and has {sorted(fields)}"
    forms = [form for group in (*read.form, read.current_report) for form in group.forms] + [*read.nobody.forms]
    numbers = [n for line in read.item for n in (line.item, line.before_2004) if n is not None]
    for what, names in (
        ("event type", [kind.type for kind in every]),
        ("form", forms),
        ("item", [*numbers, *read.current_report.attachments]),
    ):
        yield from ((f"{what} {name}", "is there twice") for name in twice(names))
    yield from ((f"form {name}", "is an amendment: name the form itself") for name in forms if name.endswith("/A"))


# -- tables about events ----------------------------------------------------------------------------------------------


def releases(found: Collection[Release], catalog: Catalog | None = None) -> Found:
    """Yield every contradiction of the releases, and with a catalogue what they name that it does not have."""
    yield from ((f"release {name}", "is there twice") for name in twice(one.type for one in found))
    calendars = Counter((c.source, c.native) for one in found for c in one.calendars)
    for (source, native), count in calendars.items():
        if count > 1:
            yield f"calendar {source}", f"{native} is there twice"
    for one in found:
        where = f"release {one.type}"
        if one.only_countries and one.except_countries:
            yield where, "only_countries and except_countries exclude each other"
        if one.headline not in one.indicators[:1]:
            yield where, "the headline is not the first of its indicators"
        zones = {c.zone for c in one.calendars}
        yield from _unknown(where, "zone", sorted(zones), available_timezones())
        if catalog is not None:
            places = (*one.only_countries, *one.except_countries, *(c.country for c in one.calendars))
            yield from _unknown(where, "indicator", one.indicators, catalog.indicators)
            yield from _unknown(where, "entity", places, catalog.entities)
            yield from _unknown(where, "source", sorted({c.source for c in one.calendars}), catalog.sources)


def schedules(plans: Iterable[Schedule], calendars: Mapping[tuple[str, str], ReleaseCalendar]) -> Found:
    """Yield what is wrong with publishers' schedules of these calendars."""
    for plan in plans:
        where, calendar = f"schedule {plan.source} {plan.native}", calendars.get((plan.source, plan.native))
        if calendar is None:
            yield where, "no calendar has it"
            continue
        if len(set(plan.days.values())) < len(plan.days):
            yield where, "one day for two periods"
        for name, day in plan.days.items():
            try:
                period = Period.parse(name)
            except ValueError:
                yield where, f"{name} is not a period"
                continue
            if Period.ending(period.end, calendar.frequency) != period or period.end >= day:
                yield where, f"{name} is not a {calendar.frequency.word} period over by {day}"


def meetings(banks: Iterable[Bank]) -> Found:
    """Yield what is wrong with the meetings of central banks."""
    for bank in banks:
        yield from _unknown(f"bank {bank.id}", "zone", [bank.zone], available_timezones())
        if list(bank.days) != sorted(set(bank.days)):
            yield f"bank {bank.id}", "its days must ascend, each once"
