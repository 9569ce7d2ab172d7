"""Every request that a page shows is made, and answered as the page says."""

import pytest

from almanac.api.contract.errors import CODES
from almanac.api.contract.openapi import recorded
from tools.docs.answers import FILE, REQUESTS, record, written
from tools.docs.tables_interface import every

from .session import ANYTHING, commands, differences, requests

_STATUS = {code: status for status, code in CODES.items()}


@pytest.mark.parametrize("shown", requests(), ids=lambda shown: f"{shown.page} {shown.target}")
def test_a_shown_request_is_answered_as_shown(service, shown):
    given = service.get(shown.target)
    error = shown.answer.get("error") if shown.answer else None
    assert given.status_code == (_STATUS[error["code"]] if error else 200), given.text
    if shown.answer is not None:
        assert list(differences(shown.answer, given.json())) == []
    elif given.headers["content-type"] == "application/json":
        assert given.json() != {}


@pytest.mark.parametrize(
    ("shown", "given", "wrong"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, []),
        ({"a": ANYTHING}, {}, [".a: is not in the answer"]),
        ([1, ANYTHING], [1, 2, 3], []),
        ([1, 2, ANYTHING], [1], [": 2 rows are shown, 1 are given"]),
        ([], {}, [": [] is shown, {} is given"]),
    ],
)
def test_the_comparison_finds_what_differs(shown, given, wrong):
    assert list(differences(shown, given)) == wrong


def test_a_curl_of_a_page_asks_for_a_declared_path():
    paths = {endpoint.path for endpoint in every()}
    asked = [
        words[-1].partition("?")[0].partition(":8000")[2]
        for _, words in commands()
        if words[0] == "curl" and ":8000" in words[-1]
    ]
    assert asked != []
    assert [path for path in asked if not any(_fits(path, template) for template in paths)] == []


def _fits(path, template):
    parts, wanted = path.split("/"), template.split("/")
    return len(parts) == len(wanted) and all(w.startswith("{") or p == w for p, w in zip(parts, wanted, strict=True))


# -- the answers and errors that the description shows are what the small world answers -------------------------------


def test_what_is_kept_is_what_is_answered(service):
    assert written(record(service)) == FILE.read_text("utf-8"), "run `make docs`"


def test_every_operation_and_every_status_is_asked_for():
    kept = recorded()
    declared = sorted(endpoint.operation_id for endpoint in every() if endpoint.record)
    assert sorted(kept.answers) == sorted(REQUESTS) == declared
    assert list(kept.errors) == [str(status) for status in CODES]


def test_every_answer_shows_something():
    assert [name for name, answer in recorded().answers.items() if not answer["value"]["data"]] == []
