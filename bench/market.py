"""The cost of questions about companies in a small and in a large market, with the same requests to both in turn."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from bench.data import prepare, year_ago
from bench.inside import Service

_SEED = 20_261_123
#: Companies in the questions, which exist in both markets so that answers are alike, and repetitions of each request.
_COMPANIES, _TIMES = 12, 5
#: Rows of a page: few enough that every filter fills it in the small market too, so that both pages have equal length.
_ROWS = 20
_SCREENS = (
    "filter=net_margin%3Agt%3A0.1%2Cscore%3Agt%3A10",
    "filter=return_on_equity%3Agt%3A0.1%2Crevenue_ttm%3Agt%3A1000000000&sort=revenue_ttm",
    "filter=score%3Agt%3A0&sort=score",
    "filter=sector%3Aeq%3Atechnology&sort=return_on_equity",
)
_LISTS = ("", "sort=score", "sort=name&order=desc", "sector=technology", "q=group", "country=USA&sort=piotroski_f")


def requests(companies: Sequence[tuple[str, str]], past: str) -> dict[str, list[str]]:
    """Return the requests by kind of question, for companies given by id and name, and as of a past day if possible."""

    def each(path: str) -> list[str]:
        return [path.format(id=quote(entity), name=quote(name)) for entity, name in companies]

    screens = [f"/equity-screener?limit={_ROWS}&{one}" for one in _SCREENS]
    return {
        "screens": screens,
        "screens as of a past day": [f"{one}&as_of={past}" for one in screens],
        "lists of companies": [f"/companies?limit={_ROWS}&{one}".rstrip("&") for one in _LISTS],
        "profiles": each("/companies/{id}/profile"),
        "statements": each("/companies/{id}/financials?frequency=quarterly&limit=40"),
        "statements as of a past day": each("/companies/{id}/financials?frequency=quarterly&limit=40&as_of=" + past),
        "a company's observations": each("/observations?limit=100&entity_id={id}"),
        "a company's observations as of a past day": each("/observations?limit=100&entity_id={id}&as_of=" + past),
        "names resolved": each("/entities/resolve?alias={name}"),
        "names resolved as of a past day": each("/entities/resolve?alias={name}&as_of=" + past),
        "names with a letter too few": [
            f"/entities/resolve?alias={quote(name[:-2] + name[-1])}" for _, name in companies
        ],
    }


def measure(folder: Path, companies: int, say: Callable[[str], None]) -> str:
    """Measure both markets. Returns a table with the CPU of each kind of question in both, and their ratio."""
    homes = [prepare(folder, None, say), prepare(folder, companies, say, "companies")]
    small, large = (Service(home, key) for home, key in homes)
    found = small.body("/companies?limit=500")["data"]
    chosen = random.Random(_SEED).sample([(one["entityId"], one["name"]) for one in found], _COMPANIES)
    past = year_ago(int(datetime.now(UTC).timestamp())).isoformat()
    lines = [
        f"| asked | in the simulated market, ms | in one of {companies:,} companies, ms | × | × of one request, most |",
        "| --- | --: | --: | --: | --: |",
    ]
    for kind, targets in requests(chosen, past).items():
        pairs = []
        for target in targets:
            for service in (small, large):  # what is kept for a state of the store is made before
                if service.cost(target, 1)[1] != 200:
                    raise RuntimeError(f"{target} was not answered")
            pairs.append((small.cost(target, _TIMES)[0], large.cost(target, _TIMES)[0]))
        before, after = (statistics.fmean(one) for one in zip(*pairs, strict=True))
        most = max(two / one for one, two in pairs)
        lines.append(f"| {kind} | {before:.2f} | {after:.2f} | {after / before:.2f} | {most:.2f} |")
        say(lines[-1])
    small.close()
    large.close()
    return "\n".join(lines)
