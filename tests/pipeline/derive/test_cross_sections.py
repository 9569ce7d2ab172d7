"""Which series of the shipped catalogue take part in comparisons."""

import pytest

from almanac.catalog.load import shipped
from almanac.derived.macro.cross_sections import peer_comparison
from almanac.derived.macro.operators import FormulaError
from almanac.pipeline.derive.cross_sections import belongs, takes_part

CATALOG = shipped()


def takes(slug, native, source):
    formula = CATALOG.formulas[slug]
    spec = CATALOG.series[source][native]
    assert spec.indicator == formula.inputs[0]
    return takes_part(CATALOG, formula, peer_comparison(formula.operator, formula.params), spec)


@pytest.mark.parametrize(
    ("source", "native", "expected"),
    [
        ("us-treasury-par", "BC_10YEAR", True),
        ("ecb-yc", "YC.B.U2.EUR.4F.G_N_A.SV_C_YM.SR_10Y", True),
        ("mof-japan", "10Y", True),
        # Weekly and monthly means are no day's yield.
        ("fred", "WGS10YR", False),
        ("rba", "FCMYGBAG10", False),
        # Not without a consent.
        ("fred", "DGS10", False),
        ("boe-glc", "spot 10y", False),
        # Norway is no scope.
        ("norges-bank", "GOVT_GENERIC_RATES.B.10Y.GBON", False),
    ],
)
def test_yields_held_against_each_other(source, native, expected):
    assert takes("sovereign_spread_10y_peers", native, source) is expected


def test_groups():
    entities = CATALOG.entities
    assert [belongs(entities[name], "countries") for name in ("country_deu", "region_euro_area")] == [True, False]
    scopes = {entity.id for entity in entities.values() if belongs(entity, "rates_scopes")}
    assert scopes == {
        "country_aus", "country_can", "country_che", "country_gbr", "country_jpn", "country_usa", "region_euro_area",
    }  # fmt: skip
    with pytest.raises(FormulaError, match="members 'planets': there are countries, rates_scopes"):
        belongs(entities["country_deu"], "planets")
