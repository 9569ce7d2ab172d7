"""Importing the package brings nothing heavy along, and none of the service."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import almanac_client

PACKAGE = Path(almanac_client.__file__).parent
HEAVY = [
    "httpx2",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "matplotlib",
    "keyring",
    "asyncio",
    "sqlite3",
    "almanac",
]


def test_nothing_heavy_is_imported():
    code = "import sys, almanac_client; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "almanac_client" in modules
    assert [name for name in HEAVY if name in modules] == []


def test_the_package_never_imports_the_service():
    found = {
        (path.name, name)
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if name.partition(".")[0] == "almanac"
    }
    assert found == set()


def test_what_is_named_exists_and_what_does_not_is_an_error():
    assert {name for name in almanac_client.__all__ if not hasattr(almanac_client, name)} == set()
    with pytest.raises(AttributeError, match="Cahce"):
        almanac_client.Cahce  # noqa: B018 - naming it is the test


def test_modules_say_what_they_are_and_are_short():
    for path in PACKAGE.glob("*.py"):
        text = path.read_text("utf-8")
        assert ast.get_docstring(ast.parse(text)), path.name
        assert path.name.startswith("_generated_") or len(text.splitlines()) <= 400, path.name


def test_the_version_is_said_once():
    told = re.search(r'(?m)^version = "([^"]+)"$', (PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))
    assert told is not None
    assert told[1] == almanac_client.__version__
    changes = (PACKAGE.parents[1] / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## {told[1]}\n" in changes
