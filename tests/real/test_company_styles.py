"""Statements of filers of every style, from a whole quarter's data set: what is served, hand-read values, nothing from the future."""

from collections import Counter, defaultdict
from functools import lru_cache

import pytest

from almanac.catalog.companies import wanted_tags
from almanac.catalog.sectors import classify
from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.derivation import derive
from almanac.domain.filings import known_at
from almanac.sources.feeds.sec import datasets
from tests.support.filer import assemble

from .company_files import FOLDER, TEMPLATES, day, facts_of, filings_of, whole_companies
from .files import REAL

pytestmark = REAL

#: Item that a statement of each type is nothing without.
ANCHORS = {"income": "net_income", "balance": "total_assets", "cash_flow": "net_cash_flow_from_operations"}


@lru_cache(maxsize=1)
def data_set():
    """CIK → traits, facts, filings of the filers of the third quarter of 2009."""
    body = (FOLDER / "financial-statement-data-sets" / "2009q3.zip").read_bytes()
    parsed = datasets.read(body, "2009q3", wanted_tags())
    filings = defaultdict(dict)
    for cik, filing in parsed.filings:
        filings[cik][filing.accession] = filing._replace(known_at=filing.known_at or known_at(filing.filed))
    traits = {
        record.cik: {
            "template": classify(record.sic).template, "currency": record.currency or "USD", "entity": record.entity,
        }
        for record in parsed.companies
    }  # fmt: skip
    return {told.cik: (traits[told.cik], told.facts, filings[told.cik]) for told in parsed.facts}


def filer(cik):
    traits, facts, filings = data_set()[cik]
    return assemble(facts, filings, **traits)


@lru_cache(maxsize=1)
def told():
    """CIK → the last body of each of its statements, by type, frequency letter and last day."""
    return {cik: last(derive(filer(cik)).statements) for cik in data_set()}


def last(statements, moment=1 << 60):
    found = {}
    for key, versions in statements.items():
        known = [one.body for one in versions if one.known <= moment]
        if known and known[-1] is not None:
            found[key.kind, key.frequency.value, key.period >> 14] = known[-1]
    return found


def test_what_is_served_adds_up_and_what_is_absent_says_why():
    every, anchored, own, without = Counter(), Counter(), 0, []
    for cik, bodies in told().items():
        reports = {one.end for one in CompanyHistory(filer(cik)).calendar.own_reports}
        for (type_, frequency, end), body in bodies.items():
            every[body.quality.status] += 1
            anchored[type_, ANCHORS[type_] in body.items] += 1
            assert body.quality.status != "ok" or not broken(body.items), (cik, body)
            if type_ == "income" and frequency == "Q" and end in reports:
                own += 1
                if "revenue" not in body.items:
                    without.append((cik, next(c.detail for c in body.quality.checks if c.name == "absent_with_reason")))
    assert own > 400
    assert len(without) <= 0.01 * own, without
    assert all("no revenue: " in why for _, why in without)
    assert anchored.keys() == {(type_, True) for type_ in ANCHORS}
    assert every["ok"] >= 0.85 * every.total()


def broken(items):
    """What of the lines of a statement does not add up, by more than their rounding to millions."""
    get = items.get
    sums = {
        "gross_profit": (get("revenue"), -get("cost_of_revenue", 1e99)),
        "operating_income": (get("gross_profit"), -get("operating_expenses", 1e99)),
        "total_debt": (get("short_term_debt"), get("long_term_debt")),
    }
    if {"total_liabilities", "shareholders_equity"} <= items.keys():
        parts = ("total_liabilities", "shareholders_equity", "minority_interest", "temporary_equity")
        sums["total_assets"] = tuple(get(part, 0) for part in parts)
    return [
        key
        for key, parts in sums.items()
        if key in items
        and all(part is not None and abs(part) < 1e90 for part in parts)
        and abs(sum(parts) - items[key]) > 2.5e6
    ]


#: CIK → revenue, net income and total assets in millions, read by hand off the statements of the reports (`num.txt` with
#: the labels of `pre.txt`): banks and lenders, insurers, brokers and managers, REITs, utilities, oil and gas, mines,
#: hospitals. None: not read.
BY_HAND = {
    19617: (25_623, 2_721, 2_026_642),  # "Total net revenue"
    36104: (4_109, 471, 265_560),  # net interest income 2,054 and noninterest income 2,055
    886982: (13_761, 3_435, None),  # "Net revenues, including net interest income", in a tag of its own
    1364742: (1_029, 218, None),  # advisory fees and more, "Total revenue"
    1099219: (8_266, -1_402, 509_457),
    20171: (3_266, 551, 49_703),
    1063761: (903.612, None, 25_010.318),
    1393311: (407.252, None, 9_703.836),
    821189: (861.039, -16.706, None),
    34088: (74_457, 3_950, None),  # "Total revenues and other income", in a tag of its own
    49938: (5_303, 209, None),  # likewise
    1035002: (17_925, -254, None),
    314808: (511.6, None, None),
    721083: (1_944.289, None, None),
    1164727: (1_602, 162, None),  # gold 1,373 and copper 229
    831259: (3_684, None, None),  # in a tag of its own
    1001838: (824.509, None, None),
    783325: (842.5, None, None),
    65984: (2_520.789, None, None),  # electric, gas and competitive businesses
    874761: (3_495, None, None),  # regulated 1,782 and not 1,713
    1109357: (4_141, 657, None),
    936340: (1_688, 83, None),
    1099534: (161, None, None),
    1134016: (340, None, None),
    930835: (557, None, None),
    1094093: (2_312, 174, None),
    92103: (2_273, None, None),
    927066: (1_519.041, None, None),
}


@pytest.mark.parametrize("cik", BY_HAND)
def test_values_read_by_hand(cik):
    end = day("2009-06-30")
    bodies = told()[cik]
    income, sheet = bodies["income", "Q", end].items, bodies["balance", "Q", end].items
    for value, expected in zip(
        (income["revenue"], income["net_income"], sheet["total_assets"]), BY_HAND[cik], strict=True
    ):
        assert expected is None or value == pytest.approx(expected * 1e6, abs=1)


MOMENTS = 12


def seen_then(facts, filings, moment):
    """What a store had that was loaded only with what was filed by a moment."""
    known = {accession: filing for accession, filing in filings.items() if filing.known_at <= moment}
    return [fact for fact in facts if fact.accession in known], known


def compared(facts, filings, **traits):
    """Statements as of some moments from everything, each against those from what was filed by then."""
    whole = derive(assemble(facts, filings, **traits)).statements
    times = sorted({filing.known_at for filing in filings.values()})
    for moment in times[:: max(1, len(times) // MOMENTS)]:
        then = derive(assemble(*seen_then(facts, filings, moment), **traits)).statements
        assert last(whole, moment) == last(then), (traits, moment)
        yield moment


def test_nothing_chosen_for_a_past_day_depends_on_what_was_filed_later():
    moments = sum(len(list(compared(facts, filings, **traits))) for traits, facts, filings in data_set().values())
    assert moments > len(data_set())


@pytest.mark.parametrize("cik", whole_companies())
def test_nothing_chosen_for_a_past_day_depends_on_what_was_filed_later_over_many_years(cik):
    wanted, every = wanted_tags(), facts_of(cik)
    currency = "TWD" if cik == 1046179 else "USD"
    facts = [fact for fact in every if fact.tag in wanted]
    traits = {"template": TEMPLATES.get(cik, "industrial"), "currency": currency, "entity": f"company_{cik:010d}"}
    assert len(list(compared(facts, filings_of(cik), **traits))) > 5
