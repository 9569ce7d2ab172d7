"""The whole interface: every endpoint, in the order of the documentation."""

from __future__ import annotations

from almanac.api import (
    analytics,
    briefs,
    companies,
    covered,
    entities,
    events,
    indicators,
    observations,
    provenance,
    reference,
    releases,
    screeners,
)
from almanac.api.endpoint import Context, Endpoint, Text
from almanac.api.openapi import described
from almanac.api.overview import text
from almanac.api.ports import ScoreExplainer, unexplained
from almanac.api.screening import Held


def endpoints(explain: provenance.Explain, explain_scores: ScoreExplainer = unexplained) -> tuple[Endpoint, ...]:
    """All endpoints. `explain` computes derived values again for provenance, `explain_scores` scores test by test."""
    held = Held()
    data = (
        *observations.ENDPOINTS,
        provenance.endpoint(explain),
        *indicators.ENDPOINTS,
        *reference.ENDPOINTS,
        covered.endpoint(),
        *entities.endpoints(),
        *companies.endpoints(held, explain_scores),
        *observations.DERIVED,
        *analytics.ENDPOINTS,
        briefs.endpoint(held),
        *releases.ENDPOINTS,
        *screeners.endpoints(held),
        *events.ENDPOINTS,
    )

    def overview(_: Context) -> Text:
        return Text(text(everything))

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
