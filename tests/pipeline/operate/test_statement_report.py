"""How good the statements of a store are, over simulated filers: counted again plainly, from what the interface answers."""

import json
from collections import Counter
from datetime import date

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.catalog.companies import styles
from almanac.domain.companies import company_id
from almanac.pipeline.derive.companies import read
from almanac.pipeline.operate import statement_report as module
from almanac.pipeline.operate.statement_report import statement_report
from almanac.sandbox.companies.responses import filed
from almanac.store.engine.opening import place
from almanac.store.observations.reading.reader import Reader
from tests.support import simulated_filers
from tests.support.service import Service, copy, make_accounts, settings
from tests.support.worlds import once

STYLES = {"hardware": "commercial", "banks": "bank", "insurers": "insurer", "property": "lessor"}
TYPES = {"incomeStatements": "income", "balanceSheets": "balance", "cashFlowStatements": "cash_flow"}


def build(home):
    first = simulated_filers.first_of_trades()
    simulated_filers.load(settings(home), [first[trade] for trade in STYLES])
    make_accounts(settings(home))


@pytest.fixture(scope="module")
def service(tmp_path_factory, worker_id):
    made = once(tmp_path_factory, worker_id, "statement-report", build)
    one = Service(copy(made, tmp_path_factory.mktemp("report") / "home"))
    yield one
    one.close()


@pytest.fixture(scope="module")
def report(service):
    reader = Reader(place(service.settings.data_place))
    with reader.view() as view:
        found = statement_report(view)
    reader.close()
    return found


def bodies(service, trade):
    """All statements of the filer of a trade by type, each the newest first."""
    found = service.ok(f"/companies/{company_id(simulated_filers.first_of_trades()[trade].cik)}/financials", limit=100)
    return {type_: found[name] for name, type_ in TYPES.items()}


def _in_order(signs):
    return sorted(signs.items())


def day(text):
    return date.fromisoformat(text[:10]).toordinal()


@pytest.mark.parametrize(("trade", "style"), STYLES.items())
def test_a_filer_counts_under_the_style_it_reports_in(service, report, trade, style):
    (shares,) = (one for one in report.shares if one.style == style)
    told = bodies(service, trade)
    assert shares.filers == 1
    every = [one for found in told.values() for one in found]
    assert (shares.statements, shares.balance_sheets) == (len(every), len(told["balance"]))
    for verdict in ("ok", "warning", "failed"):
        assert getattr(shares, verdict) == sum(one["quality"]["status"] == verdict for one in every)
    papers = filed(simulated_filers.first_of_trades()[trade].number, service.settings.clock()).papers
    dates = {p.report for p in papers if p.form in {"10-K", "10-Q", "10-K/A", "10-Q/A"} and p.report}
    own = [one for one in told["income"] if any(abs(day(one["periodEnd"]) - date) <= 10 for date in dates)]
    assert shares.own_periods == len(own) > 20
    assert shares.own_periods_with_revenue == sum("revenue" in one["items"] for one in own)
    assert shares.balance_sheets_with_total_assets == len(told["balance"])


@pytest.mark.parametrize(("trade", "style"), STYLES.items())
def test_an_item_is_that_of_the_newest_statement(service, report, trade, style):
    newest = {type_: found[0] for type_, found in bodies(service, trade).items()}
    rows = [one for one in report.items if one.style == style]
    assert {(one.statement, one.item) for one in rows if one.served} == {
        (type_, item) for type_, body in newest.items() for item in body["items"]
    }
    assert {one.statements for one in rows} == {1}
    assert all(one.served + sum(one.absent.values()) == 1 for one in rows)


def test_tags_are_looked_at_for_the_style_day_by_day(service, monkeypatch):
    """Against the facts that the derivation reads. What comes of the signs is another test's."""
    asked = []
    monkeypatch.setattr(module, "style_told", lambda signs, template: asked.append((template, dict(signs))) or template)
    reader = Reader(place(service.settings.data_place))
    with reader.view() as view:
        statement_report(view)
        company = read(view, company_id(simulated_filers.first_of_trades()["banks"].cik))
    reader.close()
    style_of = {f"us-gaap:{tag}": style.key for style in styles().values() for tag in style.signs}
    ends = {tag: {end for _, end in company.facts.get(tag, {})} for tag in style_of}
    expected = [
        dict(Counter(style_of[tag] for tag in style_of if end in ends[tag]))
        for end in {day(one["periodEnd"]) for found in bodies(service, "banks").values() for one in found}
    ]
    told = [signs for template, signs in asked if template == "bank"]
    assert sorted(told, key=_in_order) == sorted(expected, key=_in_order)
    assert {"bank": 1, "insurer": 1} in expected


def test_the_command_prints_the_same_and_changes_nothing(service, report):
    before = {path: path.stat().st_mtime_ns for path in service.settings.home.rglob("data.db")}
    env = {"ALMANAC_HOME": str(service.settings.home), "ALMANAC_NOW": service.settings.now or ""}
    if service.settings.database_url:
        env["ALMANAC_DATABASE_URL"] = service.settings.database_url
    told = CliRunner(env=env).invoke(main, ["companies", "report", "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert [one["style"] for one in found["shares"]] == [one.style for one in report.shares]
    assert [(one["style"], one["item"], one["served"]) for one in found["items"]] == [
        (one.style, one.item, one.served) for one in report.items
    ]
    words = CliRunner(env=env).invoke(main, ["companies", "report"]).stdout
    assert len(words.splitlines()) == len(report.shares) + len(report.items) + 3
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_store_that_is_not_there_is_named(tmp_path):
    told = CliRunner(env={"ALMANAC_HOME": str(tmp_path / "none")}).invoke(main, ["companies", "report"])
    assert told.exit_code != 0
    assert "Error: " in told.output
    assert not (tmp_path / "none").exists()
