"""The answers and errors that the description shows are what the small world answers."""

from almanac.api.contract import examples
from almanac.api.contract.errors import CODES
from tools.docs.answers import FILE, REQUESTS, record, written
from tools.docs.tables_interface import every


def test_what_is_kept_is_what_is_answered(service):
    assert written(record(service)) == FILE.read_text("utf-8"), "run `make docs`"


def test_every_operation_and_every_status_is_asked_for():
    kept = examples.recorded()
    assert sorted(kept.answers) == sorted(REQUESTS) == sorted(one.operation_id for one in every() if one.record)
    assert list(kept.errors) == [str(status) for status in CODES]


def test_every_answer_shows_something():
    assert [name for name, one in examples.recorded().answers.items() if not one["value"]["data"]] == []
