"""Two hosts on one server, each with a folder of its own: the one without the payloads serves, and can neither add nor take away."""

import json

import httpx2
import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from tests.support import postgres
from tests.support.servers import serving

from .mirrors import NOW, TREASURY_SOURCE

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


@pytest.fixture
def more():
    with postgres.own_database("hosts") as name:
        yield {"DATABASE_URL": postgres.address_of(name)}


def run(home, *words, expect=0, **more):
    """A command in this process, for there are many of them."""
    env = {"ALMANAC_HOME": str(home), "ALMANAC_NOW": NOW, "ALMANAC_DATABASE_URL": more["DATABASE_URL"]}
    done = CliRunner(env=env).invoke(main, list(map(str, words)))
    assert done.exit_code == expect, done.output
    return done


def observations(home, more):
    return json.loads(run(home, "status", "--json", **more).stdout)["coverage"]["observations"]


@pytest.mark.slow
def test_the_second_host_serves_and_is_refused_all_else(more, small_mirror, tmp_path):
    first, second, log = tmp_path / "first", tmp_path / "second", tmp_path / "log"
    run(first, "ingest", TREASURY_SOURCE, "--from", small_mirror, **more)
    held = observations(first, more)
    with serving(second, log, **{"LOG_LEVEL": "warning", **more}) as server:
        assert httpx2.get(f"{server.ops}/readyz", timeout=30).status_code in {200, 503}
        for words in (("ingest", TREASURY_SOURCE, "--from", small_mirror), ("worker", "snb", "--once"), ("sandbox",)):
            done = run(second, *words, expect=1, **more)
            assert done.stderr.startswith("Error: "), words
            assert words[0] == "sandbox" or "is not the raw store that the data came from" in done.stderr
        assert "without 4 of the 4 payloads" in run(second, "rebuild", expect=1, **more).stderr
        assert "without 4 of the 4 payloads" in run(second, "backup", tmp_path / "b", expect=1, **more).stderr
        assert not (tmp_path / "b").exists()
        run(second, "backup", tmp_path / "b", "--accounts-only", **more)
        assert len(run(second, "verify", expect=1, **more).stdout.splitlines()) == 4
    assert observations(second, more) == held > 0
    (line,) = (
        line
        for line in map(json.loads, filter(str.strip, log.read_text().splitlines()))
        if "raw store" in line["event"]
    )
    assert line["event"] == "the raw store is not the one the data came from"
    assert "it holds 0 of their 4 payloads" in line["reason"]
    assert "another raw store: " in run(second, "status", **more).stdout
    assert run(first, "rebuild", **more).stdout.startswith("4 payloads replayed, ")
    assert observations(first, more) == held
