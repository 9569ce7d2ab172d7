"""A data set asked for without a version: which version was read is told with each value. All is invented."""

import pytest

from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.workplace import Workplace
from tests.support.service import Service, make_accounts, settings

DAY, START = 86_400, 1_790_812_800  # 2026-10-01
CONSENT = {
    f"SOURCES__IMF__CONSENT__{name}": value
    for name, value in {"BY": "someone", "ON": "2026-01-02", "REFERENCE": "an invented letter"}.items()
}
HEAD = (
    '<m:StructureSpecificData xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"'
    ' xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"><m:Header><m:ID>x</m:ID>'
    '<m:Structure structureID="S"><c:StructureUsage>{usage}</c:StructureUsage></m:Structure></m:Header>'
)
REF = '<Ref agencyID="IMF.RES" id="{flow}" version="{version}"/>'
URN = "<URN>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=IMF.RES:{flow}({version})</URN>"


def outlook(version, values, released, usage=REF):
    """An edition of the World Economic Outlook: Germany's unemployment by year."""
    rows = "".join(f'<Obs TIME_PERIOD="{year}" OBS_VALUE="{value}"/>' for year, value in values.items())
    body = (
        HEAD.format(usage=usage.format(flow="WEO", version=version))
        + f'<m:DataSet action="Replace" PUBLICATION_DATE="{released}T13:00:00Z">'
        f'<Series COUNTRY="DEU" INDICATOR="LUR" FREQUENCY="A" LATEST_ACTUAL_ANNUAL_DATA="2025">{rows}</Series>'
        "</m:DataSet></m:StructureSpecificData>"
    )
    return "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,WEO/.LUR.A", body


def copper(version, values):
    """Prices of copper, as text: the other form in which the service answers."""
    lines = "".join(f"IMF.RES:PCPS({version}),G001,PCOPP,USD,M,{month},{value}\n" for month, value in values.items())
    head = "DATAFLOW,COUNTRY,INDICATOR,DATA_TRANSFORMATION,FREQUENCY,TIME_PERIOD,OBS_VALUE\n"
    return "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,PCPS/G001.PCOPP.USD.M", head + lines


@pytest.fixture
def told(tmp_path):
    """What the service answers, from a home that has taken in some messages, one a day."""
    made = settings(tmp_path / "home", **CONSENT)
    running = []

    def take(*messages):
        with Workplace(made) as world:
            outcome = Ingest(world, world.catalog.sources["imf"], lambda _: None).run(
                Arrival(url, body.encode(), "", START + number * DAY) for number, (url, body) in enumerate(messages)
            )
        assert (outcome.folded, outcome.quarantined, outcome.unmapped) == (len(messages), {}, {})
        make_accounts(made)
        running.append(Service(made.home, more=CONSENT))
        return running[0].ok

    yield take
    for one in running:
        one.close()


def versions(rows):
    return {row["periodEnd"][:7]: (row["valueNumeric"], row["metadata"].get("dataflow")) for row in rows}


@pytest.mark.parametrize("usage", [REF, URN], ids=["a reference", "a name"])
def test_each_value_tells_the_version_that_it_was_first_read_in(told, usage):
    get = told(
        outlook("9.0.0", {2024: 3.4, 2025: 3.5}, "2026-04-14", usage),
        outlook("10.0.0", {2024: 3.4, 2025: 3.7}, "2026-10-01", usage),
    )
    rows = get("/observations", source_id="imf", frequency="A")
    # What the later version says alike is no new state: it is of the version that first said it, like its release.
    assert versions(rows) == {"2024-12": (3.4, "IMF.RES:WEO(9.0.0)"), "2025-12": (3.7, "IMF.RES:WEO(10.0.0)")}
    revised = next(row for row in rows if row["valueNumeric"] == 3.7)
    lineage = get(f"/observations/{revised['id']}/provenance")
    assert [one["metadata"]["dataflow"] for one in lineage["vintages"]] == ["IMF.RES:WEO(9.0.0)", "IMF.RES:WEO(10.0.0)"]
    assert lineage["payload"]["url"].endswith("IMF.RES,WEO/.LUR.A")  # the address names none


def test_prices_tell_it_too_and_a_message_that_names_none_says_nothing(told):
    get = told(copper("9.0.0", {"2026-M07": 9_700.5}), outlook("", {2025: 3.5}, "2026-04-14", '<Ref id="WEO"/>'))
    rows = get("/observations", source_id="imf")
    assert versions(rows) == {"2026-07": (9_700.5, "IMF.RES:PCPS(9.0.0)"), "2025-12": (3.5, None)}


@pytest.mark.parametrize(
    ("written", "left", "code"),
    [("6.0", {2024: 3.4, 2025: 6.0}, 0), ("NaN", {2024: 3.4}, 0), ("INF", {2024: 3.4, 2025: 3.7}, 3)],
)
def test_a_value_in_doubt_neither_replaces_nor_withdraws_and_the_run_says_so(tmp_path, written, left, code):
    """NaN is SDMX's word for a number missing on purpose; of an infinity nothing is known."""
    made = settings(tmp_path / "home", **CONSENT)
    messages = [
        outlook("9.0.0", {2024: 3.4, 2025: value}, day)
        for value, day in (("3.7", "2026-04-14"), (written, "2026-10-14"))
    ]
    with Workplace(made) as world:
        outcome = Ingest(world, world.catalog.sources["imf"], lambda _: None).run(
            Arrival(url, body.encode(), "", START + number * 20 * DAY) for number, (url, body) in enumerate(messages)
        )
    assert (outcome.folded, outcome.quarantined, outcome.exit_code) == (2, {}, code)
    assert ["'INF' is not a number" in name for name in outcome.unread] == [True] * (code == 3)
    make_accounts(made)
    service = Service(made.home, more=CONSENT)
    rows = service.ok("/observations", country="DEU", indicator="unemployment_rate", source_id="imf")
    service.close()
    assert {int(row["periodEnd"][:4]): row["valueNumeric"] for row in rows} == left
