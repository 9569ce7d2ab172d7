"""What is kept with a state of the store is that state's own, and goes with it at once."""

import gc
import weakref
from datetime import date

import pytest

from almanac.api.rows.redaction import Redaction
from almanac.store.engine import opening
from almanac.store.observations.reading.reader import Reader
from almanac.store.state_memory import Remembered


@pytest.fixture
def store(tmp_path):
    """A file of its own, and who writes to it."""
    path = tmp_path / "data.db"
    writer = opening.create(path)
    yield path, writer
    writer.close()


def remember(view):
    redaction = Redaction(view, view.version, None, date(2025, 1, 1))
    return weakref.ref(view), weakref.ref(redaction)


def test_a_state_has_one_memory_and_another_state_another(store):
    path, writer = store
    reader = Reader(path)
    with reader.view() as view:
        first = view.shared
        first["kept"] = 1
    with reader.view() as again:
        assert again.shared is first
    del view, again
    writer.execute("UPDATE meta SET v = '8' WHERE k = 'version'")
    with reader.view() as view:
        assert "kept" not in view.shared
    reader.close()


def test_a_state_that_has_passed_is_let_go_with_its_memory(store):
    """At once, without waiting for the collector of cycles: a busy writer makes many."""
    path, writer = store
    reader = Reader(path)
    gc.collect()
    gc.disable()
    try:
        with reader.view() as view:
            passed = remember(view)
        del view
        writer.execute("UPDATE meta SET v = '8' WHERE k = 'version'")
        with reader.view() as view:
            assert [state() for state in passed] == [None, None]
            passed = remember(view)
        del view
        reader.close()
        assert [state() for state in passed] == [None, None]
    finally:
        gc.enable()


def test_a_thing_remembered_of_a_state_is_made_once_and_again_of_the_next(store):
    path, writer = store
    made = []
    what = Remembered("counted", lambda view: made.append(view.version) or len(made))
    reader = Reader(path)
    with reader.view() as view:
        assert [what.of(view), what.of(view)] == [1, 1]
    with reader.view() as view:
        assert what.of(view) == 1
    writer.execute("UPDATE meta SET v = '8' WHERE k = 'version'")
    with reader.view() as view:
        assert what.of(view) == 2
    reader.close()
    assert made[-1] == 8
