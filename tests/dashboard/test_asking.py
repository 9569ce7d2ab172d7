"""Pages ask the interface's own endpoints: the same data, rights, windows and refusals as over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from almanac.api.contract.errors import ApiError
from almanac.dashboard.asking import InProcessApi, is_simulated
from tests.support.service import REAL_NOW, Service


@pytest.fixture(scope="module")
def api(service: Service) -> Iterator[InProcessApi]:
    return InProcessApi(
        service.endpoints,
        service.accounts.secret("cursor"),
        service.reader.view,
        service.settings,
        clock=service.settings.clock,
        walltime=lambda: REAL_NOW + 18.0,
    )


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/observations", {"country": "USA", "limit": 7}),
        ("/observations", {"country": "USA", "indicator_id": ["cpi_index", "gov_yield_10y"], "as_of": "2024-05-01"}),
        ("/rates/USA", {}),
        ("/indicators/cpi_index", {}),
        ("/screener", {"filter": "gov_yield_10y:gt:1"}),
        ("/coverage", {}),
        ("/sources", {"limit": 3}),
    ],
)
@pytest.mark.parametrize("plan", ["free", "pro"])
def test_an_answer_is_the_one_a_program_gets(
    service: Service, api: InProcessApi, path: str, params: dict[str, object], plan: str
) -> None:
    wire = {name: ",".join(value) if isinstance(value, list) else value for name, value in params.items()}
    answer = service.get(path, plan, None, **wire)
    if answer.status_code != 200:
        with pytest.raises(ApiError) as refused:
            api.ask("acc_any", plan, path, params)
        assert (refused.value.status, refused.value.message) == (answer.status_code, answer.json()["error"]["message"])
        return
    told = api.ask("acc_any", plan, path, params)
    assert told.data == answer.json()["data"]
    assert told.meta.get("pagination", {}).get("total") == answer.json()["meta"].get("pagination", {}).get("total")
    assert told.version == int(answer.headers["x-data-version"])
    assert told.history_from == answer.headers.get("x-history-from")


def test_the_request_shown_gives_the_same_data(service: Service, api: InProcessApi) -> None:
    told = api.ask(
        "acc_any", "pro", "/observations", {"country": "USA", "as_of": "2025-01-01", "sort": None, "limit": 5}
    )
    assert told.request.path_and_query == "/observations?country=USA&as_of=2025-01-01&limit=5"
    assert service.get(told.request.path_and_query).json()["data"] == told.data
    assert told.request.curl("http://127.0.0.1:8000") == (
        'curl -H "x-api-key: $ALMANAC_API_KEY" "http://127.0.0.1:8000/observations?country=USA&as_of=2025-01-01&limit=5"'
    )


def test_pages_walk_by_the_cursors_of_the_interface(service: Service, api: InProcessApi) -> None:
    first = api.ask("acc_any", "pro", "/observations", {"country": "USA", "limit": 3})
    second = api.ask("acc_any", "pro", "/observations", {"country": "USA", "limit": 3, "cursor": first.next_cursor})
    assert first.data + second.data == service.ok("/observations", country="USA", limit=6)


@pytest.mark.parametrize(
    ("path", "params", "status", "named"),
    [
        ("/nowhere", {}, 404, "there is nothing at this path"),
        ("/rates/FRA", {}, 404, "AUS, CAN, CHE"),
        ("/observations", {"as_of": "2999-01-01"}, 400, "'as_of'"),
        ("/observations", {"contry": "USA"}, 400, "'contry'"),
        ("/observations", {"country": "USA", "end_date": "2001-01-01"}, 403, "'end_date'"),
    ],
)
def test_a_refusal_is_the_one_a_program_gets(
    api: InProcessApi, path: str, params: dict[str, object], status: int, named: str
) -> None:
    with pytest.raises(ApiError) as refused:
        api.ask("acc_any", "free", path, params)
    assert refused.value.status == status
    assert named in refused.value.message


def test_a_plan_that_is_gone_is_refused_by_name(api: InProcessApi) -> None:
    with pytest.raises(ApiError, match="'gold'"):
        api.ask("acc_any", "gold", "/coverage", {})


def test_all_that_a_page_asks_is_of_one_state(own: Service) -> None:
    """What is written between two questions of one page shows on the next page."""
    api = InProcessApi(
        own.endpoints, own.accounts.secret("cursor"), own.reader.view, own.settings, clock=own.settings.clock,
        walltime=lambda: REAL_NOW + 18.0,
    )  # fmt: skip
    with api.one_state():
        before = api.ask("acc_any", "pro", "/coverage")
        with own.world(
            SOURCES__FRED__CONSENT__BY="", SOURCES__FRED__CONSENT__ON="", SOURCES__FRED__CONSENT__REFERENCE=""
        ):
            pass  # taking a consent back is a data version
        after = api.ask("acc_any", "pro", "/coverage")
    assert before.version == after.version
    with api.one_state():
        assert api.ask("acc_any", "pro", "/coverage").version > before.version


def test_the_simulated_world_is_told_from_a_real_one(service: Service) -> None:
    with service.reader.view() as view:
        assert not is_simulated(view)
