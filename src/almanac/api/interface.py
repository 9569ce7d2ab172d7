"""The whole interface: every endpoint, in the order of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.openapi import described
from almanac.api.endpoints.briefs import brief
from almanac.api.endpoints.calendar import events, releases
from almanac.api.endpoints.companies import companies
from almanac.api.endpoints.companies.companies import ScoreExplainer
from almanac.api.endpoints.macro import indicators, observations, provenance, rates
from almanac.api.endpoints.reference import reference
from almanac.api.endpoints.screeners import screeners
from almanac.api.endpoints.screeners.screening import ProcessCache


def endpoints(explain: provenance.Explain, explain_scores: ScoreExplainer = lambda *_: {}) -> tuple[Endpoint, ...]:
    """Return all endpoints. `explain` computes derived values again for provenance, `explain_scores` scores test by test."""
    cache = ProcessCache()
    data = (
        *observations.ENDPOINTS,
        provenance.endpoint(explain),
        *indicators.ENDPOINTS,
        *reference.endpoints(),
        *companies.endpoints(cache, explain_scores),
        observations.DERIVED,
        rates.ENDPOINT,
        rates.HISTORY,
        *indicators.DERIVED_ENDPOINTS,
        brief.endpoint(cache),
        releases.ENDPOINT,
        *screeners.endpoints(cache),
        events.ENDPOINT,
    )
    return described([replace(endpoint, elsewhere=_below(endpoint, data)) for endpoint in data])


def _below(endpoint: Endpoint, every: Sequence[Endpoint]) -> dict[str, str]:
    """Return the parameters that an endpoint has not and one below its path has, with that one's path."""
    under = [other for other in every if other.path.startswith(f"{endpoint.path}/")]
    return {name: other.path for other in reversed(under) for name in other.by_name if name not in endpoint.by_name}
