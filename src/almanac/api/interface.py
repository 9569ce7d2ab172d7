"""The whole interface: every endpoint, in the order of the documentation."""

from __future__ import annotations

from almanac.api import analytics, indicators, observations, provenance, reference
from almanac.api.endpoint import Context, Endpoint, Text
from almanac.api.openapi import described
from almanac.api.overview import text


def endpoints(explain: provenance.Explain) -> tuple[Endpoint, ...]:
    """All endpoints. `explain` computes derived values again for provenance."""
    data = (
        *observations.ENDPOINTS[:3],
        provenance.endpoint(explain),
        *indicators.ENDPOINTS,
        *reference.ENDPOINTS,
        *observations.ENDPOINTS[3:],
        *analytics.ENDPOINTS,
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
