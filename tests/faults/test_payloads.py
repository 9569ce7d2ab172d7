"""Broken payloads, each through a whole ingest: quarantined by name, nothing that is served changes, a good one heals."""

import gzip
import json
from datetime import date

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.pipeline.derive.derivation import Deriver
from almanac.pipeline.ingest.folding import Folding
from almanac.sources.feeds.us_treasury import UsTreasury
from tests.support.invented_mirror import mof_file, weekdays
from tests.support.processes import run
from tests.support.service import Service, copy, make_accounts, settings

from .mirrors import HISTORY, NOW, SOURCES, TREASURY_SOURCE, Response, fred_url, write, year_file, year_url
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


def events(stderr):
    """What a command logged, among what it said."""
    return [json.loads(line) for line in stderr.splitlines() if line.startswith("{")]


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


#: Those in the suite of every day; the others with the slow ones.
_DAILY = {"entity-bomb", "renamed-column", "deep-json"}


@pytest.mark.parametrize(
    ("url", "body", "reason"),
    [pytest.param(*one[1:], id=one[0], marks=[] if one[0] in _DAILY else [pytest.mark.slow]) for one in BROKEN],
)
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


def test_a_day_at_the_beginning_of_the_calendar_stops_nothing(home, tmp_path):
    """What programs write for no day at all: 0001-01-01. It is as far back as one can look."""
    line = JAPAN.splitlines(keepends=True)[2]
    odd = JAPAN.replace(line, b"0001/1/1," + line.partition(b",")[2] + line, 1)
    rows = [Response(HISTORY, JAPAN, LATER), Response(HISTORY, odd, LAST)]
    result = almanac(home, "ingest", "mof-japan", "--from", write(tmp_path / "odd", rows))
    assert result.exit_code == 0, result.output
    assert result.stderr.count(f"read {HISTORY}: ") == 2
    assert health(home)[1] == []
    service = Service(home)
    try:
        (slope,) = service.ok(
            "/derived-observations", country="JPN", period="0001-01-01", indicator="yield_slope_2s10s"
        )
        told = service.ok(f"/observations/{slope['id']}/provenance")
        assert (told["verified"], len(told["inputs"])) == (True, 2)
    finally:
        service.close()
    assert almanac(home, "verify").exit_code == 0


def test_a_fault_of_what_is_computed_costs_one_payload_and_not_the_next_runs(home, tmp_path, monkeypatch):
    """Else the payload, kept but never folded, would be taken up and fail again at the beginning of every run."""
    real = Deriver.run

    def compute(self, batch, changes):
        if any(period >> 14 == date(2023, 3, 15).toordinal() for moved in changes.values() for period in moved):
            raise ZeroDivisionError("no idea")
        real(self, batch, changes)

    monkeypatch.setattr(Deriver, "run", compute)
    rows = [Response(year_url(2023), year_file(2023), LATER), Response(year_url(2022), year_file(2022), LATER)]
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", write(tmp_path / "mirror", rows))
    assert result.exit_code == 3
    (held,) = health(home)[1]
    assert (held["url"], held["reason"]) == (year_url(2023), "cannot be stored: ZeroDivisionError: no idea")
    assert f"read {year_url(2022)}: " in result.stderr
    (event,) = events(result.stderr)
    assert (event["event"], event["url"]) == ("a response cannot be stored", year_url(2023))
    assert event["exception"].endswith("ZeroDivisionError: no idea")
    assert almanac(home, "verify").exit_code == 0
    monkeypatch.setattr(Deriver, "run", real)
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", write(tmp_path / "again", rows))
    assert (result.exit_code, f"read {year_url(2023)}: " in result.stderr) == (0, True)


def test_a_fault_of_the_reader_costs_one_payload_and_is_told_with_its_traceback(home, tmp_path, monkeypatch):
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
    (event,) = events(result.stderr)
    assert (event["event"], event["source"], event["url"]) == (
        "a response could not be read",
        TREASURY_SOURCE,
        year_url(2023),
    )
    assert "ZeroDivisionError: no\nidea" in event["exception"]
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


#: Says at the end how much memory the process ever held. Not by wait4: that counts what the parent held at the fork.
MEASURE = """
import atexit, re, sys
def peak():
    with open("/proc/self/status") as file:
        print("peak", int(re.search(r"VmHWM:\\s+([0-9]+)", file.read())[1]) * 1024, file=sys.stderr)
atexit.register(peak)
"""


def measured(home, *arguments):
    """What was said, and the most memory the process ever held, in bytes. There was nothing good: exit 1."""
    done = run(home, *arguments, before=MEASURE, expect=1)
    said, _, peak = done.stderr.rpartition("peak ")
    return said, int(peak)


def packed(before, unit, size, after=b""):
    """A gzip file of so many bytes, made without holding them: its members are unpacked one after the other."""
    piece = unit * ((1 << 20) // len(unit))
    return gzip.compress(before) + gzip.compress(piece) * (size // len(piece)) + gzip.compress(after)


MEBI = 1 << 20
#: (name, url, what the mirror holds packed, a piece of what is said)
HEAVY = [
    ("bomb", YEAR, (b"", bytes(1), 64 << 30), f"failed {YEAR}: "),
    ("line", HISTORY, (b"", b"1", 500 * MEBI), "more than the 67108864 that are read"),
    ("json", MONTHLY, (b'{"a":', b"[", 60 * MEBI), "nested too deeply"),
    ("json-list", MONTHLY, (b'{"a":[', b"[],", 500 * MEBI), "more than the 67108864 that are read"),
    ("cells", HISTORY, (b"", b"1,", 60 * MEBI), "more than the 2000000 that are read"),
    ("rows", HISTORY, (b"", b"ab,cd\n", 11 * MEBI), "expected Interest Rate"),
    ("quoted", HISTORY, (b"", b'"\n",', 7 * MEBI), "expected"),
    ("elements", YEAR, (b"<feed>", b"<a/>\n", 60 * MEBI, b"</feed>"), "more than the 2000000 that are read"),
    ("some-elements", YEAR, (b"<feed>", b"<a/>\n", 9 * MEBI, b"</feed>"), "starts with element feed"),
    ("text", YEAR, (b"<feed>", b"<a>" + b"x" * 1000 + b"</a>", 60 * MEBI, b"</feed>"), "starts with element feed"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("url", "content", "reason"), [one[1:] for one in HEAVY], ids=[one[0] for one in HEAVY])
def test_a_payload_made_to_fill_the_memory_stays_under_a_gibibyte(home, tmp_path, url, content, reason):
    before = state(home)["vintages"]
    mirror = write(tmp_path / "heavy", [Response(url, b"", LATER, packed=True)])
    (mirror / "000.gz").write_bytes(packed(*content))
    said, memory = measured(home, "ingest", *SOURCES, "--from", mirror)
    assert (f"quarantined {url}: " in said) != (f"failed {url}: " in said)
    assert reason in said
    assert 0 < memory < GIBIBYTE
    assert state(home)["vintages"] == before
    assert unfinished(home) == []
    assert health(home)[0][source_of(url)]["health"] == "failing"


def test_a_response_too_large_to_be_kept_fails_by_name_and_the_next_good_one_heals(home, tmp_path, monkeypatch):
    monkeypatch.setenv("ALMANAC_HTTP__MAX_BYTES", "1000000")
    mirror = write(tmp_path / "bomb", [Response(YEAR, b"", LATER, packed=True)])
    (mirror / "000.gz").write_bytes(packed(b"", bytes(1), 64 * MEBI))
    result = almanac(home, "ingest", TREASURY_SOURCE, "--from", mirror)
    assert result.exit_code == 1
    assert f"failed {YEAR}: {mirror / '000.gz'}: is larger than the 1000000 bytes allowed\n" in result.stderr
    found = health(home)[0][TREASURY_SOURCE]
    assert found["health"] == "failing"
    assert found["lastError"].startswith(f"{YEAR}: ")
    good = write(tmp_path / "good", [Response(YEAR, GOOD, LAST)])
    assert almanac(home, "ingest", TREASURY_SOURCE, "--from", good).exit_code == 0
    assert health(home)[0][TREASURY_SOURCE]["health"] == "ok"
