"""FRED as tests of its connector see it: a source and four series, all invented."""

from tests.support import central_banks

BASE = "https://api.stlouisfed.org/fred/"
KEY = "0123456789abcdef0123456789abcdef"  # invented
SERIES = central_banks.table({"DAY": "D", "WEEK": "W", "MON": "M", "QRT": "Q"})


def source(**fields):
    return central_banks.source("fred", **fields)
