"""Two generators of clients that others wrote make models from the description that read every kind of answer."""

import json
import subprocess
from pathlib import Path

import pytest

from almanac.api.contract.endpoint import Endpoint
from tests.support.paths import ROOT

from .declared import ENDPOINTS, PATH_VALUES, REQUIRED

PYTHON = ROOT / ".venv-generators/bin/python"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="`make generators` installs the two generators"),
]
#: Pages of a list that are read: the first, in both directions, and so many behind each.
_PAGES = 5
#: Requests beside one for each endpoint, whose answers have fields that others have not.
_MORE = [
    ("/observations", {"sources": "all", "sort": "observed_at", "order": "desc"}),
    ("/observations/vintages", {"indicator": "consumer_confidence"}),
    ("/observations/latest", {"country": "USA"}),
    ("/observations", {"country": "USAA"}),
    ("/briefs/{country}", {"as_of": "2024-05-01"}),
]
_WRONG = [
    ("/observations", {"contry": "USA"}, 400),
    ("/rates/{scope}", {}, 404),
    ("/observations", {"limit": "0"}, 400),
]


def schema_of(description, path, status="200"):
    """Name of the record that an answer is."""
    answers = description["paths"][path]["get"]["responses"]
    answer = answers[str(status)]
    if "$ref" in answer:
        answer = description["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]


def places(service):
    """Path → values for what stands in its braces, of the world that is served."""
    ids = [row["id"] for row in service.ok("/derived-observations", limit=3) + service.ok("/observations", limit=3)]
    companies = [row["entityId"] for row in service.ok("/companies", limit=100)]
    countries = [row["id"] for row in service.walk("/countries", has_data="true", limit=500)]
    indicators = [row["slug"] for row in service.walk("/indicators", limit=500) if row["seriesCount"]]
    derived = [row["slug"] for row in service.walk("/derived-indicators", limit=500) if row["seriesCount"]]
    return {
        "/observations/{id}/provenance": ids,
        "/indicators/{idOrSlug}": indicators,
        "/indicators/{idOrSlug}/series": indicators,
        "/derived-indicators/{idOrSlug}": derived,
        "/derived-indicators/{idOrSlug}/entities": derived,
        "/countries/{idOrIso}": countries,
        "/rates/{scope}": ["AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA"],
        "/rates/{scope}/history": ["AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA"],
        "/briefs/{country}": countries,
        "/entities/{idOrSlug}/aliases": companies[:10] + countries[:10],
        "/companies/{idOrLookup}/profile": companies,
        "/companies/{idOrLookup}/financials": companies,
    }


def filled(path, value):
    return path if "{" not in path else f"{path[: path.index('{')]}{value}{path[path.index('}') + 1 :]}"


def answers(service, description):
    """(what was asked, name of the record, body) of every endpoint, with every name the world has."""
    among = places(service)
    required = {**REQUIRED, "/entities/resolve": {"alias": "United States"}}
    for path, endpoint in ENDPOINTS.items():
        if endpoint.kind in {"text", "json"}:
            continue
        for value in among.get(path, [""]):
            yield from _asked(service, description, endpoint, path, filled(path, value), required.get(path, {}))
    for path, query in _MORE:
        yield from _asked(service, description, ENDPOINTS[path], path, filled(path, "USA"), query)
    for path, query, status in _WRONG:
        answer = service.get(filled(path, "XXX"), "pro", None, **query)
        assert answer.status_code == status
        yield f"{path} {status}", schema_of(description, path, status), answer.json()


def _asked(service, description, endpoint: Endpoint, path, target, query):
    orders = ({}, {"order": "desc"}) if endpoint.kind == "list" and "order" not in query else ({},)
    for order in orders if endpoint.default_order else ({},):
        cursor = {}
        for _ in range(_PAGES):
            answer = service.get(target, "pro", None, **query, **order, **cursor)
            assert answer.status_code == 200, (target, answer.text)
            body = answer.json()
            yield target, schema_of(description, path), body
            following = body["meta"].get("pagination", {}).get("next_cursor")
            if following is None:
                break
            cursor = {"cursor": following}


def read(service, folder: Path):
    description = service.get("/openapi.json").json()
    found = list(answers(service, description))
    (folder / "openapi.json").write_text(json.dumps(description))
    (folder / "answers.json").write_text(json.dumps(found))
    done = subprocess.run(
        [PYTHON, ROOT / "tests/contract/generated_clients.py", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return len(found), json.loads(done.stdout)


def test_generated_clients_type_every_field_and_read_every_answer(whole, tmp_path):
    count, told = read(whole, tmp_path)
    assert count > 500
    for generator, found in told.items():
        assert found == {"untyped": [], "read": count, "failed": [], "unknown": []}, generator


def test_every_endpoint_with_braces_has_values():
    assert {path for path in ENDPOINTS if "{" in path} == set(PATH_VALUES) | {"/observations/{id}/provenance"}
