"""Texts of others as a terminal may be shown them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.plain_text import MARK, escaped, one_line


def test_what_may_be_obeyed_is_marked_and_what_parts_is_a_blank():
    assert one_line("a\x1b[2Jb\x9bc\u202ed\u200be\x00") == f"a{MARK}[2Jb{MARK}c{MARK}d{MARK}e{MARK}"
    assert one_line("a\nb\rc\td\u2028e\u00a0f") == "a b c d e f"
    assert one_line("\ud800\U000e0041") == MARK * 2


@given(st.text())
def test_a_text_stays_as_long_and_what_can_be_shown_stays(text):
    shown = one_line(text)
    assert len(shown) == len(text)
    assert shown.isprintable()
    assert all(a == b for a, b in zip(text, shown, strict=True) if a.isprintable())


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
def test_json_says_the_same_escaped(record):
    line = escaped(json.dumps(record, ensure_ascii=False))
    assert json.loads(line) == record
    assert line.isprintable()
