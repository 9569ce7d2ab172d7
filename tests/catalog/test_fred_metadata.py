"""Our word on a FRED series against FRED's own: units, frequency and seasonal adjustment of the publisher's records."""

from __future__ import annotations

import json

import pytest

from almanac.catalog.load import shipped
from tests.support.paths import REAL_DATA

REAL = REAL_DATA / "macro/fred"

#: FRED's words → unit and basis; its adjustment → ours and whether values are at annual rates.
UNITS = {
    "Billions of Dollars": ("usd_billions", None),
    "Percent": ("percent", None),
    "Index 1982-1984=100": ("index", "1982-1984=100"),
}
ADJUSTED = {"SAAR": ("SA", True), "SA": ("SA", False), "NSA": ("NSA", False)}


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the publishers' own files are not beside the repository")
def test_mapped_series_are_described_as_fred_describes_them() -> None:
    mapped = shipped().series["fred"]
    told = {}
    for name in ("series_gdp_*", "series_wgs10yr_*", "series_cpilfesl_*", "release_series_10_*"):
        (file,) = REAL.glob(name + ".json")
        told |= {line["id"]: line for line in json.loads(file.read_text("utf-8"))["seriess"] if line["id"] in mapped}
    theirs = {
        native: (
            line["frequency_short"],
            *UNITS[line["units"]],
            *ADJUSTED[line["seasonal_adjustment_short"]],
        )
        for native, line in told.items()
    }
    ours = {
        native: (spec.frequency.value, spec.unit, spec.basis, spec.seasonal_adjustment, spec.annualized)
        for native, spec in mapped.items()
        if native in theirs
    }
    assert set(theirs) == {"GDP", "WGS10YR", "CPILFESL", "CPIAUCSL", "CPIAUCNS"}
    assert ours == theirs
