"""Bodies of statements as they are served, and the versions of one."""

import msgspec
import pytest

from almanac.derived.companies.derivation import derive
from almanac.derived.companies.facts import CompanyInput
from almanac.derived.companies.financials import with_currency
from almanac.derived.companies.statements import StatementKey, series_ids
from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Frequency, key_of
from tests.support.filer import Filer, at, day, plain_year, quarter, ytd

ANNUAL, SEMIANNUAL, QUARTERLY = Frequency.ANNUAL, Frequency.SEMIANNUAL, Frequency.QUARTERLY


def key(kind, frequency, start, end):
    return StatementKey(kind, frequency, key_of(start and day(start), day(end)))


def wire(version):
    """The body of a version as it is stored."""
    return msgspec.json.decode(msgspec.json.encode(version.body))


def test_the_whole_body_of_a_derived_quarter():
    filer = Filer()
    names = plain_year(filer, 2020)
    (version,) = filer.swept().statements[key("cash_flow", QUARTERLY, "2020-10-01", "2020-12-31")]
    assert version.known == at("2021-02-20")
    tag = "sec:company_0000000001:us_gaap_net_cash_provided_by_used_in_operating_activities"
    assert wire(version) == {
        "frequency": "quarterly",
        "fiscalYear": 2020,
        "fiscalPeriod": "Q4",
        "calendarYear": 2020,
        "calendarQuarter": 4,
        "periodStart": "2020-10-01T00:00:00Z",
        "periodEnd": "2020-12-31T00:00:00Z",
        "filedAt": "2021-02-20T00:00:00Z",
        "observedAt": "2021-02-20T21:00:00Z",
        "form": "10-K",
        "accession": names[3],
        "sourceUrl": f"https://www.sec.gov/Archives/edgar/data/1/{names[3].replace('-', '')}/{names[3]}-index.htm",
        "currency": "USD",
        "revisionStatus": "initial",
        "basis": "derived",
        "items": {"net_cash_flow_from_operations": 4},
        "derivedItems": {
            "net_cash_flow_from_operations": {"method": "fy_minus_9m", "derivedFrom": [f"{tag}:A", f"{tag}:N"]}
        },
        "quality": {
            "status": "ok",
            "checks": [
                {"name": "cash_flows_add_up", "status": "not_applicable", "detail": None},
                {"name": "cash_reconciles", "status": "not_applicable", "detail": None},
                {"name": "one_basis", "status": "passed", "detail": None},
                {"name": "two_bases", "status": "passed", "detail": None},
                {"name": "quarters_sum_to_year", "status": "not_applicable", "detail": None},
                {"name": "signs_agree", "status": "passed", "detail": None},
                {"name": "consistent_filing", "status": "passed", "detail": None},
                {
                    "name": "absent_with_reason",
                    "status": "passed",
                    "detail": "; ".join(
                        f"no net_{line}: own_tag: no tag of a taxonomy gives it"
                        for line in ("cash_flow_from_investing", "cash_flow_from_financing", "change_in_cash")
                    ),
                },
            ],
        },
    }
    assert list(wire(version)) == [
        "frequency", "fiscalYear", "fiscalPeriod", "calendarYear", "calendarQuarter", "periodStart", "periodEnd",
        "filedAt", "observedAt", "form", "accession", "sourceUrl", "currency", "revisionStatus", "basis", "items",
        "derivedItems", "quality",
    ]  # fmt: skip


def test_each_own_period_has_its_statements():
    filer = Filer()
    plain_year(filer, 2020)
    found = {(k.kind, k.frequency.value, k.period) for k in filer.swept().statements}
    spans = [(quarter(2020, n)) for n in (1, 2, 3, 4)]
    expected = {
        *((kind, "Q", key_of(day(start), day(end))) for kind in ("income", "cash_flow") for start, end in spans),
        *((kind, "A", key_of(day("2020-01-01"), day("2020-12-31"))) for kind in ("income", "cash_flow")),
        *(("balance", "Q", key_of(None, day(end))) for _, end in spans),
        ("balance", "A", key_of(None, day("2020-12-31"))),
    }
    assert found == expected


def test_a_balance_sheet_has_no_start_and_the_name_of_its_period():
    filer = Filer()
    plain_year(filer, 2020)
    statements = filer.swept().statements
    quarterly = wire(statements[key("balance", QUARTERLY, None, "2020-12-31")][-1])
    annual = wire(statements[key("balance", ANNUAL, None, "2020-12-31")][-1])
    assert (quarterly["periodStart"], quarterly["fiscalPeriod"], quarterly["calendarQuarter"]) == (None, "Q4", 4)
    assert (annual["periodStart"], annual["fiscalPeriod"], annual["calendarQuarter"]) == (None, "FY", None)


def test_a_restatement_is_a_version_with_the_filing_that_made_it():
    filer = Filer()
    names = plain_year(filer, 2020)
    later = filer.file("10-K/A", "2021-04-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 95}}, fy=2020, fp="FY")
    versions = filer.swept().statements[key("income", ANNUAL, "2020-01-01", "2020-12-31")]
    assert [(v.known, wire(v)["accession"], wire(v)["form"], wire(v)["revisionStatus"], wire(v)["items"]["net_income"]) for v in versions] == [
        (at("2021-02-20"), names[3], "10-K", "initial", 100),
        (at("2021-04-20"), later, "10-K/A", "revised", 95),
    ]  # fmt: skip


def test_a_filing_that_changes_nothing_makes_no_version():
    filer = Filer()
    plain_year(filer, 2020)
    filer.file("10-K/A", "2021-04-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 100}}, fy=2020, fp="FY")
    statements = filer.swept().statements
    assert key("income", ANNUAL, "2020-01-01", "2020-12-31") in statements
    for versions in statements.values():
        assert all(version.known < at("2021-04-20") for version in versions)


def test_what_was_first_known_long_after_its_end_is_not_called_initial():
    filer = Filer()
    lines = {"NetIncomeLoss": {ytd(2020, 4): 30, ytd(2018, 4): 10}}
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    filer.say(next(iter(filer.filings)), {"NetIncomeLoss": {ytd(2019, 4): 20}})
    statements = filer.swept().statements
    assert wire(statements[key("income", ANNUAL, "2020-01-01", "2020-12-31")][0])["revisionStatus"] == "initial"
    assert wire(statements[key("income", ANNUAL, "2018-01-01", "2018-12-31")][0])["revisionStatus"] == "unknown"


@pytest.mark.parametrize(
    ("end", "basis"), [("2020-03-31", "reported"), ("2020-06-30", "mixed"), ("2020-12-31", "derived")]
)
def test_the_basis_says_whether_lines_are_as_filed(end, basis):
    filer = Filer()
    names = plain_year(filer, 2020)
    # Depreciation comes from the cash-flow statement, to date only; income is given by quarter.
    for number in (1, 2, 3, 4):
        filer.say(names[number - 1], {"DepreciationAndAmortization": {ytd(2020, number): 5 * number}})
    start = {"2020-03-31": "2020-01-01", "2020-06-30": "2020-04-01", "2020-12-31": "2020-10-01"}[end]
    assert wire(filer.swept().statements[key("income", QUARTERLY, start, end)][-1])["basis"] == basis


def test_a_difference_of_two_bases_makes_the_basis_mixed_and_warns():
    filer = Filer()
    plain_year(filer, 2020, cash=(1, 2, 3, 9))
    filer.file("10-K", "2022-02-20", "2021-12-31", {"NetCashProvidedByUsedInOperatingActivities": {ytd(2020, 4): 13}}, fy=2021, fp="FY")  # fmt: skip
    statements = filer.swept().statements
    last = wire(statements[key("cash_flow", QUARTERLY, "2020-10-01", "2020-12-31")][-1])
    assert (last["items"]["net_cash_flow_from_operations"], last["basis"], last["quality"]["status"]) == (9, "mixed", "warning")  # fmt: skip


def test_two_values_in_one_filing_are_flagged_on_the_statement():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[3], {"Assets": {"2020-12-31": 2_777}})
    body = wire(filer.swept().statements[key("balance", ANNUAL, None, "2020-12-31")][-1])
    assert body["items"]["total_assets"] == 1004
    assert body["quality"]["status"] == "warning"
    (check,) = [check for check in body["quality"]["checks"] if check["name"] == "consistent_filing"]
    assert check["detail"] == "inconsistent: the filing gives two values for total_assets; the first is served"


def test_a_later_filing_that_repeats_the_numbers_leaves_a_statement_as_it_was():
    filer = Filer()
    names = plain_year(filer, 2020)
    # A year later the third quarter is given once more: now all four are known, and a check says so. No number differs.
    lines = {"NetIncomeLoss": {quarter(2021, 3): 31, quarter(2020, 3): 30}, "NetCashProvidedByUsedInOperatingActivities": {quarter(2020, 3): 3}}  # fmt: skip
    filer.file("10-Q", "2021-11-01", "2021-09-30", lines, fy=2021, fp="Q3")
    versions = filer.swept().statements[key("cash_flow", QUARTERLY, "2020-07-01", "2020-09-30")]
    first, repeated = (wire(version) for version in versions)
    assert (first["basis"], repeated["basis"]) == ("derived", "reported")
    about = ("form", "accession", "filedAt", "observedAt", "sourceUrl", "revisionStatus")
    assert [repeated[name] for name in about] == [first[name] for name in about]
    assert (repeated["accession"], repeated["revisionStatus"]) == (names[2], "initial")
    assert versions[1].known == at("2021-11-01")


def test_a_line_more_is_no_revision_but_is_of_its_filing():
    filer = Filer()
    plain_year(filer, 2020)
    second = filer.file("10-K", "2022-02-20", "2021-12-31", {"NetIncomeLoss": {ytd(2021, 4): 110, ytd(2020, 4): 100}, "Revenues": {ytd(2020, 4): 900}}, fy=2021, fp="FY")  # fmt: skip
    third = filer.file("10-K", "2023-02-20", "2022-12-31", {"NetIncomeLoss": {ytd(2022, 4): 5, ytd(2020, 4): 101}}, fy=2022, fp="FY")  # fmt: skip
    versions = [wire(v) for v in filer.swept().statements[key("income", ANNUAL, "2020-01-01", "2020-12-31")]]
    assert [one["revisionStatus"] for one in versions] == ["initial", "initial", "revised"]
    assert [one["accession"] for one in versions[1:]] == [second, third]


def test_half_years_are_named_so():
    filer = Filer(currency="TWD")
    filer.file("20-F", "2021-04-20", "2020-12-31", {"ifrs-full:ProfitLoss": {ytd(2020, 4): 30}}, fy=2020, fp="FY")
    filer.file("6-K", "2021-10-18", "2021-06-30", {"ifrs-full:ProfitLoss": {ytd(2021, 2): 18}, "ifrs-full:Assets": {"2021-06-30": 9}})  # fmt: skip
    filer.file("20-F", "2022-04-14", "2021-12-31", {"ifrs-full:ProfitLoss": {ytd(2021, 4): 40}}, fy=2021, fp="FY")
    statements = filer.swept().statements
    first = wire(statements[key("income", SEMIANNUAL, "2021-01-01", "2021-06-30")][-1])
    second = wire(statements[key("income", SEMIANNUAL, "2021-07-01", "2021-12-31")][-1])
    assert (first["frequency"], second["frequency"]) == ("semiannual", "semiannual")
    assert not any(one.frequency is QUARTERLY for one in statements)
    assert (first["fiscalPeriod"], first["calendarQuarter"], first["currency"]) == ("H1", None, "TWD")
    assert (second["fiscalPeriod"], second["items"], second["basis"]) == ("H2", {"net_income": 22}, "derived")
    assert wire(statements[key("balance", SEMIANNUAL, None, "2021-06-30")][-1])["items"] == {"total_assets": 9}


def half_and_quarters(year=2021):
    """A foreign filer whose second report of the year shows the half only; the first and third show quarters too."""
    filer = Filer(currency="TWD")
    income, before = "ifrs-full:ProfitLoss", year - 1
    filer.file("20-F", f"{year}-04-20", f"{before}-12-31", {income: {ytd(before, 4): 30}}, fy=before, fp="FY")
    filer.file(
        "6-K",
        f"{year}-05-18",
        f"{year}-03-31",
        {income: {quarter(year, 1): 7}, "ifrs-full:Assets": {f"{year}-03-31": 8}},
    )
    filer.file(
        "6-K", f"{year}-08-18", f"{year}-06-30", {income: {ytd(year, 2): 18}, "ifrs-full:Assets": {f"{year}-06-30": 9}}
    )
    filer.file("6-K", f"{year}-11-18", f"{year}-09-30", {income: {quarter(year, 3): 9, ytd(year, 3): 27}})
    filer.file("20-F", f"{year + 1}-04-14", f"{year}-12-31", {income: {ytd(year, 4): 40}}, fy=year, fp="FY")
    return filer


def test_quarters_of_a_filer_whose_second_report_shows_the_half():
    statements = half_and_quarters().swept().statements
    income = {
        (one["frequency"], one["fiscalPeriod"]): one["items"]["net_income"]
        for name, versions in statements.items()
        if name.kind == "income" and (one := wire(versions[-1]))["fiscalYear"] == 2021
    }
    # 18 less 7, 40 less 27, 40 less 18.
    assert income == {
        ("annual", "FY"): 40,
        ("quarterly", "Q1"): 7,
        ("quarterly", "Q2"): 11,
        ("quarterly", "Q3"): 9,
        ("quarterly", "Q4"): 13,
        ("semiannual", "H1"): 18,
        ("semiannual", "H2"): 22,
    }
    second = wire(statements[key("income", QUARTERLY, "2021-04-01", "2021-06-30")][-1])
    assert second["derivedItems"]["net_income"]["method"] == "ytd_difference"
    for frequency in (QUARTERLY, SEMIANNUAL):
        assert wire(statements[key("balance", frequency, None, "2021-06-30")][-1])["items"] == {"total_assets": 9}


def test_no_two_statements_share_type_frequency_and_last_day():
    ends = [(name.kind, name.frequency, name.period >> 14) for name in half_and_quarters().swept().statements]
    assert len(ends) == len(set(ends))


def test_lines_are_in_the_order_of_the_catalogue():
    filer = Filer()
    lines = {
        "NetIncomeLoss": {ytd(2020, 4): 3},
        "Revenues": {ytd(2020, 4): 10},
        "OperatingIncomeLoss": {ytd(2020, 4): 5},
    }
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    body = wire(filer.swept().statements[key("income", ANNUAL, "2020-01-01", "2020-12-31")][-1])
    assert list(body["items"]) == ["revenue", "operating_income", "net_income"]


def test_items_that_only_formulas_need_are_on_no_statement():
    filer = Filer()
    lines = {"CostsAndExpenses": {ytd(2020, 4): 9}, "NetIncomeLoss": {ytd(2020, 4): 3}, "LiabilitiesAndStockholdersEquity": {"2020-12-31": 7}, "Assets": {"2020-12-31": 7}}  # fmt: skip
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    outcome = filer.swept()
    for versions in outcome.statements.values():
        assert set(wire(versions[-1])["items"]) <= {"net_income", "total_assets"}
    assert {item for item, _ in outcome.items} == {"net_income", "total_assets"}


def test_a_filer_without_an_archive_has_no_address():
    filer = Filer()
    plain_year(filer, 2020)

    outcome = derive(filer.company()._replace(archived=False))
    assert all(wire(versions[-1])["sourceUrl"] is None for versions in outcome.statements.values())


def test_series_ids_name_source_entity_tag_and_length_and_another_currency():
    """Facts in another currency than the main one are series of their own; numbers of shares have no currency."""
    company = CompanyInput(
        "company_0000320193", "sec", {}, {}, "industrial", "USD", {"EUR": {"us-gaap:NetIncomeLoss": {}}}
    )
    tags = ("us-gaap:NetIncomeLoss:N", "dei:EntityCommonStockSharesOutstanding:Q")
    shares = "sec:company_0000320193:dei_entity_common_stock_shares_outstanding:Q"
    income = "sec:company_0000320193:us_gaap_net_income_loss:N"
    assert series_ids("sec", company.entity, with_currency(company, tags, "USD")) == [income, shares]
    assert series_ids("sec", company.entity, with_currency(company, tags, "EUR")) == [f"{income}:EUR", shares]


def test_an_unknown_input_makes_the_statement_unknown():
    filer = Filer()
    plain_year(filer, 2020)
    company = filer.company()
    facts = {
        tag: {span: [v._replace(flags=UNKNOWN) for v in history] for span, history in periods.items()}
        for tag, periods in company.facts.items()
    }
    statements = derive(company._replace(facts=facts)).statements
    assert statements.keys() == derive(company).statements.keys() != set()
    for versions in statements.values():
        assert [wire(version)["revisionStatus"] for version in versions] == ["unknown"] * len(versions)
