"""almanac_explain: the origin of one observation, down to the hash of the bytes it was read from."""

from __future__ import annotations

from almanac_mcp.asking import Api, Record, UnknownError
from almanac_mcp.notes import history
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table
from almanac_mcp.text.refusals import RefusalError


async def explain(api: Api, observation: str) -> Answer:
    """
    Answer with the observation, its formula and inputs or its payload, all states of its cell, and whether the
    recomputed value is equal.
    """
    try:
        told = await api.saying(id="observation").item("observations.provenance", words.plain(observation))
    except UnknownError as error:
        raise RefusalError(
            f"there is no observation {words.plain(observation)!r}",
            suggestion="take an id (obs_…) from the footer of another answer, after 'ref'",
        ) from error
    record = told.record
    row = record["observation"]
    answer = Answer([words.known(None, told.version)], hint=lambda _: "nothing more is said here")
    number = answer.citations.row(row)
    facts = [
        (
            f"{row['id']}: {words.slug(row['indicatorId'])}, {row['entityId']}, {rows.period(row)}, "
            f"{rows.value(row)} {rows.unit(row)}, known {words.instant(row['observedAt'])}, {rows.status(row)} [{number}]"
        ),
        f"series {rows.series_id(row)}",
    ]
    if record["formula"] is not None:
        facts.append(f"formula: {words.plain(record['formula'])}")
    if record["verified"] is not None:
        outcome = "equal" if record["verified"] else "NOT equal"
        facts.append(
            f"verified: {str(record['verified']).lower()} (computed again from its inputs it comes out {outcome})"
        )
    elif record["formula"] is not None:
        facts.append("verified: not told, for not all inputs may be shown")
    facts += _payload(record) + rows.reasons([row], "value")
    answer.tables.append(Table("", (), [], facts))
    if record["inputs"]:
        answer.tables.append(
            Table(
                "inputs, as known then",
                ("observation", "series", "period", "value", "known"),
                [_input(one) for one in record["inputs"]],
                _hidden(record["inputs"]),
                keep="first",
            )
        )
    states = [
        (words.instant(one["observedAt"]), rows.value(one), rows.status(one), one["id"]) for one in record["vintages"]
    ]
    answer.tables.append(
        Table(
            "published states of this period",
            ("observed", "value", "status", "id"),
            list(states),
            rows.reasons(record["vintages"], "state"),
        )
    )
    answer.notes += history([told])
    return answer


def _payload(record: Record) -> list[str]:
    payload, run = record["payload"], record["run"]
    lines = []
    if payload is not None:
        lines.append(
            f"read from {payload['url']}, fetched {words.instant(payload['fetchedAt'])}, "
            f"{words.counted(payload['bytes'], 'byte')}, sha256 {payload['sha256']}"
        )
    if run is not None:
        lines.append(f"by connector {run['connector']}, version {run['version']}")
    return lines


def _input(one: Record) -> tuple[str, str, str, str, str]:
    value = one["valueText"] if one["valueNumeric"] is None else one["valueNumeric"]
    shown = rows.WITHHELD if one["valueWithheld"] else words.number(value)
    return (one["observationId"], one["seriesId"], words.period(one), shown, words.instant(one["observedAt"]))


def _hidden(inputs: list[Record]) -> list[str]:
    hidden = [{"rights": {"valueWithheld": True, "reason": one["reason"]}} for one in inputs if one["valueWithheld"]]
    return rows.reasons(hidden, "input")
