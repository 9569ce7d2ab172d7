"""No document, error or help text has anybody install one of our names from an index: there they are other people's."""

import json
import re
import tomllib
from functools import cache

import pytest

import almanac_client
from almanac import distribution

from .files import ROOT, name, text, tracked

#: What is ours, or looks as if it were: the program, its client, its server for language models, under any name they had.
OURS = re.compile(r"almanac(?:[-_.]+(?:service|client|mcp|server))*", re.IGNORECASE)
#: Programs that take packages from an index, with the word that has them do it where they have others.
INSTALLER = re.compile(
    r"\b(?:(?:uv\s+)?pip[0-9.]*\s+(?:install|download|wheel)|uv\s+(?:add|tool\s+(?:install|run))|uvx|"
    r"pipx\s+(?:install|run|inject)|(?:poetry|pdm|hatch|rye)\s+add|(?:conda|mamba|micromamba|pixi)\s+(?:install|add))\b"
)
#: Options whose value is no package, and such whose value is one.
VALUE = {"-r", "--requirement", "-c", "--constraint", "--python", "-p", "-t", "--target", "-d", "-w"}
#: A command ends with its line, with a comment, or where its shell begins another.
END = re.compile(r"\\?\n\s*\n|(?<!\\)\n|\s#|&&|\|\||;")
#: A requirement with an extra, wherever it stands: `almanac[postgres]`. After a slash it is a path.
EXTRA = re.compile(rf"(?<![\w./-]){OURS.pattern}\[[a-z]")
#: The tables that declare what a package is called, and what it requires of ours.
DECLARING = {"pyproject.toml", "clients/python/pyproject.toml", "clients/mcp/pyproject.toml"}
VENDORED = "src/almanac/dashboard/static/vendor/"


def asked(body):
    """Of each command that installs: the words it takes from an index, or from a path."""
    for found in INSTALLER.finditer(body):
        rest = body[found.end() :]
        rest = re.sub(r"\\\n", " ", END.split(rest, maxsplit=1)[0])
        taken, skip = [], False
        for word in filter(None, (word.strip("[](){}.:") for word in re.split(r"[\s\"'`,]+", rest))):
            if not skip and not word.startswith("-") and word != "args":  # the key of an array, in a file of settings
                taken.append(word)
                if found[0] == "uvx" or found[0].endswith("run"):  # what follows is the program's own
                    break
            skip = word in VALUE
        yield found[0], taken


def from_index(body):
    """The names of ours that a text would have taken from an index."""
    return [
        *(word for _, words in asked(body) for word in words if OURS.fullmatch(re.split(r"[\[=<>~!@;]", word)[0])),
        *(found[0] for found in EXTRA.finditer(body)),
    ]


@cache
def texts():
    """(name, text) of every tracked file that people or programs read."""
    found = []
    for path in tracked():
        called = name(path)
        if called.startswith(VENDORED) or path == ROOT / name(ROOT / "tests/house/test_index_names.py"):
            continue
        body = text(path)
        if path.suffix == ".ipynb":
            cells = json.loads(body)["cells"]
            body = "\n\n".join("".join(cell["source"]) for cell in cells)
        found.append((called, body))
    return found


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("pip install almanac-mcp", ["almanac-mcp"]),
        ("uv tool install almanac_service", ["almanac_service"]),
        ("pipx run almanac-service-mcp", ["almanac-service-mcp"]),
        ("pip install polars && almanac demo", []),
        ("pip install './clients/python[pandas]'; almanac-client check", []),
        ("in the checkout of Almanac: pip install '.[redis]'; or Almanac", []),
    ],
)  # fmt: skip
def test_what_would_come_from_an_index_is_found(body, names):
    found = from_index(body)
    assert [one[: len(two)] for one, two in zip(found, names, strict=True)] == names


def test_no_text_has_one_of_our_names_installed_from_an_index():
    assert {(called, one) for called, body in texts() for one in from_index(body)} == set()


def test_no_error_about_a_missing_library_does():
    told = [
        *(distribution.how_to_install(extra) for extra in declared("pyproject.toml")["optional-dependencies"]),
        *(
            str(almanac_client.MissingExtra("a library", extra))
            for extra in declared("clients/python/pyproject.toml")["optional-dependencies"]
        ),
    ]
    assert len(told) == 9
    for one in told:
        assert "on no index" in one
        assert [words for _, words in asked(one)] != []
        assert from_index(one) == []


def test_the_server_for_models_is_installed_together_with_its_client():
    """It requires the client by name: alone, that would be looked for on an index."""
    commands = [
        words for _, body in texts() for _, words in asked(body) if any("clients/mcp" in word for word in words)
    ]
    assert commands
    assert [words for words in commands if not any("clients/python" in word for word in words)] == []


def declared(file):
    return tomllib.loads((ROOT / file).read_text("utf-8"))["project"]


def test_what_the_packages_are_called():
    """Under names that stand on no index, and that nobody takes for another project's program."""
    found = {file: declared(file) for file in sorted(DECLARING)}
    assert [one["name"] for one in found.values()] == [
        "almanac-service-mcp",
        "almanac-service-client",
        "almanac-service",
    ]
    assert declared("pyproject.toml")["name"] == distribution.NAME
    assert set(found["clients/mcp/pyproject.toml"]["scripts"]) == {"almanac-service-mcp"}
