"""Numbers of an answer as they are written, for tests of how many digits they have."""

import json
from decimal import Decimal


def long_numbers(body):
    """Numbers with a fraction or an exponent that have more than twelve significant digits."""
    found = []

    def seen(text):
        if len(Decimal(text).normalize().as_tuple().digits) > 12:
            found.append(text)
        return float(text)

    json.loads(body, parse_float=seen)
    return found


def less(number, other):
    """A difference as the documents say it: exact in decimals, of computed numbers to twelve digits (few have more)."""
    return float(f"{Decimal(repr(number)) - Decimal(repr(other)):.12g}")
