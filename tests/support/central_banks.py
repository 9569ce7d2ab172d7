"""A source and series made up for tests of the central banks' connectors."""

from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights
from almanac.sources.base import Payload


def source(name, **more):
    fields = dict.fromkeys(("id", "provider", "name", "connector"), name) | more
    rights = Rights(license="x", attribution="none")
    return Source(**{"description": "Invented.", "homepage": "https://example.org", "rights": rights} | fields)


def table(natives):
    """Native code → series; each is given as a frequency letter, or as a dict of fields."""
    found = {}
    for number, (native, fields) in enumerate(natives.items()):
        more = {"frequency": fields} if isinstance(fields, str) else dict(fields)
        more["frequency"] = Frequency(more.get("frequency", "D"))
        base = {"source": "bank", "indicator": f"rate_{number}", "entity": "country_aaa", "unit": "percent"}
        found[native] = SeriesSpec(native=native, name=native, **(base | more))
    return found


def payload(url, text, media_type="text/csv"):
    return Payload(url, text if isinstance(text, bytes) else text.encode("utf-8-sig"), 0, media_type)


def key(text):
    return Period.parse(text).key


def read(parsed):
    """Blocks as plain values: native → ({period: value}, span)."""
    return {b.native: ({s.period: s.value for s in b.statements}, b.complete) for b in parsed.blocks}
