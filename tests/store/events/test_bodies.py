"""Bodies of events come out as they went in."""

from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.filings import page_of
from almanac.store.events.bodies import body_of, fields_of

COMPANY = "company_0009900001"
#: An invented one.
FILED = {
    "precision": "minute",
    "time_zone": "America/New_York",
    "title": "Invented Ploughs Inc files an annual report (10-K)",
    "form": "10-K",
    "accession": "0009900001-24-000007",
    "url": "https://www.sec.gov/Archives/edgar/data/9900001/000990000124000007/plow-20231231.htm",
    "data": (),
}
texts = st.text(max_size=20)
urls = st.none() | st.text(min_size=1) | texts.map(lambda document: page_of(9_900_001, "a-1", document or None))


@given(
    st.sampled_from([COMPANY, "company_0000000007", "country_usa", "company_abc", None]),
    texts,
    urls,
    st.floats(allow_nan=False, allow_infinity=False) | st.none(),
)
def test_a_body_is_read_as_it_was(entity, title, url, actual):
    fields = {"title": title, "actual": actual, "data": ("fred",), "accession": "a-1", "url": url}
    told = {name: value for name, value in fields.items() if value is not None}
    assert fields_of(entity, body_of(entity, told)) == told


def test_of_a_filing_s_address_only_the_document_is_kept():
    assert b'"document":"plow-20231231.htm"' in body_of(COMPANY, FILED)
    assert b"sec.gov" not in body_of(COMPANY, FILED)
    # An address elsewhere stays whole, and one of another company too.
    assert b"sec.gov" in body_of("company_0009900002", FILED)
