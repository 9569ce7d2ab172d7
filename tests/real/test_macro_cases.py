"""Faults that others met with macro feeds, replayed through commands and interface; and the publishers' own files altered."""

import subprocess
import sys
from pathlib import Path

import pytest

from almanac.domain.periods import Period
from almanac.sources.base import Payload, connector

from .files import FOLDER, REAL

CASES = FOLDER.parent / "cases" / "macro"
pytestmark = REAL


def names():
    return sorted(one.parent.name for one in CASES.glob("*/case.json"))


@pytest.mark.slow
@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")
@pytest.mark.parametrize("name", names())
def test_a_case_holds(name):
    command = [sys.executable, str(CASES / "run.py"), str(Path(sys.executable).parent / "almanac"), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, [f"{name}: holds", "1/1 cases hold"]), done.stderr


def read(catalog, listed, source, path, alter=lambda text: text):
    body = alter((FOLDER / path).read_text("utf-8")).encode()
    record = catalog.sources[source]
    return connector(record.connector).parse(
        Payload(listed[path], body, 1_790_000_000, ""), record, catalog.series[source]
    )


def test_the_european_central_bank_s_file_sent_as_a_deletion_withdraws_all_and_reads_no_number(catalog, listed):
    path = "macro/ecb/ecb_exr_m_usd.xml"
    (stated,) = read(catalog, listed, "ecb-exr", path).blocks
    (gone,) = read(catalog, listed, "ecb-exr", path, lambda text: text.replace('"Replace"', '"Delete"')).blocks
    assert len(stated.statements) == len(gone.statements) == 252
    assert [told.period for told in gone.statements] == [told.period for told in stated.statements]
    assert {told.value for told in gone.statements} == {None}
    assert (gone.native, gone.complete) == (stated.native, None)


@pytest.mark.parametrize(
    ("words", "native"), [("Euro", "WEO.SVK.NGDP_R.A"), ("Slovak Koruna", "WEO.SVK.NGDP_R.A|SKK"), ("Shells", None)]
)
def test_the_fund_s_file_counts_in_the_currency_it_names(catalog, listed, words, native):
    """Real output of Slovakia in 2018, read by eye: 94,669,000,000, in euro."""
    parsed = read(
        catalog, listed, "imf", "macro/imf/imf_weo_svk_ngdp_r.xml", lambda text: text.replace('"Euro"', f'"{words}"')
    )
    told = [(block.native, {one.value for one in block.statements}) for block in parsed.blocks]
    assert told == ([] if native is None else [(native, {94_669_000_000.0})])
    assert list(parsed.unknown) == ([] if native else ["currency 'Shells' of WEO.SVK.NGDP_R.A"])


@pytest.mark.parametrize(
    ("months", "how", "period"),
    [
        ("January/December", "", "2018-01-01..2018-12-31"),
        ("April/March", "FY(t/t+1) = CY(t)", "2018-04-01..2019-03-31"),
        ("July/June", "FY(t-1/t) = CY(t)", "2017-07-01..2018-06-30"),
        ("July/June", "", None),
    ],
)
def test_the_fund_s_file_is_of_the_year_it_states(catalog, listed, months, how, period):
    """The file of api.imf.org (WEO of October 2025), which says January/December of Slovakia; 94,669,000,000 under 2018, read by eye."""
    path = "macro/imf/imf_weo_svk_ngdp_r.xml"
    parsed = read(
        catalog,
        listed,
        "imf",
        path,
        lambda text: text.replace("January/December", months).replace(
            'METHODOLOGY_NOTES="', f'METHODOLOGY_NOTES="{how} '
        ),
    )
    told = [
        (str(Period.from_key(one.period)), one.value, one.flags) for block in parsed.blocks for one in block.statements
    ]
    # The release, and the correction of 19 November 2025.
    assert told == ([] if period is None else [(period, 94_669_000_000.0, 0)] * 2)
    assert parsed.unread == ([] if period else [f"unknown year '{months}, 2024' of WEO.SVK.NGDP_R.A"])
