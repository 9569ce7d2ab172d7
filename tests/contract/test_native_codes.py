"""Publishers' own codes of series: what rows call `nativeId` finds the indicator, the series and the entity."""

from unittest import mock

import pytest

from almanac.store.summary import native_codes

RESOLVE = "/entities/resolve"


@pytest.mark.parametrize(
    ("words", "slugs"),
    [
        ("CPIAUCNS", ["cpi_index_nsa"]),
        ("cpiaucns", ["cpi_index_nsa"]),
        ("BC_10YEAR", ["gov_yield_10y"]),
        # No part of another's code, and no word of a name.
        ("CPIAUCN", []),
    ],
)
def test_an_indicator_by_the_code_of_a_series(service, words, slugs):
    assert [row["slug"] for row in service.ok("/indicators", q=words)] == slugs


def test_every_code_that_a_row_tells_finds_its_series(service):
    """The law of it: what `nativeId` says is what `native_id`, `q` and the scheme `native` take."""
    found = 0
    for slug in ("cpi_index_nsa", "gov_yield_10y", "unemployment_rate", "real_gdp"):
        for row in service.ok(f"/indicators/{slug}/series"):
            code = row["nativeId"]
            assert slug in [one["slug"] for one in service.ok("/indicators", q=code)]
            told = service.ok(f"/indicators/{slug}/series", native_id=code.lower())
            assert row["id"] in [one["id"] for one in told]
            assert {one["nativeId"] for one in told} == {code}
            resolved = service.ok(RESOLVE, alias=code, scheme="native")
            assert row["entityId"] in [one["entityId"] for one in resolved["candidates"]]
            found += 1
    assert found >= 5


def test_the_entity_of_a_code(service):
    found = service.ok(RESOLVE, "reference:read", alias="cpiaucns", scheme="native")
    (candidate,) = found.pop("candidates")
    assert found == candidate == {
        "entityId": "country_usa", "type": "country", "name": "United States", "slug": "united-states",
        "matchedAlias": "CPIAUCNS", "scheme": "native", "match": "exact", "confidence": 1,
    }  # fmt: skip
    assert service.error(RESOLVE, 404, alias="CPIAUCNS", scheme="native", type="company")["details"] == {
        "parameter": "alias"
    }
    assert "'NIXNIX'" in service.error(RESOLVE, 404, alias="NIXNIX", scheme="native")["message"]
    # Without the scheme it is no name of anybody, and is said to be a code.
    assert "scheme=native" in service.error(RESOLVE, 404, alias="CPIAUCNS")["message"]
    assert service.error("/countries/CPIAUCNS", 404)


def test_series_of_some_codes(service):
    path = "/indicators/gov_yield_10y/series"
    told = service.ok(path, native_id="BC_10YEAR,10Y")
    assert {row["entityId"] for row in told} == {"country_usa", "country_jpn"}
    answer = service.get(path, native_id="bc_10year,CPIAUCNS,NIXNIX").json()
    assert {row["nativeId"] for row in answer["data"]} == {"BC_10YEAR"}
    assert [(one["value"], one["reason"]) for one in answer["meta"]["warnings"]] == [
        ("CPIAUCNS", "is the code of no series of this indicator"),
        ("NIXNIX", "is the code of no series of this indicator"),
    ]


def test_a_code_with_a_stroke_or_a_point_and_a_part_of_one(service):
    made = [
        native_codes.CodedSeries(1, "a:country_usa:gdp:A", "gdp", "country_usa", "USA/NY.GDP.MKTP.CD"),
        native_codes.CodedSeries(2, "b:country_usa:fx:D", "fx", "country_usa", "EXR.D.USD.EUR.SP00.A"),
    ]
    with service.reader.view() as view, mock.patch.object(native_codes, "coded_series", return_value=made):
        assert [one.number for one in native_codes.with_code(view, " exr/d.usd/eur.sp00.a")] == [2]
        assert [one.number for one in native_codes.with_code(view, "usa.ny.gdp.mktp.cd")] == [1]
        assert native_codes.with_code(view, "NY.GDP.MKTP.CD") == []
        # As a part by itself, between points: not where letters go on, and no plain word of it.
        found = {
            part: native_codes.holding(view, part)
            for part in ("NY.GDP.MKTP.CD", "GDP.MKTP", "Y.GDP.MKTP", "SP00.A", "MKTP")
        }
        assert {part: sorted(slugs) for part, slugs in found.items()} == {
            "NY.GDP.MKTP.CD": ["gdp"], "GDP.MKTP": ["gdp"], "Y.GDP.MKTP": [], "SP00.A": ["fx"], "MKTP": [],
        }  # fmt: skip
