"""Two workers of one service: the same request has the same `data`, byte for byte; and so has the past, whatever arrives."""

import http.client
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.invented_mirror import TREASURY_DAYS, treasury_file
from tests.support.servers import serving
from tests.support.service import CONSENT, PLANS, Service, copy

from .declared import ENDPOINTS, REQUIRED
from .test_every_endpoint import url
from .test_pages import URL, seconds

pytestmark = pytest.mark.slow

#: Where this system says which process has which connection.
PROC = Path("/proc")
TODAY = [
    "/observations?sources=all&sort=observed_at&order=desc&limit=500",
    "/observations?indicator=high_yield_spread",
    "/observations/latest?country=USA",
    "/observations/changes?since=0&sources=all&limit=500",
    "/derived-observations?sources=all&sort=period_end&order=desc&limit=500",
    "/screener?filter=gov_yield_10y:gt:0,gov_yield_2y:gt:0",
    "/briefs/JPN",
    "/rates/JPN",
]
#: Before what arrives is known, and after most of what was there is.
PAST = "2026-11-19"


def children(process):
    """Processes below one, as the system lists them."""
    found = set()
    for task in (PROC / str(process) / "task").iterdir():
        for child in (task / "children").read_text().split():
            found |= {int(child)} | children(child)
    return found


def holder(processes, port, theirs):
    """The process that has the server's end of a connection on this machine, by the client's port; None for none of these."""
    ends = (line.split() for line in (PROC / "net/tcp").read_text().splitlines()[1:])
    sockets = {
        f"socket:[{end[9]}]" for end in ends
        if (int(end[1].rpartition(":")[2], 16), int(end[2].rpartition(":")[2], 16)) == (port, theirs)
    }  # fmt: skip
    for process in processes:
        for handle in (PROC / str(process) / "fd").iterdir():
            try:
                if str(handle.readlink()) in sockets:
                    return process
            except FileNotFoundError:
                continue  # closed while we looked
    return None


class Workers:
    """Both workers of a running server, and what each answers."""

    def __init__(self, server, key):
        self.port, self.key = server.port, key
        self.processes = children(server.process.pid)

    def ask(self, target):
        """One answer over a connection of its own: which process gave it, its data version, and its data as sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", target, headers={"x-api-key": self.key})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, (target, body)
            process = holder(self.processes, self.port, connection.sock.getsockname()[1])
        finally:
            connection.close()
        return process, int(answer.headers["x-data-version"]), re.split(rb',"meta":\{"request_id":', body)[0]

    def agreed(self, target):
        """Data version and data of a target, as two processes answer it alike."""
        seen = {}
        with ThreadPoolExecutor(8) as clients:
            for _ in range(30):
                for process, version, data in clients.map(self.ask, [target] * 8):
                    seen.setdefault(process, set()).add((version, data))
                if len(seen) > 1:
                    break
        assert len(seen) == 2, f"{len(seen)} processes answered {target}"
        assert None not in seen
        first, second = seen.values()
        assert len(first) == 1, target
        assert first == second, target
        return next(iter(first))


def targets(service, **more):
    """A request for every endpoint; those that do not take a parameter given here are left out."""
    for path, endpoint in ENDPOINTS.items():
        if set(more) <= set(endpoint.by_name):
            query = urlencode({**REQUIRED.get(path, {}), **more})
            yield f"{url(service, path)}?{query}".rstrip("?")


@pytest.mark.skipif(not (PROC / "net/tcp").exists(), reason="this system does not say whose a connection is")
def test_two_workers_give_the_same_bytes_and_the_past_stays(built, tmp_path):
    """The same request under the same plan, data version and UTC day gives the same `data`, in any worker."""
    home = copy(built, tmp_path / "home")
    writer = Service(home)
    past = list(targets(writer, as_of=PAST))
    assert {target.partition("?")[0] for target in past} >= {
        "/observations", "/observations/vintages", "/observations/changes", "/observations/latest",
        "/derived-observations", "/screener", "/equity-screener", "/companies/ACW/financials",
    }  # fmt: skip
    past += [f"{path}?sources=all&limit=500&as_of={PAST}" for path in ("/observations", "/derived-observations")]
    derived = writer.ok("/derived-observations", indicator="yield_slope_2s10s", limit=1)[0]["id"]
    today = [*targets(writer), *TODAY, f"/observations/{derived}/provenance"]
    with serving(home, WORKERS="2", HEAVY_REQUESTS="100", **PLANS, **CONSENT) as server:
        workers = Workers(server, writer.keys["enterprise"])
        before = {target: workers.agreed(target) for target in [*today, *past]}
        (version,) = {held for held, _ in before.values()}
        days = [day for day in TREASURY_DAYS if day.year == 2026]
        body = treasury_file(days, dict.fromkeys(days, 9.25))
        writer.ingest("us-treasury-par", URL + "2026", body, seconds("2026-11-20T11:00:00"), "application/xml")
        after = {target: workers.agreed(target) for target in [*today, *past]}
        (later,) = {held for held, _ in after.values()}
        assert later > version
        # `since=0` lists what is served as of then, so it stays too.
        assert {target for target in past if after[target][1] != before[target][1]} == set()
        moved = {target.partition("?")[0] for target in today if after[target][1] != before[target][1]}
        assert {"/observations/latest", "/rates/USA", "/briefs/USA", "/screener", "/derived-observations"} <= moved
    writer.close()
