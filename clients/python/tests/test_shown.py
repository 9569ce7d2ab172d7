"""What README and the pages on the client show runs from the first line to the last, and prints what they say."""

import os
import re
import subprocess
import sys

import httpx2
import pytest

from almanac_client import _cli, _transport
from tests.support.paths import ROOT

from . import shown
from .served import Bridge

PAGES = [ROOT / "clients/python/README.md", *sorted((ROOT / "docs/client").glob("*.md"))]


@pytest.fixture
def at_home(service, monkeypatch):
    """A program that finds address and key in its environment, and the service of the tests behind the address."""
    monkeypatch.setenv("ALMANAC_API_KEY", service.keys["pro"])
    monkeypatch.delenv("ALMANAC_URL", raising=False)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(_transport.Driver, "_client_options", lambda _: {"transport": Bridge(service.app)})
    inner = httpx2.ASGITransport(service.app, client=("127.0.0.1", 5000))
    monkeypatch.setattr(_transport.AsyncDriver, "_client_options", lambda _: {"transport": inner})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_runs_and_prints_what_it_shows(page, at_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    different = shown.run(page)
    assert different == [], "\n".join(f"line {line}:\n{given}" for line, _, given in different)


def test_the_pages_show_enough():
    counts = {page.name: len([one for one in shown.blocks(page) if one[2] is not None]) for page in PAGES}
    assert counts["README.md"] >= 6
    assert sum(counts.values()) >= 14
    assert all(count >= 2 for count in counts.values()), counts


def test_what_is_shown_is_compared(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\nprint(x, 'a  ')\n```\n\n```text\n1 …\n```\n\n```python\nprint(x)\n```\n```text\n2\n```\n"
    )
    assert shown.run(page) == [(11, "2\n", "1\n")]
    assert not shown.same("a", "ab")
    assert shown.same("a…c", "a\nb\nc")


def test_the_command_line(at_home, capsys, monkeypatch):
    assert _cli.main(["check"]) == 0
    assert re.fullmatch(
        r"<Almanac http://127\.0\.0\.1:8000, key from ALMANAC_API_KEY> answers: data version [1-9]\d*, [1-9]\d* series, "
        r"1000000 per 60s \(plan pro\)\n",
        capsys.readouterr().out,
    )
    assert _cli.main(["series", "gov_yield_10y", "JPN", "--start", "2026-11-18"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "period_end,value,unit,observed_at,revision_status,source_id,withheld_reason",
        "2026-11-18,1.005,percent,2026-11-19T03:00:00Z,unknown,mof-japan,",
    ]
    assert _cli.main(["series", "gov_yeild_10y", "JPN"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "did you mean 'gov_yield_10y'?" in told.err
    monkeypatch.delenv("ALMANAC_API_KEY")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    assert _cli.main(["check"]) == 1
    assert "there is no key" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        _cli.main(["serie"])
    assert caught.value.code == 2


def test_the_command_ends_quietly_where_who_reads_has_seen_enough(at_home, tmp_path):
    """`almanac-client series … | head -1`, with the service in this process and the pipe in another's."""
    program = (
        "import sys\n"
        "from almanac_client import _cli\n"
        "_cli.series = lambda almanac, given, out: [out.write(f'{n}\\n' * 1000) for n in range(1000)]\n"
        "sys.exit(_cli.main(['series', 'gov_yield_10y', 'USA']))\n"
    )
    writing = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    assert writing.stdout.readline() == b"0\n"
    writing.stdout.close()
    assert writing.stderr.read() == b""
    assert writing.wait(30) == 141
    writing.stderr.close()


def test_the_command_takes_bounds_as_the_methods_do(at_home, capsys):
    assert _cli.main(["series", "gov_yield_10y", "JPN", "--start", "2026-Q4", "--end", "2026-10"]) == 0
    days = [line.partition(",")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert days
    assert {day[:7] for day in days} == {"2026-10"}
    assert _cli.main(["series", "gov_yield_10y", "JPN", "--start", "last May"]) == 1
    assert "'start' is 'last May', and not one of 2020, 2020-Q1" in capsys.readouterr().err
