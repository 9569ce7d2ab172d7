"""A publisher's remarks on a single value, kept with its row as metadata: a small JSON object."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from almanac.domain.times import instant, wire_time
from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict

_DAY = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}")
_EUROPEAN = re.compile(r"([0-9]{2})/([0-9]{2})/([0-9]{2})(?: ([0-9]{2}:[0-9]{2}:[0-9]{2}))?")


# The rows of one message have the same note over and over.
@functools.lru_cache(maxsize=4_096)
def note(
    *,
    dataflow: str | None = None,
    flags: Sequence[str] = (),
    footnotes: Sequence[str] = (),
    published: str | None = None,
    basis: str | None = None,
    price_basis: str | None = None,
) -> str | None:
    """
    Return the note of a row, its keys sorted; None where there is nothing to say.

    `dataflow` names the version of a data set that the row is of (`IMF.RES:WEO(9.0.0)`). `flags` are the publisher's own marks
    (`p`), `footnotes` its words, `basis` and `price_basis` what it says an index is 100 in and whose prices a volume counts in. `published` is when the state that the row
    belongs to was published, as `published_at` gives it: a bound of the row's own publication, so it dates nothing.
    """
    said: dict[str, object] = {
        "basis": basis,
        "dataflow": dataflow,
        "flags": list(flags),
        "footnotes": list(footnotes),
        "priceBasis": price_basis,
        "publishedAt": published,
    }
    return _written(said)


def _written(said: dict[str, object]) -> str | None:
    said = {name: value for name, value in sorted(said.items()) if value}
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False) if said else None


def updated(stamp: str | None) -> int | None:
    """Return a stamp that `published_at` gave as unix seconds, a day as its first; None for none."""
    if stamp is None:
        return None
    moment = datetime.fromisoformat(stamp)
    return instant(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


@functools.lru_cache(maxsize=4_096)
def with_base(note: str | None, basis: str | None, price_basis: str | None) -> str | None:
    """Return a note with the catalogue's word for the base or the prices, unless the publisher states one in it."""
    said = json.loads(note) if note else {}
    if "basis" in said or "priceBasis" in said:
        return note
    return _written({**said, "basis": basis, "priceBasis": price_basis})


def published_at(text: str, zone: str | None, where: str) -> str:
    """
    Return a publisher's stamp as it is served: an instant in UTC, or a day where only a day is stated.

    Read are ISO 8601 with an offset, `2026-07-01`, `20260701`, `30/10/25` and `30/10/25 23:00:00`, the last in `zone`.
    Raises SourceChanged.
    """
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        european = _EUROPEAN.fullmatch(text)
        if european is None:
            return wire_time(instant(datetime.fromisoformat(text)))
        day = f"20{european[3]}-{european[2]}-{european[1]}"
        if european[4] is None:
            return date.fromisoformat(day).isoformat()
        if zone is not None:
            return wire_time(instant(datetime.fromisoformat(f"{day}T{european[4]}").replace(tzinfo=ZoneInfo(zone))))
    except ValueError:
        pass
    raise SourceChanged(f"{where}: {strict.shown(text)} is not a time of publication") from None
