"""Which filings are events."""

import copy
import tomllib
from importlib.resources import files

import pytest

from almanac.catalog.filing_events import CATEGORIES, shipped
from almanac.catalog.records import CatalogError

TABLE = tomllib.loads(files("almanac.catalog").joinpath("data", "companies", "events.toml").read_text("utf-8"))


def kinds(form, *items):
    return [(kind.category, kind.type, kind.item) for kind in shipped().of(form, items)]


@pytest.mark.parametrize(
    ("item", "category"),
    [
        *((item, "issuer_disclosure") for item in ("2.02", "7.01", "8.01", "5.02", "5.07", "1.01", "1.02", "4.01", "4.02")),
        *((item, "corporate_action") for item in ("1.03", "2.01", "3.01", "3.03", "5.01", "5.03", "5.06")),
    ],
)  # fmt: skip
def test_items_of_current_reports(item, category):
    ((told, _, number),) = kinds("8-K", item)
    assert (told, number) == (category, item)


def test_a_current_report_is_one_event_for_each_thing_it_says():
    assert kinds("8-K/A", "2.02", "9.01", "5.02", "2.02") == [
        ("issuer_disclosure", "results", "2.02"),
        ("issuer_disclosure", "officers_changed", "5.02"),
    ]
    assert kinds("8-K", "9.01") == [("issuer_disclosure", "current_report", None)]


def test_old_numbers_count_where_filers_used_them_rightly():
    assert kinds("8-K", "5", "7") == [("issuer_disclosure", "other_event", "8.01")]
    assert kinds("8-K", "12") == [("issuer_disclosure", "results", "2.02")]
    assert kinds("8-K", "1") == [("issuer_disclosure", "current_report", None)]


@pytest.mark.parametrize("form", ["3", "4/A", "5", "144", "SC 13G/A", "SCHEDULE 13D", "13F-HR", "ABS-15G"])
def test_what_others_file_is_nobodys_event(form):
    assert kinds(form) == []
    assert shipped().knows(form)


def test_a_form_nobody_has_heard_of_is_no_event_and_not_known():
    assert kinds("X-99") == []
    assert not shipped().knows("X-99")


def test_every_category_that_filings_feed_is_fed():
    lines = [*TABLE["form"], *TABLE["item"], TABLE["current_report"]]
    assert {line["category"] for line in lines} == set(CATEGORIES)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            ["form", 0, "category"],
            "gossip",
            "companies/events.toml: form annual_report: Invalid enum value 'gossip' at category, allowed are issuer_filing, ",
        ),
        (["form", 0, "title"], "{company} in {year}", "event annual_report: the title must hold {company}"),
        (["form", 0, "forms"], ["10-K/A"], "form 10-K/A: is an amendment"),
        (["item", 0, "item"], "1.02", "item 1.02: is there twice"),
        (["nobody", "forms"], ["10-K"], "form 10-K: is there twice"),
    ],
)
def test_a_contradiction_is_named(instead, path, value, told):
    table = copy.deepcopy(TABLE)
    *inner, last = path
    held = table
    for step in inner:
        held = held[step]
    held[last] = value
    with pytest.raises(CatalogError) as caught:
        instead(shipped, {"companies/events.toml": table})
    assert told in str(caught.value)
