"""FRED's own responses, read again with the json module and compared value by value."""

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from datetime import date

import pytest

from almanac.domain.observations import DAY, UNKNOWN, Vintage, settle
from almanac.domain.periods import Frequency, Period
from almanac.domain.times import end_of_day
from almanac.reports.briefs import reading_sentence
from almanac.reports.measures import MEASURES, MeasureReading, typical_change
from almanac.sources.base import NamedRelease, Payload, ReleaseDate, SourceChanged
from almanac.sources.feeds.fred.connector import CONNECTOR
from tests.support.central_banks import source, table

from . import files
from .files import FOLDER, REAL

SOURCE = source("fred")
LETTERS = {"GDP": "Q", "GDPC1": "Q", "CPIAUCSL": "M", "CPILFESL": "M", "INDPRO": "M", "UNRATE": "M", "WGS10YR": "W"}
#: As FRED states them; the others are percent.
UNITS = {
    "GDP": "usd_billions", "GDPC1": "usd_billions", "CPIAUCSL": "index", "CPILFESL": "index", "INDPRO": "index",
    "BAMLH0A0HYM2": "percentage_points",
}  # fmt: skip
SERIES = table({
    native: {"source": "fred", "indicator": native.lower(), "entity": "country_usa", "frequency": letter,
             "unit": UNITS.get(native, "percent")}
    for native, letter in {**LETTERS, "BAMLH0A0HYM2": "D"}.items()
})  # fmt: skip
MONTHS = {"M": 1, "Q": 3}

pytestmark = REAL


def mirror():
    return [row for row in files.mirror() if "macro/fred/" in row["file"]]


def named(part):
    (row,) = [row for row in mirror() if part in row["file"]]
    return row


def load(row):
    body = (FOLDER / row["file"]).read_bytes()
    return json.loads(body), CONNECTOR.parse(Payload(row["url"], body, 2**32, row["media_type"]), SOURCE, SERIES)


def key(day, letter):
    """The period by arithmetic of its own: first days for months and quarters, the last day for a week."""
    start = date.fromisoformat(day)
    if letter == "D":
        return Period(start, start).key
    if letter == "W":
        return Period(date.fromordinal(start.toordinal() - 6), start).key
    index = start.year * 12 + start.month - 1 + MONTHS[letter]
    return Period(start, date.fromordinal(date(index // 12, index % 12 + 1, 1).toordinal() - 1)).key


def number(text):
    return None if text == "." else float(text)


@pytest.mark.parametrize(
    ("part", "native", "count"),
    [
        ("observations_gdp_2024-10-30", "GDP", 315),
        ("observations_gdp_2024-12-19", "GDP", 315),
        ("observations_gdpc1", "GDPC1", 18),
        ("observations_cpiaucsl", "CPIAUCSL", 909),
        ("observations_cpilfesl_2024-10-10", "CPILFESL", 813),
        ("observations_cpilfesl_2025-01-15", "CPILFESL", 816),
        ("observations_indpro", "INDPRO", 54),
        ("observations_unrate", "UNRATE", 54),
        ("observations_wgs10yr", "WGS10YR", 3289),
        ("observations_bamlh0a0hym2", "BAMLH0A0HYM2", 27),
    ],
)
def test_every_value_of_every_snapshot_is_read(part, native, count):
    raw, parsed = load(named(part))
    (block,) = parsed.blocks
    letter = SERIES[native].frequency.value
    assert [(s.period, s.value) for s in block.statements] == [
        (key(row["date"], letter), number(row["value"])) for row in raw["observations"]
    ]
    assert len(block.statements) == count
    assert {(s.known, s.released, s.flags) for s in block.statements} == {(None, None, UNKNOWN)}
    assert block.complete[0] <= block.statements[0].period
    assert block.statements[-1].period <= block.complete[1]


def test_every_row_of_the_gdp_archive_is_read():
    raw, parsed = load(named("alfred_gdp_all_vintages"))
    (block,) = parsed.blocks
    rows = raw["observations"]
    ours = Counter((s.period, s.value, s.known, s.released, s.flags) for s in block.statements)
    expected = Counter()
    for row in rows:
        known = end_of_day(date.fromisoformat(row["realtime_start"]))
        flags = DAY | UNKNOWN if row["realtime_start"] == "1991-12-04" else DAY
        expected[key(row["date"], "Q"), number(row["value"]), known, known, flags] += 1
    assert ours == expected
    assert len(block.statements) == len(rows) == 3201
    assert block.complete is None


def test_the_gdp_archive_gives_back_every_one_of_its_publication_days():
    raw, parsed = load(named("alfred_gdp_all_vintages"))
    stated = defaultdict(list)
    for s in parsed.blocks[0].statements:
        stated[s.period].append(Vintage(s.known, s.value, s.text, s.flags, s.released, 2**32, 1))
    served = {period: settle(vintages, period, 200) for period, vintages in stated.items()}
    times = {period: [vintage.known for vintage in vintages] for period, vintages in served.items()}
    days = sorted({row["realtime_start"] for row in raw["observations"]})
    assert len(days) == 395
    total = 0
    for day in days:
        known = end_of_day(date.fromisoformat(day))
        state = {}
        for period, vintages in served.items():
            place = bisect_right(times[period], known)
            if place and not vintages[place - 1].withdrawn:
                state[period] = vintages[place - 1].value
        expected = {
            key(row["date"], "Q"): float(row["value"])
            for row in raw["observations"]
            if row["realtime_start"] <= day <= row["realtime_end"] and row["value"] != "."
        }
        assert state == expected, day
        total += len(state)
    assert total == 95_193  # values of all the days together, counted by a script of its own


def test_a_withdrawal_of_one_day_is_kept():
    """On 1999-10-28 the publisher withdrew 140 quarters and restored them the next day, in rows of that one day."""
    raw, parsed = load(named("alfred_gdp_all_vintages"))
    one_day = {row["date"] for row in raw["observations"] if row["realtime_start"] == row["realtime_end"]}
    assert len(one_day) == 140
    withdrawn, restored = end_of_day(date(1999, 10, 28)), end_of_day(date(1999, 10, 29))
    for day in one_day:
        states = {s.known: s.value for s in parsed.blocks[0].statements if s.period == key(day, "Q")}
        assert states[withdrawn] is None
        assert states[restored] is not None


def test_one_value_checked_by_hand():
    """GDP of 2024-Q3: 29,349.924 on 2024-10-30 (advance) and 29,374.914 on 2024-12-19 (third estimate).

    The first is the $29.35 trillion of the advance release of that day, the second the $29.37 trillion of the third;
    both read by eye at the end of the archive file.
    """
    _, parsed = load(named("alfred_gdp_all_vintages"))
    third = [s for s in parsed.blocks[0].statements if s.period == Period.parse("2024-Q3").key]
    assert (third[0].value, third[0].released) == (29349.924, end_of_day(date(2024, 10, 30)))
    assert (third[-1].value, third[-1].released) == (29374.914, end_of_day(date(2024, 12, 19)))


def test_the_initial_releases_are_named_and_not_read():
    _, parsed = load(named("alfred_gdp_initial_release"))
    assert parsed.ignored == "observations with output_type 4; only output_type 1 is read"
    assert parsed.blocks == []


def test_releases_and_their_dates_are_read_to_the_last():
    raw, parsed = load(named("releases_2025-01-20"))
    assert parsed.releases == [NamedRelease(str(r["id"]), r["name"], r.get("link")) for r in raw["releases"]]
    assert len(parsed.releases) == 315
    for part, count in [("release_dates_10", 927), ("releases_dates_2025-01", 422)]:
        raw, parsed = load(named(part))
        assert parsed.release_dates == [
            ReleaseDate(str(r["release_id"]), date.fromisoformat(r["date"])) for r in raw["release_dates"]
        ]
        assert len(parsed.release_dates) == count


def test_tags_and_notes_of_public_series_tighten_nothing():
    for part in ("series_tags_gdp", "series_gdp_2024", "series_cpilfesl", "series_wgs10yr", "release_series_10"):
        _, parsed = load(named(part))
        assert parsed.tightened == {}
        assert parsed.ignored is None


def test_every_response_is_read_or_set_aside_or_an_error_by_name():
    outcomes = Counter()
    for row in mirror():
        assert CONNECTOR.owns(row["url"])
        if row["status"] != "200":
            with pytest.raises(SourceChanged, match=f"error {row['status']}"):
                load(row)
            outcomes["error"] += 1
        else:
            _, parsed = load(row)
            outcomes["aside" if parsed.ignored else "read"] += 1
    assert outcomes == {"read": 21, "aside": 7, "error": 3}


def test_what_is_usual_for_the_unemployment_rate_follows_from_its_own_past():
    """FRED's UNRATE, 2020-01 to 2024-05, and June 2024 at 4.1 after 3.9 (observations_unrate_2026-04-20.json)."""
    told = json.loads((FOLDER / "macro/fred/observations_unrate_2026-04-20.json").read_bytes())["observations"]
    rates = {row["date"][:7]: float(row["value"]) for row in told}
    past = [rate for month, rate in rates.items() if month < "2024-06"]
    measure = MEASURES["unemployment_rate"]
    # Added up by hand from the file: 25.1 points in 52 changes, 10.4 of them in April 2020; 2.1 in the last 23.
    assert typical_change(measure, past) == pytest.approx(25.1 / 52)
    assert typical_change(measure, past[-24:]) == pytest.approx(2.1 / 23)
    june = MeasureReading(
        measure, rates["2024-06"], "percent", Period.parse("2024-06").key, Frequency.MONTHLY, "fresh",
        rates["2024-05"], Period.parse("2024-05").key,
    )  # fmt: skip
    # 4.1 in the file, after 3.9 in May: less than half of 0.48, and more than twice 0.09.
    assert (june.value, june.previous) == (4.1, 3.9)
    assert reading_sentence(june._replace(usual=typical_change(measure, past))) == (
        "The unemployment rate was 4.1% in June 2024, little changed from 3.9% a month earlier."
    )
    assert reading_sentence(june._replace(usual=typical_change(measure, past[-24:]))) == (
        "The unemployment rate jumped to 4.1% in June 2024, from 3.9% a month earlier."
    )
