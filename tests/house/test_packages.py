"""What is built of this repository: the same bytes each time, and a version that says which commit it is."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from almanac import distribution

from .files import ROOT, name, tracked

pytestmark = pytest.mark.slow

#: The three packages, by the folder of each.
FOLDERS = {"almanac_service": ".", "almanac_service_client": "clients/python", "almanac_service_mcp": "clients/mcp"}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
IDENTITY = {
    **{f"GIT_{who}_{what}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def copied(target, mask):
    """What a checkout would hold, as somebody with other habits gets it: other rights, and files of another time; without Git."""
    for path in tracked():
        into = target / name(path)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, into)
        into.chmod(0o666 & ~mask)
        os.utime(into, (1_700_000_000 + mask, 1_700_000_000 + mask))
    return target


def build(source, into, kind, **environ):
    """One package of a folder of sources, made by the builder that pyproject.toml names."""
    clean = {key: value for key, value in os.environ.items() if key not in {"SOURCE_COMMIT", "SOURCE_DATE_EPOCH"}}
    words = [sys.executable, "-m", "hatchling", "build", "-d", into, "-t", kind]
    done = subprocess.run(words, cwd=source, env={**clean, **environ}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = into.iterdir()
    return made


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    return [copied(tmp_path_factory.mktemp("tree"), mask) for mask in (0o022, 0o077)]


@pytest.mark.parametrize("package", FOLDERS)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_package_is_built_twice_to_the_same_bytes(trees, tmp_path, package, kind):
    made = [
        build(tree / FOLDERS[package], tmp_path / str(number), kind, SOURCE_COMMIT=COMMIT)
        for number, tree in enumerate(trees)
    ]
    assert made[0].name == made[1].name
    assert made[0].name.startswith(f"{package}-0.1.0")
    first, second = (hashlib.sha256(one.read_bytes()).hexdigest() for one in made)
    assert first == second


def test_a_wheel_holds_what_the_program_reads_and_nothing_else(trees, tmp_path):
    wheel = build(trees[0], tmp_path / "wheel", "wheel", SOURCE_COMMIT=COMMIT)
    with zipfile.ZipFile(wheel) as file:
        held = {one for one in file.namelist() if not one.partition("/")[0].endswith(".dist-info")}
    assert held == {name(path).removeprefix("src/") for path in tracked() if name(path).startswith("src/")}


def test_its_version_goes_from_the_sources_to_what_is_installed(trees, tmp_path):
    """A wheel built from an archive of the sources is that of the checkout, and says so where there is no Git."""
    expected = f"0.1.0+g{COMMIT[:12]}"
    wheel = build(trees[0], tmp_path / "wheel", "wheel", SOURCE_COMMIT=COMMIT)
    assert wheel.name == f"almanac_service-{expected}-py3-none-any.whl"
    archive = build(trees[0], tmp_path / "sdist", "sdist", SOURCE_COMMIT=COMMIT)
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = build(unpacked, tmp_path / "again", "wheel")
    assert (again.name, again.read_bytes() == wheel.read_bytes()) == (wheel.name, True)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    words = [sys.executable, "-c", "from almanac import distribution as d; print(d.version(), d.__file__)"]
    told = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "site")}, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert told.stdout.split() == [expected, str(tmp_path / "site/almanac/distribution.py")]


def test_without_git_and_without_a_commit_the_number_is_all_that_is_known(trees, tmp_path):
    assert build(trees[0], tmp_path / "wheel", "wheel").name == "almanac_service-0.1.0-py3-none-any.whl"


def test_the_version_of_a_checkout_is_that_of_its_tag_or_its_commit(tmp_path, monkeypatch):
    for key, value in IDENTITY.items():
        monkeypatch.setenv(key, value)

    def git(*words):
        done = subprocess.run(["git", "-C", tmp_path, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit():
        git("commit", "-q", "--allow-empty", "-m", "a change")
        return git("rev-parse", "HEAD")[:12]

    told = distribution._of_checkout
    assert told(tmp_path) is None
    git("init", "-q")
    (tmp_path / "file").write_text("as committed")
    git("add", "file")
    assert told(tmp_path) is None  # nothing is committed yet
    assert told_after(commit, told, tmp_path) == "0.1.0+g{}"
    git("tag", "v0.2.0", "-m", "a version")
    assert told(tmp_path) == "0.2.0"
    git("tag", "unrelated")
    assert told(tmp_path) == "0.2.0"
    (tmp_path / "file").write_text("as changed")
    assert told(tmp_path) == "0.2.0+changed"
    git("checkout", "-q", "file")
    assert told_after(commit, told, tmp_path) == "0.2.0+1.g{}"
    (tmp_path / "file").write_text("as changed")
    assert re.fullmatch(r"0\.2\.0\+1\.g[0-9a-f]{12}\.changed", told(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert told(tmp_path) is None  # no Git


def told_after(commit, told, root):
    number = commit()
    return told(root).replace(number, "{}")


def test_this_very_version_names_its_commit():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no Git checkout")
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    assert f"g{head[:12]}" in distribution.version() or re.fullmatch(r"\d[0-9.]*(\+changed)?", distribution.version())
