"""Broken payloads, each through a whole ingest: quarantined by name, nothing that is served changes, a good one heals."""

import json
import os
import subprocess
import tempfile
from datetime import date

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.pipeline.folding import Folding
from almanac.sources.us_treasury import UsTreasury

from ..contract.invented_mirror import mof_file, weekdays
from ..contract.service import Service, copy, make_accounts, settings
from .mirrors import HISTORY, NOW, SOURCES, TREASURY_SOURCE, Response, fred_url, write, year_file, year_url
from .processes import command, environment
from .states import same, state, unfinished, version

YEAR, MONTHLY = year_url(2026), fred_url("UNRATE")
LATER, LAST = "2026-11-13T06:00:00Z", "2026-11-14T06:00:00Z"
GIBIBYTE = 1 << 30
GOOD = year_file(2026, "2026-11-13")
ENTITY = b'<!DOCTYPE feed [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + GOOD.replace(b"invented", b"&b;")
EXTERNAL = b'<!DOCTYPE feed [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + GOOD.replace(b"invented", b"&a;")
HTML = b"<!DOCTYPE html><html><body>Service unavailable</body></html>"
JAPAN = mof_file(weekdays("2026-11-02", "2026-11-13"))

#: (name, url, body, a piece of the reason)
BROKEN = [
    ("truncated", YEAR, GOOD[: len(GOOD) // 2], "is not well-formed XML"),
    ("html", YEAR, HTML, "DOCTYPE"),
    ("html-no-doctype", YEAR, b"<html><body>busy</body></html>", "starts with element html"),
    ("empty", YEAR, b"", "is not well-formed XML"),
    ("nan", YEAR, GOOD.replace(b"<d:BC_2YEAR>3.", b"<d:BC_2YEAR>NaN", 1), "is not a number"),
    ("entity-bomb", YEAR, ENTITY, "DOCTYPE"),
    ("external-entity", YEAR, EXTERNAL, "DOCTYPE"),
    ("renamed-element", YEAR, GOOD.replace(b"BC_10YEAR", b"YIELD_10"), "element YIELD_10, which nobody reads"),
    ("deep-xml", YEAR, b"<a>" * 10_000, "is not well-formed XML"),
    ("truncated-csv", HISTORY, JAPAN[:-40].rpartition(b",")[0], "values, the header"),
    ("renamed-column", HISTORY, JAPAN.replace(b"10Y", b"TenY"), "'TenY', expected a tenor like 10Y"),
    ("wrong-charset", HISTORY, JAPAN.decode("cp932").encode(), "is not a day like"),
    ("no-charset", HISTORY, JAPAN.replace(b"Invented", b"\x81 "), "is not cp932: byte"),
    ("one-line", HISTORY, JAPAN.replace(b"\r\n", b";") + b"1" * (1 << 20), "has a line of"),
    ("columns", HISTORY, JAPAN.replace(b"30Y", b"30Y" + b",40Y" * 2_100_000), "more than the 2000000 that are read"),
    ("deep-json", MONTHLY, b'{"observations":' + b"[" * 200_000, "nested too deeply"),
    ("nan-json", MONTHLY, b'{"observations":NaN}', "is not JSON"),
    ("truncated-json", MONTHLY, b'{"observations":[{"date":"2026-01-', "is not JSON"),
    ("html-json", MONTHLY, HTML, "is not JSON"),
]  # fmt: skip


@pytest.fixture
def home(small_home, tmp_path):
    found = copy(small_home, tmp_path / "home")
    make_accounts(settings(found, NOW=NOW))
    return found


def almanac(home, *arguments):
    return CliRunner(env={"ALMANAC_HOME": str(home), "ALMANAC_NOW": NOW}).invoke(main, [str(one) for one in arguments])


def served(home):
    """What clients get: all pages, byte for byte but for the ids of the requests, and the data version."""
    service = Service(home)
    try:
        answers = [service.get("/observations", limit=500), service.get("/derived-observations", limit=500)]
        answers.append(service.get("/observations", limit=500, order="desc", as_of="2026-11-06"))
        return [(one.content.split(b',"meta":')[0], one.headers["x-data-version"]) for one in answers]
    finally:
        service.close()


def health(home):
    found = json.loads(almanac(home, "status", "--json").stdout)
    return {one["id"]: one for one in found["sources"]}, found["quarantine"]


def source_of(url):
    return {YEAR: TREASURY_SOURCE, HISTORY: "mof-japan", MONTHLY: "fred"}[url]


@pytest.mark.parametrize(("url", "body", "reason"), [one[1:] for one in BROKEN], ids=[one[0] for one in BROKEN])
def test_a_broken_payload_is_quarantined_by_name_and_changes_nothing(home, small_mirror, tmp_path, url, body, reason):
    before, number = served(home), version(home)
    mirror = write(tmp_path / "broken", [Response(url, body, LATER)])
    result = almanac(home, "ingest", *SOURCES, "--from", mirror)
    assert result.exit_code == 1  # there was nothing else
    (line,) = [line for line in result.stderr.splitlines() if line.startswith(f"quarantined {url}: ")]
    assert reason in line
    assert len(line) < 1_000
    assert (served(home), version(home)) == (before, number)
    sources, quarantine = health(home)
    assert sources[source_of(url)]["health"] == "failing"
    assert sources[source_of(url)]["unreadable"] == 1
    (held,) = quarantine
    assert (held["source"], held["url"], held["fetchedAt"]) == (source_of(url), url, LATER)
    assert line == f"quarantined {url}: {held['reason']}"
    assert unfinished(home) == []


def test_the_others_go_on_and_a_later_good_capture_heals(home, tmp_path):
    broken = Response(YEAR, GOOD[:1000], LATER)
    other = Response(year_url(2023), year_file(2023), LATER)
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", write(tmp_path / "broken", [broken, other]))
    assert result.exit_code == 3
    assert f"read {year_url(2023)}: " in result.stderr
    assert health(home)[0][TREASURY_SOURCE]["health"] == "failing"
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", write(tmp_path / "good", [Response(YEAR, GOOD, LAST)]))
    assert result.exit_code == 0
    sources, quarantine = health(home)
    assert (sources[TREASURY_SOURCE]["health"], sources[TREASURY_SOURCE]["unreadable"]) == ("ok", 0)
    assert [one["fetchedAt"] for one in quarantine] == [LATER]  # kept, with its reason
    last = Service(home)
    try:
        row = last.ok("/observations", indicator="gov_yield_10y", period="2026-11-13")
        assert [one["observedAt"] for one in row] == ["2026-11-13T23:59:59Z"]
    finally:
        last.close()


def test_a_fault_of_the_reader_costs_one_payload_and_is_told_with_its_traceback(home, tmp_path, monkeypatch, caplog):
    real = UsTreasury.parse

    def parse(self, payload, source, series):
        if payload.url == year_url(2023):
            raise ZeroDivisionError("no\nidea " + "x" * 1000)
        return real(self, payload, source, series)

    monkeypatch.setattr(UsTreasury, "parse", parse)
    rows = [Response(year_url(2023), year_file(2023), LATER), Response(year_url(2022), year_file(2022), LATER)]
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", write(tmp_path / "mirror", rows))
    assert result.exit_code == 3
    (held,) = health(home)[1]
    assert held["url"] == year_url(2023)
    assert held["reason"].startswith("reader failed: ZeroDivisionError: no idea xxx")
    assert len(held["reason"]) < 400
    assert f"quarantined {year_url(2023)}: {held['reason']}" in result.stderr
    assert f"read {year_url(2022)}: " in result.stderr
    (record,) = [one for one in caplog.records if one.name == "almanac.ingest"]
    assert year_url(2023) in record.getMessage()
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError
    before = state(home)
    assert almanac(home, "rebuild").exit_code == 0
    same(before, state(home))


def test_what_a_reader_makes_but_nobody_can_store_is_undone_and_quarantined(home, tmp_path, monkeypatch):
    real = Folding.fold

    def fold(self, batch, row, parsed, changes):
        unmapped = real(self, batch, row, parsed, changes)
        if row.url == year_url(2023):
            raise OverflowError("period 2 ** 70")  # when all of it has been written
        return unmapped

    monkeypatch.setattr(Folding, "fold", fold)
    rows = [Response(year_url(2023), year_file(2023), LATER), Response(year_url(2022), year_file(2022), LATER)]
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", write(tmp_path / "mirror", rows))
    assert result.exit_code == 3
    (held,) = health(home)[1]
    assert (held["url"], held["reason"]) == (year_url(2023), "cannot be stored: OverflowError: period 2 ** 70")
    years = {date.fromordinal(row[1] >> 14).year for row in state(home)["vintages"]}
    assert years == {2022, 2024, 2025, 2026}
    before = state(home)
    assert almanac(home, "rebuild").exit_code == 0
    same(before, state(home))
    assert almanac(home, "verify").exit_code == 0


def measured(home, *arguments):
    """Exit code, what was said, and the most memory the process ever held, in bytes."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command(*arguments), env=environment(home), stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read().decode(), usage.ru_maxrss * 1024


def zeros(gibibytes):
    """A gzip file of so many GiB of zeros, made without holding them."""
    import zlib

    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    piece = bytes(1 << 20)
    return b"".join([*(packer.compress(piece) for _ in range(gibibytes * 1024)), packer.flush()])


def heavy(unit, size, before=b"", after=b""):
    return before + unit * (size // len(unit)) + after


#: (name, url, body that the mirror holds packed, a piece of what is said)
HEAVY = [
    ("line", HISTORY, lambda: heavy(b"1", 500 << 20), "more than the 67108864 that are read"),
    ("json", MONTHLY, lambda: heavy(b"[", 60 << 20, b'{"a":'), "nested too deeply"),
    ("json-list", MONTHLY, lambda: heavy(b"[],", 500 << 20, b'{"a":['), "more than the 67108864 that are read"),
    ("cells", HISTORY, lambda: heavy(b"1,", 60 << 20), "more than the 2000000 that are read"),
    ("rows", HISTORY, lambda: heavy(b"ab,cd\n", 11 << 20), "expected Interest Rate"),
    ("quoted", HISTORY, lambda: heavy(b'"\n",', 7 << 20), "expected Interest Rate"),
    ("elements", YEAR, lambda: heavy(b"<a/>\n", 60 << 20, b"<feed>", b"</feed>"), "more than the 2000000 that are read"),
    ("some-elements", YEAR, lambda: heavy(b"<a/>\n", 9 << 20, b"<feed>", b"</feed>"), "starts with element feed"),
    ("attributes", YEAR, lambda: b"<feed " + b" ".join(b'a%d=""' % n for n in range(4_000_000)) + b"/>", "is not well-formed XML"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("url", "make", "reason"), [one[1:] for one in HEAVY], ids=[one[0] for one in HEAVY])
def test_a_payload_made_to_fill_the_memory_stays_under_a_gibibyte(home, tmp_path, url, make, reason):
    before = state(home)["vintages"]
    mirror = write(tmp_path / "heavy", [Response(url, make(), LATER, packed=True)])
    code, said, memory = measured(home, "ingest", *SOURCES, "--from", mirror)
    assert code == 1
    assert f"quarantined {url}: " in said
    assert reason in said
    assert memory < GIBIBYTE
    assert state(home)["vintages"] == before
    assert unfinished(home) == []


@pytest.mark.slow
def test_a_gzip_bomb_is_given_up_within_the_memory_allowed(home, tmp_path):
    mirror = write(tmp_path / "bomb", [Response(YEAR, b"", LATER, packed=True)])
    (mirror / "000.gz").write_bytes(zeros(8))
    code, said, memory = measured(home, "ingest", TREASURY_SOURCE, "--from", mirror)
    assert code == 1
    assert f"failed {YEAR}: " in said
    assert "is larger than the 536870912 bytes allowed" in said
    assert memory < GIBIBYTE
    found = health(home)[0][TREASURY_SOURCE]
    assert found["health"] == "failing"
    assert found["lastError"].startswith(f"{YEAR}: ")
    # The next good one heals it.
    good = write(tmp_path / "good", [Response(YEAR, GOOD, LAST)])
    assert almanac(home, "ingest", TREASURY_SOURCE, "--from", good).exit_code == 0
    assert health(home)[0][TREASURY_SOURCE]["health"] == "ok"
