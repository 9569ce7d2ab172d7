"""GET /observations/{id}/provenance: from a served number down to the raw bytes, for every row of the invented world."""

import hashlib
from datetime import date

import pytest

from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import RawStore
from tests.support.invented_mirror import (
    COPY_10Y,
    CORRECTED,
    CORRECTED_DAY,
    FIRST_FETCH,
    LAST_FETCH,
    TREASURY,
    WITHDRAWN_DAY,
    price,
    responses,
    treasury_value,
)

from .declared import ENDPOINTS


def provenance(service, row):
    return service.ok(f"/observations/{row['id']}/provenance")


@pytest.fixture(scope="module")
def raw_files(service):
    """Every payload in the raw store, by the hash of its bytes."""
    raw = RawStore(Folder(service.settings.raw_path))
    captures = [one for source in ("us-treasury-par", "mof-japan", "fred") for one in raw.captures(source)]
    return {hashlib.sha256(raw.read(one)).hexdigest(): one for one in captures}


def test_every_raw_row_leads_to_its_bytes(service, raw_files):
    """Data is stored raw first: every value leads to a payload, by the SHA-256 of bytes that are there."""
    mirror = {
        hashlib.sha256(body).hexdigest(): (url, fetched, kind, len(body)) for url, body, fetched, kind in responses()
    }
    assert set(raw_files) == set(mirror)
    seen, withheld = set(), set()
    for row in service.walk("/observations", limit=500, sources="all"):
        found = provenance(service, row)
        payload = found["payload"]
        if row["rights"]["valueWithheld"]:
            # Of these the hash would be a way to try values out.
            assert payload is None
            withheld.add(row["metadata"]["nativeId"])
            continue
        expected = mirror[payload["sha256"]]
        assert (payload["url"], payload["fetchedAt"], payload["mediaType"], payload["bytes"]) == expected
        assert payload["sha256"] in raw_files
        assert {**found["observation"], "derivedFrom": []} == {**row, "derivedFrom": []}
        assert row["ingestedAt"] == payload["fetchedAt"]
        assert (found["formula"], found["inputs"], found["verified"]) == (None, [], None)
        assert found["run"]["version"] >= 1
        assert found["run"]["finishedAt"] == "2026-11-20T12:00:00Z"
        seen.add(payload["sha256"])
    # Each file is where some row comes from; a withheld series has one of its own.
    assert len(withheld) == 1
    assert len(seen) == len(mirror) - len(withheld)


def test_every_derived_row_is_verified(service):
    """verified: recomputed now from the inputs and equal; formula and inputs are stated."""
    rows = service.walk("/derived-observations", limit=500, sources="all")
    assert len(rows) > 400
    for row in rows:
        found = provenance(service, row)
        assert found["verified"] is (None if row["rights"]["valueWithheld"] else True), row
        assert (found["payload"], found["run"]) == (None, None)
        assert found["formula"] == service.ok(f"/derived-indicators/{row['indicatorId']}")["formula"]
        assert {one["seriesId"] for one in found["inputs"]} == set(row["derivedFrom"])
        assert max(one["observedAt"] for one in found["inputs"]) <= row["observedAt"]
        assert found["observation"] == row
        assert row["id"] in [vintage["id"] for vintage in found["vintages"]]


def test_inputs_lead_on(service):
    """inputs[]: observation ids and values at that knowledge time, each with a provenance of its own."""
    for query in ({"indicator": "misery_index", "period": "2026-09"}, {"indicator": "sovereign_spread_10y_usa", "period": "2026-11-18"},
                  {"indicator": "sahm_indicator", "period": "2026-09"}, {"indicator": "yield_10y_change_1y", "period": "2026-11-18"}):  # fmt: skip
        for row in service.ok("/derived-observations", **query):
            inputs = provenance(service, row)["inputs"]
            assert len(inputs) >= 2
            for one in inputs:
                found = service.ok(f"/observations/{one['observationId']}/provenance")["observation"]
                assert found["metadata"]["seriesId"] == one["seriesId"]
                for name in ("valueNumeric", "valueText", "periodStart", "periodEnd", "observedAt"):
                    assert found[name] == one[name]
                assert (one["valueWithheld"], one["reason"]) == (False, None)


def test_inputs_of_a_growth_rate(service):
    """Formulas look inputs up by reference period: this year's and last year's month, and no other."""
    (row,) = service.ok("/derived-observations", indicator="cpi_inflation_yoy", period="2026-09")
    found = provenance(service, row)
    assert [(one["periodEnd"][:10], one["valueNumeric"]) for one in found["inputs"]] == [
        ("2026-09-30", price(date(2026, 9, 1))), ("2025-09-30", price(date(2025, 9, 1))),
    ]  # fmt: skip
    assert found["formula"] == "100·(x_t/x_{t−n} − 1), n = one year"


def test_all_known_states_of_the_cell(service):
    """vintages[]: all known states of that cell; an id names the state, also one that was replaced."""
    (row,) = service.ok("/observations", indicator="gov_yield_10y", source_id="us-treasury-par", period="2026-11-17")
    found = provenance(service, row)
    assert [(v["valueNumeric"], v["observedAt"], v["ingestedAt"], v["revisionStatus"]) for v in found["vintages"]] == [
        (treasury_value("BC_10YEAR", CORRECTED_DAY), "2026-11-17T23:59:59Z", FIRST_FETCH, "initial"),
        (CORRECTED, LAST_FETCH, LAST_FETCH, "revised"),
    ]
    assert {**row, "derivedFrom": []} == found["observation"] == found["vintages"][1]
    old = provenance(service, found["vintages"][0])
    assert old["observation"]["valueNumeric"] == treasury_value("BC_10YEAR", CORRECTED_DAY)
    assert old["vintages"] == found["vintages"]
    assert (old["payload"]["fetchedAt"], found["payload"]["fetchedAt"]) == (FIRST_FETCH, LAST_FETCH)
    assert old["payload"]["url"].startswith(TREASURY)


def test_a_withdrawn_state(service):
    """tombstones too (`metadata.withdrawn: true`): a withdrawal has an id, no value, and a payload that left it out."""
    rows = service.walk(
        "/observations/vintages", indicator="gov_yield_10y", source_id="us-treasury-par", period="2026-11-12"
    )
    assert [(r["valueNumeric"], r["metadata"].get("withdrawn")) for r in rows] == [
        (treasury_value("BC_10YEAR", WITHDRAWN_DAY), None), (None, True),
    ]  # fmt: skip
    found = provenance(service, rows[1])
    assert found["vintages"] == rows
    assert found["payload"]["fetchedAt"] == LAST_FETCH
    assert found["observation"]["rights"]["valueWithheld"] is False


def test_old_states_of_derived_values_are_verified(service):
    """An older state of a derived value is recomputed as of its own time."""
    rows = service.walk("/observations/vintages", indicator="cpi_inflation_yoy", period="2026-08")
    assert [r["revisionStatus"] for r in rows] == ["initial", "revised"]
    for row, value in zip(rows, (price(date(2026, 8, 1)) - 1, price(date(2026, 8, 1))), strict=True):
        found = provenance(service, row)
        assert found["verified"] is True
        assert found["inputs"][0]["valueNumeric"] == value
    for row in service.walk("/observations/vintages", indicator="yield_slope_2s10s", sources="all", limit=500):
        if not row["metadata"].get("withdrawn"):
            assert provenance(service, row)["verified"] is True


def test_the_other_source(service):
    """Every provider's row has its own provenance."""
    (row,) = service.ok("/observations", indicator="gov_yield_10y", source_id="fred", period="2026-11-17")
    assert row["valueNumeric"] == COPY_10Y[date(2026, 11, 17)]
    found = provenance(service, row)
    assert "series_id=DGS10" in found["payload"]["url"]
    assert "api_key" not in found["payload"]["url"]
    assert [v["id"] for v in found["vintages"]] == [row["id"]]


def test_ids_are_case_insensitive(service):
    """Ids, slugs and ISO codes are case-insensitive in paths; what is no id is 404."""
    (row,) = service.ok("/observations/latest", indicator="unemployment_rate")
    assert provenance(service, {"id": row["id"].upper()}) == provenance(service, row)
    for wrong in ("obs_x", row["id"][:-1], row["id"] + "a", "fred:country_usa:unemployment_rate:M"):
        assert service.error(f"/observations/{wrong}/provenance", 404)["code"] == "not_found"
    # That of this kind of row, as an earlier version enciphered it.
    assert (
        "an earlier version" in service.error("/observations/obs_bkmt4t4jvrq3jhxtrzyl53sa4p/provenance", 404)["message"]
    )
    assert list(ENDPOINTS["/observations/{id}/provenance"].by_name) == []
