"""Units: what is money says its currency, whatever list it is in; a score has no unit; whole numbers are written alike."""

import re

import pytest

from almanac.domain.units import CURRENCY, CURRENCY_PER_SHARE, currency_of, is_amount, is_money
from tests.support.service import CATALOG, Service

from . import invented_companies
from .declared import ENDPOINTS, PATH_VALUES, REQUIRED

SCORES = {"indicator_piotroski_f", "indicator_altman_z2", "indicator_beneish_m"}
#: A whole number with a needless `.0`, or a padded exponent, outside of texts.
_LONG = re.compile(r"(?<=[:\[,])-?\d+\.0+(?=[,\]}])|e\+|e-?0\d")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


def judged(record, currencies):
    """What is wrong with the units of a record and of all records in it, one line each."""
    if isinstance(record, list):
        return [line for one in record for line in judged(one, currencies)]
    if not isinstance(record, dict):
        return []
    found = [line for one in record.values() for line in judged(one, currencies)]
    if "unit" not in record:
        return found
    unit = record["unit"]
    told = record["metadata"].get("currency") if "metadata" in record else record["currency"]
    place = {key: record.get(key) for key in ("id", "entityId", "indicatorId", "field", "unit")} | {"currency": told}
    if is_money(unit) and (told is None or re.fullmatch("[A-Z]{3}", told) is None):
        found.append(f"money without a currency: {place}")
    if unit not in {CURRENCY, CURRENCY_PER_SHARE} and not str(unit).startswith(("local_currency", "per_")):
        if told != currency_of(unit, None):
            found.append(f"the unit says another currency: {place}")
    elif told is not None and record.get("entityId") in currencies and told not in currencies[record["entityId"]]:
        found.append(f"not the currency of the place: {place}")
    if SCORES & {record.get("indicatorId"), record.get("id")} and unit is not None:
        found.append(f"a score with a unit: {place}")
    return found


def long_texts(text):
    return _LONG.findall(_TEXT.sub('""', text))


def test_the_judge_sees_what_is_wrong():
    for record, count in (
        ({"unit": "usd", "metadata": {}}, 2),
        ({"unit": "usd", "metadata": {"currency": "EUR"}}, 1),
        ({"unit": "local_currency", "currency": None}, 1),
        ({"unit": "percent", "currency": "USD"}, 1),
        ({"unit": "local_currency", "currency": "JPY", "entityId": "country_usa"}, 1),
        ([{"inside": {"unit": "eur", "currency": "EUR"}}], 0),
        ({"unit": "points", "id": "indicator_piotroski_f", "currency": None}, 1),
    ):
        assert len(judged(record, {"country_usa": {"USD"}})) == count, record
    assert long_texts('{"a":1.0,"b":[2.00],"c":"3.0,","d":1e+16}') == ["1.0", "2.00", "e+"]


def walked(service: Service, most: int):
    """Pages of all lists, and all objects that can be asked for by name, as text and parsed."""
    currencies = {e.id: {e.currency} for e in CATALOG.entities.values()}
    for path in ENDPOINTS:
        if ENDPOINTS[path].kind not in {"list", "item"}:
            continue
        where = re.sub(r"\{\w+\}", PATH_VALUES.get(path, ""), path)
        if path == "/observations/{id}/provenance":
            where = path.replace("{id}", service.ok("/observations/latest", limit=1)[0]["id"])
        query = dict(REQUIRED.get(path, {}))
        for _ in range(most):
            answer = service.get(where, "pro", None, **query)
            assert answer.status_code == 200, (where, answer.text[:200])
            yield path, answer, currencies
            following = answer.json()["meta"].get("pagination", {}).get("next_cursor")
            if following is None:
                break
            query["cursor"] = following


def test_every_unit_of_money_says_its_currency(service):
    """Over the hand-made world: every list and object, all pages."""
    seen = set()
    for path, answer, currencies in walked(service, 40):
        assert judged(answer.json()["data"], currencies) == [], path
        assert long_texts(answer.text) == [], path
        seen.add(path)
    assert len(seen) == len([path for path in ENDPOINTS if ENDPOINTS[path].kind in {"list", "item"}])


@pytest.mark.slow
def test_every_unit_of_money_says_its_currency_in_the_simulated_world(whole):
    for name in ("/observations/latest", "/events", "/release-summaries", "/indicators"):
        query = {"limit": 500}
        while True:
            answer = whole.get(name, "pro", None, **query)
            assert judged(answer.json()["data"], {}) == [], name
            assert long_texts(answer.text) == [], name
            following = answer.json()["meta"]["pagination"]["next_cursor"]
            if following is None:
                break
            query["cursor"] = following
    for path in ("/screener/filters", "/equity-screener/filters"):
        assert judged(whole.ok(path), {}) == []
    for row in whole.ok("/companies", limit=40):
        for part in ("profile", "financials"):
            answer = whole.get(f"/companies/{row['entityId']}/{part}", "pro", None)
            assert judged(answer.json()["data"], {}) == []
            assert long_texts(answer.text) == []


def test_every_unit_of_the_catalogue_is_judged():
    """The rule knows each unit there is: money, an amount that adds up, or neither."""
    money = {unit for unit in CATALOG.units if is_money(unit)}
    assert money == {unit for unit in CATALOG.units if unit.startswith(("usd", "local_currency"))}
    assert {unit for unit in money if not is_amount(unit)} == {unit for unit in money if "_per_" in unit}
    assert {unit for unit in CATALOG.units if currency_of(unit, "XYZ")} - money == {"per_usd", "per_eur"}


def test_every_series_of_money_has_a_currency():
    for natives in CATALOG.series.values():
        for spec in natives.values():
            assert not is_money(spec.unit) or currency_of(
                spec.unit, spec.currency or CATALOG.entities[spec.entity].currency
            ), spec.id


def test_spreads_and_slopes_are_not_in_percent():
    found = [i for i in CATALOG.indicators.values() if re.search(r"spread|slope|butterfly|_change_", i.slug)]
    assert len(found) >= 10
    assert {i.slug for i in found if i.unit == "percent"} <= {
        "exchange_rate_change_yoy",
        "real_effective_rate_change_yoy",
    }


def test_money_of_companies_is_in_the_iso_code_of_its_currency(tmp_path_factory):
    """`eur` for euros, never `usd` or `local_currency`; and where fields are listed, `currency`."""
    made = invented_companies.companies(60)
    home = tmp_path_factory.mktemp("units") / "home"
    invented_companies.build(home, made)
    service = Service(home)
    try:
        by_entity = {one.entity: one.currency or "USD" for one in made}
        rows = service.walk("/observations/latest", indicator="revenue_ttm", limit=500)
        assert {row["unit"] for row in rows} == {"usd", "eur", "jpy"}
        for row in rows:
            assert row["unit"] == by_entity[row["entityId"]].lower()
            assert row["metadata"]["currency"] == by_entity[row["entityId"]]
        scores = service.ok("/observations/latest", indicator="piotroski_f", limit=500)
        assert scores
        assert {row["unit"] for row in scores} == {None}
    finally:
        service.close()
