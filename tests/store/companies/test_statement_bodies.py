"""Bodies of statements, packed: they come out as they went in, and what was packed once can be read for ever."""

import threading

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from almanac.store.companies.statement_bodies import pack, unpack

#: An invented one, packed by the first version that packed any.
BODY = b'{"frequency":"annual","fiscalYear":2023,"items":{"revenue":470,"net_income":44},"quality":{"status":"ok"}}'
PACKED_ONCE = "28b52ffd23942cca266ab5000030333734347d7d04ccfae4dffc1fa05773032c381203"


@given(st.binary(min_size=1).map(lambda body: b"{" + body))
def test_what_was_packed_comes_out_as_it_was(body):
    assert unpack(pack(body)) == body


def test_a_body_packed_by_an_earlier_version_is_read():
    assert unpack(bytes.fromhex(PACKED_ONCE)) == BODY


def test_the_names_that_all_statements_have_cost_nearly_nothing():
    assert len(pack(BODY)) < len(BODY) / 2 < len(zstandard.ZstdCompressor().compress(BODY))


def test_an_empty_one_stays_empty_and_a_plain_one_is_read_as_it_is():
    assert (pack(b""), unpack(b""), unpack(BODY)) == (b"", b"", BODY)


def test_a_damaged_one_is_refused():
    with pytest.raises(zstandard.ZstdError):
        unpack(pack(BODY)[:-3])


def test_threads_do_not_get_in_each_others_way():
    wrong = []

    def work(number):
        for count in range(300):
            body = BODY.replace(b"470", str(number * 1000 + count).encode()) * 20
            if unpack(pack(body)) != body:
                wrong.append((number, count))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
