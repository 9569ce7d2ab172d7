"""What is generated is in step with the service, and every operation has a method that asks it."""

import inspect
from contextlib import suppress

import pytest

from almanac_client import BadRequest, NotFound, _generated_async, _generated_models, _generated_sync
from almanac_client._operations import Operation
from tests.contract.declared import ENDPOINTS
from tools.docs import client_files, client_surface

from .served import asked

OPERATIONS = {value.id: value for value in vars(_generated_models).values() if isinstance(value, Operation)}
PATHS = {
    "getProvenance": ("obs_x",), "getIndicator": ("cpi",), "listIndicatorSeries": ("cpi",), "getDerivedIndicator": ("x",),
    "listDerivedIndicatorEntities": ("x",), "getCountry": ("USA",), "listEntityAliases": ("x",), "getRates": ("USA",),
    "listRatesHistory": ("USA",),
    "getCompanyProfile": ("x",), "getCompanyFinancials": ("x",), "getCountryBrief": ("USA",),
}  # fmt: skip
NEEDED = {"listChanges": {"since": 0}, "resolveEntity": {"alias": "x"}, "screenEntities": {"filter": "x"},
          "screenCompanies": {"filter": "x"}}  # fmt: skip


def method_of(client, operation):
    resource, name = client_surface.METHODS[operation]
    return getattr(getattr(client, resource) if resource else client, name)


@pytest.mark.parametrize("path", client_files.files(), ids=lambda path: path.name)
def test_generated_modules_are_in_step(path):
    assert path.read_bytes() == client_files.files()[path].encode(), "run `make docs`"


def test_every_operation_is_there_and_none_else():
    declared = {one.operation_id: (one.path, one.kind) for one in ENDPOINTS.values()}
    assert {name: (one.path, one.kind) for name, one in OPERATIONS.items()} == declared


def test_an_operation_without_a_method_is_named(monkeypatch):
    less = {name: place for name, place in client_surface.METHODS.items() if name != "getRates"}
    monkeypatch.setattr(client_surface, "METHODS", less)
    with pytest.raises(client_surface.SurfaceError, match="getRates"):
        client_surface.methods()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_method_asks_its_operation(almanac, operation):
    method = method_of(almanac.raw, operation)
    with suppress(NotFound, BadRequest):  # the names are invented; what was asked is looked at
        assert method(*PATHS.get(operation, ()), **NEEDED.get(operation, {})).request_id.startswith("req_")
    path = OPERATIONS[operation].path
    for value in PATHS.get(operation, ()):
        path = path[: path.index("{")] + value + path[path.index("}") + 1 :]
    (request,) = asked(almanac)
    assert (request.method, request.url.path) == ("GET", path)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_all_four_faces_take_the_declared_parameters(almanac, awaited, operation):
    declared = next(one for one in ENDPOINTS.values() if one.operation_id == operation)
    for client, raw in ((almanac, False), (almanac.raw, True), (awaited, False), (awaited.raw, True)):
        parameters = inspect.signature(method_of(client, operation)).parameters.values()
        by_keyword = {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
        required = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty}
        own = {"page_size"} if declared.kind == "list" and not raw else set()
        assert by_keyword == set(declared.by_name) | own
        assert required == {param.name for param in declared.params if param.required}
        assert len(parameters) - len(by_keyword) == len(declared.braces)


def test_sync_and_async_have_the_same_names():
    def names(module, prefix):
        return {
            name.removeprefix(prefix): {method for method in vars(kind) if not method.startswith("_")}
            for name, kind in vars(module).items()
            if inspect.isclass(kind) and kind.__module__ == module.__name__
        }

    assert names(_generated_sync, "") == names(_generated_async, "Async")
