"""A company's own years, quarters and halves, told from its filings."""

from datetime import date

from almanac.derived.companies.facts import disclosures
from almanac.derived.companies.financials import MeasureValue
from almanac.derived.companies.fiscal_calendar import FiscalCalendar, calendar_quarters
from almanac.derived.companies.reading.tag_mapping import mapping_for
from tests.support.filer import Filer, at, day, method, plain_year, quarter, value, ytd


def text(ordinal):
    return date.fromordinal(ordinal).isoformat()


def grid(filer, moment="2100-01-01"):
    company = filer.company()
    return FiscalCalendar(company, disclosures(company.facts), mapping_for(company.template).core).at(at(moment))


def shown(spans):
    """(start, end, fiscal year and period) of spans, in order."""
    return [(text(s.start), text(s.end), f"{s.fiscal_year}{s.fiscal_period}") for _, s in sorted(spans.items())]


def test_years_and_quarters_of_a_calendar_year():
    filer = Filer()
    plain_year(filer, 2020)
    found = grid(filer)
    assert shown(found.years) == [("2020-01-01", "2020-12-31", "2020FY")]
    assert shown(found.quarters) == [
        ("2020-01-01", "2020-03-31", "2020Q1"),
        ("2020-04-01", "2020-06-30", "2020Q2"),
        ("2020-07-01", "2020-09-30", "2020Q3"),
        ("2020-10-01", "2020-12-31", "2020Q4"),
    ]
    assert found.halves == {}


def test_the_calendar_grows_with_what_is_known():
    filer = Filer()
    plain_year(filer, 2020)
    assert shown(grid(filer, "2020-08-15").quarters) == [
        ("2020-01-01", "2020-03-31", "2020Q1"),
        ("2020-04-01", "2020-06-30", "2020Q2"),
    ]
    assert grid(filer, "2020-04-30").quarters == {}
    assert grid(filer, "2021-02-19").years == {}


def test_weeks_of_52_and_53_end_where_the_reports_say():
    filer = Filer()
    # A year of 52 weeks to the last Saturday of September, then one of 53; the quarter with the week more has 14.
    ends = [
        "2021-12-25",
        "2022-03-26",
        "2022-06-25",
        "2022-09-24",
        "2022-12-31",
        "2023-04-01",
        "2023-07-01",
        "2023-09-30",
    ]
    starts = {0: "2021-09-26", 4: "2022-09-25"}
    for place, end in enumerate(ends):
        first = starts[place // 4 * 4]
        form, fp = ("10-K", "FY") if place % 4 == 3 else ("10-Q", f"Q{place % 4 + 1}")
        filer.file(form, text(day(end) + 30), end, {"NetIncomeLoss": {(first, end): 10 * (place % 4 + 1)}}, fy=2022 + place // 4, fp=fp)  # fmt: skip
    found = grid(filer)
    assert [(text(s.start), text(s.end), s.end - s.start + 1) for s in found.years.values()] == [
        ("2021-09-26", "2022-09-24", 364),
        ("2022-09-25", "2023-09-30", 371),
    ]
    assert [s.end - s.start + 1 for _, s in sorted(found.quarters.items())] == [91, 91, 91, 91, 98, 91, 91, 91]
    assert [f"{s.fiscal_year}{s.fiscal_period}" for _, s in sorted(found.quarters.items())] == [
        "2022Q1", "2022Q2", "2022Q3", "2022Q4", "2023Q1", "2023Q2", "2023Q3", "2023Q4",
    ]  # fmt: skip


def test_quarters_of_sixteen_and_twelve_weeks():
    filer = Filer()
    start = "2022-01-30"
    ends = ["2022-05-21", "2022-08-13", "2022-11-05", "2023-01-28"]
    for place, end in enumerate(ends):
        form, fp = ("10-K", "FY") if place == 3 else ("10-Q", f"Q{place + 1}")
        lines = {"NetIncomeLoss": {(start, end): 100 * (place + 1)}}
        filer.file(form, text(day(end) + 30), end, lines, fy=2022, fp=fp)
    assert [(s.end - s.start + 1, s.fiscal_period) for _, s in sorted(grid(filer).quarters.items())] == [
        (112, "Q1"),
        (84, "Q2"),
        (84, "Q3"),
        (84, "Q4"),
    ]


def test_a_year_end_that_changes_leaves_a_quarter_of_transition():
    filer = Filer()
    plain_year(filer, 2021)
    filer.file("10-QT", "2022-05-09", "2022-03-31", {"NetIncomeLoss": {quarter(2022, 1): -5}}, fy=2022, fp="Q1")
    june = {"NetIncomeLoss": {quarter(2022, 2): 7}}
    filer.file("10-Q", "2022-08-04", "2022-06-30", june, fy=2023, fp="Q1")
    filer.file(
        "10-K", "2023-05-24", "2023-03-31", {"NetIncomeLoss": {("2022-04-01", "2023-03-31"): 60}}, fy=2023, fp="FY"
    )
    found = grid(filer)
    assert shown(found.years) == [
        ("2021-01-01", "2021-12-31", "2021FY"),
        ("2022-04-01", "2023-03-31", "2023FY"),
    ]
    assert shown(found.quarters)[-2:] == [
        ("2022-01-01", "2022-03-31", "2022Q1"),
        ("2022-04-01", "2022-06-30", "2023Q1"),
    ]


def test_a_transition_report_of_three_months_is_no_year():
    filer = Filer()
    plain_year(filer, 2021)
    filer.file("10-KT", "2022-06-09", "2022-03-31", {"NetIncomeLoss": {quarter(2022, 1): -5}}, fy=2022, fp="FY")
    filer.file(
        "10-K", "2023-05-24", "2023-03-31", {"NetIncomeLoss": {("2022-04-01", "2023-03-31"): 60}}, fy=2023, fp="FY"
    )
    found = grid(filer)
    assert [end for _, end, _ in shown(found.years)] == ["2021-12-31", "2023-03-31"]
    assert ("2022-01-01", "2022-03-31") in [(start, end) for start, end, _ in shown(found.quarters)]


def test_years_in_comparative_columns_are_years_too():
    filer = Filer()
    lines = {"NetIncomeLoss": {ytd(2020, 4): 3, ytd(2019, 4): 2, ytd(2018, 4): 1}}
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    assert shown(grid(filer).years) == [
        ("2018-01-01", "2018-12-31", "2018FY"),
        ("2019-01-01", "2019-12-31", "2019FY"),
        ("2020-01-01", "2020-12-31", "2020FY"),
    ]


def test_twelve_months_beside_a_transition_are_no_year():
    filer = Filer()
    plain_year(filer, 2021)
    lines = {"NetIncomeLoss": {("2022-04-01", "2023-03-31"): 60, ("2021-04-01", "2022-03-31"): 95}}
    filer.file("10-K", "2023-05-24", "2023-03-31", lines, fy=2023, fp="FY")
    # They overlap the calendar year before the change.
    assert [end for _, end, _ in shown(grid(filer).years)] == ["2021-12-31", "2023-03-31"]


def test_a_year_ago_in_a_quarterly_report_is_a_quarter():
    filer = Filer()
    filer.file("10-Q", "2020-08-01", "2020-06-30", {"NetIncomeLoss": {quarter(2020, 2): 5, quarter(2019, 2): 4}}, fy=2020, fp="Q2")  # fmt: skip
    assert [(start, end) for start, end, _ in shown(grid(filer).quarters)] == [
        ("2019-04-01", "2019-06-30"),
        ("2020-04-01", "2020-06-30"),
    ]


def test_filers_of_annual_reports_have_no_quarters():
    filer = Filer(currency="TWD")
    lines = {"ifrs-full:ProfitLoss": {ytd(2020, 4): 3}, "ifrs-full:DividendsRecognisedAsDistributionsToOwnersPerShare": {quarter(2020, 1): 1}}  # fmt: skip
    filer.file("20-F", "2021-04-20", "2020-12-31", lines, fy=2020, fp="FY")
    found = grid(filer)
    assert shown(found.years) == [("2020-01-01", "2020-12-31", "2020FY")]
    assert found.quarters == {}


def test_half_years_of_a_foreign_filer():
    filer = Filer(currency="TWD")
    filer.file("20-F", "2021-04-20", "2020-12-31", {"ifrs-full:ProfitLoss": {ytd(2020, 4): 30}}, fy=2020, fp="FY")
    filer.file("6-K", "2021-10-18", "2021-06-30", {"ifrs-full:ProfitLoss": {ytd(2021, 2): 18, ytd(2020, 2): 13}})
    filer.file("20-F", "2022-04-14", "2021-12-31", {"ifrs-full:ProfitLoss": {ytd(2021, 4): 40}}, fy=2021, fp="FY")
    assert shown(grid(filer, "2021-12-01").halves) == [("2021-01-01", "2021-06-30", "2021H1")]
    assert shown(grid(filer).halves) == [
        ("2021-01-01", "2021-06-30", "2021H1"),
        ("2021-07-01", "2021-12-31", "2021H2"),
    ]
    assert grid(filer).quarters == {}


def test_a_six_k_dated_by_its_event_tells_of_the_period_in_it():
    filer = Filer(currency="TWD")
    filer.file("20-F", "2021-04-20", "2020-12-31", {"ifrs-full:ProfitLoss": {ytd(2020, 4): 30}}, fy=2020, fp="FY")
    filer.file("6-K", "2021-08-18", "2021-08-18", {"ifrs-full:ProfitLoss": {ytd(2021, 2): 18}})
    assert shown(grid(filer).halves) == [("2021-01-01", "2021-06-30", "2021H1")]


def test_a_half_year_is_known_without_any_year():
    filer = Filer(currency="TWD")
    filer.file("6-K", "2021-10-18", "2021-06-30", {"ifrs-full:ProfitLoss": {ytd(2021, 2): 18}})
    assert shown(grid(filer).halves) == [("2021-01-01", "2021-06-30", "2021H1")]
    assert grid(filer).quarters == {}


def test_a_second_quarter_beside_the_half_year_is_one():
    filer = Filer(currency="TWD")
    both = {ytd(2021, 2): 18, ytd(2020, 2): 13, quarter(2021, 2): 10, quarter(2020, 2): 7}
    filer.file("6-K", "2021-10-18", "2021-06-30", {"ifrs-full:ProfitLoss": both, "ifrs-full:CashFlowsFromUsedInOperatingActivities": {ytd(2021, 2): 5}})  # fmt: skip
    assert shown(grid(filer).halves) == [("2021-01-01", "2021-06-30", "2021H1")]
    assert shown(grid(filer).quarters) == [("2020-04-01", "2020-06-30", "2020Q2"), ("2021-04-01", "2021-06-30", "2021Q2")]  # fmt: skip
    # A filer of halves it stays: no quarter adjoins another.
    frequencies = {frequency.value for (item, frequency) in filer.swept(measure=measured, reach=400).items if item == "told"}  # fmt: skip
    assert frequencies == {"S"}


def measured(financials, end, frequency):
    income = next(
        (of[end] for of in (financials.quarters["net_income"], financials.years["net_income"]) if end in of), None
    )
    return {} if income is None else {"told": MeasureValue(1.0, end, end, (income,))}


def test_a_quarter_without_a_word_for_it_is_named_by_the_day_its_year_began():
    filer = Filer()
    filer.file("10-Q/A", "2021-08-18", "2021-06-30", {"NetIncomeLoss": {quarter(2021, 2): 10, ytd(2021, 2): 18}})
    assert shown(grid(filer).quarters) == [("2021-04-01", "2021-06-30", "2021Q2")]
    filer = Filer()
    filer.file("10-Q", "2021-05-18", "2021-03-31", {"NetIncomeLoss": {("2020-07-01", "2021-03-31"): 10, quarter(2021, 1): 4}})  # fmt: skip
    assert shown(grid(filer).quarters) == [("2021-01-01", "2021-03-31", "2021Q3")]


def test_a_report_whose_periods_were_rounded_to_the_end_of_a_month_is_about_them():
    """The index dates the report by the day, a data set ends the quarter with the month: eleven days later."""
    filer = Filer()
    filer.file("10-Q", "2021-07-30", "2021-06-19", {"NetIncomeLoss": {quarter(2021, 2): 10, ytd(2021, 2): 18}}, fy=2021, fp="Q2")  # fmt: skip
    assert [(end, name) for _, end, name in shown(grid(filer).quarters)] == [("2021-06-30", "2021Q2")]
    found = filer.swept().statements
    assert {(key.kind, key.frequency.value) for key in found} == {("income", "Q")}


def test_a_report_date_off_by_days_means_the_period_in_the_report():
    filer = Filer()
    lines = {"NetIncomeLoss": {("2018-12-30", "2019-12-28"): 5}}
    filer.file("10-K", "2020-02-14", "2019-12-31", lines, fy=2019, fp="FY")
    assert shown(grid(filer).years) == [("2018-12-30", "2019-12-28", "2019FY")]


def test_without_an_index_the_last_period_in_a_report_is_its_own():
    filer = Filer()
    filer.file("10-K", "2021-02-20", None, {"NetIncomeLoss": {ytd(2020, 4): 3, ytd(2019, 4): 2}}, fy=2020, fp="FY")
    # An amendment with one line about an old year tells of no period of its own.
    filer.file("10-K/A", "2021-06-20", None, {"NetIncomeLoss": {ytd(2017, 4): 1}}, fy=2020, fp="FY")
    assert [end for _, end, _ in shown(grid(filer).years)] == ["2019-12-31", "2020-12-31"]


def test_a_january_year_end_has_the_filers_own_name():
    for fy in (2024, 2025):
        filer = Filer()
        lines = {"NetIncomeLoss": {("2024-02-01", "2025-01-31"): 5, ("2023-02-01", "2024-01-31"): 4}}
        filer.file("10-K", "2025-03-14", "2025-01-31", lines, fy=fy, fp="FY")
        assert [label for _, _, label in shown(grid(filer).years)] == [f"{fy - 1}FY", f"{fy}FY"]


def test_a_cover_that_names_a_wrong_period_is_overruled_by_the_place_in_the_year():
    filer = Filer()
    plain_year(filer, 2019)
    filer.file("10-Q", "2020-05-11", "2020-03-31", {"NetIncomeLoss": {quarter(2020, 1): 5}}, fy=2019, fp="Q3")
    assert shown(grid(filer).quarters)[-1] == ("2020-01-01", "2020-03-31", "2020Q1")


def test_two_years_of_one_name_are_told_apart():
    filer = Filer()
    plain_year(filer, 2019)
    filer.file("10-K", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 5}}, fy=2019, fp="FY")
    assert [label for _, _, label in shown(grid(filer).years)] == ["2019FY", "2020FY"]


def test_a_successor_begins_on_its_first_day():
    filer = Filer()
    # The parent was formed in July: no year before it, and its first fiscal year is the predecessor's too.
    filer.file("10-Q", "2016-08-08", "2016-06-30", {"NetIncomeLoss": {quarter(2016, 2): 5, ytd(2016, 2): 9}}, fy=2016, fp="Q2")  # fmt: skip
    filer.file("10-K", "2017-03-06", "2016-12-31", {"NetIncomeLoss": {ytd(2016, 4): 30, ytd(2015, 4): 20}}, fy=2016, fp="FY")  # fmt: skip
    found = grid(filer)
    assert [label for _, _, label in shown(found.years)] == ["2015FY", "2016FY"]
    assert shown(found.quarters) == [("2016-04-01", "2016-06-30", "2016Q2")]


def test_a_report_without_an_income_statement_still_has_its_year():
    filer = Filer()
    filer.file("10-K", "2016-03-03", "2016-01-03", {"Assets": {"2016-01-03": 5}}, fy=2015, fp="FY")
    assert [(end, label) for _, end, label in shown(grid(filer).years)] == [("2016-01-03", "2015FY")]


def bare(filer, form, filed, end):
    """A report of which only the regulator's index tells: no figures, no words of its cover."""
    return filer.file(form, filed, end, {})


def tagged_years(filer, ends, words):
    for end, word in zip(ends, words, strict=True):
        first = text(day(end) - 363)
        filer.file("10-K", text(day(end) + 50), end, {"NetIncomeLoss": {(first, end): 5}}, fy=word, fp="FY")


def names(filer, moment="2100-01-01"):
    return {text(end): span.fiscal_year for end, span in grid(filer, moment).years.items()}


def test_an_amendment_dated_by_a_savings_plan_moves_no_later_year():
    filer = Filer()
    for year in range(1995, 2010):
        bare(filer, "10-K", f"{year}-08-01", f"{year}-05-31")
    bare(filer, "10-K/A", "1995-09-28", "1995-09-25")
    for year in (2010, 2011):
        lines = {"NetIncomeLoss": {(f"{year - 1}-06-01", f"{year}-05-31"): 5}}
        filer.file("10-K", f"{year}-07-20", f"{year}-05-31", lines, fy=year, fp="FY")
    assert names(filer) == {f"{year}-05-31": year for year in range(1995, 2012)}


def test_years_that_end_in_january_are_counted_from_the_filers_own_words():
    filer = Filer()
    # Plain counting would call them 2007 to 2009, and the first word, 2009, would come too late.
    for end in ("2007-01-28", "2008-02-03", "2009-02-01"):
        bare(filer, "10-K", text(day(end) + 60), end)
    ends = ("2010-01-31", "2011-01-30", "2012-01-29")
    tagged_years(filer, ends, (2009, 2010, 2011))
    found = names(filer)
    assert [found[end] for end in ("2007-01-28", "2008-02-03", "2009-02-01", *ends)] == list(range(2006, 2012))


def test_one_odd_word_moves_no_other_year():
    ends = [f"{year}-01-31" for year in range(2011, 2017)]
    for odd in range(6):
        filer = Filer()
        tagged_years(filer, ends, [2010 + place + (place == odd) for place in range(6)])
        expected = [2010, 2011, 2012, 2013, 2014, 2015]
        # Of the last year a word more is a leap like any other: no later one speaks against it.
        expected[5] += odd == 5
        assert [names(filer)[end] for end in ends] == expected, odd


def test_a_run_of_words_that_another_year_has_is_overruled_rather_than_a_year_skipped():
    filer = Filer()
    ends = [f"{year}-01-31" for year in range(2010, 2020)]
    tagged_years(filer, ends, [2010, 2010, 2011, 2012, *range(2014, 2020)])
    assert [names(filer)[end] for end in ends] == list(range(2010, 2020))


def test_an_untagged_report_dated_by_its_filing_day_keeps_no_year_away():
    filer = Filer()
    for year in (2007, 2008):
        bare(filer, "10-K", f"{year}-03-30", f"{year}-01-31")
    bare(filer, "10-K", "2009-04-01", "2009-04-01")
    lines = {"Revenues": {("2009-02-01", "2010-01-31"): 408, ("2008-02-01", "2009-01-31"): 404}}
    filer.file("10-K", "2010-03-30", "2010-01-31", lines, fy=2009, fp="FY")
    found = grid(filer)
    assert "2009-04-01" not in names(filer)
    assert shown(found.years)[-2:] == [("2008-02-01", "2009-01-31", "2008FY"), ("2009-02-01", "2010-01-31", "2009FY")]
    assert filer.financials().years["revenue"][day("2009-01-31")].value == 404


def test_an_untagged_report_dated_by_a_slip_makes_no_second_quarter():
    filer = Filer()
    for form, filed, end in (("10-K", "2008-07-28", "2008-05-31"), ("10-Q", "2008-10-07", "2008-09-30")):
        bare(filer, form, filed, end)
    bare(filer, "10-K", "2009-07-27", "2009-05-31")
    lines = {"NetIncomeLoss": {("2009-06-01", "2009-08-31"): 5, ("2008-06-01", "2008-08-31"): 4}}
    filer.file("10-Q", "2009-10-08", "2009-08-31", lines, fy=2010, fp="Q1")
    found = [(start, end, label) for start, end, label in shown(grid(filer).quarters) if label.endswith("Q1")]
    assert found == [("2008-06-01", "2008-08-31", "2009Q1"), ("2009-06-01", "2009-08-31", "2010Q1")]


def test_a_first_quarter_named_like_the_year_before_is_the_year_after():
    filer = Filer()
    tagged_years(filer, ["2019-01-27", "2020-01-26"], [2019, 2020])
    for end, word in (("2019-04-28", 2020), ("2020-04-26", 2020)):
        filer.file(
            "10-Q", text(day(end) + 25), end, {"NetIncomeLoss": {(text(day(end) - 90), end): 5}}, fy=word, fp="Q1"
        )
    assert [label for _, _, label in shown(grid(filer).quarters) if label.endswith("Q1")] == ["2020Q1", "2021Q1"]


def test_no_two_quarters_share_a_name_where_a_year_between_is_not_known():
    filer = Filer()
    for end in ("2007-01-31", "2008-01-31"):
        bare(filer, "10-K", text(day(end) + 60), end)
    lines = {"NetIncomeLoss": {("2009-05-01", "2009-07-31"): 5, ("2008-05-01", "2008-07-31"): 4}}
    filer.file("10-Q", "2009-09-09", "2009-07-31", lines, fy=2009, fp="Q2")
    assert [label for _, _, label in shown(grid(filer).quarters)][-2:] == ["2008Q2", "2009Q2"]


def weeks(first, *numbers):
    """Periods of so many weeks that follow each other: first and last days."""
    found, start = [], day(first)
    for number in numbers:
        found.append((start, start + 7 * number - 1))
        start += 7 * number
    return found


def test_no_two_quarters_stand_beside_one_calendar_quarter():
    # Twelve, twelve, twelve and sixteen weeks: the middles of the second and the third are 31 December and 25 March.
    retailer = weeks("2022-08-28", *(12, 12, 12, 16) * 8)
    # Thirteen weeks each, that end in the middle of a calendar quarter: middles on 1 July and 30 September.
    plain = weeks("2020-05-17", *(13,) * 24)
    for spans in (retailer, plain, weeks("2024-01-01", *(13,) * 12)):
        told = list(calendar_quarters(spans).values())
        assert [4 * year + quarter for year, quarter in told] == list(
            range(4 * told[0][0] + told[0][1], 4 * told[0][0] + told[0][1] + len(told))
        )
        # None is further from the middle than a neighbouring quarter.
        for (start, end), (year, quarter_) in zip(spans, told, strict=True):
            middle = date.fromordinal((start + end) // 2)
            assert 4 * year + quarter_ - (4 * middle.year + (middle.month + 2) // 3) in (0, 1)
    assert list(calendar_quarters(retailer[:4]).values()) == [(2022, 4), (2023, 1), (2023, 2), (2023, 3)]


def test_quarters_with_a_gap_between_stand_where_they_are():
    assert calendar_quarters([(day("2020-07-01"), day("2020-09-30")), (day("2019-01-01"), day("2019-03-31"))]) == {
        day("2019-03-31"): (2019, 1), day("2020-09-30"): (2020, 3),
    }  # fmt: skip


def test_a_word_that_leaves_its_neighbours_no_name_is_overruled():
    """Reports of which the index alone dates most, and one whose word for its year is the one before."""
    filer = Filer()
    for year in range(2005, 2009):
        for number in (1, 2, 3, 4):
            start, end = quarter(year, number)
            form = "10-K" if number == 4 else "10-Q"
            whole = {"NetIncomeLoss": {(start, end): 1, ytd(year, number): number}}
            if (year, number) < (2008, 2):
                filer.file(form, text(day(end) + 40), end, whole, fy=year, fp="FY" if number == 4 else f"Q{number}")
    first, last = quarter(2009, 2)
    before = quarter(2008, 2)
    filer.file("10-Q", text(day(last) + 40), last, {"NetIncomeLoss": {(first, last): 3, before: 2}}, fy=2008, fp="Q2")
    found = grid(filer)
    called = {text(end): f"{span.fiscal_year}{span.fiscal_period}" for end, span in found.quarters.items()}
    assert (called[before[1]], called[last]) == ("2008Q2", "2009Q2")
    assert {span.fiscal_year - date.fromordinal(end).year for end, span in found.quarters.items()} == {0}


def test_a_word_far_from_the_calendar_is_none():
    filer = Filer()
    first, last = quarter(2020, 1)
    filer.file("10-Q", "2020-05-10", last, {"NetIncomeLoss": {(first, last): 3}}, fy=2002, fp="Q1")
    assert grid(filer).quarters == {}
    filer.file("10-Q", "2020-05-12", last, {"NetIncomeLoss": {(first, last): 3}}, fy=2021, fp="Q1")
    assert grid(filer).quarters == {}


# -- a year end that moved ----------------------------------------------------------------------------------------------


def moved_to_december():
    """Years to the end of August; the last report of that calendar is of 2018. Then September to December, and 2019."""
    filer = Filer()
    income = "NetIncomeLoss"
    old = ("2017-11-30", "2018-02-28", "2018-05-31", "2018-08-31")
    starts = ("2017-09-01", "2017-12-01", "2018-03-01")
    for number, (end, filed) in enumerate(
        zip(old, ("2018-01-09", "2018-04-09", "2018-07-09", "2018-10-25"), strict=True), 1
    ):
        lines = {("2017-09-01", end): 100 * number}
        if number < 4:
            lines[starts[number - 1], end] = 100
        form, period = ("10-K", "FY") if number == 4 else ("10-Q", f"Q{number}")
        filer.file(form, filed, end, {income: lines, "Assets": {end: 900 + number}}, fy=2018, fp=period)
    stub = {("2018-09-01", "2018-12-31"): 170, ("2018-10-01", "2018-12-31"): 130}
    filer.file("10-QT", "2019-02-08", "2018-12-31", {income: stub, "Assets": {"2018-12-31": 950}}, fy=2018, fp="Q4")
    before = {1: 90, 2: 95, 3: 105}
    for number in (1, 2, 3):
        lines = {ytd(2019, number): 120 * number, quarter(2019, number): 120, quarter(2018, number): before[number]}
        filer.file(
            "10-Q", f"2019-{3 * number + 2:02d}-08", ytd(2019, number)[1], {income: lines}, fy=2019, fp=f"Q{number}"
        )
    filer.file("10-K", "2020-02-20", "2019-12-31", {income: {ytd(2019, 4): 500, ytd(2018, 4): 420}}, fy=2019, fp="FY")
    return filer


def test_four_months_are_no_quarter():
    filer = moved_to_december()
    for moment in ("2019-03-01", "2020-06-01"):
        quarters = filer.financials(moment).quarters["net_income"]
        assert all(amount.end - amount.start < 100 for amount in quarters.values())
        assert quarters[day("2018-12-31")].value == 130


def test_after_a_moved_year_end_each_period_keeps_the_filers_name_and_the_old_year_its_last_quarter():
    filer = moved_to_december()
    financials = filer.financials()
    assert value(financials.quarters, "net_income", "2018-08-31") == 100
    assert method(financials.quarters, "net_income", "2018-08-31") == "fy_minus_9m"
    names = {end: name for _, end, name in shown(grid(filer).quarters)}
    old = {"2017-11-30": "2018Q1", "2018-02-28": "2018Q2", "2018-05-31": "2018Q3", "2018-08-31": "2018Q4"}
    new = {"2018-03-31": "2018Q1", "2018-06-30": "2018Q2", "2018-09-30": "2018Q3", "2018-12-31": "2018Q4"}
    own = {"2019-03-31": "2019Q1", "2019-06-30": "2019Q2", "2019-09-30": "2019Q3", "2019-12-31": "2019Q4"}
    assert names == old | new | own
    assert names.items() >= {end: name for _, end, name in shown(grid(filer, "2019-03-01").quarters)}.items()


def test_quarters_of_two_calendars_stand_beside_their_own_calendar_quarters():
    spans = grid(moved_to_december()).quarters
    assert [spans[day(f"2019-{end}")].calendar for end in ("03-31", "06-30", "09-30", "12-31")] == [
        (2019, 1), (2019, 2), (2019, 3), (2019, 4),
    ]  # fmt: skip


def test_seventeen_weeks_are_a_quarter():
    filer = Filer()
    span = ("2020-09-06", "2021-01-02")
    filer.file("10-Q", "2021-02-01", span[1], {"NetIncomeLoss": {span: 7}}, fy=2020, fp="Q1")
    assert shown(grid(filer).quarters) == [(*span, "2020Q1")]
