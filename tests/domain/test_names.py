"""What a look-up compares of names, and slugs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.domain.aliases import of_place
from almanac.domain.names import folded, normal, slugify, without_mark
from almanac.domain.reference import Entity

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
