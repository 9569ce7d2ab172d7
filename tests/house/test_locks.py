"""The lock files: hashed, complete, and in step with pyproject.toml."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .files import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ENTRY = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")
HASH = re.compile(r"\s+--hash=sha256:[0-9a-f]{64}(?: \\)?")


def pins(file):
    """Versions of each locked package (more than one where they differ by Python) with the number of their hashes."""
    found = {}
    hashes = None
    for line in (ROOT / "requirements" / file).read_text("utf-8").splitlines():
        if (entry := ENTRY.match(line)) is not None:
            hashes = found.setdefault(canonicalize_name(entry[1]), {})
            hashes[version := entry[2]] = 0
        else:
            assert HASH.fullmatch(line), f"{file}: neither a pin nor a hash: {line}"
            hashes[version] += 1
    return found


def wanted(file):
    if file == "bench.txt":
        lines = (ROOT / "requirements/bench.in").read_text("utf-8").splitlines()
        return [Requirement(line) for line in lines if not line.startswith("#")]
    project = PROJECT["project"]
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    texts = [*project["dependencies"], *extras, *PROJECT["build-system"]["requires"]]
    if file == "dev.txt":
        texts += PROJECT["dependency-groups"]["dev"]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("file", ["runtime.txt", "dev.txt", "bench.txt"])
def test_every_requirement_is_locked_at_a_version_it_allows(file):
    locked = pins(file)
    for requirement in wanted(file):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{requirement} is not in {file}; run `make lock`"
        wrong = [version for version in locked[name] if version not in requirement.specifier]
        assert not wrong, f"{file} locks {name} {wrong}, not {requirement}"


@pytest.mark.parametrize("file", ["runtime.txt", "dev.txt", "bench.txt"])
def test_every_locked_package_has_a_hash(file):
    locked = pins(file)
    assert len(locked) > 20
    assert [name for name, versions in locked.items() if not all(versions.values())] == []


def test_both_lock_files_agree():
    developers = pins("dev.txt")
    assert {name: pin for name, pin in pins("runtime.txt").items() if developers.get(name) != pin} == {}
