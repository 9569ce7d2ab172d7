"""What is shipped for Prometheus and Grafana names only what a real service shows, and Prometheus' own tool reads it."""

import contextlib
import json
import re
import shutil
import ssl
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
import yaml

from almanac.pipeline.context import PipelineContext
from almanac.store.engine.data_schema import SCHEMA
from tests.docs.machine import Machine, nginx
from tests.support.paths import ROOT
from tests.support.processes import PATIENCE, run
from tests.support.servers import free_port, serving, until_ready
from tests.support.treasury_home import SOURCE, settings, take

pytestmark = pytest.mark.slow

RULES = ROOT / "deploy/prometheus/almanac.rules.yml"
DASHBOARD = ROOT / "deploy/grafana/almanac.json"
NAME = re.compile(r"\balmanac_[a-z_]+\b")


@pytest.fixture(scope="module")
def scrape(tmp_path_factory):
    """What `/metrics` of a running service says, after one request of each kind."""
    folder = tmp_path_factory.mktemp("monitored")
    with PipelineContext(settings(folder)) as world:
        take(world, folder / "mirror")
    wanted = {"DASHBOARD": "true", "DASHBOARD_PORT": str(free_port())}
    with serving(settings(folder).home, NOW="2026-11-20T12:00:00Z", **wanted) as server:
        httpx2.get(f"{server.base}/coverage")
        until_ready(server)
        yield measured(server)


def measured(server):
    """The metrics, once all of them were measured: until then a scrape shows what is known, and waits for nothing."""
    for _ in range(60):
        text = httpx2.get(f"{server.ops}/metrics", timeout=30).text
        if all(name in text for name in ("almanac_workers ", "almanac_source_health")):
            break
        time.sleep(0.5)
    return text


def samples(text):
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            series, _, value = line.rpartition(" ")
            found[series] = float(value)
    return found


def shown(text):
    """Names of all samples, and of gauges that have none just now."""
    gauges = set(re.findall(r"(?m)^# TYPE (\w+) gauge$", text))
    return gauges | {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]


def expressions():
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return {
        "rules": [rule["expr"] for rule in rules()],
        "dashboard": [target["expr"] for panel in panels for target in panel["targets"]],
    }


@pytest.mark.parametrize("kind", ["rules", "dashboard"])
def test_every_metric_that_is_named_is_in_a_real_scrape(scrape, kind):
    named = {name for expression in expressions()[kind] for name in NAME.findall(expression)}
    assert len(named) > 8
    assert named - shown(scrape) == set()


def test_every_metric_of_ours_is_documented_and_the_other_way_round(scrape):
    told = set(re.findall(r"(?m)^\| `(almanac_[a-z_]+)` \|", (ROOT / "docs/alerts.md").read_text("utf-8")))
    ours = {name for name in shown(scrape) if name.startswith("almanac_") and not name.endswith("_created")}
    ours = {re.sub("(_bucket|_sum|_count)$", "", name) for name in ours}
    assert ours == told


def test_the_figures_of_a_service_are_those_of_its_store(scrape):
    found = samples(scrape)

    def of(name, **labels):
        inside = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
        return found[f"{name}{{{inside}}}" if inside else name]

    assert of("almanac_store_readable") == 1
    assert of("almanac_data_version") >= 3
    assert of("almanac_data_version_timestamp_seconds") > 1_700_000_000
    assert of("almanac_source_health", source=SOURCE, health="failing") == 1  # one response cannot be read
    assert of("almanac_source_health", source=SOURCE, health="ok") == 0
    assert of("almanac_source_health", source="snb", health="never_run") == 1
    assert of("almanac_quarantined_responses", source=SOURCE) == 1
    assert of("almanac_source_series", source=SOURCE) == of("almanac_source_stale_series", source=SOURCE) == 2
    end_of_7_january = 1_767_830_399
    assert of("almanac_source_newest_period_timestamp_seconds", source=SOURCE) == end_of_7_january
    assert f'almanac_source_last_success_timestamp_seconds{{source="{SOURCE}"}}' in found
    assert 'almanac_source_last_success_timestamp_seconds{source="snb"}' not in found
    assert of("almanac_workers") == 1
    assert of("almanac_database_bytes", database="data") > 100_000
    assert of("almanac_database_log_bytes", database="data") >= 0
    assert 0 < of("almanac_disk_free_bytes", folder="home") < of("almanac_disk_bytes", folder="home")
    assert [name for name in found if name.startswith("almanac_build_info") and f'schema="{SCHEMA}"' in name] != []
    assert of("almanac_faults_total", kind="internal") == of("almanac_faults_total", kind="storage") == 0
    assert of("almanac_authentication_failures_total", reason="missing") >= 1


def test_each_alert_says_what_to_do_and_is_tried():
    found = rules()
    tried = (Path(__file__).parent / "almanac.rules.test.yml").read_text("utf-8")
    assert len(found) == len({rule["alert"] for rule in found}) > 10
    assert [rule["alert"] for rule in found if f'alertname="{rule["alert"]}"' not in tried] == []
    for rule in found:
        assert set(rule["annotations"]) == {"summary", "action"}
        assert rule["labels"]["severity"] in {"critical", "warning"}


def test_the_dashboard_can_be_imported():
    """Each panel has its place, and asks the chosen Prometheus."""
    found = json.loads(DASHBOARD.read_text("utf-8"))
    assert (found["uid"], len({panel["id"] for panel in found["panels"]})) == ("almanac", len(found["panels"]))
    taken = set()
    for panel in found["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
        assert panel["datasource"]["uid"] == "${datasource}"


def promtool(*arguments):
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_prometheus_reads_the_rules():
    done = promtool("check", "rules", RULES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_fires_the_alerts_when_it_should_and_not_before(tmp_path):
    written = tmp_path / "rules.test.yml"
    cases = (Path(__file__).parent / "almanac.rules.test.yml").read_text("utf-8")
    written.write_text(cases.replace("RULES", str(RULES)))
    done = promtool("test", "rules", written)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_reads_the_expressions_of_the_dashboard(tmp_path):
    asked = [
        {"record": f"panel:{number}", "expr": text.replace('=~"$instance"', '="a"')}
        for number, text in enumerate(expressions()["dashboard"])
    ]
    written = tmp_path / "dashboard.yml"
    written.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": asked}]}))
    done = promtool("check", "rules", written)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_finds_no_fault_with_what_a_service_shows(scrape):
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    done = subprocess.run([tool, "check", "metrics"], input=scrape, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# -- the examples for nginx and Caddy in front of a served home: TLS, who the client is, and what is refused ----------


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
