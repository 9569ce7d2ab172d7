"""What a period key says, in SQL. Each is a template: `{0}` is the column; the same in Python is in domain.periods."""

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS
from almanac.domain.times import DAY_SECONDS, EPOCH_ORDINAL

#: The last day, an ordinal; an index is made of just this (store/engine/schema/data.sql).
END_ORDINAL_SQL = f"({{0}} >> {SPAN_BITS})"
#: The first day, an ordinal; NULL for an instant.
START_ORDINAL_SQL = (
    f"CASE WHEN ({{0}} & {INSTANT}) = {INSTANT} THEN NULL"
    f" ELSE ({{0}} >> {SPAN_BITS}) - ({LONGEST} - ({{0}} & {INSTANT})) END"
)
#: Whether a period starts on a day `{1}` (an ordinal) or later; never for an instant. Cheaper than a test of the first day.
STARTS_FROM_SQL = (
    f"(({{0}} & {INSTANT}) < {INSTANT} AND ({{0}} >> {SPAN_BITS}) + ({{0}} & {INSTANT}) >= {{1}} + {LONGEST})"
)

#: Days after the end of a period at which classes of rows begin by when they came to be known; before the first, forecasts.
LEAST_LAGS = (0, 32, 128, 512, 2_048)
#: How many classes there are; of each two parts, for the rows that were not known when they were released, and those that were.
LAGS = len(LEAST_LAGS) + 1
PARTS_KNOWN = range(2 * LAGS)
_LAG_DAYS = f"{{0}}known_at / {DAY_SECONDS} + {EPOCH_ORDINAL} - ({{0}}period >> {SPAN_BITS})"
#: The part that a row is of, whose columns `{0}` stands before, as an index has it.
PART_KNOWN_SQL = (
    f"CASE WHEN {{0}}released_at = {{0}}known_at THEN {LAGS} ELSE 0 END"
    f" + CASE {' '.join(f'WHEN {_LAG_DAYS} < {days} THEN {number}' for number, days in enumerate(LEAST_LAGS))}"
    f" ELSE {len(LEAST_LAGS)} END"
)
