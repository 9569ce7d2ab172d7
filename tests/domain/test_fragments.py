"""Rows as they are kept written for the wire: what is left out of them, and how those of an earlier version lose it."""

from almanac.domain.fragments import SeriesParts, filled, masked, own_id, rendered, value_of
from almanac.domain.observations import DAY
from almanac.domain.periods import Period
from almanac.domain.times import wire_time
from tests.support.small_world import START

JANUARY, FEBRUARY, MARCH = (Period.parse(f"2025-{month:02}").key for month in (1, 2, 3))
PARTS = SeriesParts.of(b"series", b',"names":1', b',"unit":2', b',"metadata":{"tail":3', b"}}")
AT = b'"%s"' % wire_time(START).encode()
TIMES = b'"observedAt":' + AT + b',"releasedAt":%s,"ingestedAt":' + AT + b',"revisionStatus":"unknown"'


def written(value, text, flags=0, released=START, note=None):
    return rendered("own", JANUARY, START, value, text, flags, released, START, note)


def test_a_row_is_whole_when_the_parts_of_its_series_are_put_in():
    released = TIMES % AT
    periods = b'"periodStart":"2025-01-01T00:00:00Z","periodEnd":"2025-01-31T00:00:00Z",'
    number = filled(written(1.5, None, DAY, note='{"weeks":4}'), 1, PARTS)
    text = filled(written(None, "tight\n", released=None), 1, PARTS)
    identifier = b'{"id":"obs_seriesown"'
    assert number == identifier + (
        b',"names":1,"valueNumeric":1.5,"valueText":null,"unit":2,' + periods + released +
        b',"metadata":{"tail":3,"releasePrecision":"day","weeks":4}}'
    )  # fmt: skip
    assert text[len(identifier) :] == (
        b',"names":1,"valueNumeric":null,"valueText":"tight\\n","unit":2,' + periods + TIMES % b"null" +
        b',"metadata":{"tail":3}}'
    )  # fmt: skip


def test_a_masked_row_has_its_id_and_neither_number_nor_text():
    of_number, of_text = (filled(masked(written(*value)), 1, PARTS) for value in ((1.5, None), (None, "tight")))
    assert of_number == of_text
    assert of_number.startswith(b'{"id":"obs_seriesown","names":1,"valueNumeric":null,"valueText":null,')


def test_ids_are_read_back():
    assert own_id(written(1.5, None)) == "own"


def test_values_are_read_back():
    assert [value_of(written(*value)) for value in ((-1e21, None), (None, 'a "b"'), (None, None))] == [
        (-1e21, None),
        (None, 'a "b"'),
        (None, None),
    ]
