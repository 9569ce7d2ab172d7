"""When a filing counts as known. Every expectation is worked out by hand from New York's clock."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.domain.aliases import of_place
from almanac.domain.companies import FiscalPeriod, base_form, company_id, fiscal_note, is_periodic, raw_slug
from almanac.domain.filings import NEW_YORK, known_at, minute_rounded, page_of
from almanac.domain.names import folded, normal, slugify, without_mark
from almanac.domain.reference import Entity


def day(text):
    return date.fromisoformat(text).toordinal()


def utc(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def stamp(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("filed", "accepted", "known"),
    [
        # Winter, New York is 5 hours behind. Read as UTC: 16:30:05 New York; read as New York: 21:30:05, the later.
        ("2024-02-01", "2024-02-01T21:30:05", "2024-02-02T02:30:05"),
        # Summer, 4 hours behind. This stamp is New York's clock in truth, and its reading is the one that counts.
        ("2009-08-03", "2009-08-03T17:08:44", "2009-08-03T21:08:44"),
        # Accepted 17:35 New York on Tuesday (read as UTC), filed as of Wednesday: read on Wednesday at six, in summer …
        ("2024-05-01", "2024-04-30T21:35:00", "2024-05-01T10:00:00"),
        # … and in winter.
        ("2024-01-31", "2024-01-30T22:35:00", "2024-01-31T11:00:00"),
        # Accepted on the Friday before the clocks went forward, filed as of Monday: six o'clock is summer time already.
        ("2024-03-11", "2024-03-08T23:10:00", "2024-03-11T10:00:00"),
        # Stamp of the next day in UTC, 21:30 the day before in New York; as New York's clock 01:30 of the filing day,
        # which does not come after it. 06:00 is later than 01:30.
        ("2024-05-01", "2024-05-01T01:30:00", "2024-05-01T10:00:00"),
        # A letter made public weeks after the day it carries.
        ("2014-01-16", "2014-02-11T14:50:50", "2014-02-11T19:50:50"),
        # Midnight of New York: a day, no time. Known at the end of it.
        ("1996-04-26", "1996-04-26T04:00:00", "1996-04-27T03:59:59"),
        # Midnight by the other reading.
        ("2001-01-29", "2001-01-29T00:00:00", "2001-01-30T04:59:59"),
        # A day of acceptance after the filing day, and no time.
        ("2000-03-01", "2000-03-03T05:00:00", "2000-03-04T04:59:59"),
    ],
)
def test_the_later_reading_counts(filed, accepted, known):
    assert known_at(day(filed), stamp(accepted)) == utc(known)


@pytest.mark.parametrize(
    ("filed", "known"),
    [
        ("2024-07-01", "2024-07-02T03:59:59"),
        ("2024-01-02", "2024-01-03T04:59:59"),
        ("2024-03-10", "2024-03-11T03:59:59"),  # the day the clocks go forward
        ("2024-11-03", "2024-11-04T04:59:59"),  # and back
    ],
)
def test_a_filing_day_alone_is_known_at_its_end_in_new_york(filed, known):
    assert known_at(day(filed)) == utc(known)


def test_a_stamp_of_new_york_is_read_once():
    accepted = datetime(2009, 8, 7, 9, 10, 30, tzinfo=NEW_YORK)
    assert known_at(day("2009-08-07"), accepted) == utc("2009-08-07T13:10:30")


def test_an_hour_that_comes_twice_counts_as_the_second():
    assert known_at(day("2024-11-03"), datetime(2024, 11, 3, 1, 30, tzinfo=NEW_YORK)) == utc("2024-11-03T06:30:00")


def test_an_hour_that_never_was_counts_as_late_as_it_can_mean():
    assert known_at(day("2024-03-10"), datetime(2024, 3, 10, 2, 30, tzinfo=NEW_YORK)) == utc("2024-03-10T07:30:00")


def test_a_stamp_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="without a zone"):
        known_at(day("2024-03-10"), datetime(2024, 3, 10, 12))


def test_a_rounded_minute_may_be_half_a_minute_late():
    stated = datetime(2009, 7, 22, 16, 42, tzinfo=NEW_YORK)
    assert minute_rounded(stated) - stated == timedelta(seconds=30)


@given(
    accepted=st.datetimes(datetime(1993, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
    later=st.integers(0, 5),
)
def test_never_before_any_reading_of_the_stamp_nor_before_the_filing_day(accepted, later):
    filed = accepted.toordinal() + later
    known = known_at(filed, accepted)
    assert known >= accepted.timestamp()
    assert known >= accepted.replace(tzinfo=timezone(timedelta(hours=-4))).timestamp()
    shown = datetime.fromtimestamp(known, UTC).astimezone(NEW_YORK)
    assert shown.toordinal() >= filed
    assert known <= known_at(max(filed, accepted.toordinal() + 1))


def test_the_page_of_a_filing_is_its_main_document_else_what_lists_all_of_it():
    folder = "https://www.sec.gov/Archives/edgar/data/5001/000000500126000003"
    assert page_of(5001, "0000005001-26-000003", "main.htm") == f"{folder}/main.htm"
    for nothing in (None, ""):
        assert page_of(5001, "0000005001-26-000003", nothing) == f"{folder}/0000005001-26-000003-index.htm"


# -- names of companies and of what they tag --------------------------------------------------------------------------


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


# -- what a look-up compares of names, and slugs ----------------------------------------------------------------------


#: Spellings of one name, and its normal form.
SAME = {
    "apple": [
        "Apple Inc.",
        "APPLE INC",
        "apple",
        "Apple, Inc",
        "Apple Incorporated",
        " The Apple Company ",
        "Äpple Inc.",
    ],
    "mattel": ["MATTEL INC /DE/", "Mattel, Inc.", "MATTEL INC/DE", "Mattel Inc /NEW/", "MATTEL INC \\DE\\"],
    "merck": ["Merck & Co., Inc.", "MERCK & CO INC", "Merck and Company", "Merck KGaA"],
    "johnson and johnson": ["JOHNSON & JOHNSON", "Johnson and Johnson", "Johnson&Johnson"],
    "at and t": ["AT&T INC.", "AT & T", "at and t"],
    "mcdonalds": ["McDonald's Corp", "MCDONALDS CORP", "Mcdonald’s"],
    "nestle": ["Nestlé S.A.", "NESTLE SA", "Nestle S A"],
    "us steel": ["U.S. Steel Corp", "US Steel", "U S Steel Corporation"],
    "hj heinz holding": ["H.J. Heinz Holding Corp", "H J HEINZ HOLDING CORP"],
    "coca cola femsa": ["COCA COLA FEMSA SAB DE CV", "Coca-Cola FEMSA, S.A.B. de C.V."],
    "amazon": ["AMAZON COM INC", "Amazon.com, Inc.", "Amazon"],
    "genmab": ["GENMAB A/S", "Genmab AS"],
    "wells fargo": ["WELLS FARGO & COMPANY/MN", "Wells Fargo & Co."],
    "gap": ["GAP INC", "The Gap, Inc."],
    "kongsberg gruppen": ["Kongsberg Gruppen ASA/ADR", "Kongsberg Gruppen ASA / ADR"],
    "cote divoire": ["Côte d'Ivoire", "COTE D’IVOIRE"],
    "orsted": ["Ørsted A/S", "Orsted"],
}
#: What tells entities apart stays, and a name is never eaten whole.
DISTINCT = [
    ("Hertz Global Holdings", "Hertz Corp"), ("Goldman Sachs Group", "Goldman Sachs"), ("3M", "M"), ("Fox Corp Class A", "Fox Corp"),
    ("Guinea", "Guinea-Bissau"), ("Cullen/Frost Bankers", "Cullen"), ("Phillips 66", "Phillips"), ("Co", "Company"), ("The", "A"),
    ("Blue Owl Capital II", "Blue Owl Capital III"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "spellings"), SAME.items())
def test_spellings_of_one_name(form, spellings):
    assert {spelling: normal(spelling) for spelling in spellings} == dict.fromkeys(spellings, form)


@pytest.mark.parametrize(("one", "other"), DISTINCT)
def test_what_tells_apart_stays(one, other):
    assert normal(one) != normal(other)
    assert normal(one)
    assert normal(other)


def test_codes():
    assert {normal(text, "ticker") for text in ("BRK.B", "BRK-B", "brk/b", " BRK B ", "BRK_B")} == {"brk-b"}
    assert normal("BAC-PA", "ticker") == "bac-pa"
    assert {normal(text, "cik") for text in ("320193", "0000320193", "CIK0000320193", "cik 320193", "CIK#320193")} == {
        "320193"
    }
    assert [normal(text, "cik") for text in ("Apple", "12345678901", "32 0193", "")] == [""] * 4
    assert normal("US", "iso2") == normal("us", "iso2") == "us"
    assert normal("HWUPKR0MPOU8FGXBT394", "lei") == "hwupkr0mpou8fgxbt394"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Apple Inc.", "apple-inc"), ("MATTEL INC /DE/", "mattel-inc"), ("AT&T INC.", "at-and-t-inc"), ("McDonald's Corp", "mcdonalds-corp"),
        ("Nestlé S.A.", "nestle-sa"), ("株式会社", ""), ("3M CO", "3m-co"), ("  ", ""), ("L'Oréal (ADR)", "loreal-adr"), ("日本 Corp", "corp"),
    ],
)  # fmt: skip
def test_slugs(text, slug):
    assert slugify(text) == slug


def test_a_mark_is_no_part_of_a_name():
    assert without_mark("PORTLAND GENERAL ELECTRIC CO /OR/") == "PORTLAND GENERAL ELECTRIC CO"
    assert without_mark("AB/DE/") == "AB"
    # A stroke within a name is none, nor is a word behind one that is no mark.
    assert without_mark("CULLEN/FROST BANKERS, INC.") == "CULLEN/FROST BANKERS, INC."
    assert without_mark("Alpha/Beta") == "Alpha/Beta"
    assert without_mark("/DE/") == "/DE/"


@given(st.text(max_size=40))
@example("𝓐")
def test_any_text(text):
    """Normal forms and slugs are stable, and have nothing but words in them."""
    assert folded(folded(text)) == folded(text)
    form = normal(text)
    assert form == " ".join(form.split())
    slug = slugify(text)
    assert slug == slug.lower()
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert "--" not in slug


def test_names_of_a_place():
    """A country's aliases come from its reference record: what has no small letter is a code."""
    entity = Entity(
        id="country_xyz", slug="xyzland", name="Xyzland", kind="country", iso2="XY", iso3="XYZ", iso_numeric="999",
        aliases=("Republic of Xyzland", "XL"), rates_scope="XYZ",
    )  # fmt: skip
    told = {(one.scheme, one.alias): (one.primary, one.norm) for one in of_place(entity)}
    assert told == {
        ("name", "Xyzland"): (True, "xyzland"), ("slug", "xyzland"): (True, "xyzland"), ("iso2", "XY"): (True, "xy"),
        ("iso3", "XYZ"): (True, "xyz"), ("other", "999"): (False, "999"),
        ("name", "Republic of Xyzland"): (False, "republic of xyzland"), ("other", "XL"): (False, "xl"),
    }  # fmt: skip
    assert {(one.entity, one.valid_from, one.valid_to, one.source) for one in of_place(entity)} == {
        ("country_xyz", None, None, None)
    }
