"""What an operator has to set to show values is on pages for operators alone."""

from __future__ import annotations

from tests.contract.test_rights import NO_CONSENT
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

PAGES = (
    "/", "/rates", "/rates/USA", "/rates/JPN", "/sources", "/sources/fred", "/screeners/macro/fields", "/countries/united-states",
    "/indicators/gov_yield_10y", "/series/fred:country_usa:cpi_index_nsa:M", "/search?q=inflation&all=1",
)  # fmt: skip


def test_names_of_settings_are_for_operators(own: Service) -> None:
    with own.world(**NO_CONSENT):
        pass  # FRED withheld, with a reason that says which settings would lift it
    app = dashboard(own)
    reader, operator = signed_in(app), signed_in(app, "op")
    told = 0
    for path in PAGES:
        text, whole = reader.get(path).text, operator.get(path).text
        assert "ALMANAC_SOURCES" not in text, path
        told += "ALMANAC_SOURCES" in whole
    assert told >= 2
