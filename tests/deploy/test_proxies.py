"""The examples for nginx and Caddy in front of a served home: TLS, who the client is, and what is refused."""

import contextlib
import json
import re
import shutil
import ssl
import subprocess
import time

import httpx2
import pytest

from tests.docs.machine import Machine, nginx
from tests.support.paths import ROOT
from tests.support.processes import PATIENCE, run
from tests.support.servers import free_port, serving

pytestmark = pytest.mark.slow

HOST, PAGES = "almanac.example.org", "data.example.org"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A served home with a key, which believes a proxy on this machine and throttles an address that fails often."""
    home = tmp_path_factory.mktemp("proxies") / "home"
    run(home, "accounts", "create", "ada@example.org", "--plan", "free")
    key = json.loads(run(home, "keys", "create", "--account", "ada@example.org", "--json").stdout)["key"]
    port = free_port()
    pages = {"DASHBOARD": "true", "DASHBOARD_PORT": str(port), "DASHBOARD_URL": f"https://{PAGES}"}
    with serving(home, TRUSTED_PROXIES="127.0.0.1", FAILURES_PER_MINUTE="20", **pages) as server:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(httpx2.TransportError):
                httpx2.get(f"http://127.0.0.1:{port}/signin", trust_env=False)
                break
            time.sleep(0.1)
        yield server, key, port


@contextlib.contextmanager
def running(words, port, **more):
    """A proxy, from when it takes connections until it is ended."""
    with subprocess.Popen(
        [str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more
    ) as process:
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    httpx2.get(f"http://127.0.0.1:{port}/", timeout=5, trust_env=False)
                    break
                except httpx2.HTTPError:
                    assert process.poll() is None, process.stderr.read().decode()
                    assert time.monotonic() < until
                    time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)


@pytest.fixture
def machine(tmp_path):
    """The files of the page in a folder, with a certificate signed by itself."""
    made = Machine(tmp_path)
    for name, folder in (("nginx/almanac.conf", "etc/nginx/conf.d"), ("caddy/Caddyfile", "etc/caddy")):
        shutil.copy(ROOT / "deploy" / name, tmp_path / folder)
    tls = tmp_path / "etc/almanac/tls"
    tls.mkdir(parents=True)
    made.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={HOST}",
         "-addext", f"subjectAltName=DNS:{HOST},DNS:{PAGES}",
         "-keyout", "/etc/almanac/tls/privkey.pem", "-out", "/etc/almanac/tls/fullchain.pem"]
    )  # fmt: skip
    return made


def ask(port, path, trusted, host=HOST, content=None, **headers):
    """A request to a name of the example, over TLS, with its certificate checked; a POST where there is `content`."""
    context = ssl.create_default_context(cafile=str(trusted))
    with httpx2.Client(verify=context, trust_env=False) as client:
        return client.request(
            "GET" if content is None else "POST", f"https://127.0.0.1:{port}{path}", content=content,
            headers={"host": host, **headers}, extensions={"sni_hostname": host},
        )  # fmt: skip


def behaves(port, trusted, key):
    """What both examples must do."""
    good = ask(port, "/coverage", trusted, **{"x-api-key": key})
    assert (good.status_code, good.headers["strict-transport-security"]) == (200, "max-age=31536000")
    assert good.json()["data"]["observations"] == 0
    # Many times over one connection of the proxy, past what Almanac keeps open.
    assert {ask(port, "/sources", trusted, **{"x-api-key": key}).status_code for _ in range(5)} == {200}
    # A client that claims another address at each try is throttled all the same, in this minute or the next.
    told = [
        ask(port, "/coverage", trusted, **{"x-forwarded-for": f"192.0.2.{n}", "x-api-key": "wrong"}) for n in range(24)
    ]
    assert 429 in {one.status_code for one in told} <= {401, 429}
    # What screens and lists of names need.
    long = "%2C".join(f"country_{n}" for n in range(600))
    assert ask(port, f"/observations?country={long}", trusted, **{"x-api-key": key}).status_code == 400


def shows_pages(port, trusted):
    """What both examples must do for the dashboard."""
    page = ask(port, "/signin", trusted, PAGES)
    assert page.status_code == 200
    assert page.headers.get_list("strict-transport-security") == ["max-age=31536000"]
    assert page.headers["set-cookie"].startswith("__Host-almanac-form=")
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert ask(port, "/signin", trusted, PAGES, b"a=" + b"b" * 50_000, **form).status_code == 403
    assert ask(port, "/signin", trusted, PAGES, b"a=" + b"b" * 70_000, **form).status_code in {413, 502}  # Caddy's
    assert ask(port, "/reset/a-secret-link", trusted, PAGES).status_code == 404
    assert ask(port, "/rates/USA", trusted, PAGES).headers["location"] == "/signin?next=/rates/USA"


def test_nginx_ends_tls_and_tells_who_asks(served, machine):
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not here")
    server, key, pages = served
    plain, secure = free_port(), free_port()
    changes = {
        "server 127.0.0.1:8000 ": f"server 127.0.0.1:{server.port} ",
        "server 127.0.0.1:8001 ": f"server 127.0.0.1:{pages} ",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{secure} ssl http2;",
    }
    main = nginx(machine, changes)
    with running(["nginx", "-p", machine.root, "-c", main, "-g", "daemon off;"], plain):
        behaves(secure, machine.root / "etc/almanac/tls/fullchain.pem", key)
        clear = httpx2.get(f"http://127.0.0.1:{plain}/coverage", headers={"x-api-key": key}, trust_env=False)
        assert (clear.status_code, clear.text) == (403, "Use https.\n")
        shows_pages(secure, machine.root / "etc/almanac/tls/fullchain.pem")
        clear = httpx2.get(f"http://127.0.0.1:{plain}/keys", headers={"host": PAGES}, trust_env=False)
        assert (clear.status_code, clear.headers["location"]) == (301, f"https://{PAGES}/keys")
    logged = (machine.root / "var/log/nginx/almanac.log").read_text("utf-8")
    assert " GET /observations 400 " in logged
    assert "country_1" not in logged
    assert key not in logged
    assert " GET /reset/- 404 " in logged
    assert "a-secret-link" not in logged


def test_caddy_ends_tls_and_tells_who_asks(served, machine):
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not here")
    server, key, pages = served
    plain, secure = free_port(), free_port()
    path = machine.root / "etc/caddy/Caddyfile"
    text = machine.here(path.read_text("utf-8")).replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    text = text.replace("127.0.0.1:8001", f"127.0.0.1:{pages}")
    # Its own certificate in place of one from an authority, other ports, and no listener to be administered at.
    text = text.replace(
        "email operator@example.org", f"admin off\n\thttp_port {plain}\n\thttps_port {secure}\n\tdefault_bind 127.0.0.1"
    )
    tls = machine.root / "etc/almanac/tls"
    for host in (HOST, PAGES):
        text = text.replace(f"{host} {{", f"{host} {{\n\ttls {tls}/fullchain.pem {tls}/privkey.pem", 1)
    path.write_text(text)
    home = {"HOME": str(machine.root), "XDG_DATA_HOME": str(machine.root), "XDG_CONFIG_HOME": str(machine.root)}
    with running([shutil.which("caddy"), "run", "--config", path, "--adapter", "caddyfile"], plain, env=home):
        behaves(secure, tls / "fullchain.pem", key)
        clear = httpx2.get(f"http://127.0.0.1:{plain}/coverage", headers={"host": HOST}, trust_env=False)
        assert (clear.status_code, clear.headers["location"]) == (308, f"https://{HOST}/coverage")
        shows_pages(secure, tls / "fullchain.pem")
    logged = (machine.root / "var/log/caddy/almanac.log").read_text("utf-8")
    assert re.search(r'"uri":"/observations"', logged)
    assert "country_1" not in logged
    assert key not in logged
    assert '"uri":"/reset/"' in logged
    assert "a-secret-link" not in logged
