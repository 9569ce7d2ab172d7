"""Script and style of others: exactly as published, each with its licence."""

import hashlib
import tomllib

import pytest

from .kit import STATIC

VENDOR = STATIC / "vendor"
TOLD = tomllib.loads((VENDOR / "vendor.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", TOLD)
def test_hashes_hold(name):
    files = TOLD[name]["sha256"]
    found = {file: hashlib.sha256((VENDOR / file).read_bytes()).hexdigest() for file in files}
    assert found == files


def test_no_file_is_there_that_is_not_told():
    told = {file for one in TOLD.values() for file in one["sha256"]}
    there = {path.relative_to(VENDOR).as_posix() for path in VENDOR.rglob("*") if path.is_file()}
    assert there == told | {"vendor.toml"}


@pytest.mark.parametrize(("name", "version", "licence"), [("uplot", "1.6.32", "MIT")])
def test_each_says_version_and_licence(name, version, licence):
    assert (TOLD[name]["version"], TOLD[name]["licence"]) == (version, licence)
    words = (VENDOR / name / "LICENSE").read_text("utf-8")
    assert {"MIT": "Permission is hereby granted"}[licence] in words


def test_the_script_is_of_the_version_that_is_told():
    assert b"(v1.6.32)" in (VENDOR / "uplot/uPlot.iife.min.js").read_bytes()[:200]


def test_fonts_have_their_licence_and_not_the_reserved_name():
    licence = (STATIC / "fonts/LICENSE.txt").read_text("utf-8")
    assert 'Reserved Font Name "Plex"' in licence
    assert "SIL OPEN FONT LICENSE" in licence.upper()
    assert "Plex" not in (STATIC / "app.css").read_text("utf-8")
