"""Answers of the Bank of Canada's Valet service. Every payload here is invented; the shape is the publisher's."""

import json
from datetime import date

from almanac.domain.observations import UNKNOWN
from almanac.sources.feeds.boc import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table

BASE = "https://www.bankofcanada.ca/valet/observations/"
TWO, BILL = "BD.CDN.2YR.DQ.YLD", "TB.CDN.90D.MID"
SOURCE, SERIES = source("boc-valet"), table({TWO: "D", BILL: "D"})


def answer(days, *names, **more):
    details = {
        name: {"label": name, "description": "Invented.", "dimension": {"key": "d", "name": "Date"}} for name in names
    }
    body = {"terms": {"url": "https://example.org"}, "seriesDetail": details, "observations": days}
    return json.dumps(body | more)


#: Invented numbers, in no order; no value is written in each of the three ways.
DAYS = [
    {"d": "2099-01-06", TWO: {"v": "3.10"}, "V1": {"v": "9"}},
    {"d": "2099-01-05", TWO: {"v": "-0.5"}, BILL: {"v": ""}, "V1": {"v": "9"}},
    {"d": "2099-01-07", TWO: {}, BILL: {"v": "1.25"}},
]
NAMES = f"{TWO},{BILL},V1"
TEXT = answer(DAYS, TWO, BILL, "V1")


def parse(text, url=f"{BASE}{NAMES}/json?start_date=2099-01-05"):
    body = text if isinstance(text, bytes) else text.encode()
    return CONNECTOR.parse(payload(url, body), SOURCE, SERIES)


def test_series_become_blocks_complete_between_the_answer_s_days():
    parsed = parse(TEXT)
    first, second, third = (key(f"2099-01-0{day}") for day in (5, 6, 7))
    assert read(parsed) == {TWO: ({first: -0.5, second: 3.1}, (first, third)), BILL: ({third: 1.25}, (first, third))}
    assert parsed.unmapped == {"V1": 2}
    assert {(s.known, s.released, s.flags) for b in parsed.blocks for s in b.statements} == {(None, None, UNKNOWN)}


def test_a_group_may_hold_any_of_its_series():
    text = answer([{"d": "2099-01-05", TWO: {"v": "3"}}], TWO, groupDetail={"label": "g", "description": "d"})
    assert read(parse(text, BASE + "group/bond_yields_benchmark/json"))[TWO][0] == {key("2099-01-05"): 3.0}


def test_names_nobody_knows_and_a_series_that_is_not_there_cost_nothing_else():
    extra = [{**day, "V2": {"v": "1"}} for day in DAYS]
    parsed = parse(answer(extra, TWO, "V1", extra=1))
    assert read(parsed)[TWO] == read(parse(TEXT))[TWO]
    assert parsed.missing == {BILL}
    assert parsed.unknown["field extra"] == 1
    assert parsed.unknown["series not in seriesDetail: V2"] == len(DAYS)


def test_an_answer_without_days_says_nothing():
    assert parse(answer([], TWO, BILL, "V1")).blocks == []


WRONG = [
    ("", "is not JSON"),
    (TEXT.encode("utf-16"), "is not utf-8"),
    (TEXT.replace('{"v": "3.10"}', '{"value": "3.10"}'), "unknown field `value`"),
    (answer([{TWO: {"v": "1"}}], TWO, BILL, "V1"), "observation 1 has no day d"),
    (TEXT.replace("2099-01-06", "2099-02-30"), "'2099-02-30' is not a day"),
]


def test_other_answers_of_the_bank_are_owned_and_set_aside_by_name():
    url = "https://www.bankofcanada.ca/valet/lists/series/json"
    assert CONNECTOR.owns(url)
    assert parse("{}", url).ignored == "/valet/lists/series/json: not observations in JSON"
    assert parse("x", f"{BASE}{TWO}/csv").ignored == f"/valet/observations/{TWO}/csv: not observations in JSON"
    assert not CONNECTOR.owns("https://example.org/www.bankofcanada.ca")


def test_plan_asks_for_each_series_by_itself():
    def urls(since):
        return [r.url for r in CONNECTOR.plan(SOURCE, SERIES, since, date(2099, 1, 20), None)]

    assert urls(None) == [f"{BASE}{TWO}/json", f"{BASE}{BILL}/json"]
    assert urls(date(2099, 1, 5)) == [f"{BASE}{name}/json?start_date=2099-01-05" for name in (TWO, BILL)]
