"""Bodies of events, packed: they come out as they went in, and what was packed once can be read for ever."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.filings import page_of
from almanac.store.engine.packing import Packing
from almanac.store.events.bodies import fields_of, packed, spelled

COMPANY = "company_0009900001"
#: An invented one, packed by the first version that packed any.
FILED = {
    "precision": "minute",
    "time_zone": "America/New_York",
    "title": "Invented Ploughs Inc files an annual report (10-K)",
    "form": "10-K",
    "accession": "0009900001-24-000007",
    "url": "https://www.sec.gov/Archives/edgar/data/9900001/000990000124000007/plow-20231231.htm",
    "data": (),
}
PACKED_ONCE = (
    "0120c2dd01007402496e76656e74656420506c6f756768736e303137706c6f772d32303233313233312e68746d227d05fc28983728b7eec340"
    "bac51a80d2d54501"
)

texts = st.text(max_size=20)
urls = st.none() | st.text(min_size=1) | texts.map(lambda document: page_of(9_900_001, "a-1", document or None))


@given(
    st.sampled_from([COMPANY, "company_0000000007", "country_usa", "company_abc", None]),
    texts,
    urls,
    st.floats(allow_nan=False, allow_infinity=False) | st.none(),
)
def test_what_was_packed_comes_out_as_it_was(entity, title, url, actual):
    fields = {"title": title, "actual": actual, "data": ("fred",), "accession": "a-1", "url": url}
    told = {name: value for name, value in fields.items() if value is not None}
    assert fields_of(entity, packed(entity, told)) == told


def test_a_body_packed_by_an_earlier_version_is_read():
    assert fields_of(COMPANY, bytes.fromhex(PACKED_ONCE)) == FILED


def test_of_a_filing_s_address_only_the_document_is_kept():
    assert b'"document":"plow-20231231.htm"' in spelled(COMPANY, FILED)
    assert b"sec.gov" not in spelled(COMPANY, FILED)
    # An address elsewhere stays whole, and one of another company too.
    assert b"sec.gov" in spelled("company_0009900002", FILED)
    assert len(packed(COMPANY, FILED)) < len(spelled(COMPANY, FILED)) / 2


def test_a_text_says_by_which_dictionary_it_was_packed():
    first, second = (bytes(range(start, start + 64)) * 8 for start in (0, 128))
    old, both = Packing(first), Packing(first, second)
    assert both.unpack(old.pack(first[:300])) == first[:300]
    assert (old.pack(second[:300])[0], both.pack(second[:300])[0]) == (1, 2)
    assert both.unpack(both.pack(second[:300])) == second[:300]


@pytest.mark.parametrize("stored", [b"", b"\0", b"\2", b'{"title":"plain"}', bytes.fromhex(PACKED_ONCE)[:-3]])
def test_a_damaged_one_is_refused(stored):
    with pytest.raises(zstandard.ZstdError):
        fields_of(COMPANY, stored)
