"""A store of another schema is refused, with what to do, and left as it is."""

from contextlib import closing

import pytest

from almanac.store.engine import opening
from almanac.store.engine.data_schema import SCHEMA, set_meta
from almanac.store.engine.errors import SchemaError, UnavailableError
from almanac.store.observations.reading.reader import Reader

pytestmark = pytest.mark.sqlite
OTHERS = (str(int(SCHEMA) - 1), str(int(SCHEMA) + 1))


@pytest.fixture(params=OTHERS, ids=["earlier", "later"])
def path(request, tmp_path):
    path = tmp_path / "data.db"
    with closing(opening.create(path)) as db:
        set_meta(db, "schema", request.param)
    return path


def test_another_schema_is_refused_and_left_as_it_is(path):
    before = path.read_bytes()
    with pytest.raises(
        SchemaError, match=rf"has schema \d+, this version, Almanac \S+, needs {SCHEMA}: run `almanac rebuild`"
    ):
        opening.create(path)
    assert path.read_bytes() == before


def test_a_rebuild_makes_its_tables_anew(path):
    with closing(opening.create(path, any_schema=True)) as db:
        db.execute("ALTER TABLE event ADD COLUMN of_another_version INTEGER")
        db.recreate()
        assert "of_another_version" not in db.execute("SELECT sql FROM sqlite_schema WHERE name = 'event'").get
    opening.create(path).close()


def test_a_rebuild_of_a_database_that_lost_a_table_keeps_what_no_payload_tells(tmp_path):
    with closing(opening.create(tmp_path / "data.db")) as db:
        db.execute("INSERT INTO version VALUES(1, 1, 'x')")
        db.execute("DROP TABLE note")
        with db.transaction():
            db.recreate()
        assert [db.execute(f"SELECT count(*) FROM {name}").get for name in ("version", "note")] == [1, 0]


def test_a_reader_refuses_a_store_that_another_version_has_taken_over(tmp_path):
    path = tmp_path / "data.db"
    with closing(opening.create(path)) as db:
        reader = Reader(path)
        with reader.view():
            pass
        set_meta(db, "schema", OTHERS[1])
        with pytest.raises(UnavailableError, match="run `almanac rebuild`"), reader.view():
            pass
        reader.close()
