"""Strict reading of what several feeds share. Every payload here is invented."""

import math
from datetime import date

import pytest

from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), ("-2.50", -2.5), ("+3.", 3.0), (".5", 0.5), ("1e-3", 0.001), ("007", 7.0)]
)
def test_a_number_is_what_a_publisher_writes(text, value):
    assert strict.number(text, "x") == value


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1\n", "1_0", "1,5", "0x1", "nan", "inf", "-Infinity", "٣", "1e", ".", None]
)
def test_what_python_would_forgive_is_no_number(text):
    with pytest.raises(SourceChanged, match=r"^here: .* is not a number$"):
        strict.number(text, "here")


def test_a_number_is_finite_and_never_negative_zero():
    assert math.copysign(1, strict.number("-0.0", "x")) == 1.0
    with pytest.raises(SourceChanged, match="'-1e400' is too large"):
        strict.number("-1e400", "x")


@pytest.mark.parametrize(
    "text", ["2099-1-01", "20990101", "2099-W01-1", "2099-02-29", "2099-01-01\n", "0000-01-01", None]
)
def test_a_day_is_written_one_way(text):
    assert strict.day("2096-02-29", "x") == date(2096, 2, 29)
    with pytest.raises(SourceChanged, match=r"^here: .* is not a day like"):
        strict.day(text, "here")


def test_a_message_quotes_a_payload_on_one_short_line():
    assert strict.shown("a\n" + "b" * 90) == repr("a\n" + "b" * 58 + "…")


def test_csv_keeps_line_ends_inside_quotes():
    assert strict.rows(b'a;"b\r\nc"\r\n\r\nd;e', "ascii", "x", ";") == [["a", "b\r\nc"], [], ["d", "e"]]


def test_comments_and_instructions_are_no_part_of_xml():
    root = strict.xml(b"<?xml version='1.0'?><!-- x --><a><?skip me?><!-- y --><b>1<!-- z -->2</b></a>", "a", "x")
    assert [(child.tag, child.text) for child in root] == [("b", "12")]
