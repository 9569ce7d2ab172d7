"""The SDMX connector beyond the forms of messages: whose URL it is, what is asked for, editions, rights. All is invented."""

from datetime import UTC, date, datetime

import msgspec
import pytest

from almanac.catalog.load import shipped
from almanac.catalog.services import named
from almanac.domain.observations import PROJECTION, UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.rights import Exposure
from almanac.sources.base import SourceChanged, connector
from almanac.sources.feeds import sdmx
from almanac.sources.formats import notes
from almanac.sources.formats.sdmx_message import name_in
from tests.support.sdmx_invented import (
    CSV,
    GENERIC,
    OUTLOOK,
    RATES,
    SERIES,
    SERVICE,
    SOURCE,
    SPECIFIC,
    blocks,
    key,
    parse,
    reader,
    spec,
)

TODAY = date(2099, 5, 20)
EDITION = (
    "FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,OBS_STATUS,PUBLISHED,UPDATED,LAST_ACTUAL\n"
    "A,AA,X,2097,1,A,2099-04-14T13:00:00Z,{updated},{actual}\n"
    "A,AA,X,2098,2,A,2099-04-14T13:00:00Z,{updated},{actual}\n"
    "A,AA,X,2099,3,A,2099-04-14T13:00:00Z,{updated},{actual}\n"
)
YEARLY = {"OUTLOOK.A.AA.X": spec("OUTLOOK.A.AA.X", Frequency.ANNUAL)}
OUTLOOK_URL = "https://data.example.org/rest/data/OUTLOOK/A.AA.X"
RELEASED = int(datetime(2099, 4, 14, 13, tzinfo=UTC).timestamp())
UPDATED = int(datetime(2099, 5, 2, 9, 30, tzinfo=UTC).timestamp())


def urls(series, since=None, service=SERVICE):
    return [request.url for request in reader(service, service).plan(SOURCE, series, since, TODAY, None)]


def test_series_that_differ_only_in_a_dimension_asked_whole_are_one_request():
    base = "https://data.example.org/rest/data/OFFICE,RATES,1.0/"
    assert urls(SERIES) == [f"{base}M..X?format=csv"]
    assert urls({"RATES.M.AA.X": SERIES["RATES.M.AA.X"]}) == [f"{base}M.AA.X?format=csv"]
    starred = msgspec.structs.replace(SERVICE, wildcard="*")
    assert urls(SERIES, date(2099, 3, 31), starred) == [f"{base}M.*.X?format=csv&startPeriod=2099-03"]


@pytest.mark.parametrize(
    ("frequency", "written"),
    [("A", "2099"), ("S", "2099-S1"), ("Q", "2099-Q2"), ("M", "2099-05"), ("W", "2099-05-31"), ("D", "2099-05-31")],
)
def test_the_first_period_is_written_in_the_frequency_asked(frequency, written):
    native = f"OUTLOOK.{frequency}.AA.X"
    plain = msgspec.structs.replace(SERVICE, url="https://data.example.org/{flow}/{key}")
    asked = urls({native: spec(native, Frequency(frequency))}, date(2099, 5, 31), plain)
    assert asked == [f"https://data.example.org/OUTLOOK/{frequency}.AA.X?startPeriod={written}"]


def test_a_large_daily_flow_is_asked_in_windows_the_last_of_them_open():
    large = msgspec.structs.replace(RATES, window_years={Frequency.DAILY: 10}, first_year=2075)
    service = msgspec.structs.replace(SERVICE, flow=(large,))
    series = {"RATES.D.AA.X": spec("RATES.D.AA.X", Frequency.DAILY)}
    base = "https://data.example.org/rest/data/OFFICE,RATES,1.0/D.AA.X?format=csv&startPeriod="
    assert urls(series, None, service) == [
        base + "2075-01-01&endPeriod=2084-12-31",
        base + "2085-01-01&endPeriod=2094-12-31",
        base + "2095-01-01",
    ]
    assert urls(series, date(2090, 6, 1), service) == [base + "2090-06-01&endPeriod=2094-12-31", base + "2095-01-01"]
    assert urls(SERIES, None, service) == ["https://data.example.org/rest/data/OFFICE,RATES,1.0/M..X?format=csv"]


def test_a_request_asks_for_a_form_where_the_address_cannot():
    service = msgspec.structs.replace(SERVICE, accept="application/xml")
    assert [r.headers for r in reader(service, service).plan(SOURCE, SERIES, None, TODAY, None)] == [
        {"accept": "application/xml"}
    ]


def test_each_flow_s_source_owns_its_addresses_and_the_first_one_the_rest():
    only = {flow.id: msgspec.structs.replace(SERVICE, flow=(flow,)) for flow in (RATES, OUTLOOK)}
    rates, outlook = (reader(only[name], SERVICE) for name in ("RATES", "OUTLOOK"))
    host = "https://data.example.org/rest/"
    for path, owner in {
        "data/OFFICE,RATES,1.0/M..X?format=csv": "RATES",
        "datastructure/OFFICE/OFFICE_RATES1/latest": "RATES",
        "data/OUTLOOK/A.AA.X": "OUTLOOK",
        "data/WEATHER/A": "RATES",
        "data/RATES%2FM": "RATES",
    }.items():
        assert (rates.owns(host + path), outlook.owns(host + path)) == (owner == "RATES", owner == "OUTLOOK"), path
    assert not rates.owns("https://example.org/data.example.org/RATES")


def test_a_message_of_late_changes_withdraws_nothing():
    parsed = parse(CSV, "https://data.example.org/rest/data/RATES/M..X?updatedAfter=2099-01-01")
    assert {block.complete for block in parsed.blocks} == {None}


def test_a_value_that_is_not_free_shuts_its_series():
    parsed = parse(CSV.replace("-0.25,A,F", "-0.25,A,N"))
    assert parsed.tightened == {
        "RATES.M.BB.X": (Exposure.restricted, "The publisher marks values of this series as not free (N).")
    }


def test_a_forecast_by_its_status_is_marked():
    parsed = parse(CSV.replace("-0.25,A", "-0.25,F"))
    assert [s.flags for s in blocks(parsed)["RATES.M.BB.X"]] == [UNKNOWN | PROJECTION]
    assert [s.flags for s in blocks(parsed)["RATES.M.AA.X"]] == [UNKNOWN]


def edition(actual="2097", updated=""):
    return blocks(parse(EDITION.format(actual=actual, updated=updated), OUTLOOK_URL, YEARLY))["OUTLOOK.A.AA.X"]


def test_an_edition_is_known_from_its_release_and_past_the_last_measured_year_a_projection():
    first = edition()
    assert first == [
        ReportedValue(key(year), value, RELEASED, RELEASED, flags)
        for year, value, flags in (("2097", 1.0, 0), ("2098", 2.0, PROJECTION), ("2099", 3.0, PROJECTION))
    ]
    assert edition(updated="2099-04-14T13:00:00Z") == first
    # Of a year in two calendar years only the first is measured for certain.
    for written in ("FY2097/98", "2097/98", "FY2097/2098", "2097"):
        assert [statement.flags for statement in edition(written)] == [0, PROJECTION, PROJECTION], written
    # Nothing said, or more than can be: a year that was not over at the release is none that was measured.
    for written in ("", "0", "Not applicable", "2098", "FY2098", "2099"):
        assert [statement.flags for statement in edition(written)] == [0, 0, PROJECTION], written
    for odd in ("soon", "FY2097/99", "FY2097/2099"):
        parsed = parse(EDITION.format(actual=odd, updated=""), OUTLOOK_URL, YEARLY)
        assert (parsed.blocks, parsed.unread) == ([], [f"unknown year '{odd}' of OUTLOOK.A.AA.X"])
    with pytest.raises(SourceChanged, match=r"PUBLISHED '2099-04-14' is not an instant with a time zone"):
        parse(EDITION.replace("T13:00:00Z", ""), OUTLOOK_URL, YEARLY)
    with pytest.raises(SourceChanged, match="PUBLISHED nothing is not an instant"):
        parse(EDITION.format(actual="2097", updated="").replace("2099-04-14T13:00:00Z", ""), OUTLOOK_URL, YEARLY)


FISCAL = (
    "FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,OBS_STATUS,PUBLISHED,LAST_ACTUAL,MONTHS,HOW\n"
    "A,AA,X,2097,1,A,2099-10-14T13:00:00Z,{actual},{months},{how}\n"
    "A,AA,X,2098,2,A,2099-10-14T13:00:00Z,{actual},{months},{how}\n"
    "A,AA,X,2099,3,A,2099-10-14T13:00:00Z,{actual},{months},{how}\n"
    "A,BB,X,2098,5,A,2099-10-14T13:00:00Z,2098,January/December,\n"
)
BEGUN, ENDED = "Fiscal years are FY(t/t+1) = CY(t).", "Fiscal years: FY(t-1 / t) = CY(t)"


def fiscal(months, how, actual):
    flow = msgspec.structs.replace(OUTLOOK, reporting_year="MONTHS", year_mapping="HOW")
    service = msgspec.structs.replace(SERVICE, flow=(flow,))
    both = {**YEARLY, "OUTLOOK.A.BB.X": spec("OUTLOOK.A.BB.X", Frequency.ANNUAL)}
    body = FISCAL.format(months=months, how=how, actual=actual)
    parsed = parse(body, OUTLOOK_URL, both, service)
    # The other country is read whatever is stated of this one.
    assert blocks(parsed).pop("OUTLOOK.A.BB.X")[0].period == key("2098")
    return parsed


@pytest.mark.parametrize(
    ("months", "how", "actual", "ends", "measured"),
    [
        ("April/March", BEGUN, "FY2098/99", ["2098-03-31", "2099-03-31", "2100-03-31"], 2),
        ("April/March", BEGUN, "FY2099", ["2098-03-31", "2099-03-31", "2100-03-31"], 2),
        ("April/March", BEGUN, "2097", ["2098-03-31", "2099-03-31", "2100-03-31"], 1),
        ("July/June", ENDED, "FY2098/99", ["2097-06-30", "2098-06-30", "2099-06-30"], 3),
        ("July/June", ENDED, "FY2097/98", ["2097-06-30", "2098-06-30", "2099-06-30"], 2),
        ("July/June", ENDED, "", ["2097-06-30", "2098-06-30", "2099-06-30"], 3),
        ("August/July", "FY(t/t+1)=CY(t+1)", "2098", ["2097-07-31", "2098-07-31", "2099-07-31"], 2),
        # What is not over at the release was not measured, whatever is said.
        ("April/March", BEGUN, "FY2099/00", ["2098-03-31", "2099-03-31", "2100-03-31"], 2),
        ("January/December", "", "2098", ["2097-12-31", "2098-12-31", "2099-12-31"], 2),
        ("", "", "2098", ["2097-12-31", "2098-12-31", "2099-12-31"], 2),
        # Data of fiscal years, brought to calendar years.
        ("January/December", "", "FY2098/99", ["2097-12-31", "2098-12-31", "2099-12-31"], 2),
    ],
)
def test_the_year_under_a_label_is_the_one_that_the_message_states(months, how, actual, ends, measured):
    told = blocks(fiscal(months, how, actual))["OUTLOOK.A.AA.X"]
    periods = [Period.from_key(one.period) for one in told]
    assert [(str(one.end), (one.end - one.start).days in {364, 365}) for one in periods] == [
        (end, True) for end in ends
    ]
    assert [one.flags for one in told] == [0] * measured + [PROJECTION] * (3 - measured)


@pytest.mark.parametrize(
    ("months", "how", "actual"),
    [
        ("April/March", "", "FY2098/99"),
        ("April/March", "", "2098"),
        ("April/March", f"{BEGUN} {ENDED}", "2098"),
        ("April/March", "FY(t/t+1) = CY(t+2)", "2098"),
        ("April/June", BEGUN, "2098"),
        ("spring", BEGUN, "2098"),
        ("January/December", ENDED, "2098"),
        ("", BEGUN, "2098"),
        ("", "", "FY2098/99"),
        ("", "", "FY2098"),
    ],
)
def test_a_year_that_is_not_stated_without_a_doubt_is_left_out_by_name(months, how, actual):
    parsed = fiscal(months, how, actual)
    assert list(blocks(parsed)) == ["OUTLOOK.A.BB.X"]
    assert [name for name in parsed.unread if name.startswith("unknown year ")] == [
        f"unknown year {', '.join(filter(None, (months, actual)))!r} of OUTLOOK.A.AA.X"
    ]


@pytest.mark.parametrize(("months", "how", "year"), [("April/March", BEGUN, "9999"), ("July/June", ENDED, "0001")])
def test_a_fiscal_year_beyond_the_calendar_is_refused(months, how, year):
    flow = msgspec.structs.replace(OUTLOOK, reporting_year="MONTHS", year_mapping="HOW")
    body = FISCAL.format(months=months, how=how, actual="2098").replace("X,2097,1", f"X,{year},1")
    with pytest.raises(SourceChanged, match="in no calendar"):
        parse(body, OUTLOOK_URL, YEARLY, msgspec.structs.replace(SERVICE, flow=(flow,)))


def test_a_corrected_edition_is_known_from_its_release_only_where_nothing_was_known_before():
    first, again, *_ = edition(updated="2099-05-02T09:30:00+00:00")
    assert first == ReportedValue(key("2097"), 1.0, RELEASED, RELEASED, first_only=True)
    assert again == ReportedValue(key("2097"), 1.0, UPDATED, UPDATED)


def test_connectors_are_made_from_the_catalogue():
    catalog = shipped()
    yields, rates = connector("sdmx:ecb/YC"), connector("sdmx:ecb/FM")
    address = "https://data-api.ecb.europa.eu/service/data/YC/B.U2.EUR.4F.G_N_A.SV_C_YM.SR_2Y?format=csvdata"
    assert (yields.owns(address), rates.owns(address)) == (True, False)
    assert yields is sdmx.connector("ecb/YC")
    with pytest.raises(KeyError, match="unknown service nobody"):
        named("nobody", catalog.services)
    with pytest.raises(KeyError, match="service ecb has no flow WEATHER"):
        named("ecb/WEATHER", catalog.services)


def test_the_yield_curve_is_asked_tenor_by_tenor_and_the_bis_country_by_wildcard():
    catalog = shipped()
    curve = connector("sdmx:ecb/YC").plan(catalog.sources["ecb-yc"], catalog.series["ecb-yc"], None, TODAY, None)
    assert len(curve) == len(catalog.series["ecb-yc"]) == 15
    assert all("+" not in request.url and ".." not in request.url for request in curve)
    since = date(2099, 5, 1)
    bis = connector("sdmx:bis").plan(catalog.sources["bis"], catalog.series["bis"], since, TODAY, None)
    base = "https://stats.bis.org/api/v2/data/dataflow/BIS/"
    assert [request.url for request in bis if "CBPOL" in request.url or "WS_TC" in request.url] == [
        f"{base}WS_CBPOL/1.0/D.*?format=csv&startPeriod=2099-05-01",
        f"{base}WS_CBPOL/1.0/M.*?format=csv&startPeriod=2099-05",
        f"{base}WS_TC/2.0/Q.*.G.A.N.770.A?format=csv&startPeriod=2099-Q2",
        f"{base}WS_TC/2.0/Q.*.P.A.M.770.A?format=csv&startPeriod=2099-Q2",
        f"{base}WS_TC/2.0/Q.*.P.A.M.XDC.A?format=csv&startPeriod=2099-Q2",
    ]


@pytest.mark.parametrize(
    ("column", "stated", "more", "note"),
    [
        ("BASE_PER", "2015", {"unit": "index", "basis": "2010=100"}, '{"basis":"2015=100"}'),
        ("BASE_PERIOD", "2011-12", {"unit": "index"}, '{"basis":"2011-12=100"}'),
        ("BASE_PER", "2015 average", {"unit": "index"}, '{"basis":"2015 average"}'),
        (
            "REF_YEAR_PRICE",
            "2020",
            {"unit": "local_currency", "price_basis": "constant"},
            '{"priceBasis":"2020 prices"}',
        ),
        ("BASE_YEAR", "2020", {"unit": "local_currency", "price_basis": "current"}, None),
        ("BASE_YEAR", "2020", {"unit": "percent"}, None),
        ("BASE_PER", "", {"unit": "index", "basis": "2010=100"}, None),
    ],
)
def test_the_base_that_a_message_states_is_kept_with_each_row(column, stated, more, note):
    text = f"FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,OBS_STATUS,{column}\nM,AA,X,2099-01,1.5,A,{stated}\n"
    native = "RATES.M.AA.X"
    series = {native: msgspec.structs.replace(spec(native, Frequency.MONTHLY), **more)}
    assert [line.note for line in blocks(parse(text, series=series))[native]] == [note]


# What one SDMX service says otherwise than the next, as data: names of columns, flags, stamps, labels, limits. Invented.


OFFICE = msgspec.structs.replace(
    SERVICE,
    status="FLAG",
    confidentiality="SHUT",
    flags="bcep",
    absent=("", ":"),
    published="LAST UPDATE",
    zone="Europe/Luxembourg",
    labels={"Monthly": "M", "Land A": "AA", "Of some kind": "X"},
)
SERVICE_CSV = (
    "DATAFLOW,LAST UPDATE,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,FLAG,SHUT\n"
    "OFFICE:RATES$DEFAULTVIEW(1.0),30/06/98 23:00:00,M,AA,X,2098-04,1.5,bp,\n"
    "OFFICE:RATES$DEFAULTVIEW(1.0),30/06/98 23:00:00,M,AA,X,2098-05,:,c,\n"
    "OFFICE:RATES$DEFAULTVIEW(1.0),30/06/98 23:00:00,M,BB,X,2098-05,-0.25,,\n"
)
SECOND = SERVICE_CSV.replace("DATAFLOW,", "STRUCTURE,STRUCTURE_ID,ACTION,").replace(
    "OFFICE:RATES$DEFAULTVIEW(1.0),", "dataflow,OFFICE:RATES$DEFAULTVIEW(1.0),I,"
)
#: Eleven in the evening in Luxembourg, in summer.
STAMP = '"publishedAt":"2098-06-30T21:00:00Z"'


@pytest.mark.parametrize("body", [SERVICE_CSV, SECOND], ids=["SDMX-CSV 1.0", "SDMX-CSV 2.0"])
def test_columns_flags_and_the_stamp_are_those_of_the_service(body):
    parsed = parse(body, service=OFFICE)
    assert {native: [(s.period, s.value, s.note) for s in told] for native, told in blocks(parsed).items()} == {
        "RATES.M.AA.X": [(key("2098-04"), 1.5, f'{{"flags":["b","p"],{STAMP}}}')],
        "RATES.M.BB.X": [(key("2098-05"), -0.25, f"{{{STAMP}}}")],
    }
    assert [block.complete for block in parsed.blocks] == [
        (key("2098-04"), key("2098-05")),
        (key("2098-05"), key("2098-05")),
    ]
    # The stamp says when this state was published, not each of its values: nothing is known before it was fetched.
    assert {(s.known, s.released) for block in parsed.blocks for s in block.statements} == {(None, None)}


def test_labels_stand_for_their_codes():
    labelled = SERVICE_CSV.replace("M,AA,X", "Monthly,Land A,Of some kind")
    assert blocks(parse(labelled, service=OFFICE)) == blocks(parse(SERVICE_CSV, service=OFFICE))
    unknown = parse(SERVICE_CSV.replace("M,BB,X", "Monthly,Land B,Of some kind"), service=OFFICE)
    assert unknown.unmapped == {"RATES.M.Land B.X": 1}


def test_a_status_of_another_name_is_read_in_xml_too():
    for form, body in {"specific": SPECIFIC, "generic": GENERIC}.items():
        marked = body.replace('OBS_STATUS="M"', 'FLAG="p" OBS_VALUE="2"').replace(
            '<g:Value id="OBS_STATUS" value="A"/>', '<g:Value id="FLAG" value="p"/>'
        )
        marked = marked.replace('id="OBS_STATUS" value="M"', 'id="FLAG" value=":"')
        found = blocks(parse(marked, service=OFFICE))
        assert '{"flags":["p"]}' in {s.note for statements in found.values() for s in statements}, form


WRONG = [
    ("bp", "bk", "RATES.M.AA.X 2098-04: status 'bk', known are the letters bcep"),
    ("30/06/98 23:00:00", "31/06/98 23:00:00", "LAST UPDATE: '31/06/98 23:00:00' is not a time of publication"),
    ("FLAG,SHUT", "FLAG,CONFIDENCE", "RATES has CONFIDENCE, which nobody reads"),
]


@pytest.mark.parametrize(
    ("text", "served"),
    [
        ("2099-04-20T11:00:00+0200", "2099-04-20T09:00:00Z"),
        ("2099-04-20T11:00:00.5Z", "2099-04-20T11:00:01Z"),
        ("2099-07-01", "2099-07-01"),
        ("20990701", "2099-07-01"),
        ("17/09/98", "2098-09-17"),
        ("17/12/98 23:00:00", "2098-12-17T22:00:00Z"),
    ],
)
def test_stamps_are_served_in_one_way(text, served):
    assert notes.published_at(text, "Europe/Luxembourg", "x") == served


@pytest.mark.parametrize("text", ["", "soon", "2099-04-20T11:00:00", "2099-13-01", "17/13/98", "17/09/98 23:00"])
def test_a_stamp_that_says_no_time_is_refused(text):
    with pytest.raises(SourceChanged, match="is not a time of publication"):
        notes.published_at(text, "Europe/Luxembourg", "x")


def test_a_stamp_without_a_zone_needs_one_of_the_service():
    with pytest.raises(SourceChanged, match="is not a time of publication"):
        notes.published_at("17/09/98 23:00:00", None, "x")


def test_a_view_of_a_flow_is_the_flow():
    assert name_in("OFFICE:RATES$DEFAULTVIEW(1.0)") == "RATES"
    assert name_in("OFFICE:RATES(1.0)") == "RATES"


def asked(service, series):
    return reader(service, service).plan(SOURCE, series, date(2099, 5, 20), TODAY, None)


def test_a_closed_flow_is_read_and_not_asked_for():
    closed = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, closed=True),))
    assert asked(closed, SERIES) == []
    assert len(asked(SERVICE, SERIES)) == 1


def test_that_nothing_is_known_of_what_was_asked_is_an_answer_and_windows_of_the_past_are_closed():
    (request,) = asked(SERVICE, SERIES)
    assert (request.empty, request.closed) == ({404}, False)
    large = msgspec.structs.replace(
        SERVICE, flow=(msgspec.structs.replace(RATES, window_years={Frequency.DAILY: 2}, first_year=2093),)
    )
    series = {"RATES.D.AA.X": spec("RATES.D.AA.X", Frequency.DAILY)}
    planned = reader(large, large).plan(SOURCE, series, None, TODAY, None)
    # The window of 2097 and 2098 ended in the year of TODAY's last one: it still fills.
    assert [one.closed for one in planned] == [True, True, False, False]


def test_frequencies_asked_together_begin_with_the_period_of_the_lowest():
    both = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, every=("FREQ", "AREA")),))
    series = {"RATES.M.AA.X": SERIES["RATES.M.AA.X"], "RATES.Q.AA.X": spec("RATES.Q.AA.X", Frequency.QUARTERLY)}
    assert [request.url for request in asked(both, series)] == [
        "https://data.example.org/rest/data/OFFICE,RATES,1.0/..X?format=csv&startPeriod=2099-Q2"
    ]


#: Version 2 of the structure counts on another base than version 1 did, under the same name.
REBASED = msgspec.structs.replace(
    SERVICE,
    flow=(
        msgspec.structs.replace(RATES, version="2"),
        msgspec.structs.replace(RATES, id="RATES-V1", names=("RATES",), version="1", closed=True),
    ),
)


@pytest.mark.parametrize(
    ("said", "path", "native"),
    [
        ("OFFICE:RATES(2.0.0)", "OFFICE,RATES/M..X", "RATES.M.AA.X"),
        ("OFFICE:RATES(2.4)", "OFFICE,RATES,2.4/M..X", "RATES.M.AA.X"),
        ("OFFICE:RATES(1.1.0)", "OFFICE,RATES/M..X", "RATES-V1.M.AA.X"),
        ("OFFICE:RATES(1.1.0)", "OFFICE,RATES,1.1.0/M..X", "RATES-V1.M.AA.X"),
        ("OFFICE:RATES", "OFFICE,RATES,1.1.0/M..X", "RATES-V1.M.AA.X"),
        ("OFFICE:RATES", "OFFICE,RATES/M..X", "RATES.M.AA.X"),
    ],
)
def test_flows_of_one_name_are_told_apart_by_the_version_of_their_structure(said, path, native):
    body = invented_csv(said)
    table = {code: spec(code) for code in ("RATES.M.AA.X", "RATES-V1.M.AA.X")}
    parsed = parse(body, f"https://data.example.org/rest/data/{path}", series=table, service=REBASED)
    assert {code: [s.value for s in told] for code, told in blocks(parsed).items()} == {native: [137.5]}


def test_a_version_nobody_knows_may_count_otherwise_and_is_refused():
    with pytest.raises(SourceChanged, match="RATES in version 3, expected 2"):
        parse(
            invented_csv("OFFICE:RATES(3.0)"), "https://data.example.org/rest/data/OFFICE,RATES/M..X", service=REBASED
        )


def test_a_flow_may_name_its_own_attribute_of_confidentiality():
    own = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, confidentiality="CONF_STATUS"),))
    body = "DATAFLOW,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,CONF_STATUS\nOFFICE:RATES(1.0),M,AA,X,2099-01,1.5,C\n"
    assert set(parse(body, service=own).tightened) == {"RATES.M.AA.X"}
    assert parse(body.replace(",C", ",F"), service=own).tightened == {}


def invented_csv(said):
    return f"DATAFLOW,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE\n{said},M,AA,X,2099-01,137.5\n"
