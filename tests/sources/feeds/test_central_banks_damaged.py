"""Whatever is cut off or altered in a payload of a central bank, it is read or refused: no other error comes out."""

import pytest

from almanac.sources.base import SourceChanged
from tests.sources.feeds import test_boc, test_boe_glc, test_boe_iadb, test_rba, test_snb
from tests.support.damage import altered

SAMPLES = {
    "rba": (test_rba.parse, test_rba.TEXT.encode("utf-8-sig")),
    "boc": (test_boc.parse, test_boc.TEXT.encode()),
    "snb": (test_snb.parse, test_snb.TEXT.encode("utf-8-sig")),
    "boe csv": (test_boe_iadb.parse, test_boe_iadb.TEXT.encode()),
    "boe xml": (lambda body: test_boe_iadb.parse(body, test_boe_iadb.XML), test_boe_iadb.TWO_CUBES.encode()),
    "boe glc": (test_boe_glc.parse, test_boe_glc.zipped({test_boe_glc.NAME: test_boe_glc.book()})),
}


def outcome(parse, body):
    """Number of values read, or None where the payload is refused."""
    try:
        return sum(len(block.statements) for block in parse(body).blocks)
    except SourceChanged:
        return None


@pytest.mark.parametrize("name", SAMPLES)
def test_a_payload_cut_anywhere_is_read_in_part_or_refused(name):
    parse, whole = SAMPLES[name]
    complete = outcome(parse, whole)
    cut = [outcome(parse, whole[:length]) for length in range(0, len(whole), 7)]
    assert complete
    assert max(found or 0 for found in cut) <= complete
    assert cut.count(None) > len(cut) // 3


@pytest.mark.parametrize("name", SAMPLES)
def test_a_payload_with_bytes_altered_is_read_or_refused(name):
    parse, whole = SAMPLES[name]
    assert [outcome(parse, body) for body in altered(whole, 300)].count(None) > 30
