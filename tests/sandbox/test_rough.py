"""What the simulated world has of real feeds' roughness: gaps of years, silent ends, late first loads, young filers."""

from datetime import UTC, date, datetime

from almanac.sandbox.companies.cast import cast
from almanac.sandbox.companies.responses import filed
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import fred
from almanac.sandbox.fred_series import everything

TODAY = date(2026, 11, 20)
NOW = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp())


def series(native, source="sandbox-fred"):
    (found,) = [one for one in everything() if (one.native, one.source) == (native, source)]
    return found


def test_a_survey_that_nobody_made_for_years():
    asked = [row[0] for row in series("SIMBRAPART").vintages(Economy(TODAY), TODAY)]
    assert asked == sorted(asked)
    assert [when for when in asked if "2018-12-01" <= when <= "2026-08-01"] == ["2018-12-01", "2026-08-01"]
    assert asked[-1] == "2026-09-01"


def test_a_curve_that_stops_without_a_word_while_the_withheld_one_goes_on():
    public, licensed = series("SIMBRAY10Y"), series("SIMBRAY10Y", "sandbox-licensed")
    economy = Economy(TODAY)
    assert public.vintages(economy, TODAY)[-1][0] == "2014-06-30"
    assert "discontinued" not in public.line()
    assert licensed.listed(economy, licensed.first, TODAY)[0][-1] > "2026-11-01"


def test_old_history_that_was_first_asked_for_late():
    def captures(now):
        return [one for one in fred(Economy(TODAY), now, None) if one.url.endswith("series_id=SIMDEUVACANCY")]

    first, *later = captures(NOW)
    assert datetime.fromtimestamp(first.fetched_at, UTC).date() == date(2026, 3, 31)
    assert "observation_start" not in first.url
    assert '"date":"2010-01-01"' in first.make().decode().replace(" ", "")
    assert [datetime.fromtimestamp(one.fetched_at, UTC).date() for one in later] == [
        date(2026, 6, 30), date(2026, 9, 30), TODAY,
    ]  # fmt: skip
    assert captures(int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())) == []


def test_filers_of_quarters_alone_with_names_as_filed():
    quarters, single = (next(one for one in cast() if one.kind == kind) for kind in ("quarters_alone", "one_quarter"))
    assert (quarters.name, single.name) == ("GANNET HEAD CANNERIES INC /DE/", "STORM PETREL MOORINGS CORP")
    told = {
        one.kind: [paper.form for paper in filed(one.number, NOW).papers if paper.figures] for one in (quarters, single)
    }
    assert told == {"quarters_alone": ["10-Q"] * 3, "one_quarter": ["10-Q"]}
