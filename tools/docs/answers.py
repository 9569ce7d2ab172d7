"""Answers that the description and the reference show: asked of the small world, and kept beside the declarations."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from almanac.api.contract import openapi
from tests.support.paths import ROOT

from .served import UNREADABLE, Service, build, failing, served

FILE = ROOT / "src/almanac/api/contract" / openapi.EXAMPLES_FILE
#: A request for each operation whose answer is JSON in an envelope, as its page shows it.
REQUESTS = {
    "listObservations": "/observations?country=USA&indicator=cpi_index&period=2024-06",
    "listLatestObservations": "/observations/latest?country=USA&indicator=gov_yield_10y",
    "listVintages": "/observations/vintages?country=USA&indicator=cpi_index&period=2024-06",
    "listChanges": "/observations/changes?since=0&country=USA&indicator=cpi_index&limit=1",
    "getProvenance": "/observations/obs_vybtlprlj7yali3577brtjln77/provenance",
    "listIndicators": "/indicators?q=inflation&limit=1",
    "getIndicator": "/indicators/cpi_index",
    "listIndicatorSeries": "/indicators/gov_yield_10y/series?country=USA",
    "listProviders": "/providers?limit=1",
    "listSources": "/sources?limit=1&order=desc",
    "listCountries": "/countries?limit=1&order=desc",
    "getCountry": "/countries/USA",
    "getCoverage": "/coverage",
    "listEntityAliases": "/entities/boxwood-software-corp/aliases?limit=2",
    "resolveEntity": "/entities/resolve?alias=Boxwood%20Software",
    "listCompanies": "/companies?sector=technology&limit=1",
    "getCompanyProfile": "/companies/boxwood-software-corp/profile",
    "getCompanyFinancials": "/companies/boxwood-software-corp/financials?frequency=annual&limit=1&as_of=2025-03-01",
    "listDerivedObservations": "/derived-observations?country=USA&indicator=cpi_inflation_yoy&period=2024-06",
    "getRates": "/rates/USA",
    "listRatesHistory": "/rates/USA/history?start_date=2026-10-01&end_date=2026-10-31&limit=1",
    "listDerivedIndicators": "/derived-indicators?category=inflation&limit=1",
    "getDerivedIndicator": "/derived-indicators/cpi_inflation_yoy",
    "listDerivedIndicatorEntities": "/derived-indicators/cpi_inflation_yoy/entities",
    "getCountryBrief": "/briefs/USA",
    "listReleaseSummaries": "/release-summaries?country=USA&limit=1",
    "screenEntities": "/screener?filter=cpi_inflation_yoy:gt:2&sort=cpi_inflation_yoy",
    "listScreenerFilters": "/screener/filters",
    "screenCompanies": "/equity-screener?filter=piotroski_f:gte:6,net_margin:gt:0.1&limit=2",
    "listEquityScreenerFilters": "/equity-screener/filters",
    "listEvents": "/events?country=USA&category=macro_release&limit=1",
}
#: What stands for the ids of requests, which differ each time.
REQUEST_ID = "req_01K9YV4T8RQ2M6B3XW5ZC7DAEF"
#: How many entries of a list inside an answer are shown.
SHOWN = 2


def record(service: Service) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the examples to keep: an answer for each operation, and one error for each status."""
    # The log would tell at length of the faults that are made on purpose.
    with capture_logs():
        return {
            "answers": {name: _shown(target, service.get(target).json()) for name, target in REQUESTS.items()},
            "errors": dict(_errors(service)),
        }


def _errors(service: Service) -> list[tuple[str, dict[str, Any]]]:
    free = service.others["plan"]
    for _ in range(100):
        service.get("/coverage", free)
    found = []
    for method, target, answer in (
        ("GET", "/observations?contry=USA", service.get("/observations?contry=USA")),
        ("GET", "/coverage", service.get("/coverage", "")),
        ("GET", "/observations", service.get("/observations", service.others["scopes"])),
        ("GET", "/indicators/cpi_inflaton_yoy", service.get("/indicators/cpi_inflaton_yoy")),
        ("POST", "/observations", service.ask("POST", "/observations")),
        ("GET", "/coverage", service.get("/coverage", free)),
        ("GET", "/coverage", service.ask("GET", "/coverage", app=service.over(failing(RuntimeError("invented"))))),
        ("GET", "/coverage", service.ask("GET", "/coverage", app=service.over(UNREADABLE))),
    ):
        found.append((str(answer.status_code), _shown(target, answer.json(), method)))
    return found


def _shown(target: str, answer: Any, method: str = "GET") -> dict[str, Any]:
    return {"request": f"{method} {target}", "value": _short(answer)}


def _short(value: Any, name: str = "") -> Any:
    """Without what differs from asking to asking, and with lists inside it cut short."""
    if isinstance(value, dict):
        return {key: _short(inner, key) for key, inner in value.items()}
    if isinstance(value, list) and name not in {"derivedFrom", "operators", "allowed"}:
        return [_short(inner) for inner in value[:SHOWN]]
    if name in {"request_id", "requestId"}:
        return REQUEST_ID
    # Signed with a secret of the installation.
    return "…" if name == "next_cursor" and value is not None else value


def written(recorded: Any) -> str:
    """The text of the file."""
    return json.dumps(recorded, indent=1, ensure_ascii=False) + "\n"


def update() -> bool:
    """Ask anew and keep what is answered; whether anything is different."""
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        with served(Path(folder)) as service:
            new = written(record(service))
    if FILE.exists() and FILE.read_text("utf-8") == new:
        return False
    FILE.write_text(new, "utf-8")
    openapi.recorded.cache_clear()
    return True
