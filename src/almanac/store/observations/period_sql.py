"""What a period key says, in SQL. Each is a template: `{0}` is the column; the same in Python is in domain.periods."""

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS

#: The last day, an ordinal.
END_ORDINAL_SQL = f"({{0}} >> {SPAN_BITS})"
#: The first day, an ordinal; NULL for an instant.
START_ORDINAL_SQL = (
    f"CASE WHEN ({{0}} & {INSTANT}) = {INSTANT} THEN NULL"
    f" ELSE ({{0}} >> {SPAN_BITS}) - ({LONGEST} - ({{0}} & {INSTANT})) END"
)
#: Whether a period starts on a day `{1}` (an ordinal) or later, an instant on its only day. Cheaper than a test of the first day:
#: the low bits of an instant are one more than those of a period of one day, hence the test of the last day.
STARTS_FROM_SQL = (
    f"(({{0}} >> {SPAN_BITS}) >= {{1}} AND ({{0}} >> {SPAN_BITS}) + ({{0}} & {INSTANT}) >= {{1}} + {LONGEST})"
)
