"""`almanac start`: real data of those who ask for nothing, served while they are loaded, and what all others need."""

import json
import re
import signal
import subprocess
import time

import httpx2
import pytest

from almanac.catalog.load import shipped
from almanac.config import Settings
from almanac.domain.rights import Exposure
from almanac.load_state import going_on
from almanac.pipeline.context import SIMULATED, PipelineContext
from tests.support.paths import ROOT
from tests.support.processes import PATIENCE, command, environment, run
from tests.support.publisher import REDIRECTED, Publisher
from tests.support.servers import free_port
from tests.support.treasury_home import GOOD, NOW, SECOND, write_mirror

#: Sources that ask for neither a key nor a consent, and the others, as the catalogue has them.
REAL = [one for one in shipped().sources.values() if one.connector and not one.simulated]
FREE = {one.id for one in REAL if not one.key_required and one.rights.channel is Exposure.public}


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    return write_mirror(tmp_path_factory.mktemp("mirror") / "mirror", GOOD)


def test_it_loads_those_that_ask_for_nothing_and_says_what_each_other_needs(tmp_path, mirror):
    home = tmp_path / "home"
    done = run(home, "start", "--load-only", "--from", mirror)
    summary, further = done.stdout.split("\n\n")
    rows = {line.split()[0]: line.split()[1:] for line in summary.splitlines()[1:]}
    assert set(rows) == FREE
    assert rows["us-treasury-par"][:2] == ["4", "0"]
    heading, *lines = further.splitlines()
    assert heading == f"{len(REAL) - len(FREE)} further sources:"
    needs = {line.split()[0]: line for line in lines}
    assert set(needs) == {one.id for one in REAL} - FREE
    for source in REAL:
        if source.id not in FREE:
            assert (f"a key: set {source.key_setting}" in needs[source.id]) == source.key_required
            assert ("consent" in needs[source.id]) == (source.rights.channel is not Exposure.public)
    assert "a key" in needs["fred"]
    assert "; and its owner's consent" in needs["fred"]
    assert f"loading {len(FREE)} sources that ask for neither a key nor a consent" in done.stderr
    assert going_on(home) == {}
    # What is there is known at the second run; nothing is asked of those that lack something.
    again = run(home, "start", "--load-only", "--from", mirror)
    assert re.search(r"(?m)^us-treasury-par +0 +4 ", again.stdout)


@pytest.mark.slow
def test_it_serves_at_once_and_leaves_account_and_key_at_the_second_run(tmp_path, mirror):
    home = tmp_path / "home"
    said = begun(home, mirror)
    key = said["Key"]
    assert re.fullmatch(r"alm_[0-9A-Za-z]{40}", key)
    assert said["Try"].startswith(f"curl -H 'x-api-key: {key}' http://127.0.0.1:")
    again = begun(home, mirror, loads=False)
    assert again["Key"].startswith("as shown before, valid until it is revoked (ALMANAC_HOME=")
    assert again["Try"].startswith('curl -H "x-api-key: $ALMANAC_API_KEY" http://127.0.0.1:')


def begun(home, mirror, *, loads=True):
    """A start from its first words to the data it loads, and its end. What it printed, by its headings."""
    port, ops = free_port(), free_port()
    words = command("start", "--from", mirror, "--port", port, "--ops-port", ops)
    with subprocess.Popen(
        words, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:  # fmt: skip
        try:
            told = dict(process.stdout.readline().strip().split(": ", 1) for _ in range(2))
            key = told["Key"] if told["Key"].startswith("alm_") else begun.key
            begun.key = key
            until = time.monotonic() + PATIENCE
            while True:
                assert process.poll() is None, "it ended"
                assert time.monotonic() < until, "nothing came"
                try:
                    answer = httpx2.get(f"http://127.0.0.1:{port}/rates/USA", headers={"x-api-key": key}, timeout=30)
                except httpx2.TransportError:
                    answer = None
                if answer is not None and answer.status_code == 200 and answer.json()["data"]["curve"]:
                    break
                time.sleep(0.1)
            accounts = (home / "accounts.db").read_bytes()
            beside = run(home, "start", "--from", mirror, "--port", port, "--ops-port", ops, expect=1)
            assert f"is served already, by process {process.pid} (interface on" in beside.stderr
            assert (home / "accounts.db").read_bytes() == accounts
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.stdout.read()
        assert process.wait(PATIENCE) == 0
    # Where all is there already, it ends before the rest is said.
    assert "further sources:" in rest or not loads
    assert going_on(home) == {}
    return told


def test_a_store_of_the_simulated_world_is_refused_before_anything_is_made(tmp_path):
    home = tmp_path / "home"
    with PipelineContext(Settings(home=home, now=NOW), kind=SIMULATED) as world:
        world.claim()
    refused = run(home, "start", "--port", free_port(), "--ops-port", free_port(), expect=1)
    assert "holds simulated data and cannot take real data" in refused.stderr
    assert refused.stdout == ""
    assert json.loads(run(home, "accounts", "list", "--json").stdout) == []


#: What a test may ask in the time it has: some publishers want half a minute between two requests.
FEW = """
from almanac.commands import start
every = start.named_sources
start.named_sources = lambda catalog, names: every(catalog, ("us-treasury-par", "mof-japan", "norges-bank", "fred"))
"""


@pytest.mark.slow
def test_from_the_network_each_source_is_asked_and_one_that_fails_holds_no_other_up(tmp_path):
    """Every publisher is one on this machine, which has the Treasury's feed, and nothing for all others."""
    home = tmp_path / "home"

    def answer(path):
        return (200, SECOND, {}) if "daily_treasury_yield_curve" in path else (404, b"", {})

    with Publisher(answer) as publisher:

        def start(expect):
            asked = len(publisher.asked)
            done = run(
                home, "start", "--load-only", before=REDIRECTED.format(root=str(ROOT), port=publisher.port) + FEW,
                expect=expect, HTTP__REQUESTS_PER_SECOND="10000", HTTP__ATTEMPTS="1", NOW=NOW,
            )  # fmt: skip
            return done, publisher.asked[asked:]

        done, asked = start(3)
        summary, further = done.stdout.split("\n\n")
        rows = {line.split()[0]: line.split()[1:] for line in summary.splitlines()[1:]}
        assert set(rows) == {"mof-japan", "norges-bank", "us-treasury-par"}
        assert int(rows["us-treasury-par"][0]) > 0
        assert (rows["mof-japan"][0], rows["norges-bank"][0]) == ("0", "0")
        assert "1 further source:\nfred (" in further
        # What is new of all comes before the past of any.
        years = [path.rpartition("=")[2] for path in asked if "daily_treasury_yield_curve" in path]
        order = [
            "past" if "value=19" in path else "new" if "start" in path or "jgbcme" in path else "" for path in asked
        ]
        assert order.index("past") > max(place for place, one in enumerate(order) if one == "new")
        assert set(years[:2]) == {"2025", "2026"}
        # The second start goes on where the first was: nobody is asked for what is there.
        _, asked = start(0)
        assert [path for path in asked if "daily_treasury_yield_curve" in path] == []
    assert going_on(home) == {}
