"""
Texts of others cost what they are long, and no more: ten times the length takes ten times the time, not a hundred times.

Every regular expression that modules hold is asked what its module asks it, about texts made of its own letters.
Ratios only, of the processor's time.
"""

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from .patterns import Pattern, hard, held, modules, used

pytestmark = pytest.mark.slow

#: Ten times as long may take so many times as long, and what is over sooner than this many seconds is not told from noise.
MOST, FLOOR = 35, 0.001
#: What is asked of an expression that its module hands on, or goes through in a loop.
ELSEWHERE = {
    "almanac.sources.feeds.rba:_TABLES": {"fullmatch"},
    "almanac.sources.feeds.sec.statement_lines:_LABELS": {"fullmatch"},
}


def seconds(work: Callable[[str], object], text: Callable[[int], str], length: int) -> float:
    """The least of three, of this thread alone; of texts that differ, for some readers remember what they read."""
    taken = []
    for _ in range(3):
        one = f"{text(length)}{next(_NUMBERS)}"
        began = time.thread_time()
        work(one)
        taken.append(time.thread_time() - began)
    return min(taken)


_NUMBERS = itertools.count()


def in_step(work: Callable[[str], object], text: Callable[[int], str], short: int) -> str | None:
    """What is wrong where ten times the text takes far more than ten times as long; None where it does not."""
    ratio = 0.0
    for _ in range(3):  # a machine that does other things too may disturb one try, and hardly three
        one = seconds(work, text, short)
        if one > 0.2:
            return f"{short} characters take {one:.2f} s"
        ratio = seconds(work, text, 10 * short) / max(one, FLOOR)
        if ratio < MOST:
            return None
    return f"{short} and {10 * short} characters: {ratio:.0f} times as long"


# -- regular expressions ------------------------------------------------------------------------------------------------

PATTERNS = held()


def asked(one: Pattern) -> set[str]:
    """What any module asks of an expression, by the name it has there."""
    found = set(ELSEWHERE.get(one.place, ()))
    for module in modules():
        known = [name for name, value in vars(module).items() if value is one.compiled]
        told = used(module) if known else {}
        for name in known:
            found |= told.get(name, set())
    return found


def ask(one: Pattern, method: str, text: str) -> None:
    subject: Any = text if isinstance(one.compiled.pattern, str) else text.encode("latin-1", "replace")
    if method == "sub":
        one.compiled.sub(subject[:0], subject)
    elif method == "finditer":
        list(one.compiled.finditer(subject))
    else:
        getattr(one.compiled, method)(subject)


@pytest.mark.parametrize("one", PATTERNS, ids=lambda one: one.place)
def test_an_expression_goes_through_a_text_once(one):
    wrong = [
        (method, begin, unit, end, told)
        for method in asked(one)
        for begin, unit, end in hard(one.compiled)
        if (told := in_step(
            lambda text: ask(one, method, text),  # noqa: B023  (called at once)
            lambda length: begin + unit * (length // len(unit)) + end,  # noqa: B023  (called at once)
            1_000,
        ))
    ]  # fmt: skip
    assert wrong == []


def test_one_that_does_not_is_found():
    import re

    bad = Pattern("here", re.compile(r"\s*[&+]\s*"))
    assert any(
        in_step(lambda text: ask(bad, "sub", text), lambda n: begin + unit * (n // len(unit)) + end, 1_000)  # noqa: B023  (called at once)
        for begin, unit, end in hard(bad.compiled)
    )
