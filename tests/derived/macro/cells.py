"""Invented input series, and the check that both ways of deriving agree."""

import math

from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.input_series import NO_RELEASE, Arrays
from almanac.derived.macro.operators import operator
from almanac.domain.observations import Vintage, settle
from almanac.domain.periods import Frequency, Period, key_at, ordinal

M = Frequency.MONTHLY
#: An instant well after every period used here.
NOW = 1_770_000_000


def number(text, frequency):
    return ordinal(Period.parse(text).key, frequency)


def vintage(known, value, *, flags=0, released=None, ingested=None, note=None):
    return Vintage(NOW + known, value, None, flags, released, NOW + (known if ingested is None else ingested), 1, note)


def series(frequency, cells, changed=None):
    """Cells as {period: [vintages]}, settled as the store would have them."""
    found = {}
    for text, history in cells.items():
        place = number(text, frequency)
        kept = settle(history, key_at(place, frequency), 90)
        if kept:
            found[place] = kept
    return InputSeries(frequency, found, None if changed is None else frozenset(number(c, frequency) for c in changed))


def made(result, text):
    return [(d.vintage.known - NOW, d.vintage.value) for d in result[Period.parse(text).key]]


def columns(one):
    """The same series as the store gives it to whole-series formulas."""
    notes = {}
    rows = [
        (
            key_at(place, one.frequency), v.known, math.inf if v.value is None else v.value,
            NO_RELEASE if v.released is None else v.released, v.ingested, v.flags,
            0 if v.note is None else notes.setdefault(v.note, len(notes) + 1),
        )
        for place in sorted(one.cells)
        for v in one.cells[place]
    ]  # fmt: skip
    return InputSeries(
        one.frequency,
        lambda: one.cells,
        one.changed,
        Arrays.of_rows(rows, one.frequency, {n: text for text, n in notes.items()}.get),
    )


YOY = operator("growth", {"lag": "1y"}, M)


def both(op, frequency, inputs, allowance=90):
    """The answer, after checking that from vintages and from columns the same comes out in every bit."""
    fast = derive(op, frequency, [[columns(one) for one in several] for several in inputs], allowance)
    slow = derive(op, frequency, inputs, allowance)
    assert {key: found for key, found in fast.items() if found} == {key: found for key, found in slow.items() if found}
    return fast
