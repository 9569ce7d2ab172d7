"""`/llms.txt`: the interface on one page, written from the same declarations that validate requests."""

from __future__ import annotations

from collections.abc import Sequence

from almanac.api.contract.endpoint import Endpoint

_HEAD = """\
# Almanac

> Read-only financial data: official macro series, sovereign yields and what is computed from them. Every number carries
> its source, its vintage and the formula that made it.

- Send the key in the header `x-api-key` or as `Authorization: Bearer`. Never in the query string.
- Every operation is a GET. An unknown, repeated or empty parameter is an error (400) that names it.
- A name in a filter that means nothing gives an empty list, and `meta.warnings` says which, with what may have been meant.
- A list answers `data`, `meta.pagination` and `requestId`; pass `next_cursor` back as `cursor`. A walk sees one state of the data.
- `as_of` gives the values as they were known then. `observedAt` is when a value could be known, `periodEnd` what it is about.
- `valueNumeric` null with `rights.valueWithheld` true: the value may not be redistributed; `rights.reason` says why.
- `revisionStatus`: initial, revised, final, unknown. `freshnessStatus`: fresh, stale, unknown.
- Percentages are in percent (4.25 is 4.25 %), spreads and slopes of /rates in basis points.

## Operations
"""


def text(endpoints: Sequence[Endpoint]) -> str:
    """Return the page."""
    lines = [_HEAD]
    for endpoint in endpoints:
        lines.append(f"- GET {endpoint.path}: {endpoint.summary}. {endpoint.description}".rstrip())
        names = [param.name for param in endpoint.params]
        if endpoint.kind == "list":
            names += ["limit", "cursor", *(["order"] if endpoint.default_order is not None else [])]
        if names:
            lines.append(f"  Parameters: {', '.join(names)}.")
    return "\n".join(lines) + "\n"
