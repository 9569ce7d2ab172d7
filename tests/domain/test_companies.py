"""Names of companies and of what they tag."""

import pytest

from almanac.domain.companies import base_form, company_id, is_periodic, raw_slug


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
