"""Numbers that the page for operators tells: each is the one in the code, or measured here."""

import re

import pytest

from almanac import hosting, ops
from almanac.domain import cadence, periods
from almanac.pipeline import workplace
from almanac.pipeline.ingest import lease

from .render import ROOT

PAGE = " ".join((ROOT / "docs/operations.md").read_text("utf-8").split())
SMALL = {2: "two", 3: "three", 5: "five", 10: "ten"}


DAYS = [
    periods._ALLOWANCE[one]
    for one in (
        periods.Frequency.DAILY,
        periods.Frequency.WEEKLY,
        periods.Frequency.MONTHLY,
        periods.Frequency.QUARTERLY,
        periods.Frequency.SEMIANNUAL,
        periods.Frequency.ANNUAL,
    )
]
STATEMENTS = [
    "{} days for daily series, {} weekly, {} monthly, {} quarterly, {} half-yearly, {} annual ones".format(*DAYS),
    f"a worker answers within {SMALL[ops._ANSWER_SECONDS]} seconds",
    f"for longer than {SMALL[ops._ANSWER_SECONDS]} seconds is not ready",
    f"is answered, for at most {SMALL[hosting._KILL_AFTER_SECONDS]} seconds",
    f"runs out after {SMALL[lease.LEASE_SECONDS // 60]} minutes",
    f"again, they alone, after {SMALL[cadence.FIRST_PAUSE // 60]} minutes, then {SMALL[cadence.FIRST_PAUSE // 30]}",
    f"waits for a transaction of the first, at most {SMALL[workplace._WAIT_SECONDS // 60]} minutes",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_number_is_that_of_the_code(statement):
    assert statement in PAGE


def test_numbers_that_the_page_rounds():
    assert lease.RENEW_SECONDS == 60
    assert "renews it every minute" in PAGE
    assert cadence.LONGEST_PAUSE == 86_400
    assert "and so on up to a day" in PAGE


def test_no_other_size_of_the_demo_is_told():
    """It was 400 MB and 450 bytes a vintage once, in several places."""
    told = set(re.findall(r"(\d+(?:\.\d+)?) (?:GB|MB) of disk|(\d+) bytes for each of", PAGE))
    assert told == {("0.3", ""), ("", "130"), ("", "272")}  # the last of PostgreSQL
