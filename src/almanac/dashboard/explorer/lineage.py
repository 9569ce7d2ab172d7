"""Lineage of one value, step by step to the raw response; and the page of one observation."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlsplit

from almanac.dashboard.explorer.one_series import Row
from almanac.dashboard.explorer.places import called
from almanac.dashboard.formatting.dates import day, moment, period
from almanac.dashboard.formatting.numbers import unit, unit_of
from almanac.dashboard.formatting.values import FormattedValue, look, look_input
from almanac.dashboard.visit import Answer, Html, NotFound, Page, Redirect, Visit

#: Inputs that are drawn; the page of the value has all.
_DRAWN = 5
_SLUG = "indicator_"


def of(visit: Visit, row: Row, result: FormattedValue, *, whole: bool = False) -> tuple[list[Row], Row | None]:
    """Return the steps of `parts/lineage.html` for an observation, and its provenance as the interface has it; none where it has none."""
    told = visit.ask_if_known(f"/observations/{row['id']}/provenance")
    if told is None:
        return [], None
    return steps(visit, told.data, result, whole=whole), told.data


def steps(visit: Visit, found: Row, result: FormattedValue, *, whole: bool) -> list[Row]:
    """Raw response and value; or inputs, formula and result."""
    row = found["observation"]
    node: Row = {
        "look": result,
        "what": f"{period(row['periodStart'], row['periodEnd'], row['frequency'])}, {row['revisionStatus']}",
        "when": f"known since {day(row['observedAt'])}",
        "code": shortened(row["id"]),
        "result": True,
        "href": f"/observations/{row['id']}",
    }
    if not found["inputs"]:
        return [_raw(found), {"title": "Value", "nodes": [node]}] if found["payload"] or found["run"] else []
    if found["verified"] is True:
        node["verdict"] = "recomputed: equal"
    elif found["verified"] is False:
        node |= {"wrong": True, "verdict": f"Recomputed: not equal to {result.text}"}
    else:
        node["verdict"] = "not recomputed here: not all of its inputs may be shown"
    inputs = [_input(visit, one, row) for one in (found["inputs"] if whole else found["inputs"][:_DRAWN])]
    more = len(found["inputs"]) - len(inputs)
    return [
        {"title": "Inputs", "nodes": inputs, "more": more, "more_href": f"/observations/{row['id']}"},
        {"title": "Formula", "nodes": [{"text": _name(visit, row["indicatorId"]), "code": found["formula"] or ""}]},
        {"title": "Result", "nodes": [node]},
    ]


def _raw(found: Row) -> Row:
    payload, run = found["payload"], found["run"]
    if payload is None:
        node = {"text": "Withheld", "what": f"Taken in by {run['connector']}, run {run['id']}"}
    else:
        url = urlsplit(payload["url"])
        node = {
            "text": url.path.rsplit("/", 1)[-1] or url.netloc,
            "when": f"{payload['bytes']:,} bytes, fetched {moment(payload['fetchedAt'])}",
            "code": shortened(payload["sha256"]),
            "what": "Open provenance",
            "href": f"/observations/{found['observation']['id']}#raw",
        }
    return {"title": "Raw response", "nodes": [node]}


def _input(visit: Visit, one: Row, row: Row) -> Row:
    slug = one["seriesId"].split(":")[2]
    told = visit.look_up(f"/indicators/{slug}")
    record = {} if told is None else told.data
    entity = one["seriesId"].split(":")[1]
    words = unit(record.get("unit"), slug, currency=row["metadata"].get("currency"))
    when = period(one["periodStart"], one["periodEnd"])
    place = "" if entity == row["entityId"] else f", {entity.partition('_')[2].upper()}"
    return {
        "look": look_input(one, words),
        "what": f"{record.get('name', slug)}{place}, {when}",
        "href": f"/observations/{one['observationId']}",
        "when": f"known since {day(one['observedAt'])}",
    }


def _name(visit: Visit, indicator: str) -> str:
    told = visit.look_up(f"/indicators/{indicator.removeprefix(_SLUG)}")
    name: str = indicator.removeprefix(_SLUG) if told is None else told.data["name"]
    return name


def shortened(code: str) -> str:
    """`9f3c27…a1e7`: enough of an id or a hash to tell it from others."""
    return code if len(code) <= 14 else f"{code[:8]}…{code[-4:]}"


def observation(visit: Visit) -> Answer:
    """One value: its states, what it was made from, the raw response it was read from."""
    name = visit.values["id"]
    if name != name.lower():
        return Redirect(f"/observations/{quote(name.lower(), safe='')}", 301)
    told = visit.ask_if_known(f"/observations/{name}/provenance")
    if told is None:
        raise NotFound(f"There is no observation “{name[:80]}”.")
    found = told.data
    row = found["observation"]
    words = unit_of(row)
    series = row["metadata"]["seriesId"]
    indicator = _name(visit, row["indicatorId"])
    entity = visit.look_up("/entities/resolve", alias=row["entityId"])
    place = row["entityId"] if entity is None else called(entity.data)
    states = _states(found["vintages"], words)
    digits = words.digits([one["valueNumeric"] for one in found["vintages"]], computed=bool(row["derivedFrom"]))
    values: dict[str, Any] = {
        "found": found,
        "row": row,
        "title": f"{indicator}: {place}",
        "when": period(row["periodStart"], row["periodEnd"], row["frequency"]),
        "series": series,
        "series_href": f"/series/{quote(series, safe=':')}",
        "look": look(row, digits=digits, history=True, figure=True),
        "steps": steps(visit, found, look(row, digits=digits, history=True, figure=True), whole=True),
        "states": states,
        "unit": words.head,
    }
    return Html("explorer/observation.html", values)


def _states(rows: list[Row], words: Any) -> list[Row]:
    """Return the states of its cell, newest first, each with what it was before."""
    digits = words.digits([row["valueNumeric"] for row in rows], computed=any(row["derivedFrom"] for row in rows))
    ordered = sorted(rows, key=lambda row: row["observedAt"])
    found = []
    for before, row in zip([None, *ordered], ordered, strict=False):
        was = None if before is None else before["valueNumeric"]
        found.append({"row": row, "look": look(row, was=was, digits=digits, history=True)})
    return found[::-1]


PAGES = (Page("/observations/{id}", observation),)
