"""Names of companies as people write them, from what registers keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting.company_names import company_name


@pytest.mark.parametrize(
    ("filed", "written"),
    [
        ("EXXON MOBIL CORP", "Exxon Mobil Corp"),
        ("BANK OF AMERICA CORP /DE/", "Bank of America Corp"),
        ("RAYTHEON CO/", "Raytheon Co"),
        ("WEATHERFORD INTERNATIONAL LTD./SWITZERLAND", "Weatherford International Ltd."),
        ("3M CO", "3M Co"),
        ("HARLEY-DAVIDSON, INC.", "Harley-Davidson, Inc."),
        # What has small letters is as somebody wrote it, but for the state behind it.
        ("Apple Inc.", "Apple Inc."),
        ("/DE/", "/DE/"),
    ],
)
def test_names_as_people_write_them(filed: str, written: str) -> None:
    assert company_name(filed) == written


@given(st.text(st.sampled_from("ABCXYZabc &./\\-,'0123456789"), max_size=30))
def test_a_name_keeps_its_letters_in_their_order(filed: str) -> None:
    """Only case changes, and what stands behind a slash goes; twice is as once."""
    written = company_name(filed)
    letters = [letter for letter in filed.upper() if letter.isalnum()]
    kept = [letter for letter in written.upper() if letter.isalnum()]
    assert letters[: len(kept)] == kept
    assert "/" in filed or "\\" in filed or letters == kept
