"""`make run`: what it has loaded before it answers, and what a second run leaves as it is."""

import functools
import hashlib
import re
import signal
import subprocess
import time
from contextlib import closing, contextmanager, nullcontext

import httpx2
import pytest
from click.testing import CliRunner

from almanac import serving as serving_module
from almanac.__main__ import main
from almanac.commands import demo as demo_module
from almanac.config import Settings
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine.opening import place
from tests.support.processes import PATIENCE, command, environment, run
from tests.support.servers import free_port, serving

TENORS = (
    "SELECT count(*) FROM series JOIN topic USING(topic) WHERE entity = ? AND indicator LIKE 'gov_yield_%' AND rows > 0"
)


def test_the_curves_are_there_before_it_answers_and_a_second_run_adds_nothing(tmp_path, monkeypatch):
    # So early that there is little to load.
    own = Settings(home=tmp_path / "demo", now="2016-03-01T12:00:00Z", processes=1)
    monkeypatch.setattr(serving_module, "run", lambda _: None)
    monkeypatch.setattr(demo_module, "loading_beside", lambda *_, **__: nullcontext())

    def begin():
        """What the demo says until it would serve, by its headings, and how many payloads it read."""
        env = {"HOME": str(tmp_path), "NOW": own.now, "PROCESSES": "1", "PORT": free_port(), "OPS_PORT": free_port()}
        words = ["demo", "--dashboard-port", str(free_port())]
        done = CliRunner(env={f"ALMANAC_{name}": str(value) for name, value in env.items()}).invoke(main, words)
        assert done.exit_code == 0, done.output
        (count,) = re.findall(r"(?m)^(\d+) simulated payloads read\.$", done.stderr)
        return dict(line.split(": ", 1) for line in done.stdout.splitlines()), int(count)

    first, count = begin()
    assert count > 0
    assert first["E-mail"] == "demo@localhost"
    assert not first["Password"].startswith("as shown")
    with PipelineContext(own, kind=SIMULATED) as world:
        assert world.db.execute(TENORS, ("country_usa",)).get > 8
        # The economies and the companies follow, while it answers.
        assert world.db.execute("SELECT count(*) FROM topic WHERE indicator = 'cpi_index'").get == 0
        vintages = world.db.execute("SELECT count(*) FROM vintages").get
        assert vintages > 1_000
    again, count = begin()
    assert count == 0
    assert again["Password"].startswith("as shown at the first run (ALMANAC_HOME=")
    assert again["Key"].startswith("as shown before, valid until it is revoked (ALMANAC_HOME=")
    with closing(Accounts(place(own.accounts_place))) as accounts:
        now = int(time.time())
        assert accounts.verify(first["Key"], now).scopes == ("data:read",)
        # Where none is left that is live, the next run makes one.
        accounts.revoke(first["Key"], now=now)
        made = begin()[0]["Key"]
        assert made != first["Key"]
        assert accounts.verify(made, now).scopes == ("data:read",)
    with PipelineContext(own, kind=SIMULATED) as world:
        assert world.db.execute("SELECT count(*) FROM vintages").get == vintages


@pytest.mark.slow
def test_the_key_of_the_first_run_is_valid_after_a_stop_and_a_start_and_nowhere_else(tmp_path):
    with demo(tmp_path / "home") as (said, status):
        key = said["Key"]
        assert re.fullmatch(r"alm_[0-9A-Za-z]{40}", key)
        assert status(key) == 200
    with demo(tmp_path / "home") as (said, status):
        assert said["Key"].startswith("as shown before, valid until it is revoked (ALMANAC_HOME=")
        assert status(key) == 200
    with demo(tmp_path / "beside") as (said, status):
        # Another folder has accounts of its own.
        assert (status(key), status(said["Key"])) == (401, 200)


@contextmanager
def demo(home):
    """What `make run` prints, by its headings, and a function that asks the service with a key; stopped by Ctrl-C."""
    port = free_port()
    words = command("demo", "--port", port, "--ops-port", free_port())
    with subprocess.Popen(
        words, env=environment(home, NOW="2016-03-01T12:00:00Z"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        said = dict(process.stdout.readline().strip().split(": ", 1) for _ in range(2))
        assert "Try" in said
        try:
            yield said, functools.partial(status, process, f"http://127.0.0.1:{port}/rates/USA")
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def status(process, url, key):
    """The status of an answer, from when the service answers at all."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return httpx2.get(url, headers={"x-api-key": key}, timeout=30).status_code
        except httpx2.TransportError:
            assert process.poll() is None, "it ended"
            assert time.monotonic() < until, "nothing came"
            time.sleep(0.1)


@pytest.mark.slow
def test_a_second_run_beside_one_that_serves_changes_nothing(tmp_path):
    """It looks at the lock and at every port before it touches account or key, and says what runs where."""
    home = tmp_path / "demo"
    with serving(home) as server:
        ops = server.ops.rpartition(":")[2]
        before = contents(home)
        every = ["--no-dashboard", "--port", server.port, "--ops-port", ops]
        for ports in (every, ["--no-dashboard", "--port", free_port(), "--ops-port", free_port()]):
            done = run(tmp_path, "demo", *ports, expect=1, HOME=str(tmp_path))
            assert done.stdout == ""
            assert f"{home} is served already, by process {server.process.pid} (interface on" in done.stderr
            assert done.stderr.endswith("Nothing was changed; what runs goes on as it was.\n")
        # In another folder the ports alone are in the way: no account is made for nothing.
        done = run(tmp_path / "other", "demo", *every, expect=1)
        assert re.findall(r"cannot listen on 127\.0\.0\.1, port (\d+)", done.stderr) == [str(server.port), ops]
        assert not (tmp_path / "other/demo/accounts.db").exists()
        assert contents(home) == before


def contents(home):
    """A hash of every file of a folder but those that a running server keeps writing."""
    return {
        path.relative_to(home): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in home.rglob("*")
        if path.is_file() and "run" not in path.parts and not path.name.endswith(("-wal", "-shm", "usage.db"))
    }
