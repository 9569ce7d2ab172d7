"""
The law of what operators do: whatever the raw store holds of what the data came from (all, some, nothing, another home's), no
command lowers the number of vintages that are served unless it says so and was asked to; and a backup that is written can
be made into what is served.
"""

import contextlib
import shutil

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.config import Settings
from almanac.pipeline.context import PipelineContext
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine import opening
from tests.contract.conftest import worker_id
from tests.support.places import place_for
from tests.support.treasury_home import FIRST, NOW, ROWS, SOURCE, url, write_mirror
from tests.support.worlds import once
from tools.docs.tables_operations import _leaves

__all__ = ["worker_id"]

#: What each command is called with, `FILE` and `MIRROR` standing for names of this test; the rest changes no data.
REPLACING = {
    "rebuild": ["rebuild"],
    "derive": ["derive"],
    "ingest": ["ingest", SOURCE, "--from", "MIRROR"],
    "late": ["ingest", SOURCE, "--from", "LATE"],
    "sandbox": ["sandbox", "--observations", "1000"],
    "worker": ["worker", "snb", "--once"],
    "verify": ["verify"],
    "status": ["status"],
    "backup": ["backup", "FILE"],
    "backup without data": ["backup", "FILE", "--without-data"],
    "restore": ["restore", "BEFORE"],
    "start": ["start", "--load-only", "--from", "MIRROR"],
}
#: Commands that write no data: accounts have a database of their own, servers are asked, `distribute` wants Citus (tests/store/engine),
#: `demo` has a home of its own.
OTHERS = {"accounts", "demo", "distribute", "keys", "mcp", "serve", "sources"}
SERVED = "SELECT count(*) FROM vintages WHERE to_version = 2147483647"
LATE = [(url(2022), "2026-01-03T00:00:01Z", FIRST.replace(b"2026-", b"2022-"), 200)]
#: With no bytes at all it is as with some missing: that state is looked at among the slow tests.
STATES = ("whole", "partly", pytest.param("no bytes", marks=pytest.mark.slow), "empty", "another's")


def test_every_command_is_looked_at_here_or_said_to_write_no_data():
    names = {name.split()[1] for name, _ in _leaves(main, "almanac")}
    assert names - {words[0] for words in REPLACING.values()} <= OTHERS


class Home:
    """A home with data of six payloads, and what commands make of it."""

    def __init__(self, tmp_path, place):
        self.tmp, self._place = tmp_path, place
        self.settings = self._settings(tmp_path / "home", place)
        self.names = {
            "MIRROR": str(write_mirror(tmp_path / "mirror", ROWS)),
            "LATE": str(write_mirror(tmp_path / "late", LATE)),
            "FILE": str(tmp_path / "file"),
            "BEFORE": str(tmp_path / "before"),
        }

    def fill(self):
        """Take six payloads in, make an account and write a backup."""
        self.run("ingest", SOURCE, "--from", "MIRROR", expect=3)
        with contextlib.closing(Accounts(opening.place(self.settings.accounts_place), None)) as accounts:
            accounts.create_account("ada@example.org", "free", self.settings.plans, now=1)
        self.run("backup", "BEFORE")
        return self

    @staticmethod
    def _settings(home, place):
        return Settings(home=home, database_url=getattr(place, "url", None), now=NOW)

    def run(self, *words, expect=None, settings=None):
        settings = settings or self.settings
        env = {"ALMANAC_HOME": str(settings.home), "ALMANAC_NOW": NOW, "ALMANAC_DATABASE_URL": settings.database_url}
        done = CliRunner(env=env).invoke(main, [self.names.get(word, str(word)) for word in words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert expect is None or done.exit_code == expect, done.output
        return done

    def served(self, settings=None):
        place = opening.place((settings or self.settings).data_place)
        with contextlib.closing(opening.connect(place, read_only=True)) as db, db.snapshot():
            return db.execute(SERVED).get

    def bring(self, state):
        """Have the raw store be in a state. Returns how many of the six payloads it lacks."""
        raw = self.settings.raw_path
        if state == "partly":
            for path in sorted((raw / "index" / SOURCE).iterdir())[:2]:
                path.unlink()
            return 2
        if state == "no bytes":
            shutil.rmtree(raw / "objects")
        elif state != "whole":
            shutil.rmtree(raw)
        if state == "another's":
            other = Settings(home=self.tmp / "strange", now=NOW)
            mirror = write_mirror(self.tmp / "strange-mirror", LATE)
            words = ["ingest", SOURCE, "--from", str(mirror)]
            self.run(*words, settings=other, expect=0)
            shutil.copytree(other.raw_path, raw)
        return 0 if state == "whole" else 6


@pytest.fixture(scope="module")
def filled(tmp_path_factory, worker_id):
    """A home of files and its backup, to be copied."""
    return once(tmp_path_factory, worker_id, "nothing-lost", lambda folder: Home(folder, None).fill() and None)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def home(request, tmp_path):
    from tests.support import postgres

    if request.param == "postgres" and postgres.why_not() is not None:
        pytest.skip(postgres.why_not())
    if request.param == "sqlite" and postgres.ENGINE == "postgres":
        pytest.skip("files are not looked at in this run")
    with place_for(request.param, tmp_path / "x") as place:
        one = Home(tmp_path, place)
        if request.param == "postgres":
            one.fill()
        else:
            filled = request.getfixturevalue("filled")
            shutil.copytree(filled / "home", tmp_path / "home")
            shutil.copy(filled / "before", tmp_path / "before")
        yield one


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("command", REPLACING)
def test_served_vintages_never_fall_unasked(home, state, command):
    lacks, before = home.bring(state), home.served()
    done = home.run(*REPLACING[command])
    assert home.served() >= before, done.output
    replaces = command in {"rebuild", "backup", "backup without data"}
    if replaces:
        assert done.exit_code == (1 if lacks else 0), done.output
    if replaces and lacks:
        assert f"would do without {lacks} of the 6 payloads" in done.stderr
        assert f"--without-missing {lacks}\n" in done.stderr
        assert SOURCE in done.stderr
    if command.startswith("backup") and done.exit_code == 0:
        again = Settings(home=home.tmp / "again", now=NOW)
        home.run("restore", "FILE", settings=again, expect=0)
        if not (again.home / "data.db").exists():
            home.run("rebuild", settings=again, expect=0)
        assert home.served(again) >= before


@pytest.mark.parametrize("state", STATES[1:])
def test_the_number_typed_and_no_other_goes_on(home, state):
    lacks, before = home.bring(state), home.served()
    for wrong in (lacks - 1, lacks + 1):
        done = home.run("rebuild", "--without-missing", wrong, expect=1)
        assert f"--without-missing {wrong} is not their number" in done.stderr
    assert home.served() == before
    for words in (["backup", "FILE"], ["rebuild"]):
        home.run(*words, "--without-missing", lacks, expect=0)
    assert home.served() < before
    if state == "no bytes":  # their index is still there, and no data come from it any more
        assert "--without-missing 0 passes by what no data came from" in home.run("rebuild", expect=1).stderr
        home.run("rebuild", "--without-missing", 0, expect=0)
    else:
        home.run("rebuild", expect=0)
        home.run("verify", expect=0)
    assert "problems: " in home.run("backup", "--verify", "FILE", expect=1).stderr
    again = Settings(home=home.tmp / "again", now=NOW)
    assert f"without {lacks} of the" in home.run("restore", "FILE", settings=again, expect=1).stderr
    assert not again.home.exists()
    home.run("restore", "FILE", "--without-missing", lacks, settings=again, expect=0)


@pytest.mark.parametrize("state", STATES)
def test_verify_and_a_backup_find_as_many_problems(home, state):
    lacks = home.bring(state)
    found = len(home.run("verify").stdout.splitlines())
    problems = lacks if state != "no bytes" else len(ROWS) - 1
    assert found == max(problems, 1)  # `no problem` is a line too
    if lacks:
        home.run("backup", "FILE", "--without-missing", lacks, expect=0)
        assert len(home.run("backup", "--verify", "FILE", expect=1).stdout.splitlines()) == problems


def test_accounts_alone_are_backed_up_whatever_the_raw_store_holds(home):
    home.bring("empty")
    done = home.run("backup", "FILE", "--accounts-only", expect=0)
    assert "accounts, secrets and counts of use alone: nothing that is served can be made of it" in done.stderr
    home.run("backup", "--verify", "FILE", expect=0)
    again = Settings(home=home.tmp / "again", now=NOW)
    done = home.run("restore", "FILE", settings=again, expect=0)
    assert "the backup holds accounts, secrets and counts of use alone: no raw payloads and no data" in done.stderr
    with contextlib.closing(Accounts(again.home / "accounts.db", None)) as accounts:
        assert [one.email for one in accounts.list_accounts()] == ["ada@example.org"]
    with PipelineContext(again) as world:
        assert world.raw.any_source() is None
