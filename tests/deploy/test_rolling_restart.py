"""Two hosts on one server's database, restarted one after the other behind the nginx that is shipped: no request fails."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import httpx2
import pytest

from tests.docs.machine import Machine, nginx
from tests.support import postgres
from tests.support.paths import ROOT
from tests.support.processes import PATIENCE, command, environment, run
from tests.support.servers import free_port

from .test_monitoring import running

pytestmark = [
    pytest.mark.slow,
    # Not of those that must run wherever PostgreSQL answers: nginx may not be there.
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
    pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not here"),
]
#: Requests that go on at the same time.
_CLIENTS = 3


class Host:
    """One `almanac serve` with a home of its own, which can be restarted where it was."""

    def __init__(self, home, given):
        self.port, self.ops, self._home, self._given = free_port(), free_port(), home, given
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            command("serve", "--port", self.port, "--ops-port", self.ops),
            env=environment(self._home, LOG_LEVEL="critical", **self._given),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(httpx2.HTTPError):
                if httpx2.get(f"http://127.0.0.1:{self.ops}/readyz", timeout=10, trust_env=False).status_code == 200:
                    return
            assert self.process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)


class Load:
    """Clients that ask one address over and over, from a block's beginning to its end; what came of it, and when it failed."""

    def __init__(self, port, key):
        self.came, self.failed, self._ended = Counter(), [], threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(port, key)) for _ in range(_CLIENTS)]

    def __enter__(self):
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for one in self._threads:
            one.join()

    def _ask(self, port, key):
        headers = {"x-api-key": key, "host": "almanac.example.org"}
        with httpx2.Client(trust_env=False, timeout=30) as client:
            while not self._ended.is_set():
                try:
                    status = client.get(f"http://127.0.0.1:{port}/coverage", headers=headers).status_code
                except httpx2.HTTPError as error:
                    status = type(error).__name__
                self.came[status] += 1
                if status != 200:
                    self.failed.append(time.monotonic())
                time.sleep(0.005)

    @property
    def away(self):
        """From the first failure to the last, seconds."""
        return self.failed[-1] - self.failed[0] if self.failed else 0.0


@pytest.fixture(scope="module")
def given():
    with postgres.own_database("rolling") as name:
        yield {
            "DATABASE_URL": postgres.address_of(name), "TRUSTED_PROXIES": "127.0.0.1",
            "PLANS__FREE__REQUESTS_PER_MINUTE": "1000000",
        }  # fmt: skip


@pytest.fixture(scope="module")
def hosts(given, tmp_path_factory):
    made = [Host(tmp_path_factory.mktemp(f"host{n}") / "home", given) for n in (1, 2)]
    try:
        for one in made:
            one.start()
        yield made
    finally:
        for one in made:
            one.stop()


@pytest.fixture(scope="module")
def key(given, hosts, tmp_path_factory):
    home = tmp_path_factory.mktemp("operator") / "home"
    run(home, "accounts", "create", "ada@example.org", "--plan", "free", **given)
    return json.loads(run(home, "keys", "create", "--account", "ada@example.org", "--json", **given).stdout)["key"]


@contextlib.contextmanager
def balancing(folder, hosts, **changes):
    """The nginx that is shipped, before one host or two; without TLS, which has tests of its own. Gives its port."""
    machine = Machine(folder)
    shutil.copy(ROOT / "deploy/nginx/almanac.conf", folder / "etc/nginx/conf.d")
    (folder / "etc/almanac/tls").mkdir(parents=True)
    machine.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=almanac.example.org",
         "-keyout", "/etc/almanac/tls/privkey.pem", "-out", "/etc/almanac/tls/fullchain.pem"]
    )  # fmt: skip
    port, plain = free_port(), free_port()
    written = {"server 127.0.0.1:8000 ": f"server 127.0.0.1:{hosts[0].port} "}
    if len(hosts) == 2:
        written["#server 10.0.0.2:8000 "] = f"server 127.0.0.1:{hosts[1].port} "
    written |= {"listen 80;": f"listen 127.0.0.1:{plain};", "listen 443 ssl http2;": f"listen 127.0.0.1:{port};"}
    main = nginx(machine, written | changes)
    with running(["nginx", "-p", folder, "-c", main, "-g", "daemon off;"], port):
        yield port


def rolled(folder, hosts, key, **changes):
    """What came of requests while both hosts were restarted, the second when the first was ready again."""
    with balancing(folder, hosts, **changes) as port, Load(port, key) as load:
        time.sleep(1)
        for one in hosts:
            one.stop()
            one.start()
        time.sleep(1)
    sys.stderr.write(f"two hosts, one after the other: {dict(load.came)} {changes}\n")
    return load.came


def test_a_rolling_restart_fails_no_request(hosts, key, tmp_path):
    came = rolled(tmp_path, hosts, key)
    assert set(came) == {200}
    assert came[200] > 200


def test_it_is_what_the_file_says_that_does_it(hosts, key, tmp_path):
    """By nginx's default a host that was away is left out for a while after it is back."""
    assert rolled(tmp_path, hosts, key, **{" max_fails=0": ""})[502] > 0


def test_a_restart_of_a_single_host_costs_what_the_page_says(hosts, key, tmp_path):
    """Refused while nobody listens, and no longer: the load shows that it sees such a thing."""
    with balancing(tmp_path, hosts[:1]) as port, Load(port, key) as load:
        time.sleep(1)
        began = time.monotonic()
        hosts[0].stop()
        hosts[0].start()
        whole = time.monotonic() - began
        time.sleep(1)
    sys.stderr.write(f"one host: {dict(load.came)}, away {load.away:.1f} s of {whole:.1f} s until it was ready\n")
    assert load.came[502] > 0
    assert set(load.came) <= {200, 502, 503}
    assert load.away <= whole
