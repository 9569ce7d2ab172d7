"""Reasons without what an operator alone can do, and notes that differ by the tenor alone as one."""

from __future__ import annotations

from almanac.catalog.load import shipped
from almanac.dashboard.formatting.values import notes_for, reason_for


def test_no_reason_of_the_catalogue_tells_a_reader_a_setting() -> None:
    told = 0
    for source in shipped().sources.values():
        for reason in (source.rights.reason, source.rights.channel_reason):
            if reason is not None:
                short = reason_for(reason, operator=False)
                assert "ALMANAC" not in short
                assert short.endswith((".", reason[-1]))
                assert reason.startswith(short.rstrip("."))
                assert reason_for(reason, operator=True) == reason
                told += short != reason
    assert told >= 3


def test_a_reason_in_brackets_keeps_its_end() -> None:
    note = "GBR 2y: there is a yield, but it may not be shown (It is not free. Once it is, set ALMANAC_A__B and ALMANAC_C, all.)."
    assert reason_for(note, operator=False) == ("GBR 2y: there is a yield, but it may not be shown (It is not free.).")


def test_notes_that_differ_by_the_tenor_are_one() -> None:
    notes = [
        "2y, 5y: AUS is of 2014-02-13, USA of 2022-03-11; left out of the mean.",
        "EUR 2s10s: its legs are of 2026-09-04 and 2026-08-12.",
        "GBR 2y: there is a yield, but it may not be shown (Ask first. Then set ALMANAC_X.).",
        "GBR 5y: there is a yield, but it may not be shown (Ask first. Then set ALMANAC_X.).",
        "A word without a colon.",
    ]
    assert notes_for(notes, operator=False) == [
        *notes[:2],
        "GBR 2y, 5y: there is a yield, but it may not be shown (Ask first.).",
        notes[4],
    ]
    assert notes_for(notes, operator=True)[2].endswith("(Ask first. Then set ALMANAC_X.).")
