"""The package stands on the public client alone: nothing of the service, and no inside of the client."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import almanac_client
import almanac_mcp

PACKAGE = Path(almanac_mcp.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
PROJECT = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def imported():
    """(module, name) of every import from elsewhere."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield from ((node.module, alias.name) for alias in node.names)


def test_it_imports_the_public_names_of_the_client_and_nothing_of_the_service():
    found = set(imported())
    assert {one for one in found if one[0].partition(".")[0] == "almanac"} == set()
    from_client = {one for one in found if one[0].partition(".")[0] == "almanac_client"}
    assert from_client != set()
    assert {one for one in from_client if one[0] != "almanac_client" or one[1] not in almanac_client.__all__} == set()


def test_what_it_imports_is_what_it_requires():
    required = {
        re.match(r"[\w-]+", one)[0].replace("-", "_").replace("_service_", "_") for one in PROJECT["dependencies"]
    }
    roots = {module.partition(".")[0] for module, _ in imported()}
    third = {one for one in roots if one not in sys.stdlib_module_names} - {"almanac_mcp", "mcp_types"}
    assert third == required


def test_its_version_is_said_once():
    assert PROJECT["version"] == almanac_mcp.__version__
    assert f"## {almanac_mcp.__version__}" in (PACKAGE.parents[1] / "CHANGELOG.md").read_text("utf-8")


def test_nothing_is_printed():
    """Standard output is the wire."""
    calls = [
        (path.name, ast.unparse(node.func))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "sys.stdout.write"}
    ]
    assert calls == []
