"""What is shipped for Prometheus and Grafana names only what a real service shows, and Prometheus' own tool reads it."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
import yaml

from almanac.pipeline.workplace import Workplace
from almanac.store.engine.sqlite import SCHEMA
from tests.support.paths import ROOT
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
    with Workplace(settings(folder)) as world:
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
