"""An invented SDMX service, its series, and messages in every form the connector reads. No number here is real."""

import json

from almanac.catalog.services import Flow, Service
from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency
from almanac.domain.reference import Unit
from almanac.sources.base import Payload
from almanac.sources.feeds.sdmx import Sdmx
from tests.support.central_banks import key, source, table

RATES = Flow(
    id="RATES",
    path="OFFICE,RATES,1.0",
    names=("OFFICE_RATES1",),
    dimensions=("FREQ", "AREA", "KIND"),
    attributes=("REMARK",),
    every=("AREA",),
)
OUTLOOK = Flow(
    id="OUTLOOK",
    dimensions=("FREQ", "AREA", "KIND"),
    release="PUBLISHED",
    corrected="UPDATED",
    last_actual="LAST_ACTUAL",
)
SERVICE = Service(
    id="office",
    hosts=("data.example.org",),
    url="https://data.example.org/rest/data/{flow}/{key}?format=csv",
    attributes=("TITLE", "DECIMALS"),
    flow=(RATES, OUTLOOK),
)
SOURCE = source("office", connector="sdmx:office")
UNITS = {"percent": Unit(id="percent", label="%"), "usd_millions": Unit(id="usd_millions", label="$", scale=6)}
URL = "https://data.example.org/rest/data/OFFICE,RATES,1.0/M..X?format=csv"


def spec(native, frequency=Frequency.MONTHLY, unit="percent", scale=0):
    own = {"source": "office", "indicator": "policy_rate", "entity": "country_nor"}
    return table({native: {"frequency": frequency, "unit": unit, "scale": scale} | own})[native]


SERIES = {native: spec(native) for native in ("RATES.M.AA.X", "RATES.M.BB.X")}


def reader(service=SERVICE, whole=SERVICE):
    return Sdmx(service, whole, UNITS)


def parse(body, url=URL, series=SERIES, service=SERVICE):
    body = body if isinstance(body, bytes) else body.encode()
    return reader(service, service).parse(Payload(url, body, 0, ""), SOURCE, series)


def stated(text, value):
    return ReportedValue(key(text), value, flags=UNKNOWN)


def blocks(parsed):
    return {block.native: block.statements for block in parsed.blocks}


#: What every form of the message below says: two months of AA, the second of them missing, one of BB, one unmapped.
EXPECTED = {"RATES.M.AA.X": [stated("2099-01", 1.5)], "RATES.M.BB.X": [stated("2099-02", -0.25)]}
UNMAPPED = {"RATES.M.CC.X": 1}

CSV = (
    "DATAFLOW,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,OBS_STATUS,OBS_CONF,UNIT_MULT,TITLE\n"
    'OFFICE:RATES(1.0),M,AA,X,2099-02,NaN,M,F,0,"Invented; a title, with ""marks"""\n'
    'OFFICE:RATES(1.0),M,AA,X,2099-01,1.5,A,F,0,"Invented; a title, with ""marks"""\n'
    "OFFICE:RATES(1.0),M,BB,X,2099-02,-0.25,A,F,0,Invented\n"
    "OFFICE:RATES(1.0),M,CC,X,2099-02,7,A,F,0,Invented\n"
)

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<m:{root} xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"'
    ' xmlns:g="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/generic"'
    ' xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common">\n'
    "<!-- invented -->\n"
    '<m:Header><m:ID>x</m:ID><m:Structure structureID="S1"><c:Structure>'
    "<URN>urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=OFFICE:OFFICE_RATES1(1.0)</URN>"
    "</c:Structure></m:Structure></m:Header>\n"
)


def generic_series(area, rows):
    written = "".join(
        f'<g:Obs><g:ObsDimension value="{period}"/>'
        + (f'<g:ObsValue value="{value}"/>' if value is not None else "")
        + f'<g:Attributes><g:Value id="OBS_STATUS" value="{status}"/></g:Attributes></g:Obs>'
        for period, value, status in rows
    )
    return (
        '<g:Series><g:SeriesKey><g:Value id="FREQ" value="M"/>'
        f'<g:Value id="AREA" value="{area}"/><g:Value id="KIND" value="X"/></g:SeriesKey>'
        '<g:Attributes><g:Value id="UNIT_MULT" value="0"/><g:Value id="TITLE" value="Invented"/></g:Attributes>'
        f"{written}</g:Series>\n"
    )


GENERIC = (
    HEAD.format(root="GenericData")
    + '<m:DataSet action="Replace" structureRef="S1">\n'
    + generic_series("AA", [("2099-02", None, "M"), ("2099-01", "1.5", "A")])
    + generic_series("BB", [("2099-02", "-0.25", "A")])
    + generic_series("CC", [("2099-02", "7", "A")])
    + "</m:DataSet></m:GenericData>"
)

SPECIFIC = (
    HEAD.format(root="StructureSpecificData")
    + '<m:DataSet xmlns:ss="urn:x" ss:dataScope="DataStructure" action="Replace" TITLE="Invented">\n'
    '<Group AREA="AA" REMARK="Invented"/>\n'
    '<Series KIND="X" AREA="AA" FREQ="M" UNIT_MULT="0"><Obs TIME_PERIOD="2099-02" OBS_STATUS="M"/>'
    '<Obs TIME_PERIOD="2099-01" OBS_VALUE="1.5"/></Series>\n'
    '<Series AREA="BB" FREQ="M" KIND="X"><Obs OBS_VALUE="-0.25" TIME_PERIOD="2099-02"/></Series>\n'
    '<Series AREA="CC" FREQ="M" KIND="X"><Obs OBS_VALUE="7" TIME_PERIOD="2099-02"/></Series>\n'
    "</m:DataSet></m:StructureSpecificData>"
)

_DATASET = {
    "series": {
        "0:0:0": {"attributes": [0, None], "observations": {"0": ["1.5", 0, 0], "1": [None, 1]}},
        "0:1:0": {"attributes": [0], "observations": {"1": [-0.25, 0]}},
        "0:2:0": {"observations": {"1": [7]}},
    }
}
_STRUCTURE = {
    "links": [
        {"rel": "dataflow", "urn": "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=OFFICE:RATES(1.0)"},
        {"rel": "self"},
    ],
    "dimensions": {
        "dataset": [],
        "series": [
            {"id": "FREQ", "keyPosition": 0, "values": [{"id": "M", "name": "Monthly"}]},
            {"id": "AREA", "keyPosition": 1, "values": [{"id": "AA"}, {"id": "BB"}, {"id": "CC"}]},
            {"id": "KIND", "keyPosition": 2, "values": [{"id": "X"}]},
        ],
        "observation": [{"id": "TIME_PERIOD", "keyPosition": 3, "values": [{"id": "2099-01"}, {"id": "2099-02"}]}],
    },
    "attributes": {
        "dataset": [],
        "series": [{"id": "UNIT_MULT", "values": [{"id": "0"}]}, {"id": "TITLE", "values": []}],
        "observation": [
            {"id": "OBS_STATUS", "values": [{"id": "A"}, {"id": "M"}]},
            {"id": "OBS_CONF", "values": [{"id": "F"}]},
        ],
    },
}


def json_1(**structure):
    return json.dumps(
        {"meta": {"id": "invented"}, "data": {"dataSets": [_DATASET], "structure": _STRUCTURE | structure}}
    )


def json_2(dataset=None):
    """The same in version 2.0: a list of structures, a measure, and an attribute of a group of series."""
    attributes = {
        "dimensionGroup": [{"id": "TITLE", "values": []}, {"id": "UNIT_MULT", "values": [{"value": 0}]}],
        "observation": _STRUCTURE["attributes"]["observation"],
    }
    structure = _STRUCTURE | {"attributes": attributes, "measures": {"observation": [{"id": "OBS_VALUE"}]}}
    series = {place: {"observations": one["observations"]} for place, one in _DATASET["series"].items()}
    made = {"structure": 0, "series": series, "dimensionGroupAttributes": {":0:": ["Invented", 0]}} | (dataset or {})
    return json.dumps({"data": {"structures": [structure], "dataSets": [made]}})
