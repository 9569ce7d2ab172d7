"""What this version needs of a store is said beforehand, without a change to it; and `almanac upgrade` does what can be done."""

import hashlib
import json
import re
from contextlib import closing

import msgspec
import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.commands.shared import UNFIT
from almanac.config import SourceSettings
from almanac.domain.rights import Consent
from almanac.pipeline.operate.upgrading import plan
from almanac.pipeline.workplace import Workplace
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine import data_schema, opening
from almanac.store.engine.data_schema import DATA, meta, set_meta
from almanac.store.engine.errors import StoreError
from almanac.store.engine.migrations import Step
from tests.support.treasury_home import SOURCE, settings, take

pytestmark = (
    pytest.mark.sqlite
)  # what is told of a server is told by the same lines; its tables are of the same schemas


@pytest.fixture
def chosen(tmp_path):
    """A store with a few vintages."""
    made = settings(tmp_path)
    with Workplace(made) as world:
        take(world, tmp_path / "mirror")
    return made


@pytest.fixture
def ask(chosen):
    """`almanac upgrade` with these words."""

    def call(*words, expect=0):
        done = CliRunner(env={"ALMANAC_HOME": str(chosen.home), "ALMANAC_NOW": chosen.now}).invoke(
            main, ["upgrade", *words]
        )
        assert done.exit_code == expect, done.output
        return done

    return call


def numbered(chosen, schema):
    with closing(opening.connect(chosen.data_path)) as db:
        set_meta(db, "schema", str(schema))


def digests(chosen):
    """Every file of the home but the log's shared memory, which readers keep."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in chosen.home.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_a_home_without_data_needs_nothing_and_stays_as_it_is(tmp_path):
    made = settings(tmp_path)
    assert plan(made).needs == "nothing"
    assert not made.home.exists()


def test_a_store_of_this_version_needs_nothing(chosen, ask):
    before = digests(chosen)
    found = plan(chosen)
    assert (found.needs, found.found, found.known, found.takes, found.reason) == (
        "nothing",
        DATA.newest,
        DATA.newest,
        None,
        None,
    )
    with closing(opening.connect(chosen.data_path)) as db:
        assert found.vintages == db.execute("SELECT count(*) FROM vintages").get > 0
    assert ask("--plan").stdout.splitlines()[1] == "nothing is to be done: start it"
    assert json.loads(ask("--plan", "--json").stdout)["needs"] == "nothing"
    assert digests(chosen) == before


def test_steps_in_place_are_named_and_then_done(chosen, ask, monkeypatch):
    step = Step(DATA.newest + 1, "invented words", "CREATE TABLE invented(a) STRICT;".replace("a)", "a INTEGER)"))
    later = DATA._replace(steps=(*DATA.steps, step))
    for module in ("almanac.pipeline.operate.upgrading", "almanac.store.engine.sqlite"):
        monkeypatch.setattr(f"{module}.DATA", later)
    before = digests(chosen)
    found = plan(chosen)
    assert (found.needs, found.known, found.steps) == (
        "start",
        later.newest,
        (f"schema {later.newest}: invented words",),
    )
    assert found.takes is not None
    told = ask("--plan").stdout
    assert "invented words" in told
    assert "`almanac upgrade` does it in place, about" in told
    assert digests(chosen) == before
    assert "the store is as Almanac" in ask().stdout
    with closing(opening.connect(chosen.data_path)) as db:
        assert meta(db, "schema") == str(later.newest)


def test_a_store_that_must_be_made_anew_says_so_and_how_long(chosen, ask):
    numbered(chosen, DATA.steps[0].schema - 2)
    before = digests(chosen)
    found = plan(chosen)
    assert found.needs == "rebuild"
    assert 0 < found.takes.least <= found.takes.most
    for words, code in ((("--plan",), 0), ((), UNFIT)):
        done = ask(*words, expect=code)
        assert "cannot be made of it in place" in done.output
        assert re.search(
            r"`almanac rebuild`, about \d+ to \d+ s, and \d+ MB of disk meanwhile: stop the workers", done.output
        )
    assert digests(chosen) == before


def test_a_rebuild_of_ten_times_the_vintages_is_said_to_take_ten_times_as_long(chosen, monkeypatch):
    numbered(chosen, 1)
    spans = []
    for count in (2_000_000, 20_000_000):
        monkeypatch.setattr("almanac.pipeline.operate.upgrading.vintages_held", lambda _, count=count: count)
        spans.append(plan(chosen).takes)
    assert (spans[1].least, spans[1].most) == (spans[0].least * 10, spans[0].most * 10)


def test_a_store_of_a_later_version_is_left_to_that(chosen, ask):
    numbered(chosen, 99)
    assert plan(chosen).needs == "another_version"
    assert "was written by a newer version" in ask("--plan").stdout
    assert "was written by a newer version" in ask(expect=UNFIT).stderr
    with closing(opening.connect(chosen.data_path)) as db:
        assert meta(db, "schema") == "99"


def test_another_consent_is_told_as_what_is_derived_anew(chosen):
    consent = Consent(by="someone", on="2026-01-02", reference="an invented letter")
    moved = msgspec.structs.replace(chosen, sources={SOURCE: SourceSettings(consent=consent)})
    before = digests(chosen)
    found = plan(moved)
    assert (found.needs, found.catalogue, found.steps) == ("start", True, ())
    assert digests(chosen) == before
    with Workplace(moved):
        pass
    assert plan(moved).needs == "nothing"


def test_accounts_of_an_earlier_and_of_a_later_version_are_told(chosen):
    Accounts(chosen.accounts_path).close()
    for schema, needs in ((1, "start"), (9, "another_version")):
        with closing(opening.connect(chosen.accounts_path)) as db:
            db.pragma("user_version", schema)
        assert plan(chosen).needs == needs
    assert "the accounts have schema 9 of a newer version" in plan(chosen).reason


def test_a_file_that_is_no_store_is_told_of(chosen):
    chosen.data_path.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(StoreError, match="is damaged"):
        plan(chosen)


def test_every_step_has_words():
    assert all(step.what for step in data_schema.STEPS)
