"""Where one observation comes from: its vintages, its formula and inputs, down to the raw bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.api.contract.errors import ApiError, not_found
from almanac.api.contract.params import Param
from almanac.api.contract.records import Record
from almanac.api.rows.filters import ANALYTICS, COMPANIES
from almanac.api.rows.redaction import DerivedObservation, redaction_of
from almanac.domain import fields
from almanac.domain.companies import is_company
from almanac.domain.fields import Time, says
from almanac.domain.numbers import plain
from almanac.domain.observations import InputCell, Recomputed
from almanac.domain.periods import Period, end_of
from almanac.domain.times import wire_day, wire_time
from almanac.store.log import payloads
from almanac.store.observations.ids import observation_id
from almanac.store.observations.reading import lookup
from almanac.store.observations.reading.pages import ObservationRow
from almanac.store.observations.reading.reader import View


class ProvenanceInput(Record):
    """One input of a derived value, as known when the value was. Its unit is that of its series."""

    observation_id: fields.ObservationId
    series_id: fields.SeriesId
    period_start: fields.PeriodStart
    period_end: fields.PeriodEnd
    observed_at: fields.ObservedAt
    value_numeric: Annotated[float | None, says("The value, in its series' unit. Null: a text, none, not shown.")]
    value_text: Annotated[str | None, says("The value of an indicator of words. Null: a number, none, or not shown.")]
    value_withheld: Annotated[bool, says("True: the value is not shown.")]
    reason: Annotated[str | None, says("Its rights, or `outside_plan_history` (before the plan's). Null: shown.")]


class ProvenancePayload(Record):
    """The raw response a value was read from."""

    sha256: Annotated[str, says("Hash of its bytes, in hexadecimal.")]
    url: Annotated[fields.Uri, says("The address it was fetched from, without keys.")]
    fetched_at: Annotated[Time, says("When it was fetched.")]
    media_type: Annotated[str, says("Its content type.", "application/xml")]
    bytes: Annotated[int, says("Its length in bytes.")]


class ProvenanceRun(Record):
    """The run that took a payload in."""

    id: Annotated[str, says("Id of the run.")]
    started_at: Annotated[Time, says("When it began.")]
    finished_at: Annotated[Time | None, says("When it ended. Null: it has not, or was cut off.")]
    connector: Annotated[str, says("The connector that read the payload.", "us-treasury")]
    version: Annotated[int, says("Version of that connector.")]


class Provenance(Record):
    """Provenance of one observation, down to the raw bytes."""

    observation: Annotated[DerivedObservation, says("The observation itself.")]
    vintages: Annotated[list[DerivedObservation], says("All known states of its cell, oldest first.")]
    formula: Annotated[str | None, says("How it is computed. Null: it is published.")]
    inputs: Annotated[list[ProvenanceInput], says("What it was computed from; empty for a published value.")]
    payload: Annotated[ProvenancePayload | None, says("The response it was read from. Null: computed, or withheld.")]
    run: Annotated[ProvenanceRun | None, says("The run that took the response in. Null: it is computed here.")]
    verified: Annotated[bool | None, says("Whether it comes out equal when computed again. Null: published or hidden.")]


OUTSIDE = "outside_plan_history"


Explain = Callable[[View, ObservationRow], Recomputed | None]


def endpoint(explain: Explain) -> Endpoint:
    """Return the endpoint, given what explains derived values (the composition root has the formulas, this layer has not)."""

    def provenance(ctx: Context) -> ItemAnswer:
        found = lookup.by_id(ctx.view, ctx.path["id"].lower())
        if found is None:
            hint = (
                ": an id that an earlier version of this service gave leads nowhere; take the one that a list gives now"
            )
            raise not_found("id", "observation", ctx.path["id"], hint)
        row = found.row
        wanted = {COMPANIES: is_company(row.series.spec.entity), ANALYTICS: row.series.kind == "derived"}
        for scope, wants in wanted.items():
            if wants and not ctx.may_read(scope):
                raise ApiError(403, f"this observation needs a key with the scope {scope}", {"scope": scope})
        ctx.require_window("id", end_of(row.period))
        return ItemAnswer(_encoded(ctx, found, explain))

    return Endpoint(
        path="/observations/{id}/provenance",
        operation_id="getProvenance",
        summary="Where one observation comes from",
        description="All known states of its cell; for a derived value the formula, the inputs as known at its knowledge time and "
        "whether it comes out equal when computed again; for a raw one the payload, by hash, and the run that took it in.",
        handler=provenance,
        braces=(Param("id", "Id of an observation.", example="obs_vybtlprlj7yali3577brtjln77"),),
        scope="macro:read",
        cost="thread",
        record=Provenance,
        dated=True,
        tag="Observations",
    )


def _encoded(ctx: Context, found: lookup.StoredRow, explain: Explain) -> bytes:
    row, view = found.row, ctx.view
    redaction = redaction_of(ctx)
    spec = row.series.spec
    explanation = explain(view, row) if row.series.kind == "derived" else None
    inputs = [_input(ctx, one) for one in explanation.inputs] if explanation else []
    withheld = view.directory.row_rights(row.series, row.lineage).withheld
    verified = None
    if explanation is not None and not withheld and not any(one.value_withheld for one in inputs):
        verified = (explanation.value, explanation.text) == (row.value, row.text)
    payload = payloads.by_number(view, found.payload)  # None of a computed row, which has number 0
    run: Any = lookup.run_of(view, payload.run) if payload else None
    if payload and (withheld or lookup.brought_withheld(view, found.payload, row.series)):
        # Of a short response all but the value can be guessed: its hash and length would tell which guess is right. So
        # it is where another series of the same response is withheld, and all the others are sent.
        payload = None
    indicator = view.directory.indicators.get(spec.indicator)
    parts = {
        "observation": redaction.observation(row, lineage=True),
        "vintages": [
            redaction.observation(vintage, lineage=True) for vintage in lookup.cell(view, row.series, row.period)
        ],
        "formula": indicator.formula if indicator else None,
        "inputs": inputs,
        "payload": payload and ProvenancePayload.from_attributes(payload, fetched_at=wire_time(payload.fetched_at)),
        "run": run
        and ProvenanceRun(
            id=run[0],
            connector=run[1],
            version=run[2],
            started_at=wire_time(run[3]),
            finished_at=None if run[4] is None else wire_time(run[4]),
        ),
        "verified": verified,
    }
    return msgspec.json.encode(parts)


def _input(ctx: Context, one: InputCell) -> ProvenanceInput:
    info = ctx.view.directory.series_by_id(one.series)
    period = Period.from_key(one.period)
    reason = info.rights.reason if info is not None and info.rights.withheld else None
    if reason is None and ctx.window_start is not None and period.end < ctx.window_start:
        reason = OUTSIDE
    shown = reason is None
    return ProvenanceInput(
        observation_id=observation_id(one.series, one.period, one.vintage.known),
        series_id=one.series,
        period_start=wire_day(period.start) if period.start else None,
        period_end=wire_day(period.end),
        observed_at=wire_time(one.vintage.known),
        value_numeric=plain(one.vintage.value) if shown and one.vintage.value is not None else None,
        value_text=one.vintage.text if shown else None,
        value_withheld=not shown,
        reason=reason,
    )
