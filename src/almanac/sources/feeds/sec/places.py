"""The SEC's own codes of places, as ISO 3166 codes of countries (data/companies/places.toml of the catalogue)."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from almanac.catalog.tables import packaged


@functools.cache
def _countries() -> Mapping[str, str]:
    places = packaged("companies/places.toml")
    return {**places["countries"], **dict.fromkeys(places["provinces"], "CA"), **dict.fromkeys(places["states"], "US")}


def country(code: str | None) -> str | None:
    """Return the ISO-2 code of a place's country by the SEC's code; None if the code is absent or not of one country."""
    return _countries().get(code or "")
