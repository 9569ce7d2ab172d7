"""
Total revenue as a filer's own statement presents it, for lines under a tag of the filer's own.

Such tags are in no taxonomy and in no company facts. The data sets have them (`num.txt`) and the statements as they were
presented (`pre.txt`): the lines in their order with the filer's labels, from which the total can be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

#: The name under which such a line is taken; its taxonomy is that of no publisher: the presentation of a statement.
TOTAL_REVENUE = "pre:TotalRevenue"
#: Labels of totals of revenue, the surest first. What is before interest or one kind of it is none.
_LABELS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"total (net |operating )*revenues?( and other (operating )?income)?( \(.*\))?|(total )?net revenues, including net interest income",
        r"total (net )?sales( and other (operating )?revenues?)?|total net sales|revenues?, net( of interest expense)?|net revenues?",
        r"(net |operating )?revenues?( \(.*\))?|net sales|(net )?sales and (other )?(operating )?revenues?",
    )
)
#: A label that begins the costs: no revenue stands below it.
_COSTS = re.compile(r"(?<!net of )\b(costs?|expenses?)\b", re.IGNORECASE)
_OTHER_INCOME = re.compile("other (operating )?income", re.IGNORECASE)
_INCOME_STATEMENT = "IS"

#: What is read of `pre.txt`.
COLUMNS = ["adsh", "report", "line", "stmt", "tag", "version", "plabel"]


def own_totals(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Filing → its own tag of total revenue, from the rows of `pre.txt`. Filings whose total has a standard tag are left out."""
    lines: dict[str, list[tuple[int, int, str, str, bool]]] = {}
    for row in rows:
        if row["stmt"] == _INCOME_STATEMENT and row["report"].isdigit() and row["line"].isdigit():
            own = row["version"] == row["adsh"]
            place = int(row["report"]), int(row["line"])
            lines.setdefault(row["adsh"], []).append((*place, row["tag"], row["plabel"].strip(), own))
    return {adsh: tag for adsh, found in lines.items() if (tag := _total(sorted(found))) is not None}


def _total(lines: list[tuple[int, int, str, str, bool]]) -> str | None:
    above = [*_above_costs(lines)]
    for label in _LABELS:
        named = [(tag, own, text) for tag, text, own in above if label.fullmatch(text)]
        if named:
            tag, own, text = named[-1]
            if own and _OTHER_INCOME.search(text) and any(not mine and _is_total(told) for _, told, mine in above):
                return None  # revenue has a standard tag, and other income is none of it
            return tag if own else None
    return None


def _above_costs(lines: list[tuple[int, int, str, str, bool]]) -> Iterator[tuple[str, str, bool]]:
    """Lines of the first income statement down to the first cost below a line of revenue."""
    met = False
    for report, _, tag, text, own in lines:
        if report != lines[0][0] or (met and _COSTS.search(text) and not _is_total(text)):
            return
        met = met or _is_total(text)
        yield tag, text, own


def _is_total(text: str) -> bool:
    return any(label.fullmatch(text) for label in _LABELS)
