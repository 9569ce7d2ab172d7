"""Where a value comes from: each step opens, down to the raw response."""

from __future__ import annotations

import html
import re

from almanac.dashboard.formatting.numbers import full


def test_a_raw_value_leads_to_the_response_it_was_read_from(service, browser):
    row = service.ok("/observations", indicator="cpi_index_nsa", order="desc", limit=1)[0]
    told = service.ok(f"/observations/{row['id']}/provenance")
    text = html.unescape(browser().get(f"/observations/{row['id']}").text)
    payload = told["payload"]
    for wanted in (payload["sha256"], payload["url"], f"{payload['bytes']:,}", payload["mediaType"], told["run"]["id"]):
        assert wanted in text
    assert f'data-value="{full(row["valueNumeric"])}"' in text
    assert f'/observations/{row["id"]}/provenance"' in text


def test_a_computed_value_leads_to_its_inputs_and_says_whether_it_comes_out_equal(service, browser):
    one = browser()
    row = service.ok("/derived-observations", indicator="cpi_inflation_yoy", order="desc", limit=1)[0]
    told = service.ok(f"/observations/{row['id']}/provenance")
    text = one.get(f"/observations/{row['id']}").text
    assert told["verified"] is True
    assert "recomputed: equal" in text
    assert html.escape(told["formula"]) in text or told["formula"] in html.unescape(text)
    for given in told["inputs"]:
        assert f'href="/observations/{given["observationId"]}"' in text
        assert f'data-value="{full(given["valueNumeric"])}"' in text
        page = one.get(f"/observations/{given['observationId']}")
        assert page.status_code == 200
        assert "SHA-256" in page.text


def test_each_state_of_a_revised_value_is_listed_and_opens(service, browser):
    one = browser()
    vintages = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred")
    cells: dict[str, list] = {}
    for row in vintages:
        cells.setdefault(row["periodEnd"], []).append(row)
    states = next(rows for rows in cells.values() if len(rows) > 1)
    text = one.get(f"/observations/{states[0]['id']}").text
    for row in states:
        assert f'href="/observations/{row["id"]}"' in text
        assert one.get(f"/observations/{row['id']}").status_code == 200


def test_a_chosen_period_has_its_own_lineage(service, browser):
    row = service.ok("/observations", indicator="cpi_index_nsa", source_id="fred", period="2025-03")[0]
    text = browser().get("/series/fred:country_usa:cpi_index_nsa:M", period="2025-03").text
    assert "Lineage of Mar\xa02025" in text
    assert f'href="/observations/{row["id"]}"' in text[text.index('data-part="lineage"') :]


def test_ids_that_are_nobodys_are_not_found_and_others_led_on(service, browser):
    one = browser()
    assert one.get("/observations/obs_none").status_code == 404
    row = service.ok("/observations", indicator="cpi_index_nsa", limit=1)[0]
    moved = one.get(f"/observations/{row['id'].upper()}")
    assert (moved.status_code, moved.headers["location"]) == (301, f"/observations/{row['id']}")


def test_the_links_of_a_page_lead_somewhere(browser):
    one = browser()
    text = one.get("/series/fred:country_usa:cpi_inflation_yoy:M", as_of="2026-11-18").text
    main = text[text.index("<main") : text.index("</main>")]
    found = {html.unescape(link).partition("#")[0] for link in re.findall(r'href="(/[^"]*)"', main)}
    seen = {link for link in found if not link.startswith("/keys")}
    chosen = sorted(seen, key=lambda link: (link.split("?")[0].count("/"), link))[:40]
    assert {link: one.get(link).status_code for link in chosen} == dict.fromkeys(chosen, 200)
