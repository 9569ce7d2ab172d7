"""Numbers, periods, moments and bounds in words."""

import pytest

from almanac_mcp.text import rows, words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (3.0, "3"), (35655000.0, "35655000"), (-0.028, "-0.028"), (1e-05, "1e-05"), (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1e+300"), (7, "7"), ("two\nlines", "two lines"),
    ],
)  # fmt: skip
def test_a_number_is_the_shortest_text_that_reads_back(value, text):
    assert words.number(value) == text
    if isinstance(value, float):
        assert float(text) == value


def row(start, end):
    return {"periodStart": start and f"{start}T00:00:00Z", "periodEnd": f"{end}T00:00:00Z"}


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ("2024-01-01", "2024-12-31", "2024"),
        ("2024-04-01", "2024-06-30", "2024-Q2"),
        ("2024-02-01", "2024-04-30", "2024-02-01/2024-04-30"),
        ("2024-02-01", "2024-02-29", "2024-02"),
        ("2024-06-30", "2024-06-30", "2024-06-30"),
        ("2024-01-01", "2024-01-07", "2024-01-01/2024-01-07"),
        ("2023-10-01", "2024-09-30", "2023-10-01/2024-09-30"),
        (None, "2024-09-30", "2024-09-30"),
    ],
)
def test_a_period_is_as_short_as_it_can_be(start, end, text):
    assert words.period(row(start, end)) == text


@pytest.mark.parametrize(
    ("start", "end", "year", "part", "text"),
    [
        ("2024-07-01", "2024-09-30", 2024, "Q4", "2024-Q3 (fiscal Q4 2024)"),
        ("2024-07-01", "2024-09-30", None, None, "2024-Q3"),
        ("2024-01-01", "2024-12-31", 2024, "FY", "2024"),
        ("2023-12-31", "2024-12-28", 2024, "FY", "2023-12-31/2024-12-28 (fiscal 2024)"),
        (None, "2024-09-30", 2024, "Q4", "2024-09-30 (fiscal Q4 2024)"),
        (None, "2024-12-31", 2024, "FY", "2024-12-31"),
    ],
)
def test_a_companys_period_has_both_its_names_where_they_differ(start, end, year, part, text):
    given = row(start, end)
    assert words.named(given, year, part) == text
    assert words.calendar_name(text) == words.period(given)
    told = rows.period({**given, "metadata": {"fiscalYear": year, "fiscalPeriod": part}})
    assert told == text
    assert rows.period({**given, "metadata": {}}) == words.period(given)


@pytest.mark.parametrize(
    ("text", "spelled", "fiscal"),
    [
        ("Q3 2024", "2024-Q3", None), ("2024q3", "2024-Q3", None), ("fy 2024", "FY2024", (2024, "FY")),
        ("fiscal 2024", "FY2024", (2024, "FY")), ("2024 FY", "FY2024", (2024, "FY")),
        ("FY2024 Q3", "FY2024-Q3", (2024, "Q3")), ("fiscal Q3 2024", "FY2024-Q3", (2024, "Q3")),
        ("Q3 FY2024", "FY2024-Q3", (2024, "Q3")), ("fy2024-h1", "FY2024-H1", (2024, "H1")),
        ("2024-Q3 (fiscal Q4 2024)", "2024-Q3", None), ("FY2024-Q5", "FY2024-Q5", None), (" any ", "any", None),
    ],
)  # fmt: skip
def test_a_period_is_understood_in_every_spelling(text, spelled, fiscal):
    assert words.spelled(text) == spelled
    assert words.fiscal(text) == fiscal


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024-q4", "2024-10-01", "2024-12-31"),
        (" 2024-02-03 ", "2024-02-03", "2024-02-03"),
        ("last month", "last month", "last month"),
        ("0000-Q1", "0000-01-01", "0000-03-28"),
    ],
)
def test_a_bound_takes_a_year_a_quarter_or_a_month(text, first, last):
    assert (words.first_day(text), words.last_day(text)) == (first, last)


def test_a_moment_is_a_day_where_that_asks_the_same():
    assert words.instant("2024-07-15T23:59:59Z") == "2024-07-15"
    assert words.instant("2024-12-26T17:29:09Z") == "2024-12-26T17:29:09Z"
    assert words.instant(None) == ""


def test_a_line_of_values_is_one_line_and_quoted_where_it_must_be():
    assert words.csv_line(["a,b", 'say "x"', "two\nlines", 3]) == '"a,b","say ""x""",two lines,3'


def test_counting():
    counted = [
        words.counted(many, noun) for many, noun in [(1, "row"), (2, "row"), (2, "series"), (0, "match"), (3, "entity")]
    ]
    assert counted == ["1 row", "2 rows", "2 series", "0 matches", "3 entities"]


def test_from_when_an_answer_is():
    assert words.known("2024-05-01", 7) == "as known on 2024-05-01"
    assert words.known(None, 41) == "latest, data version 41"
    assert words.known(None, None) == "latest"
