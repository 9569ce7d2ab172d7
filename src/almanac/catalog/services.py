"""SDMX services as data: what differs from one statistical office to the next, so that one more is a few lines of TOML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from almanac.domain.periods import Frequency
from almanac.domain.reference import Entity
from almanac.domain.units import LOCAL, currency_of

#: `Source.connector` of a source read by a service: this word and the service's id, and `/FLOW` where it is one flow.
CONNECTOR = "sdmx:"


class Flow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dataflow of a service. A native code is `id.` and the codes of all its dimensions, in their order."""

    id: str
    dimensions: tuple[str, ...]
    #: How an address names the flow, where that is not its id (`IMF.RES,WEO,9.0.0`).
    path: str | None = None
    #: Other names by which messages call it: its data structure, its set.
    names: tuple[str, ...] = ()
    #: Major version of its structure, where one that follows counts otherwise (another base): flows may share a name, and
    #: a message belongs to that of its version. None: any version.
    version: str | None = None
    #: Whether it has versions and is asked for without one, which is the newest: rows say which it was.
    versioned: bool = False
    #: Attributes that are known and carry nothing for us, beside the service's.
    attributes: tuple[str, ...] = ()
    #: Dimensions of which one request brings every code.
    every: tuple[str, ...] = ()
    #: A flow too large for one answer is asked in windows: years by frequency, and the year with which the first begins.
    #: With two to four times as many cells an answer is too large to be read at once.
    window_years: dict[Frequency, int] = {}
    first_year: int = 0
    #: Only series with one of these codes in each of these dimensions may be public.
    public: dict[str, tuple[str, ...]] = {}
    #: Attribute with the instant of release of all that a message holds.
    release: str | None = None
    #: Attribute with the instant at which the publisher last corrected that release.
    corrected: str | None = None
    #: Attribute with the last year that is not a projection.
    last_actual: str | None = None
    #: Attributes with the first and the last month of the year that annual values are of, and with which such year stands
    #: under the label of a calendar year.
    reporting_year: str | None = None
    year_mapping: str | None = None
    #: Attribute with an observation's confidentiality, where it is not the service's.
    confidentiality: str | None = None
    #: The publisher has closed it: what a mirror holds of it is read, nothing is asked.
    closed: bool = False

    def owns(self, word: str) -> bool:
        """Tell whether a publisher's name for a flow means this one."""
        return word == self.id or word in self.names


class Service(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A web service that answers in SDMX. Where each of its flows is a source, the first one's also owns its other answers."""

    id: str
    hosts: tuple[str, ...]
    #: Address of data, with `{flow}` and `{key}` in it.
    url: str
    since: str = "startPeriod={}"
    until: str = "endPeriod={}"
    #: What stands for every code of a dimension in a key.
    wildcard: str = ""
    #: Content type to ask for, where the address does not say the format.
    accept: str | None = None
    #: Attribute with the power of ten of the numbers; checked against the catalogue, never applied.
    multiplier: str | None = "UNIT_MULT"
    #: Attribute with the currency of amounts in a local currency, by code or in words.
    currency: str | None = None
    #: Attributes that are known and carry nothing for us.
    attributes: tuple[str, ...] = ()
    #: What is written where there is no value, whatever the observation's status.
    absent: tuple[str, ...] = ()
    #: Attributes with an observation's status and with its confidentiality.
    status: str = "OBS_STATUS"
    confidentiality: str = "OBS_CONF"
    #: Letters of the status that a row keeps (`metadata.flags`). None: no row keeps any. With some, an unknown one is refused.
    flags: str = ""
    #: Those of them that say that the value is not for everyone.
    confidential: str = ""
    #: Attribute with the time of the state a message holds (`metadata.publishedAt`). It is a bound, so it dates no value.
    published: str | None = None
    #: Zone of such a time that is written without one.
    zone: str | None = None
    #: Labels that the service writes in place of codes when asked to → the codes.
    labels: dict[str, str] = {}
    #: Statuses that mean that nothing is known of what was asked (SDMX's REST interface: 404, "No results found").
    empty: tuple[int, ...] = (404,)
    #: Words beside such a status by which the service says that it has no such dataflow (.Stat Suite: OECD, ABS, ISTAT).
    gone: tuple[str, ...] = ("Could not find Dataflow",)
    #: Words of a short answer, or of a refusal, by which the service says that it prepares the data: they come later.
    later: tuple[str, ...] = ()
    flow: tuple[Flow, ...]

    def find(self, words: Iterable[str], version: str | None = None) -> Flow | None:
        """Return the flow that one of these names means, of those that share a name the one of this major version (None: the first)."""
        meant = [flow for word in words for flow in self.flow if flow.owns(word)]
        return next((flow for flow in meant if version in {None, flow.version}), meant[0] if meant else None)


class Areas(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A publisher's codes of places: `codes` → entity id, and of every entity not among those its `field`, if one is named.

    Two codes of one entity make two series of it, so all but one of them need a variant.
    """

    id: str
    field: Literal["iso2", "iso3"] | None = None
    codes: dict[str, str] = {}
    #: Codes whose series are variants of their entity's main one (an aggregate of fixed members beside the changing one).
    variants: dict[str, str] = {}
    #: Codes that the publisher wrote before, or writes elsewhere → the code of that place: their rows are its rows.
    former: dict[str, str] = {}
    #: Who belongs to an aggregate, by code.
    compositions: dict[str, str] = {}


class _Places(msgspec.Struct):
    """The places that a line stands for: an area table, the codes of it that are left out, and the only ones there are."""

    each: str | None = None
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")
    only: tuple[str, ...] | None = None


def expanded(
    line: Mapping[str, Any],
    areas: Mapping[str, Areas],
    entities: Mapping[str, Entity],
    former: Mapping[str, Sequence[str]],
) -> Iterator[dict[str, Any]]:
    """
    Yield the series that a line of `codes` means: itself, or with `each` one for every code of that area table.

    `{area}` stands for the code, `{name}` and `{currency}` for the entity's; an entity without the currency asked for,
    in words or by a unit of local currency, is passed over, and so is a code in `except`; `only` names all codes there are.
    `former`: former currencies of entities. Where a native code has the currency in it, each of them makes a discontinued
    variant: what is stated in kuna is served as kuna, and never beside what is stated in euro. Raise
    msgspec.ValidationError.
    """
    ready = dict(line)
    given = {name: ready.pop(name) for name in _Places.__struct_encode_fields__ if name in ready}
    each, leave, only = msgspec.structs.astuple(msgspec.convert(given, _Places))
    if each is None:
        if leave or only:
            raise msgspec.ValidationError("except and only need each")
        yield ready
        return
    if each not in areas:
        raise msgspec.ValidationError(f"unknown area table {each}, allowed are {', '.join(areas)}")
    table = areas[each]
    absent = next((one for one in table.codes.values() if one not in entities), None)
    if absent is not None:
        raise msgspec.ValidationError(f"area table {each}: unknown entity {absent}")
    own, found = set(table.codes.values()), dict[str, Entity]()
    if table.field is not None:
        others = ((getattr(one, table.field), one) for one in entities.values() if one.id not in own)
        found = {code: one for code, one in others if code is not None and code not in table.codes}
    found |= {code: entities[entity_id] for code, entity_id in table.codes.items()}
    unknown = sorted({*leave, *(only or ()), *table.variants, *table.compositions, *table.former.values()} - set(found))
    if unknown:
        raise msgspec.ValidationError(f"area table {each} has no code {', '.join(unknown)}")
    # Amounts in a currency of their own are none where there is no such currency (the world, Antarctica).
    local = ready.get("currency") is None and currency_of(str(ready.get("unit")), LOCAL) == LOCAL
    needs_currency = local or any("{currency}" in str(value) for value in ready.values())
    native = str(ready.get("native"))
    for code, entity in found.items():
        if code in leave or (only is not None and code not in only) or (needs_currency and entity.currency is None):
            continue
        made = _filled(ready, table, code, entity, entity.currency)
        yield made
        for before in (one for one, present in table.former.items() if present == code):
            repeated = _filled({"native": native}, table, before, entity, entity.currency)["native"]
            yield {**made, "native": repeated, "copy_of": made["native"]}
        for currency in former.get(entity.id, ()) if "{currency}" in native else ():
            with_variant = {**ready, "variant": _joined(ready.get("variant"), currency.lower())}
            yield {**_filled(with_variant, table, code, entity, currency), "discontinued": True}


def _filled(line: Mapping[str, Any], table: Areas, code: str, entity: Entity, currency: str | None) -> dict[str, Any]:
    """Return a line for one code of an area table. Raise msgspec.ValidationError naming a field that is no pattern."""
    words = {"area": code, "name": entity.name, "currency": currency}
    made: dict[str, Any] = {"entity": entity.id}
    for field, value in line.items():
        try:
            made[field] = value.format_map(words) if isinstance(value, str) and "{" in value else value
        except KeyError as error:
            allowed = ", ".join(f"{{{word}}}" for word in words)
            raise msgspec.ValidationError(f"{field}: '{{{error.args[0]}}}' is none of {allowed}") from None
        except (ValueError, AttributeError, IndexError):
            raise msgspec.ValidationError(f"{field}: {value!r} is no pattern") from None
    if code in table.compositions:
        made["composition"] = table.compositions[code]
    variant = _joined(table.variants.get(code), line.get("variant"))
    return made if variant is None else {**made, "variant": variant}


def _joined(*variants: str | None) -> str | None:
    # What is no text is told of when the line is decoded.
    return "-".join(one for one in variants if isinstance(one, str)) or None


def named(name: str, services: Mapping[str, Service]) -> Service:
    """Return the service of that name, for `service/FLOW` with that flow alone. Raise KeyError saying what is unknown."""
    word, _, flow_id = name.partition("/")
    service = services.get(word)
    if service is None:
        raise KeyError(f"unknown service {word}")
    if not flow_id:
        return service
    flow = tuple(flow for flow in service.flow if flow.id == flow_id)
    if not flow:
        raise KeyError(f"service {word} has no flow {flow_id}")
    return msgspec.structs.replace(service, flow=flow)
