"""`almanac migrate`: where the address of the new database comes from, and that no password is told to the host."""

from contextlib import closing

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta
from tests.support import postgres


@pytest.fixture
def run(tmp_path):
    def call(*arguments, expect=0, typed=None):
        given = {"ALMANAC_HOME": str(tmp_path / "home"), "ALMANAC_DATABASE_URL": None}
        done = CliRunner(env=given).invoke(main, [str(one) for one in arguments], input=typed)
        assert done.exit_code == expect, done.output
        return done

    return call


@pytest.fixture
def held(tmp_path):
    """A store to move."""
    with closing(opening.create(tmp_path / "home/data.db")) as db:
        return meta(db, "epoch")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://almanac:hush@127.0.0.1/almanac",
        "postgresql://almanac:@127.0.0.1/almanac",
        "postgresql://almanac:hu@sh@127.0.0.1/almanac",
        "postgresql://127.0.0.1/almanac?user=almanac&password=hush",
        "postgresql://almanac@127.0.0.1/almanac?sslpassword=hush",
        "postgres://almanac:hush@[broken/almanac",
    ],
)
def test_a_password_on_the_command_line_is_refused_and_not_repeated(run, held, address):
    done = run("migrate", "--to", address, expect=2)
    assert "everybody on this machine can read a command line" in done.stderr
    assert "--to-file" in done.stderr
    assert "hush" not in done.output


@pytest.mark.parametrize("words", [(), ("--to", "sqlite:///a", "--to-file", "-")])
def test_the_address_is_given_once(run, held, words):
    assert "by --to or by --to-file" in run("migrate", *words, expect=2, typed="").stderr


@pytest.mark.parametrize("said", ["", "\n", "http://almanac:hush@127.0.0.1/", "postgresql://:0/hush"])
def test_a_file_without_an_address_is_refused_and_not_repeated(run, held, tmp_path, said):
    file = tmp_path / "address"
    file.write_text(said)
    done = run("migrate", "--to-file", file, expect=2)
    assert "'--to-file': give sqlite:/// and the path of a file" in done.stderr
    assert "hush" not in done.output


@pytest.mark.sqlite
def test_an_address_from_a_file_or_from_standard_input_is_gone_to(run, held, tmp_path):
    file = tmp_path / "address"
    file.write_text(f"sqlite:///{tmp_path / 'one.db'}\nnothing else is read\n")
    file.chmod(0o644)
    assert f"{file} can be read by others than you" in run("migrate", "--to-file", file).stderr
    file.chmod(0o600)
    file.write_text(f"sqlite:///{tmp_path / 'two.db'}")
    assert "can be read by others" not in run("migrate", "--to-file", file).stderr
    run("migrate", "--to-file", "-", typed=f"sqlite:///{tmp_path / 'three.db'}\n")
    for name in ("one", "two", "three"):
        with closing(opening.connect(tmp_path / f"{name}.db", read_only=True)) as db:
            assert meta(db, "epoch") == held


@pytest.mark.postgres
def test_a_password_comes_from_a_file_or_the_environment(run, held, tmp_path, monkeypatch):
    """The server of the tests asks for none; that it is given one is looked at where it is given."""
    if (why := postgres.why_not()) is not None:
        pytest.skip(why)
    import psycopg

    asked, real = [], psycopg.Connection.connect.__func__
    monkeypatch.setattr(
        psycopg.Connection,
        "connect",
        classmethod(lambda cls, info, **more: (asked.append(info), real(cls, info, **more))[1]),
    )
    with postgres.files():
        name, url = postgres.fresh()
        file = tmp_path / "address"
        file.write_text(url.replace("postgres@", "postgres:hush@", 1))
        file.chmod(0o600)
        done = run("migrate", "--to-file", file)
        assert any("hush" in info for info in asked)
        assert "hush" not in done.output
        with closing(opening.connect(opening.Server(url), read_only=True)) as db:
            assert meta(db, "epoch") == held
        postgres.drop(name)
