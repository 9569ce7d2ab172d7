"""Which entity a name means: exact, else but for spelling, else by likeness; never a guess. All of it is invented."""

from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.domain.aliases import Alias
from almanac.domain.names import normal
from almanac.reports.indicator_search import (
    BEGUN,
    CALLED,
    MENTIONED,
    NAMED,
    name_nearness,
    nearness,
    relevance,
)
from almanac.reports.names import Spellings, Subject, Suggestions, norms, resolve


def day(year):
    return date(year, 6, 1).toordinal()


def name(entity, alias, scheme="name", first=None, last=None, primary=True):
    return Alias(entity, alias, scheme, primary, first, last, "invented", normal(alias, scheme))


ALIASES = [
    name("country_de", "Deltaland"), name("country_de", "DE", "iso2"), name("country_de", "DEL", "iso3"),
    name("country_ko", "North Korana"), name("country_ko", "Korana, North"), name("country_ks", "South Korana"),
    name("country_ks", "Korana, South"),
    name("acme", "Acme Widgets Inc."), name("acme", "AWI", "ticker"), name("acme", "AWI-B", "ticker", primary=False),
    name("acme", "Acme Gadgets Corp", "former_name", day(2001), day(2015), primary=False), name("acme", "0000000042", "cik"),
    name("acme", "acme-widgets-inc", "slug"),
    name("deer", "Deer & Co"), name("deer", "DE", "ticker"),
    name("ford", "Fjord Boats Co"), name("fwd", "Forward Widgets Ltd"), name("fwd", "FJORD", "ticker"),
    name("toro", "Toro Corp."), name("toro", "TORO", "ticker"), name("torc", "Toro Co"), name("torc", "TTC", "ticker"),
    name("twin1", "Twin Bank Corp"), name("twin2", "TWIN BANK INC"), name("shell1", "Oil Major Corp"), name("shell2", "Oil Major Corp"),
    name("old", "Old Steel Co"), name("old", "X", "ticker", None, day(2020), primary=False), name("new", "New Social Inc"),
    name("new", "X", "ticker"), name("gone", "Gone Airlines"), name("gone", "GONE", "ticker", None, day(2019), primary=False),
    name("reused", "Gadget House Inc"), name("was", "Gadget House Inc", "former_name", day(1990), day(2000), primary=False),
    name("was", "Something Else Plc"), name("mega", "Megapharma Laboratories International"), name("snap", "Snap Inc"),
    name("snap", "SNAP", "ticker"), name("phones", "Southern Phones Inc"),
    name("phones", "Bell Phones Corp", "former_name", day(1995), primary=False), name("snapon", "Snap on Tools Inc"),
]  # fmt: skip
REPORTING = {"acme", "shell2", "toro"}
NAMES = {one.entity: one.alias for one in reversed(ALIASES) if one.scheme == "name"}
SUBJECTS = {
    entity: Subject(
        entity, "country" if entity.startswith("country_") else "company", alias, entity, entity in REPORTING
    )
    for entity, alias in NAMES.items()
}
SPELLINGS = Spellings(ALIASES)


def ask(text, year=2026, kind=None, schemes=None):
    wanted = set(norms(text).values())
    found = [one for one in ALIASES if one.norm in wanted and (schemes is None or one.scheme in schemes)]
    subjects = {k: v for k, v in SUBJECTS.items() if kind is None or v.type == kind}
    return resolve(text, found, subjects, SPELLINGS, day(year), schemes and frozenset(schemes))


def told(text, *args, **more):
    """(entity, match, confidence, candidates) of an answer."""
    answer = ask(text, *args, **more)
    if answer is None:
        return None
    entity = answer.best and answer.best.subject.entity
    return entity, answer.match, answer.confidence, [one.subject.entity for one in answer.candidates]


@pytest.mark.parametrize(
    ("text", "entity", "match", "confidence"),
    [
        ("Acme Widgets Inc.", "acme", "exact", 1.0), ("ACME WIDGETS INC.", "acme", "exact", 1.0), ("acme widgets", "acme", "normalized", 0.95),
        ("AWI", "acme", "exact", 1.0), ("awi", "acme", "exact", 1.0), ("AWI.B", "acme", "normalized", 0.95), ("awi-b", "acme", "exact", 1.0),
        ("42", "acme", "exact", 1.0), ("0000000042", "acme", "exact", 1.0), ("CIK 42", "acme", "exact", 1.0),
        ("acme-widgets-inc", "acme", "exact", 1.0), ("Deltaland", "country_de", "exact", 1.0),
        ("Acme Gadgets Corp", "acme", "exact", 0.9), ("Acme Gadgets", "acme", "normalized", 0.85),
        ("GONE", "gone", "exact", 0.9), ("gone", "gone", "exact", 0.9),
    ],
)  # fmt: skip
def test_names_that_compare_equal(text, entity, match, confidence):
    assert told(text) == (entity, match, confidence, [entity])


def test_equal_best_matches_are_all_candidates_and_none_is_chosen():
    assert told("DE") == (None, "exact", 0.5, ["country_de", "deer"])
    assert told("DE", kind="company") == ("deer", "exact", 1.0, ["deer"])
    assert told("DE", schemes={"iso2"}) == ("country_de", "exact", 1.0, ["country_de"])
    assert told("Twin Bank") == (None, "normalized", 0.47, ["twin2", "twin1"])
    assert told("Twin Bank Corp") == ("twin1", "exact", 1.0, ["twin1", "twin2"])


def test_of_one_name_the_company_with_statements_is_meant():
    assert told("Oil Major Corp") == ("shell2", "exact", 0.95, ["shell2", "shell1"])


def test_a_name_valid_on_the_day_goes_before_one_that_is_not():
    assert told("Gadget House Inc") == ("reused", "exact", 1.0, ["reused", "was"])
    # In 1995 both may have had it: nothing says since when the one of today has.
    assert told("Gadget House Inc", 1995) == (None, "exact", 0.5, ["reused", "was"])
    assert told("Acme Gadgets Corp", 2010) == ("acme", "exact", 1.0, ["acme"])


def test_a_retired_ticker_never_goes_before_its_holder_of_today():
    assert told("X") == ("new", "exact", 1.0, ["new", "old"])
    # Before the one that had it was last seen with it, it had it: the ticker has one holder at a time.
    assert told("X", 2015) == ("old", "exact", 1.0, ["old", "new"])
    assert told("X", 2021)[0] == "new"


def test_a_ticker_in_small_letters_is_a_word_too():
    assert told("FJORD") == ("fwd", "exact", 1.0, ["fwd"])
    assert told("Fjord") == told("fjord") == (None, "exact", 0.5, ["fwd", "ford"])
    # Where its holder is called so, it is meant; unless another is called just so.
    assert told("Snap") == told("snap") == ("snap", "exact", 1.0, ["snap"])
    assert told("Toro") == (None, "exact", 0.5, ["toro", "torc"])
    assert told("TORO") == ("toro", "exact", 1.0, ["toro", "torc"])
    assert told("Toro Co") == ("torc", "exact", 1.0, ["torc", "toro"])


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Acme Wigdets", "acme"), ("Acme Widgetts Inc", "acme"), ("AcmeWidgets", "acme"), ("Widgets Acme", "acme"), ("Deltalnd", "country_de"),
        ("Forwerd Widgets", "fwd"), ("Megafarma Laboratories International", None), ("Megapharma Laboratoreis Internatonal", "mega"),
        ("Megapharma Laboratories", "mega"),
        # A slip in the legal form.
        ("Acme Widgets Corporatin", "acme"), ("Acme Wigdets Incorporatd", "acme"), ("Megapharma Laboratories Limitd", None),
        # Less than half of the name, a whole name (it has a legal form) that another only begins with, a word within.
        ("Megapharma", None), ("Megapharma Laboratories Inc", None), ("Laboratories", None),
        # The first letter and digits are no slips; what looks like a code is never taken for a name.
        ("Bcme Widgets", None), ("Akme Widgets", "acme"), ("Snpa", None), ("Tooro", None),
    ],
)  # fmt: skip
def test_likeness(text, entity):
    answer = ask(text)
    assert answer.match == "fuzzy"
    assert answer.confidence <= 0.9
    assert (answer.best and answer.best.subject.entity) == entity
    # Chosen or not, what is close is told.
    assert answer.candidates


def test_several_alike_are_told_and_none_is_chosen():
    assert told("Korana")[:2] == (None, "fuzzy")
    assert set(told("Korana")[3]) == {"country_ko", "country_ks"}
    assert told("Korana", kind="company") is None


def test_nothing_close():
    for text in ("Unheard of", "ZZZZZ", "999", "?!", "日本"):
        assert ask(text) is None, text


def test_at_most_five_candidates():
    many = [name(f"c{number}", f"Alike {chr(65 + number)} Corp") for number in range(9)]
    subjects = {
        one.entity: Subject(one.entity, "company", one.alias, one.entity, reports=number == 7)
        for number, one in enumerate(many)
    }
    answer = resolve("Alike", [], subjects, Spellings(many), day(2026))
    assert answer.best is None
    # The one with statements first.
    assert [one.subject.entity for one in answer.candidates] == ["c7", "c0", "c1", "c2", "c3"]


def test_a_former_name_whose_last_day_is_not_stated_is_no_name_of_today():
    """Its first day is all that is known of when it was used: it is found, and weighs less than what is a name on the day."""
    (entity, match, now), (_, _, then) = told("Bell Phones Corp")[:3], told("Bell Phones Corp", 1995)[:3]
    assert (entity, match) == ("phones", "exact")
    assert now < then


# -- what may have been meant: a slip of the pen or the same words, and never a mere likeness -------------------------


CATALOG = shipped()
FIELDS = Suggestions((one.slug, (one.name, *one.aliases)) for one in CATALOG.indicators.values())
PLACES = Suggestions(
    (one.slug, (one.name, *one.aliases)) for one in CATALOG.entities.values() if one.kind in {"country", "region"}
)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("gov_yeild_10y", "gov_yield_10y"),  # letters that changed places
        ("unemployment_rte", "unemployment_rate"),  # one that is missing
        ("GOV-YIELD 10Y", "gov_yield_10y"),
        ("rate_of_unemployment", "unemployment_rate"),  # the same words, and one more
        ("curent_ratio", "current_ratio"),
        ("pe_ratio", None),  # like letters alone are no likeness
        ("price_to_book_ratio", None),
        ("gov_yield_11y", None),  # a digit is no slip
        ("ratio_of_nothing", None),
        ("", None),
        ("…", None),
    ],
)
def test_indicators(asked, meant):
    assert FIELDS.nearest(asked) == meant


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("untied-states", "united-states"), ("Cote d'Ivore", "cote-divoire"), ("switz", "switzerland"), ("ZZ", None), ("atlantis", None)],
)  # fmt: skip
def test_places(asked, meant):
    assert PLACES.nearest(asked) == meant


def test_what_is_named_is_never_another():
    """Every name that there is leads to itself."""
    names = Suggestions((slug, ()) for slug in CATALOG.indicators)
    assert [slug for slug in CATALOG.indicators if names.nearest(slug) != slug] == []  # itself, whatever is like it


# What words find among indicators, and in which order: by names first, by publishers' names too, measures of companies last.


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("federal funds effective rate", CALLED),
        ("Federal  Funds effective-rate", CALLED),
        ("fed funds", BEGUN),
        ("funds effective", NAMED),
        ("ederal", MENTIONED),
        ("funds fed rate", NAMED),
        ("", MENTIONED),
    ],
)
def test_how_near_a_name_is_to_words(words: str, near: int) -> None:
    assert name_nearness(("overnight_rate", "Federal Funds Effective Rate"), words) == near


def test_a_word_that_stands_nowhere_finds_nothing() -> None:
    one = shipped().indicators["overnight_rate"]
    assert nearness(one, "fed funds zzqq") is None
    assert nearness(one, "transacted") == MENTIONED


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("fed funds", ["overnight_rate", "policy_rate_lower", "policy_rate_upper"]),
        ("target range", ["policy_rate_lower", "policy_rate_upper", "policy_rate"]),
        ("SONIA", ["overnight_rate"]),
        ("cash rate target", ["policy_rate"]),
        ("real gross domestic product", ["real_gdp", "potential_gdp"]),
        ("all employees total nonfarm", ["nonfarm_payrolls"]),
        ("yield", ["gov_yield_10y"]),
        ("10-year", ["gov_yield_10y"]),
        ("debt", ["government_debt_pct_gdp"]),
        ("inflation", ["cpi_inflation_yoy"]),
    ],
)
def test_what_words_find_first(words: str, first: list[str]) -> None:
    every = shipped().indicators
    near = {slug: nearness(one, words) for slug, one in every.items()}
    found = sorted(
        (slug for slug in every if near[slug] is not None), key=lambda s: relevance(every[s], near[s] or 0, every)
    )
    assert found[: len(first)] == first


def test_facts_of_companies_come_after_what_is_as_near() -> None:
    every = shipped().indicators
    fund = every["us_gaap_federal_funds_sold"]
    assert nearness(fund, "federal funds") == nearness(every["policy_rate_upper"], "federal funds") == BEGUN
    assert relevance(fund, BEGUN, every) > relevance(every["policy_rate_upper"], BEGUN, every)
