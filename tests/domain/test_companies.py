"""Names of companies and of what they tag."""

from datetime import date

import pytest

from almanac.domain.companies import FiscalPeriod, base_form, company_id, fiscal_note, is_periodic, raw_slug


@pytest.mark.parametrize(
    ("tag", "slug"),
    [
        ("us-gaap:NetIncomeLoss", "us_gaap_net_income_loss"),
        ("dei:EntityCommonStockSharesOutstanding", "dei_entity_common_stock_shares_outstanding"),
        ("ifrs-full:Revenue", "ifrs_full_revenue"),
        ("us-gaap:EBITDAMargin", "us_gaap_ebitda_margin"),
        ("us-gaap:SeveranceCosts1", "us_gaap_severance_costs1"),
        ("us-gaap:IncomeTaxReconciliationTaxCutsAndJobsActOf2017Percent", "us_gaap_income_tax_reconciliation_tax_cuts_and_jobs_act_of2017_percent"),
    ],
)  # fmt: skip
def test_slugs_of_tags(tag, slug):
    assert raw_slug(tag) == slug


@pytest.mark.parametrize(
    "tag", ["NetIncomeLoss", "us-gaap:", ":NetIncomeLoss", "us-gaap:Net Income", "us-gaap:Erträge"]
)
def test_what_is_no_tag_is_refused_by_name(tag):
    with pytest.raises(ValueError, match="is not a tag with its taxonomy") as caught:
        raw_slug(tag)
    assert repr(tag) in str(caught.value)


def test_an_id_has_ten_digits():
    assert company_id(320193) == "company_0000320193"


def test_periodic_forms():
    assert [form for form in ("10-K", "10-K/A", "10-QT", "6-K", "8-K", "424B5", "Other") if is_periodic(form)] == [
        "10-K",
        "10-K/A",
        "10-QT",
        "6-K",
    ]
    assert (base_form("20-F/A"), base_form("8-K")) == ("20-F", "8-K")


def test_fiscal_periods_by_name():
    assert FiscalPeriod.parse("FY2024") == FiscalPeriod(2024) == FiscalPeriod.called(2024, "FY")
    assert FiscalPeriod.parse("fy2024-h2") == FiscalPeriod(2024, "H2") == FiscalPeriod.called(2024, "H2")
    assert [str(FiscalPeriod.parse(text)) for text in ("fy2024", "FY2024-q1")] == ["FY2024", "FY2024-Q1"]
    assert FiscalPeriod(2024).span == (date(2023, 1, 1), date(2025, 12, 31))
    assert FiscalPeriod(2024).notes == ('"fiscalYear":2024',)
    assert FiscalPeriod(2024, "H1").notes == tuple(fiscal_note(2024, part) for part in ("H1", "Q1", "Q2"))


@pytest.mark.parametrize("text", ["2024", "FY", "FY24", "FY2024-S1", "FY2024-Q0", "FY0000", "FY9999", "FY２０２４"])
def test_what_is_no_fiscal_period(text):
    with pytest.raises(ValueError, match="FY2024-Q3"):
        FiscalPeriod.parse(text)
