"""Rooms of publishers with an SDMX service: ABS, BIS, Bundesbank, ECB, Eurostat, IMF, Insee, Istat, Norges Bank, OECD."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from urllib.parse import urlsplit

from almanac.catalog.load import shipped
from almanac.catalog.services import Flow, Service
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec
from tests.publishers.figures import Figure, Timetable
from tests.publishers.room import Asked, Reply, Room, Rules, newest
from tests.publishers.rooms import messages

#: Of flows that are asked for every place there is: whose figures there are, so that a month ends in minutes.
PLACES = {"country_usa", "country_deu", "country_jpn", "region_euro_area"}


class SdmxRoom(Room):
    """A service of the catalogue. The rest is what one publisher writes and another does not."""

    service_id: str
    write: messages.Writer = staticmethod(messages.flow_csv)
    media = "text/csv"
    #: What is answered where nothing is known of what was asked.
    nothing = Reply(b"No results found.", "text/plain", 404)
    #: Attributes that every series has.
    attributes: tuple[tuple[str, str], ...] = ()

    @cached_property
    def service(self) -> Service:
        return shipped().services[self.service_id]

    @cached_property
    def by_flow(self) -> dict[str, dict[str, SeriesSpec]]:
        """Flow → key → series."""
        found: dict[str, dict[str, SeriesSpec]] = {flow.id: {} for flow in self.service.flow}
        for native, spec in self.series.items():
            flow = next(one for one in self.service.flow if native.startswith(f"{one.id}."))
            found[flow.id][native.removeprefix(f"{flow.id}.")] = spec
        return found

    def answer(self, asked: Asked) -> Reply:
        flow, key = self._flow_and_key(asked)
        if flow is None:
            return self.nothing
        told = [
            messages.Told(codes.split("."), figures, self._scale(spec), self.attributes_of(flow, figures))
            for codes, spec in self._matching(flow, key)
            if (figures := self._wanted(spec, asked))
        ]
        if not told:
            return self.nothing
        natives = [(".".join([flow.id, *one.codes]), list(one.figures)) for one in told]
        changed = max(figure.changed for one in told for figure in one.figures)
        body = type(self).write(self.service, flow, told, changed)
        values = sum(len(one.figures) for one in told)
        return Reply(body, self.media, series=newest(natives), values=values, changed=changed)

    def attributes_of(self, flow: Flow, figures: list[Figure]) -> tuple[tuple[str, str], ...]:
        """Attributes of a series."""
        return self.attributes

    def _flow_and_key(self, asked: Asked) -> tuple[Flow | None, str]:
        parts = urlsplit(asked.url).path.split("/")
        place = len(parts) - 2 if parts[-1] else len(parts) - 3
        words = [word for part in parts[:-1] for word in part.split(",")]
        return self.service.find([word for word in words[place - 2 :] if word]), parts[-1]

    def _matching(self, flow: Flow, key: str) -> Iterator[tuple[str, SeriesSpec]]:
        """Keys of series that one asked for means, in their order: `+` for or, nothing or the wildcard for every code."""
        wild = {"", self.service.wildcard, "*"}
        parts = ["[^.]+" if part in wild else "|".join(map(re.escape, part.split("+"))) for part in key.split(".")]
        pattern = re.compile(r"\.".join(f"(?:{part})" for part in parts))
        asks_all = any(part in wild for part in key.split("."))
        for codes, spec in sorted(self.by_flow[flow.id].items()):
            if pattern.fullmatch(codes) and (not asks_all or spec.entity in PLACES) and spec.copy_of is None:
                yield codes, spec

    def _wanted(self, spec: SeriesSpec, asked: Asked) -> list[Figure]:
        """By the parameters of SDMX's REST interface, and `since` by when it was changed."""
        query = asked.query
        first, last = query.get("startPeriod", ""), query.get("endPeriod", "")
        figures = self.published(spec, asked, first, last)
        if after := query.get("updatedAfter"):
            at = datetime.fromisoformat(after)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            figures = [one for one in figures if one.changed > at.timestamp()]
        if count := query.get("lastNObservations"):
            figures = figures[-int(count) :]
        return figures

    def _scale(self, spec: SeriesSpec) -> int:
        unit = shipped().units.get(spec.unit or "")
        return spec.scale or (unit.scale if unit is not None else 0)


class Bis(SdmxRoom):
    name, service_id, sources = "bis", "bis", ("bis",)
    hosts = ("stats.bis.org",)
    rules = Rules(
        documented="stats.bis.org/api-doc/v2: 404 where nothing is found; no limit of requests is stated",
        seconds=1.0, last_modified=True, publishes=Timetable(7.0, {Frequency.DAILY: 2}),
    )  # fmt: skip
    write = staticmethod(messages.plain_csv)


class Ecb(SdmxRoom):
    name, service_id, sources = "ecb", "ecb", ("ecb-yc", "ecb-fm", "ecb-exr", "ecb-tgb")
    hosts = ("data-api.ecb.europa.eu",)
    rules = Rules(
        documented="data.ecb.europa.eu/help/api: ETag and Last-Modified, updatedAfter, 404 where nothing is found",
        etag=True, last_modified=True, publishes=Timetable(10.0, {Frequency.DAILY: 1}),
    )  # fmt: skip
    write = staticmethod(messages.keyed_csv)


class Oecd(SdmxRoom):
    name, service_id, sources = "oecd", "oecd", ("oecd",)
    hosts = ("sdmx.oecd.org",)
    rules = Rules(
        documented="Its notes on the interface: 20 requests an hour in one place, 60 in another; 429 beyond",
        limits=((20, 3_600.0),), retry_after=3_600, seconds=5.0,
    )  # fmt: skip
    write = staticmethod(messages.flow_csv)
    nothing = Reply(b"NoRecordsFound", "text/plain", 404)


class Abs(SdmxRoom):
    name, service_id, sources = "abs", "abs", ("abs",)
    hosts = ("data.api.abs.gov.au",)
    rules = Rules(documented="No limit is stated on its page of the interface", publishes=Timetable(0.5))
    write = staticmethod(messages.flow_csv)


class Eurostat(SdmxRoom):
    name, service_id, sources = "eurostat", "eurostat", ("eurostat",)
    hosts = ("ec.europa.eu",)
    rules = Rules(
        documented="Its pages on the interface: updates at 11:00 and 23:00; 413 where an answer is prepared for later. From how"
        " many values on, and for how long, is a guess, small enough to be met here",
        prepares=(410, 600.0), publishes=Timetable(9.0),
    )  # fmt: skip
    write = staticmethod(messages.json_stat)
    media = "application/json"
    nothing = Reply(b'{"error":[{"status":404,"id":100,"label":"No results found"}]}', "application/json", 404)
    preparing = Reply(
        b'{"warning":{"status":413,"label":"ASYNCHRONOUS_RESPONSE. Your request will be treated asynchronously."}}',
        "application/json", 413,
    )  # fmt: skip


class NorgesBank(SdmxRoom):
    name, service_id, sources = "norges-bank", "norges-bank", ("norges-bank",)
    hosts = ("data.norges-bank.no",)
    rules = Rules(documented="app.norges-bank.no/query: no limit is stated", publishes=Timetable(14.5))
    write = staticmethod(messages.sdmx_json)
    media = "application/json"


class Bundesbank(SdmxRoom):
    name, service_id, sources = "bundesbank", "bundesbank", ("bundesbank",)
    hosts = ("api.statistiken.bundesbank.de",)
    rules = Rules(documented="Its page of the web service: no limit is stated", publishes=Timetable(17.0))
    write = staticmethod(messages.generic_xml)
    media = "application/vnd.sdmx.genericdata+xml"


class Insee(SdmxRoom):
    name, service_id, sources = "insee", "insee", ("insee",)
    hosts = ("bdm.insee.fr",)
    rules = Rules(
        documented="A guess: no page of the publisher was read", limits=((30, 60.0),), publishes=Timetable(6.75)
    )
    write = staticmethod(messages.specific_xml)
    media = "application/xml"


class Istat(SdmxRoom):
    name, service_id, sources = "istat", "istat", ("istat",)
    hosts = ("esploradati.istat.it",)
    rules = Rules(
        documented="Five queries a minute to an address, shut out for a day or two beyond; answers take over two minutes",
        limits=((5, 60.0),), over=403, shut_out=86_400.0, seconds=130.0, publishes=Timetable(9.0),
    )  # fmt: skip
    write = staticmethod(messages.generic_xml)
    media = "application/vnd.sdmx.genericdata+xml"


class Imf(SdmxRoom):
    """The World Economic Outlook states when it was released, and until when it was measured."""

    name, service_id, sources = "imf", "imf", ("imf",)
    hosts = ("api.imf.org",)
    rules = Rules(documented="Ten requests in five seconds (a guess)", limits=((10, 5.0),), publishes=Timetable(13.0))
    write = staticmethod(messages.specific_xml)
    media = "application/vnd.sdmx.structurespecificdata+xml"

    def attributes_of(self, flow: Flow, figures: list[Figure]) -> tuple[tuple[str, str], ...]:
        if flow.last_actual is None:
            return ()
        released = datetime.fromtimestamp(int(max(one.changed for one in figures)), UTC)
        last = figures[-1].span.last.year
        return (("PUBLICATION_DATE", released.isoformat()), ("LATEST_ACTUAL_ANNUAL_DATA", str(last)))


ROOMS = [Bis, Ecb, Oecd, Abs, Eurostat, NorgesBank, Bundesbank, Insee, Istat, Imf]
