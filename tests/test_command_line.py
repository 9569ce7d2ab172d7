"""The commands for data: what they print where, and how they end. `accounts` and `keys` have a file of their own."""

import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from almanac.__main__ import main

from .support.treasury_home import BILLS, GOOD, NOW, ROWS, SOURCE, url, write_mirror

CONSENT = {"BY": "someone", "ON": "2026-01-02", "REFERENCE": "an invented letter"}
SUMMARY = [
    "source",
    "read",
    "known",
    "empty",
    "notRead",
    "quarantined",
    "failed",
    "later",
    "cellsChanged",
    "unmappedSeries",
    "unreadNames",
]


@pytest.fixture
def run(tmp_path):
    def call(*arguments, expect=0, home="home", **env):
        given = {"ALMANAC_HOME": str(tmp_path / home), "ALMANAC_NOW": NOW, **env}
        result = CliRunner(env=given).invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == expect, result.output
        return result

    return call


@pytest.fixture
def mirror(tmp_path):
    return write_mirror(tmp_path / "mirror")


@pytest.fixture
def good(tmp_path):
    return write_mirror(tmp_path / "good", GOOD)


def summary(result):
    header, *lines = result.stdout.splitlines()
    assert header.split() == SUMMARY
    return {source: [int(figure) for figure in figures] for source, *figures in map(str.split, lines)}


def coverage(run):
    return json.loads(run("status", "--json").stdout)["coverage"]


# -- ingest -------------------------------------------------------------------------------------------------------------


def test_a_mirror_is_taken_in_and_what_was_not_read_is_named(run, mirror):
    result = run("ingest", "us-treasury", "--from", mirror, expect=3)
    assert summary(result) == {SOURCE: [4, 0, 0, 2, 1, 0, 0, 13, 1, 0]}
    told = result.stderr.splitlines()
    assert f"read {url(2026)}: 4 cells changed, 1 series not mapped" in told
    assert f"not read {url(2023)}: the publisher answered 404" in told
    assert [line for line in told if line.startswith(f"not read {BILLS}: ")] != []
    assert [line for line in told if line.startswith(f"quarantined {url(2024)}: ") and "DOCTYPE" in line] != []


def test_the_second_run_adds_no_vintage(run, good):
    run("ingest", SOURCE, "--from", good)
    before = coverage(run)
    assert (before["observations"], before["lastIngestedAt"]) == (8, NOW)
    assert summary(run("ingest", SOURCE, "--from", good)) == {SOURCE: [0, 4, 0, 0, 0, 0, 0, 0, 0, 0]}
    assert coverage(run) == before


def test_the_summary_counts_responses_not_addresses(run, tmp_path):
    address, _, body, status = ROWS[5]
    again = (address, "2026-01-08T23:33:00Z", body + b"<!-- another -->", status)
    late = [(url(2023), f"2026-01-0{day}T00:00:01Z", b"", 404) for day in (1, 2, 3)]
    folder = write_mirror(tmp_path / "twice", [ROWS[5], again, *late])
    assert summary(run("ingest", SOURCE, "--from", folder, expect=1)) == {SOURCE: [0, 0, 0, 3, 2, 0, 0, 0, 0, 0]}


def test_nothing_ingested_is_exit_1(run, tmp_path):
    only_broken = write_mirror(tmp_path / "broken", [ROWS[5]])
    assert summary(run("ingest", SOURCE, "--from", only_broken, expect=1)) == {SOURCE: [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]}


def test_a_broken_file_of_a_mirror_fails_alone(run, tmp_path):
    folder = write_mirror(tmp_path / "mirror", GOOD)
    listing = (folder / "mirror.csv").read_text().replace("3.xml", "3.xml.gz")
    (folder / "mirror.csv").write_text(listing)
    (folder / "3.xml.gz").write_bytes(b"no gzip")
    result = run("ingest", SOURCE, "--from", folder, expect=3)
    assert summary(result) == {SOURCE: [3, 0, 0, 0, 0, 1, 0, 11, 1, 0]}
    assert f"failed {url(2025)}: " in result.stderr
    sources = json.loads(run("status", "--json").stdout)["sources"]
    assert {one["id"]: one["health"] for one in sources}[SOURCE] == "failing"


def test_all_takes_every_real_source(run, good):
    found = summary(run("ingest", "--all", "--from", good))
    assert found.pop(SOURCE)[0] == 4
    assert {"fred", "mof-japan"} <= set(found)
    assert not any(name.startswith(("sandbox", "almanac")) for name in found)
    assert {tuple(figures) for figures in found.values()} == {(0,) * len(SUMMARY[1:])}


def test_a_source_named_twice_is_taken_once(run, good):
    assert list(summary(run("ingest", "us-treasury", SOURCE, "--from", good))) == [SOURCE]


def test_unknown_sources_are_refused_with_the_nearest_and_all_valid_names(run, good):
    result = run("ingest", "us-tresury", "--from", good, expect=2)
    assert "there is no source 'us-tresury'; the nearest is us-treasury. Valid: " in result.stderr
    for name in ("fred", "mof-japan", "us-treasury-par"):
        assert name in result.stderr.split("Valid: ")[1]
    assert "almanac-derived" not in result.stderr
    assert "there is no source 'almanac-derived'" in run("ingest", "almanac-derived", expect=2).stderr


def test_names_or_all_but_not_both_nor_neither(run):
    for arguments in ([], ["fred", "--all"]):
        assert "name one source or more, or give --all or --due" in run("ingest", *arguments, expect=2).stderr


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--since", "yesterday", "'yesterday' is not a day like 2026-01-31"),
        ("--entity", "untied-states", "there is no entity 'untied-states'; the nearest is united-states"),
    ],
)
def test_options_that_make_no_sense_are_refused(run, good, option, value, told):
    assert told in run("ingest", SOURCE, "--from", good, option, value, expect=2).stderr


def test_a_mirror_is_read_whole_whatever_is_asked(run, good):
    result = run("ingest", SOURCE, "--from", good, "--since", "2026-01-06", "--entity", "Country_JPN")
    assert summary(result)[SOURCE][0] == 4
    assert result.stderr.startswith("--since and --entity narrow what a publisher is asked; a mirror is read whole\n")


def test_a_missing_key_is_named_before_anything_is_asked(run):
    result = run("ingest", "us-treasury", "fred", expect=1)
    assert result.stderr == "Error: fred needs a key: set ALMANAC_SOURCES__FRED__API_KEY\n"
    assert coverage(run)["lastIngestedAt"] is None


def test_an_entity_no_source_has_asks_nobody(run):
    """Nothing is asked of a publisher for an entity it has nothing on: the run ends without the network."""
    result = run("ingest", SOURCE, "--entity", "japan", expect=1)
    assert summary(result) == {SOURCE: [0] * len(SUMMARY[1:])}


def test_a_folder_without_a_listing_is_an_error(run, tmp_path):
    result = run("ingest", SOURCE, "--from", tmp_path / "nowhere", expect=1)
    assert "there is no such file; a mirror folder needs one with the columns" in result.stderr


def test_real_data_never_enter_a_simulated_store(run, good, tmp_path):
    run("status")
    from almanac.config import Settings
    from almanac.pipeline.context import PipelineContext

    with PipelineContext(Settings(home=tmp_path / "home"), kind="simulated") as world:
        world.claim()
    result = run("ingest", SOURCE, "--from", good, expect=1)
    assert "holds simulated data and cannot take real data: the two are never mixed" in result.stderr
    run("ingest", SOURCE, "--from", good, home="real")
    assert "holds real data and cannot take simulated data" in run("sandbox", home="real", expect=1).stderr


def test_the_summary_as_one_object_says_why(run, mirror):
    result = run("ingest", "us-treasury", "--from", mirror, "--json", expect=3)
    told = json.loads(result.stdout)
    assert len(result.stdout.splitlines()) == 1
    (source,) = told["sources"]
    counts = ("read", "cells", "unchanged", "notRead", "quarantined", "failed")
    assert (source["source"], [source[name] for name in counts]) == (SOURCE, [4, 13, 0, 2, 1, 0])
    assert list(source["unmapped"]) != []
    whys = {one["url"]: (one["what"], one["reason"]) for one in source["reasons"]}
    assert whys.keys() == {url(2024), BILLS, url(2023)}
    assert whys[url(2023)] == ("notRead", "the publisher answered 404")
    assert whys[url(2024)][0] == "quarantined"
    assert "DOCTYPE" in whys[url(2024)][1]
    assert (told["exitCode"], told["passedOver"]) == (3, [])
    assert f"read {url(2026)}: " in result.stderr
    (again,) = json.loads(run("ingest", "us-treasury", "--from", mirror, "--json", expect=3).stdout)["sources"]
    assert [again[name] for name in counts] == [0, 0, 4, 2, 1, 0]


def test_as_one_object_a_source_that_was_passed_over_says_what_it_lacks(run):
    """Nobody is asked: each source of the publisher lacks something."""
    told = json.loads(run("ingest", "fred", "--due", "--json").stdout)
    assert told == {
        "exitCode": 0,
        "sources": [],
        "passedOver": [{"source": "fred", "reason": "needs a key: set ALMANAC_SOURCES__FRED__API_KEY"}],
    }


def test_an_error_is_not_on_standard_output(run):
    assert run("ingest", "fred", "--json", expect=1).stdout == ""


# -- sources ------------------------------------------------------------------------------------------------------------


def test_sources_say_what_they_need_and_what_is_missing(run, tmp_path):
    rows = {row["id"]: row for row in json.loads(run("sources", "--json").stdout)}
    assert rows["fred"]["needs"] == ["network", "key (ALMANAC_SOURCES__FRED__API_KEY, missing)"]
    assert (rows["fred"]["vintages"], rows["fred"]["consent"]) == ("yes", "missing")
    assert rows["bls"]["needs"] == ["network", "key (ALMANAC_SOURCES__BLS__API_KEY, optional, missing)"]
    assert rows[SOURCE] == {
        "id": SOURCE,
        "provider": "us-treasury",
        "fetches": "Daily Treasury par yield curve",
        "license": "Public domain (work of the United States government)",
        "exposure": "public",
        "vintages": "no",
        "needs": ["network"],
        "keySetting": None,
        "consent": "not needed",
        "homepage": rows[SOURCE]["homepage"],
    }
    assert not (tmp_path / "home").exists()


def test_a_recorded_consent_and_a_key_are_seen_but_never_printed(run):
    given = {f"ALMANAC_SOURCES__FRED__CONSENT__{part}": value for part, value in CONSENT.items()}
    result = run("sources", ALMANAC_SOURCES__FRED__API_KEY="s3cret", **given)
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["id", "fetches", "license", "vintages", "needs", "consent"]
    (fred,) = [line for line in lines if line.startswith("fred ")]
    assert "key (ALMANAC_SOURCES__FRED__API_KEY, set)" in fred
    assert fred.endswith("recorded")
    assert "s3cret" not in result.output


# -- derive, rebuild, verify, status ------------------------------------------------------------------------------------


def test_derive_rebuild_and_verify_find_a_healthy_store(run, mirror):
    run("ingest", SOURCE, "--from", mirror, expect=3)
    before = coverage(run)
    assert run("derive").stdout == "0 cells changed\n"
    version = before["dataVersion"] + 1
    result = run("rebuild")
    assert result.stdout == f"6 payloads replayed, data version {version}\n"
    assert f"read {url(2025)}: 2 cells changed\n" in result.stderr
    assert coverage(run) == {**before, "dataVersion": version}
    checked = run("verify")
    assert checked.stdout.startswith(f"no problem; 6 payloads, {before['series']} series, ")
    assert checked.stdout.endswith(f"{before['vintages']} vintages checked\n")
    assert checked.stderr == ""


def test_verify_prints_each_problem_and_exits_1(run, good, tmp_path):
    run("ingest", SOURCE, "--from", good)
    (packed, *_) = sorted((tmp_path / "home/raw/objects").rglob("*.zst"))
    packed.unlink()
    result = run("verify", expect=1)
    assert result.stdout == f"raw store: objects/{packed.parent.name}/{packed.name}: is missing\n"
    assert result.stderr.startswith("1 problems; 4 payloads, ")


def test_a_damaged_raw_store_ends_a_rebuild_with_its_name(run, good, tmp_path):
    run("ingest", SOURCE, "--from", good)
    before = coverage(run)
    (packed, *_) = sorted((tmp_path / "home/raw/objects").rglob("*.zst"))
    packed.unlink()
    result = run("rebuild", expect=1)
    assert result.stderr.startswith("Error: a rebuild would do without 1 of the 4 payloads that the data came from, ")
    assert coverage(run) == before
    packed.write_bytes(b"rotten")
    result = run("rebuild", expect=1)
    assert result.stderr.splitlines()[-1].startswith(f"Error: objects/{packed.parent.name}/{packed.name}: cannot be")
    assert coverage(run) == before


def test_status_of_an_empty_home(run):
    found = json.loads(run("status", "--json").stdout)
    assert (found["coverage"]["observations"], found["coverage"]["firstPeriod"]) == (0, None)
    assert {one["health"] for one in found["sources"]} == {"never_run"}
    assert (found["quarantine"], found["unmapped"], found["unread"]) == ([], [], [])


# -- backup and restore -------------------------------------------------------------------------------------------------


def test_backup_and_restore(run, good, tmp_path):
    run("ingest", SOURCE, "--from", good)
    run("accounts", "create", "ada@example.org", "--plan", "free")
    file = tmp_path / "all.almanac"
    assert run("backup", file).stdout == f"{file}\n"
    result = run("restore", file, home="other")
    assert (result.stdout, result.stderr) == (f"{tmp_path / 'other'}\n", "")
    assert run("status", "--json", home="other").stdout == run("status", "--json").stdout
    assert "ada@example.org" in run("accounts", "list", home="other").stdout
    assert "holds raw, data.db, accounts.db, which a restore would overwrite" in (
        run("restore", file, home="other", expect=1).stderr
    )
    assert "is there already" in run("backup", file, expect=1).stderr


def test_a_backup_without_data_tells_to_rebuild(run, good, tmp_path):
    run("ingest", SOURCE, "--from", good)
    run("backup", tmp_path / "small", "--without-data")
    assert (
        run("restore", tmp_path / "small", home="other").stderr == "the backup holds no data: run `almanac rebuild`\n"
    )
    run("rebuild", home="other")
    told, other = coverage(run), json.loads(run("status", "--json", home="other").stdout)["coverage"]
    own = {"dataVersion", "lastIngestedAt"}
    assert {k: v for k, v in other.items() if k not in own} == {k: v for k, v in told.items() if k not in own}


# -- the whole ----------------------------------------------------------------------------------------------------------


def test_help_fits_one_screen(run):
    lines = run("--help").stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "..." not in "".join(lines[1:])


def test_help_lists_every_command_without_loading_what_they_need():
    code = (
        "import sys; from almanac.__main__ import main; main(['--help'], standalone_mode=False);"
        " heavy = {'numpy', 'apsw', 'lxml', 'httpx2', 'rich', 'msgspec', 'starlette'} & set(sys.modules); print(sorted(heavy))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    context = click.Context(main)
    for name in main.list_commands(context):
        line = main.get_command(context, name).get_short_help_str(80)
        assert f"\n  {name.ljust(10)}  {line}\n" in found
    assert found.endswith("\n[]\n")


@pytest.mark.parametrize(
    ("stream", "arguments"),
    [
        ("stdout", ["sources"]), ("stdout", ["sources", "--json"]), ("stdout", ["--version"]),
        ("stderr", ["restore", "no-such-archive"]),
    ],
)  # fmt: skip
def test_a_command_ends_quietly_where_nobody_reads_on(tmp_path, stream, arguments):
    """`almanac sources | head`, and `2>&1 | head` of one that fails."""
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writing}
    with subprocess.Popen(
        [sys.executable, "-m", "almanac", *arguments],
        env={**os.environ, "ALMANAC_HOME": str(tmp_path / "home")}, text=True, **streams,
    ) as running:  # fmt: skip
        os.close(writing)
        told = running.communicate(timeout=60)
    assert [one for one in told if one] == []
    assert running.returncode == 1
