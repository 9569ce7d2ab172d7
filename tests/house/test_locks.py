"""The lock files: hashed, complete, and in step with pyproject.toml."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .files import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ENTRY = re.compile(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?==([^\s;\\]+)")
HASH = re.compile(r"\s+--hash=sha256:[0-9a-f]{64}(?: \\)?")


def pins(file):
    """Versions of each locked package (more than one where they differ by Python) with the number of their hashes."""
    found = {}
    hashes = None
    for line in (ROOT / "requirements" / file).read_text("utf-8").splitlines():
        if (entry := ENTRY.match(line)) is not None:
            hashes = found.setdefault(canonicalize_name(entry[1]), {})
            hashes[version := entry[3]] = 0
        else:
            assert HASH.fullmatch(line), f"{file}: neither a pin nor a hash: {line}"
            hashes[version] += 1
    return found


def extras(file):
    """Extras each locked package is pinned with."""
    found = {}
    for entry in ENTRY.finditer((ROOT / "requirements" / file).read_text("utf-8")):
        found.setdefault(canonicalize_name(entry[1]), set()).update(filter(None, (entry[2] or "").split(",")))
    return found


def asked(name, own):
    """What an installed package requires here, for itself and for the extras it is locked with."""
    try:
        texts = requires(name) or ()
    except PackageNotFoundError:  # for another Python or another system
        return
    for requirement in map(Requirement, texts):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *own)):
            yield requirement


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


@pytest.mark.parametrize("file", ["runtime.txt", "dev.txt"])
def test_what_is_required_with_an_extra_is_locked_with_it(file):
    """An older pip takes `name[extra]` for a requirement of its own: not pinned, it is refused at the next release of `name`."""
    locked = extras(file)
    required = [(r, "almanac") for r in wanted(file)]
    required += [(r, name) for name, own in locked.items() for r in asked(name, own)]
    found = [
        (canonicalize_name(r.name), r.extras, by)
        for r, by in required
        if r.extras and canonicalize_name(r.name) in locked
    ]
    assert found
    assert [each for each in found if not each[1] <= locked[each[0]]] == []


def test_both_lock_files_agree():
    developers = pins("dev.txt")
    assert {name: pin for name, pin in pins("runtime.txt").items() if developers.get(name) != pin} == {}
