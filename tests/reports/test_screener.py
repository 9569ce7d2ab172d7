"""The screeners' filter text and evaluator, against a table of texts and against plain Python."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.reports.filter_text import (
    Clause,
    Field,
    FilterError,
    folded,
    parse,
)
from almanac.reports.screener import Texts, matching, page, place

FIELDS = {name: Field(name, text=False) for name in ("gdp", "rate", "revenue_ttm")} | {
    name: Field(name, text=True) for name in ("sector", "industry")
}


def find(name):
    return FIELDS.get({"indicator_gdp": "gdp"}.get(name.lower(), name.lower()))


def read(text):
    return [(c.field.name, c.operator, c.values) for c in parse(text, find, sorted(FIELDS))]


# -- the filter text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gdp:gt:5", [("gdp", "gt", (5.0,))]),
        ("gdp:gte:-0.25,rate:lt:1e9", [("gdp", "gte", (-0.25,)), ("rate", "lt", (1e9,))]),
        (" gdp : eq : 1.5e-3 , rate:lte:0 ", [("gdp", "eq", (0.0015,)), ("rate", "lte", (0.0,))]),
        ("gdp:lt:1e+9", [("gdp", "lt", (1e9,))]),
        # An unescaped plus sign of a query string arrives as a space.
        ("gdp:lt:1e 9", [("gdp", "lt", (1e9,))]),
        ("gdp:in:1|2.5|-3", [("gdp", "in", (1.0, 2.5, -3.0))]),
        ("gdp:in:7", [("gdp", "in", (7.0,))]),
        ("gdp:gt:1,gdp:lt:3", [("gdp", "gt", (1.0,)), ("gdp", "lt", (3.0,))]),
        ("GDP:GT:5,Indicator_GDP:eq:1", [("gdp", "gt", (5.0,)), ("gdp", "eq", (1.0,))]),
        ("gdp:eq:-0", [("gdp", "eq", (0.0,))]),
        ("gdp:eq:1e-400", [("gdp", "eq", (0.0,))]),
        ("gdp:eq:007", [("gdp", "eq", (7.0,))]),
        ("sector:eq:Technology", [("sector", "eq", ("technology",))]),
        ("sector:in:Technology| Health Care ", [("sector", "in", ("technology", "health care"))]),
        (
            'industry:eq:"Fire, Marine & Casualty Insurance"',
            [("industry", "eq", ("fire, marine & casualty insurance",))],
        ),
        ('industry:in:"A|B"|C', [("industry", "in", ("a|b", "c"))]),
        ('industry:eq:"a:b"', [("industry", "eq", ("a:b",))]),
        ('industry:eq:"say ""so"", twice"', [("industry", "eq", ('say "so", twice',))]),
        ('industry:eq:" kept "', [("industry", "eq", (" kept ",))]),
        ('industry:eq:""', [("industry", "eq", ("",))]),
        ("industry:eq:Straße", [("industry", "eq", ("strasse",))]),
        ("industry:eq:5", [("industry", "eq", ("5",))]),
        (",".join(["gdp:gt:1"] * 30), [("gdp", "gt", (1.0,))] * 30),
    ],
)
def test_a_filter_is_read(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "clause", "code", "says"),
    [
        ("gdp:gt:1,", "", "syntax", "field:operator:value"),
        ("gdp", "gdp", "syntax", "field:operator:value"),
        ("gdp:gt:", "gdp:gt:", "syntax", "field:operator:value"),
        (":gt:1", ":gt:1", "syntax", "field:operator:value"),
        ("rate:gt:1,gpd:gt:1", "gpd:gt:1", "field", "'gpd'"),
        ("gdp:=:1", "gdp:=:1", "operator", "one of gt, lt, gte, lte, eq, in"),
        ("gdp:gt:1|2", "gdp:gt:1|2", "values", "only in takes several"),
        ("gdp:in:1|", "gdp:in:1|", "number", "not ''"),
        ('gdp:eq:"1"', 'gdp:eq:"1"', "number", "needs a number"),
        ('sector:eq:a"b"', 'sector:eq:a"b"', "quote", "inside a value"),
        ('"gdp":gt:1', '"gdp":gt:1', "field", "no field"),
        *[
            (f"gdp:gt:{bad}", f"gdp:gt:{bad}", "number", "needs a number")
            for bad in (
                "@rate", "rate", "+5", ".5", "5.", "1_000", "0x10", "inf", "-inf", "nan", "NaN", "1e", "e5", "1e400", "1E5", "5%", "--5",
                "- 5", "1 000", "٣", "1e٣", "5d", "true",
            )
        ],
    ],
)  # fmt: skip
def test_a_bad_filter_is_refused(text, clause, code, says):
    with pytest.raises(FilterError) as caught:
        read(text)
    assert (caught.value.clause, caught.value.code) == (clause, code)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ['sector:eq:"@industry"', "sector:eq:@nobody"])
def test_a_text_may_begin_with_an_at_sign(text):
    assert read(text) == [("sector", "eq", (text.partition("eq:")[2].strip('"'),))]


def test_thirty_clauses_at_most():
    with pytest.raises(FilterError) as caught:
        read(",".join(["gdp:gt:1"] * 30 + ["rate:gt:2"]))
    assert (caught.value.clause, caught.value.code) == ("rate:gt:2", "range")
    assert "at most 30" in str(caught.value)


def test_an_error_says_what_could_stand_there():
    with pytest.raises(FilterError) as caught:
        read("gpd:gt:1")
    assert (caught.value.word, caught.value.allowed) == ("gpd", sorted(FIELDS))
    with pytest.raises(FilterError) as caught:
        read("sector:gt:1")
    assert caught.value.allowed == ("eq", "in")


def refusal(text):
    """Why a filter is refused; None where it is read."""
    try:
        parse(text, find, sorted(FIELDS))
    except FilterError as error:
        return error
    return None


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*'gdp:eq,|"1e-. @', "sector", "in", "rate"]), max_size=20).map("".join)
)
def test_any_text_is_read_or_refused(text):
    trouble = refusal(text)
    assert trouble is None or trouble.clause in text


@given(st.text(max_size=20))
def test_every_text_can_be_written(value):
    written = '"' + value.replace('"', '""') + '"'
    assert read(f"industry:eq:{written},sector:in:x|{written}") == [
        ("industry", "eq", (folded(value),)),
        ("sector", "in", ("x", folded(value))),
    ]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_can_be_written(value):
    assert read(f"gdp:eq:{value!r}")[0][2] == (value,)


# -- the evaluator ----------------------------------------------------------------------------------------------------------

NUMBERS = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 1e300])
WORDS = st.sampled_from(["Tech", "tech", "Énergie", "énergie", "Finance", "a,b"])
COMPARE = {"gt": operator.gt, "lt": operator.lt, "gte": operator.ge, "lte": operator.le, "eq": operator.eq}


@st.composite
def tables(draw):
    """Rows (number, number, text, (name, id)), some values missing; clauses over them."""
    size = draw(st.integers(0, 12))
    optional = st.none() | NUMBERS
    rows = [
        {
            "gdp": draw(optional),
            "rate": draw(optional),
            "sector": draw(st.none() | WORDS),
            "tie": (draw(st.sampled_from(["A", "B", "a", "É"])), f"id{number}"),
        }
        for number in range(size)
    ]
    rows.sort(key=lambda row: row["tie"])
    clauses = []
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from([FIELDS["gdp"], FIELDS["rate"], FIELDS["sector"]]))
        verb = draw(st.sampled_from(field.operators))
        values = WORDS.map(folded) if field.text else NUMBERS
        clauses.append(
            Clause(field, verb, tuple(draw(st.lists(values, min_size=1, max_size=1 if verb != "in" else 3))))
        )
    return rows, clauses


def columns(rows):
    found = {
        name: np.array([math.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
        for name in ("gdp", "rate")
    }
    return {**found, "sector": Texts.of([row["sector"] for row in rows])}


def passes(row, clause):
    """A clause, plainly."""
    value = row[clause.field.name]
    if value is None:
        return False
    if clause.field.text:
        return folded(value) in clause.values
    if clause.operator == "in":
        return value in clause.values
    return COMPARE[clause.operator](value, clause.values[0])


def ordered(rows, by, descending):
    """The order, plainly: values, then ties, both turned by `descending`; rows without a value last either way."""
    with_value = [row for row in rows if by is None or row[by] is not None]
    without = [row for row in rows if by is not None and row[by] is None]
    with_value.sort(
        key=lambda row: (None if by is None else row[by], row["tie"]) if by else row["tie"], reverse=descending
    )
    without.sort(key=lambda row: row["tie"], reverse=descending)
    return with_value + without


@given(tables())
def test_clauses_select_what_they_say(table):
    rows, clauses = table
    mask = matching(clauses, columns(rows), np.ones(len(rows), dtype=bool))
    assert mask.tolist() == [all(passes(row, clause) for clause in clauses) for row in rows]


@given(tables(), st.sampled_from([None, "gdp", "sector"]), st.booleans(), st.integers(1, 5), st.data())
def test_pages_joined_are_the_whole_in_order(table, by, descending, limit, data):
    rows, _ = table
    mask = np.array([data.draw(st.booleans()) for _ in rows], dtype=bool)
    held = columns(rows)
    column = None if by is None else held[by]
    ties = [row["tie"] for row in rows]
    expected = ordered([row for row, there in zip(rows, mask, strict=True) if there], by, descending)
    walked, after = [], None
    for _ in range(20):
        cut = page(mask, ties, column, descending=descending, after=after, limit=limit)
        assert cut.total == len(expected)
        walked += cut.rows.tolist()
        assert cut.more == (len(walked) < len(expected))
        if not cut.more:
            break
        after = place(walked[-1], ties, column)
    assert [rows[number] for number in walked] == expected


@given(tables(), st.sampled_from([None, "gdp", "sector"]), st.booleans(), st.data())
def test_a_walk_goes_on_after_a_row_that_is_gone(table, by, descending, data):
    rows, _ = table
    if not rows:
        return
    whole = ordered(rows, by, descending)
    ties = [row["tie"] for row in rows]
    column = None if by is None else columns(rows)[by]
    gone = data.draw(st.integers(0, len(rows) - 1))
    after = place(gone, ties, column)
    left = [row for row in rows if row is not rows[gone]]
    rest = page(
        np.ones(len(left), dtype=bool), [row["tie"] for row in left], None if by is None else columns(left)[by],
        descending=descending, after=after, limit=99,
    )  # fmt: skip
    assert [left[number] for number in rest.rows] == whole[whole.index(rows[gone]) + 1 :]


@pytest.mark.parametrize(("descending", "left"), [(False, [0]), (True, [])])
def test_a_walk_by_text_goes_on_after_a_word_that_is_gone(descending, left):
    # The last row given was ("B", "2") with the word "a", which nothing has any more.
    cut = page(
        np.ones(1, dtype=bool), [("A", "1")], Texts.of(["b"]), descending=descending, after=["a", "B", "2"], limit=9
    )
    assert cut.rows.tolist() == left


@pytest.mark.parametrize("descending", [False, True])
def test_ties_keep_their_order_in_a_long_table(descending):
    ties = [(f"n{number:04}", "") for number in range(2_000)]
    values = np.array([number * 7 % 3 for number in range(2_000)], dtype=np.float64)
    rows = page(np.ones(2_000, dtype=bool), ties, values, descending=descending, after=None, limit=2_000).rows.tolist()
    assert rows == sorted(range(2_000), key=lambda row: (values[row], row), reverse=descending)


def test_a_place_is_null_or_the_value_with_name_and_id():
    ties = [("A", "1"), ("B", "2")]
    assert place(1, ties, None) == [None, "B", "2"]
    assert place(1, ties, np.array([np.nan, 2.5])) == [2.5, "B", "2"]
    assert place(0, ties, np.array([np.nan, 2.5])) == [None, "A", "1"]
    assert place(0, ties, Texts.of(["x", None])) == ["x", "A", "1"]


def test_texts_are_sorted_by_bytes_whatever_their_case_means():
    texts = Texts.of(["b", None, "B", "a", "Ä", "b"])
    assert texts.words == ("B", "a", "b", "Ä")
    assert texts.codes.tolist() == [2, -1, 0, 1, 3, 2]
    assert [texts.at(row) for row in range(6)] == ["b", None, "B", "a", "Ä", "b"]
