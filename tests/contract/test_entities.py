"""Names of entities: which one a name means, and all of one."""

import pytest

from almanac.api.endpoints.reference import reference
from almanac.domain.companies import CompanyRecord
from almanac.reports.names import Spellings
from almanac.store.companies.merging import put_records
from tests.support.service import CATALOG

from .filed import ACME, BOLT, TWIN, ZENITH

ACME_ID, BOLT_ID, ZENITH_ID, TWIN_ID = (f"company_{cik:010d}" for cik in (ACME, BOLT, ZENITH, TWIN))
PATH = "/entities/resolve"
ALIASES = "/entities/{}/aliases"


def test_resolve(service):
    """Resolves an entity by alias: entityId, type, name, slug, matchedAlias, scheme, match, confidence, candidates."""
    assert service.ok(PATH, alias="acme widgets") == {
        "entityId": ACME_ID, "type": "company", "name": "Acme Widgets Inc.", "slug": "acme-widgets-inc",
        "matchedAlias": "Acme Widgets Inc.", "scheme": "name", "match": "normalized", "confidence": 0.95,
        "candidates": [{
            "entityId": ACME_ID, "type": "company", "name": "Acme Widgets Inc.", "slug": "acme-widgets-inc",
            "matchedAlias": "Acme Widgets Inc.", "scheme": "name", "match": "normalized", "confidence": 0.95,
        }],
    }  # fmt: skip
    usa = service.ok(PATH, "reference:read", alias="United States")
    assert (usa["entityId"], usa["type"], usa["slug"], usa["match"], usa["confidence"]) == (
        "country_usa", "country", "united-states", "exact", 1,
    )  # fmt: skip
    euro = service.ok(PATH, alias="eurozone")
    assert (euro["entityId"], euro["type"]) == ("region_euro_area", "region")


@pytest.mark.parametrize(
    ("alias", "entity", "matched", "scheme"),
    [
        ("ACW", ACME_ID, "ACW", "ticker"), ("acw.b", ACME_ID, "ACW-B", "ticker"), ("5001", ACME_ID, "0000005001", "cik"),
        ("0000005001", ACME_ID, "0000005001", "cik"), ("5493006mhb84dd0zwv18", ACME_ID, "5493006MHB84DD0ZWV18", "lei"),
        ("ACME-WIDGETS-INC", ACME_ID, "acme-widgets-inc", "slug"), ("Company_0000005001", ACME_ID, ACME_ID, "other"),
        ("ACME GADGETS CORP", ACME_ID, "ACME GADGETS CORP", "former_name"), ("JP", "country_jpn", "JP", "iso2"),
        ("jpn", "country_jpn", "JPN", "iso3"), ("country_jpn", "country_jpn", "country_jpn", "other"), ("392", "country_jpn", "392", "other"),
        ("ZEN", ZENITH_ID, "ZEN", "ticker"),
    ],
)  # fmt: skip
def test_every_scheme(service, alias, entity, matched, scheme):
    """A name may be of any scheme; case does not matter."""
    found = service.ok(PATH, alias=alias)
    assert (found["entityId"], found["matchedAlias"], found["scheme"]) == (entity, matched, scheme)
    assert service.ok(PATH, alias=alias, scheme=scheme)["entityId"] == entity
    assert service.ok(PATH, alias=alias, type=found["type"])["entityId"] == entity


def test_equal_best_matches(service):
    """Equal best matches: `entityId` null and all in candidates, best first."""
    found = service.ok(PATH, alias="USA")
    assert {key: found[key] for key in ("entityId", "type", "name", "slug", "matchedAlias", "scheme")} == dict.fromkeys(
        ("entityId", "type", "name", "slug", "matchedAlias", "scheme")
    )
    assert (found["match"], found["confidence"]) == ("exact", 0.5)
    assert [(one["entityId"], one["scheme"]) for one in found["candidates"]] == [
        ("country_usa", "iso3"),
        (BOLT_ID, "ticker"),
    ]
    assert service.ok(PATH, alias="USA", type="country")["entityId"] == "country_usa"
    assert service.ok(PATH, alias="USA", scheme="ticker")["entityId"] == BOLT_ID
    twins = service.ok(PATH, alias="Zenith")
    assert (twins["entityId"], [one["entityId"] for one in twins["candidates"]]) == (None, [TWIN_ID, ZENITH_ID])


def test_a_past_day(service):
    """With `as_of` an alias valid at that day wins; without, today's first, then former."""
    former = service.ok(PATH, alias="Acme Gadgets Corp")
    assert (former["entityId"], former["confidence"]) == (ACME_ID, 0.9)
    assert service.ok(PATH, alias="Acme Gadgets Corp", as_of="2010-01-01")["confidence"] == 1
    assert service.ok(PATH, alias="Acme Gadgets Corp", as_of="2015-07-01")["confidence"] == 0.9
    assert service.error(PATH, 400, alias="ACW", as_of="2027-01-01")["details"]["reason"] == "future"
    # Names are no dated rows: the plan's window does not bound them.
    assert service.ok(PATH, "free", alias="Acme Gadgets Corp", as_of="2010-01-01")["entityId"] == ACME_ID


def test_likeness(service):
    """Not found by any spelling, a name is looked for by likeness; never alone for what looks like a ticker or a CIK."""
    found = service.ok(PATH, alias="Acme Wigdets")
    assert (found["entityId"], found["match"], found["matchedAlias"]) == (ACME_ID, "fuzzy", "Acme Widgets Inc.")
    assert 0.5 < found["confidence"] < 0.9
    # Five letters: it may be a ticker nobody here has.
    vague = service.ok(PATH, alias="Zenit")
    assert (vague["entityId"], vague["match"]) == (None, "fuzzy")
    assert {one["entityId"] for one in vague["candidates"]} == {ZENITH_ID, TWIN_ID}


def test_names_of_a_new_state(own, monkeypatch):
    """Names are found as the newest state has them; what finds them by likeness is made anew only where a name changed."""
    made = []

    class Counted(Spellings):
        def __init__(self, names):
            made.append(names)
            super().__init__(made[-1])

    monkeypatch.setattr(reference, "Spellings", Counted)

    def change(name, *, reports=None):
        with own.world() as world, world.batch("test") as batch:
            batch.touch()
            if name is not None:
                record = CompanyRecord(cik=5009, part="submissions", name=name, sic="7372")
                put_records(
                    world.db,
                    [record],
                    "sec",
                    1_790_000_000 + len(made),
                    name,
                    lambda sic: ("Technology", None, "industrial"),
                )
            if reports is not None:
                world.db.execute("UPDATE company SET reports = 1 WHERE entity = ?", (reports,))

    assert own.ok(PATH, alias="Acme Wigdets")["entityId"] == ACME_ID
    assert own.error(PATH, 404, alias="Quillfeather Lante")["code"] == "not_found"
    change(None)
    assert own.ok(PATH, alias="Acme Wigdets")["entityId"] == ACME_ID
    assert len(made) == 1
    change("Quillfeather Lane Ltd")
    assert own.ok(PATH, alias="Quillfeather Lante")["entityId"] == "company_0000005009"
    assert len(made) == 2
    change("Thimblewick Ltd")
    assert own.ok(PATH, alias="Thimblewik")["matchedAlias"] == "Thimblewick Ltd"
    assert len(made) == 3
    # Whether a company has statements is no name of it, and decides which of two goes first.
    assert [one["entityId"] for one in own.ok(PATH, alias="Zenit")["candidates"]] == [TWIN_ID, ZENITH_ID]
    change(None, reports=ZENITH_ID)
    assert [one["entityId"] for one in own.ok(PATH, alias="Zenit")["candidates"]] == [ZENITH_ID, TWIN_ID]
    assert len(made) == 3


def test_nothing_close(service):
    """Nothing close: 404."""
    for alias in ("Unheard of Enterprises", "QQQQQ", "424242", "?"):
        error = service.error(PATH, 404, alias=alias)
        assert error["code"] == "not_found"
        assert alias in error["message"]
    assert service.error(PATH, 404, alias="ACW", type="country")["details"] == {"parameter": "alias"}
    assert service.error(PATH, 404, alias="ACW", scheme="iso2")["details"] == {"parameter": "alias"}


def test_what_is_refused(service):
    """`alias` is required; enums name what is allowed."""
    assert service.error(PATH, 400)["details"] == {"parameter": "alias", "reason": "required"}
    assert service.error(PATH, 400, alias=" ")["details"]["reason"] == "empty"
    assert service.error(PATH, 400, alias="x" * 201)["details"]["reason"] == "range"
    assert service.error(PATH, 400, alias="x", type="planet")["details"]["allowed"] == ["country", "region", "company"]
    assert service.error(PATH, 400, alias="x", scheme="isin")["message"].startswith("'scheme' ")


def test_aliases_of_a_company(service):
    """Aliases of one entity (path: entity id or slug), by scheme, then alias."""
    rows = service.ok(ALIASES.format("acme-widgets-inc"))
    assert rows == service.ok(ALIASES.format(ACME_ID.upper()))
    told = [(r["scheme"], r["alias"], r["primary"], r["validFrom"], r["validTo"]) for r in rows]
    assert told == [
        ("cik", "0000005001", True, None, None),
        ("former_name", "ACME GADGETS CORP", False, "2001-02-03T00:00:00Z", "2015-06-30T00:00:00Z"),
        ("lei", "5493006MHB84DD0ZWV18", True, None, None),
        ("name", "Acme Widgets Inc.", True, None, None),
        ("name", "Acme Widgets, Incorporated", False, None, None),
        ("slug", "acme-widgets-inc", True, None, None),
        ("ticker", "ACW", True, None, None),
        ("ticker", "ACW-B", False, None, None),
    ]
    assert {(r["entityId"], r["sourceId"]) for r in rows} == {(ACME_ID, "sec")}
    assert service.ok(ALIASES.format(ACME_ID), order="desc") == rows[::-1]
    # Delisted: the ticker ends with the day it was last seen.
    zenith = {(r["scheme"], r["alias"]): (r["primary"], r["validTo"]) for r in service.ok(ALIASES.format(ZENITH_ID))}
    assert zenith["ticker", "ZEN"] == (False, "2026-11-01T00:00:00Z")


def test_aliases_of_a_place(service):
    """Countries' and regions' aliases come from their reference records."""
    rows = service.ok(ALIASES.format("united-states"))
    assert {(r["scheme"], r["alias"]) for r in rows} >= {
        ("name", "United States"), ("iso2", "US"), ("iso3", "USA"), ("slug", "united-states"), ("name", "America"), ("other", "840"),
    }  # fmt: skip
    assert [r["alias"] for r in rows if r["primary"]] == ["US", "USA", "United States", "united-states"]
    for entity in [*CATALOG.entities.values()][::4]:
        found = {r["alias"] for r in service.walk(ALIASES.format(entity.slug))}
        assert {entity.name, entity.slug, *entity.aliases} <= found
        # Each of them leads back, alone or among the candidates.
        for alias in found:
            told = service.ok(PATH, alias=alias)
            assert entity.id in {told["entityId"], *(one["entityId"] for one in told["candidates"])}, alias


def test_no_such_entity(service):
    """An unknown id in a path → 404."""
    error = service.error(ALIASES.format("nowhere"), 404)
    assert error["details"] == {"parameter": "idOrSlug"}
    # Likeness alone is for /entities/resolve.
    assert service.error(ALIASES.format("acme"), 404)["code"] == "not_found"


def test_companies_are_entities_in_filters(service):
    """`entity`, `entity_id`: id or slug of any entity, of a company too."""
    for name in (ACME_ID, "acme-widgets-inc", "ACME-WIDGETS-INC"):
        assert service.ok("/observations", entity=name) == []
        assert {row["entityId"] for row in service.ok("/events", entity_id=name)} == {ACME_ID}
