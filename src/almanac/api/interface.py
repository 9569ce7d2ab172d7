"""The whole interface: every endpoint, in the order of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from almanac.api.contract.endpoint import Context, Endpoint, TextAnswer
from almanac.api.contract.openapi import described
from almanac.api.contract.overview import text
from almanac.api.endpoints.briefs import brief
from almanac.api.endpoints.calendar import events, releases
from almanac.api.endpoints.companies import companies
from almanac.api.endpoints.companies.companies import ScoreExplainer
from almanac.api.endpoints.macro import indicators, observations, provenance, rates
from almanac.api.endpoints.reference import reference
from almanac.api.endpoints.screeners import screeners
from almanac.api.endpoints.screeners.screening import ProcessCache


def endpoints(explain: provenance.Explain, explain_scores: ScoreExplainer = lambda *_: {}) -> tuple[Endpoint, ...]:
    """All endpoints. `explain` computes derived values again for provenance, `explain_scores` scores test by test."""
    cache = ProcessCache()
    data = (
        *observations.ENDPOINTS,
        provenance.endpoint(explain),
        *indicators.ENDPOINTS,
        *reference.endpoints(),
        *companies.endpoints(cache, explain_scores),
        *observations.DERIVED,
        rates.ENDPOINT,
        rates.HISTORY,
        *indicators.DERIVED_ENDPOINTS,
        brief.endpoint(cache),
        *releases.ENDPOINTS,
        *screeners.endpoints(cache),
        *events.ENDPOINTS,
    )

    data = tuple(replace(one, elsewhere=_below(one, data)) for one in data)

    def overview(_: Context) -> TextAnswer:
        return TextAnswer(text(everything))

    everything = described(
        (
            *data,
            Endpoint(
                path="/llms.txt",
                operation_id="getOverview",
                summary="The interface in one page of plain text",
                description="For language models: what there is, how to ask, and what an answer means.",
                handler=overview,
                kind="text",
                tag="Description",
            ),
        )
    )
    return everything


def _below(endpoint: Endpoint, every: Sequence[Endpoint]) -> dict[str, str]:
    """Parameters that an endpoint has not and one below its path has, with that one's path."""
    under = [one for one in every if one.path.startswith(f"{endpoint.path}/")]
    return {name: one.path for one in reversed(under) for name in one.by_name if name not in endpoint.by_name}
