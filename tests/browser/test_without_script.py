"""A browser without script gets the same: every form and every number, by plain links and GET parameters."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from almanac.dashboard.formatting.company_names import company_name

from .addresses import PAGES
from .conftest import WIDTHS, Served, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def main_text(page: Any) -> str:
    """What is read on a page."""
    return " ".join(page.inner_text("main").split())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_screen_of_two_fields(width: int, served: Served, visitor: Callable[..., Visitor]) -> None:
    """Chosen row by row, it has the rows of the interface."""
    one = visitor("pro", width, script=False)
    page = one.page
    one.go("/screeners/equity")
    page.select_option("[name=field1]", "cash_and_equivalents")
    page.select_option("[name=operator1]", "gt")
    page.fill("[name=value1]", "1e9")
    page.click("main button.primary")
    text = "cash_and_equivalents:gt:1e9"
    assert page.input_value("[name=filter]") == text
    assert page.input_value("[name=value1]") == "1e9"
    told = served.ask("/equity-screener", filter=text)
    assert told
    names = [company_name(row["name"]) for row in told]
    assert page.locator("#results tbody th").all_inner_texts() == names


def test_nothing_on_a_page_waits_for_script(served: Served, visitor: Callable[..., Visitor]) -> None:
    """What only script can use is hidden, and what is read without script is read with it too."""
    seen = {who: (visitor(who), visitor(who, script=False)) for who in ("pro", "operator", None)}
    for looks in PAGES.values():
        look = looks[0]
        address = look.path.format(**served.names)
        scripted, plain = seen[look.who]
        scripted.go(address, look.status)
        plain.go(address, look.status)
        assert plain.page.locator(".js:visible").count() == 0, address
        with_script, without = (set(main_text(one.page).split()) for one in (scripted, plain))
        assert {word for word in without - with_script if not _request(word)} == set(), address


def _request(word: str) -> bool:
    """Numbers of requests and forms, times that pass, and cursors, which hold one, differ from one look to the next."""
    return word.startswith("req_") or "cursor=" in word or bool(re.fullmatch(r"[\d:]+", word))
