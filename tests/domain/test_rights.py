"""Who may see a value, and how that flows through derivation."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.periods import Frequency
from almanac.domain.reference import Indicator, SeriesSpec
from almanac.domain.rights import Consent, Exposure, Rights, derived, effective

CONSENT = Consent(by="someone", on="2026-01-01", reference="letter 1")


@pytest.mark.parametrize(("data", "own", "channel"), list(itertools.product(Exposure, repeat=3)))
def test_the_strictest_counts_and_a_consent_lifts_only_the_channel(data, own, channel):
    rights = Rights(exposure=data, channel=channel, license="x", attribution="y")
    assert effective(rights, own, None) == max(data, own, channel)
    assert effective(rights, own, CONSENT) == max(data, own)


@given(st.lists(st.tuples(st.sampled_from(list(Exposure)), st.booleans())))
def test_a_derived_value_is_as_shut_as_its_strictest_input_that_does_not_allow_it(inputs):
    shut = [exposure for exposure, allowed in inputs if not allowed]
    assert derived(inputs) == (max(shut, default=Exposure.public) if inputs else Exposure.blocked)


def test_exposures_are_ordered_from_open_to_shut():
    assert [e.name for e in sorted(Exposure)] == ["public", "internal_only", "restricted", "blocked"]


def test_ids_are_made_of_what_never_changes():
    spec = SeriesSpec(
        source="us-treasury-par", native="BC_10YEAR", indicator="gov_yield_10y", entity="country_usa",
        frequency=Frequency.DAILY, unit="percent", name="x",
    )  # fmt: skip
    assert spec.id == "us-treasury-par:country_usa:gov_yield_10y:D"
    assert (
        Indicator(slug="cpi_index", name="x", description="x", category="inflation", kind="raw").id
        == "indicator_cpi_index"
    )


@pytest.mark.parametrize(
    ("asks_for", "said"),
    [
        ("attribution", {}),
        ("open", {"license_class": "open"}),
        ("non-commercial", {"commercial_use": "no"}),
        ("non-commercial", {"commercial_use": "no_extra_charge", "license_class": "non-commercial"}),
        ("consent", {"channel": Exposure.internal_only}),
        ("consent", {"exposure": Exposure.restricted, "commercial_use": "no"}),
        ("consent", {"license_class": "consent"}),
    ],
)
def test_what_a_licence_asks_for_follows_from_its_terms(asks_for, said):
    assert Rights(license="x", attribution="y", **said).asks_for == asks_for
