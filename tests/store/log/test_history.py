"""The log as those who run the service read it."""

from almanac.store.engine import opening
from almanac.store.log import history, payloads


def test_runs_come_latest_first_and_page_by_their_beginning(tmp_path):
    db = opening.create(tmp_path / "data.db")
    with db.transaction():
        for number, source in enumerate(("one", "two", "one")):
            payloads.start_run(db, f"run{number}", source, "invented", 3, 100 + number)
        payloads.finish_run(db, "run0", "2 payloads", 160)
    assert [one.run for one in history.runs(db, 10)] == ["run2", "run1", "run0"]
    assert [one.run for one in history.runs(db, 10, source="one")] == ["run2", "run0"]
    assert [one.run for one in history.runs(db, 1, before=102)] == ["run1"]
    assert history.runs(db, 9, before=101) == [("run0", "one", "invented", 3, 100, 160, "2 payloads")]
    assert history.runs(db, 1)[0][5:] == (None, None)
    db.close()


def test_what_a_source_said_last_is_its_last_attempts(tmp_path):
    db = opening.create(tmp_path / "data.db")
    with db.transaction():
        payloads.note_attempt(db, "one", 100, succeeded=False, kept=False, error="no answer")
        payloads.note_attempt(db, "one", 200, succeeded=False, kept=False, error="no answer again")
        payloads.note_attempt(db, "two", 300, succeeded=True, kept=True, error=None)
    assert history.last_words(db) == {"one": (200, 2, "no answer again"), "two": (300, 0, None)}
    db.close()
