"""Data messages of SDMX services, written: CSV of four kinds, JSON-stat, SDMX-JSON, and both forms of SDMX-ML."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import quoteattr

from almanac.catalog.services import Flow, Service
from tests.publishers.figures import Figure


@dataclass(frozen=True)
class Told:
    """One series of a message: the codes of its key, and its figures."""

    codes: Sequence[str]
    figures: Sequence[Figure]
    #: Power of ten of the numbers.
    multiplier: int = 0
    attributes: tuple[tuple[str, str], ...] = ()


#: A message about a flow of a service at a time.
Writer = Callable[[Service, Flow, Sequence[Told], float], bytes]


def plain_csv(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """Without a column that names the flow (BIS)."""
    return _csv(service, flow, told, None)


def keyed_csv(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """With the whole key before it (ECB)."""
    return _csv(service, flow, told, "KEY")


def flow_csv(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """SDMX-CSV 1.0 (OECD, ABS)."""
    return _csv(service, flow, told, "DATAFLOW")


def _csv(service: Service, flow: Flow, told: Sequence[Told], naming: str | None) -> bytes:
    out = io.StringIO(newline="")
    lines = csv.writer(out, lineterminator="\r\n")
    named = [] if naming is None else [naming]
    multiplier = [] if service.multiplier is None else [service.multiplier]
    of_row = [*flow.dimensions, "TIME_PERIOD", "OBS_VALUE", service.status]
    if naming is None:
        of_row = [*flow.dimensions, *multiplier, "TIME_PERIOD", "OBS_VALUE", service.status]
    lines.writerow([*named, *of_row, *([] if naming is None else multiplier)])
    name = f"OFFICE:{flow.id}({flow.version or 1}.0.0)"
    for one in told:
        first = {"KEY": ".".join([flow.id, *one.codes]), "DATAFLOW": name}
        begin = [first[naming]] if naming is not None else []
        scale = [str(one.multiplier)] if multiplier else []
        for figure in one.figures:
            row = [figure.span.text, f"{figure.value:g}", "A"]
            lines.writerow([*begin, *one.codes, *(row + scale if naming else scale + row)])
    return out.getvalue().encode()


def json_stat(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """A cube (Eurostat)."""
    times = sorted({figure.span.text for one in told for figure in one.figures})
    codes = [sorted({one.codes[place] for one in told}) for place in range(len(flow.dimensions))]
    sizes = [*map(len, codes), len(times)]
    value: dict[str, float] = {}
    for one in told:
        cell = 0
        for place, code in enumerate(one.codes):
            cell = cell * sizes[place] + codes[place].index(code)
        for figure in one.figures:
            value[str(cell * sizes[-1] + times.index(figure.span.text))] = figure.value
    changed = max((figure.changed for one in told for figure in one.figures), default=now)
    dimension = {
        name: {"label": name, "category": {"index": {code: place for place, code in enumerate(listed)}, "label": {}}}
        for name, listed in zip([*flow.dimensions, "time"], [*codes, times], strict=True)
    }
    made = {
        "version": "2.0", "class": "dataset", "label": flow.id, "source": "ESTAT", "updated": _stamp(changed),
        "value": value, "status": {}, "id": [*flow.dimensions, "time"], "size": sizes, "dimension": dimension,
        "role": {"time": ["time"]}, "extension": {"id": flow.id, "lang": "EN"},
    }  # fmt: skip
    return json.dumps(made).encode()


def sdmx_json(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """SDMX-JSON 1.0 (Norges Bank)."""
    times = sorted({figure.span.text for one in told for figure in one.figures})
    place_of = {text: str(place) for place, text in enumerate(times)}
    codes = [sorted({one.codes[place] for one in told}) for place in range(len(flow.dimensions))]
    series: dict[str, Any] = {}
    for one in told:
        key = ":".join(str(codes[place].index(code)) for place, code in enumerate(one.codes))
        rows = {place_of[figure.span.text]: [f"{figure.value:g}"] for figure in one.figures}
        series[key] = {"attributes": [0], "observations": rows}
    structure = {
        "links": [{"rel": "dataflow", "urn": f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=OFFICE:{flow.id}(1.0)"}],
        "dimensions": {
            "dataset": [],
            "series": [
                {"id": name, "keyPosition": place, "values": [{"id": code} for code in codes[place]]}
                for place, name in enumerate(flow.dimensions)
            ],
            "observation": [{"id": "TIME_PERIOD", "values": [{"id": text} for text in times]}],
        },
        "attributes": {"dataset": [], "series": [{"id": "UNIT_MULT", "values": [{"id": "0"}]}], "observation": []},
    }  # fmt: skip
    return json.dumps(
        {"meta": {"id": "x"}, "data": {"dataSets": [{"series": series}], "structure": structure}}
    ).encode()


_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<m:{root} xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"'
    ' xmlns:g="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/generic"'
    ' xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common">\n'
    "<m:Header><m:ID>x</m:ID><m:Test>false</m:Test><m:Prepared>{prepared}</m:Prepared>"
    '<m:Structure structureID="S1" dimensionAtObservation="TIME_PERIOD"><c:StructureUsage>'
    "<URN>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=OFFICE:{flow}(1.0)</URN>"
    "</c:StructureUsage></m:Structure></m:Header>\n"
)


def generic_xml(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """SDMX-ML 2.1, Generic (Bundesbank, Istat)."""
    parts = [_HEAD.format(root="GenericData", prepared=_stamp(now), flow=flow.id), '<m:DataSet structureRef="S1">\n']
    for one in told:
        key = _values(zip(flow.dimensions, one.codes, strict=True))
        stated = list(one.attributes)
        if service.multiplier is not None:
            stated.append((service.multiplier, str(one.multiplier)))
        parts.append(f"<g:Series><g:SeriesKey>{key}</g:SeriesKey><g:Attributes>{_values(stated)}</g:Attributes>")
        parts += [
            f'<g:Obs><g:ObsDimension value="{figure.span.text}"/><g:ObsValue value="{figure.value:g}"/></g:Obs>'
            for figure in one.figures
        ]
        parts.append("</g:Series>\n")
    return "".join([*parts, "</m:DataSet></m:GenericData>"]).encode()


def _values(pairs: Any) -> str:
    return "".join(f"<g:Value id={quoteattr(name)} value={quoteattr(value)}/>" for name, value in pairs)


def specific_xml(service: Service, flow: Flow, told: Sequence[Told], now: float) -> bytes:
    """SDMX-ML 2.1, StructureSpecific (IMF, Insee)."""
    parts = [_HEAD.format(root="StructureSpecificData", prepared=_stamp(now), flow=flow.id), "<m:DataSet>\n"]
    for one in told:
        stated = [*zip(flow.dimensions, one.codes, strict=True), *one.attributes]
        if service.multiplier is not None:
            stated.append((service.multiplier, str(one.multiplier)))
        parts.append(f"<Series {' '.join(f'{name}={quoteattr(value)}' for name, value in stated)}>")
        parts += [f'<Obs TIME_PERIOD="{one.span.text}" OBS_VALUE="{one.value:g}"/>' for one in one.figures]
        parts.append("</Series>\n")
    return "".join([*parts, "</m:DataSet></m:StructureSpecificData>"]).encode()


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).isoformat()
