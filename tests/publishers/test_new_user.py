"""
`almanac start` as a new user types it: from an empty folder, processes and clock as they are, against the stand-in.

The stand-in answers faster than publishers do; their limits are kept. Sources that rates and briefs need nothing of are not
answered until a curve, a brief and a screen have been served. Run with `-s` to see what came when.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import httpx2
import pytest

from almanac.catalog.load import shipped
from almanac.domain.rights import Exposure
from tests.publishers.figures import Figures
from tests.publishers.rooms import every
from tests.publishers.standin import StandIn
from tests.support.paths import ROOT
from tests.support.processes import PATIENCE, command, environment
from tests.support.publisher import REDIRECTED
from tests.support.servers import free_port

pytestmark = pytest.mark.slow

FREE = {
    one.id: one
    for one in shipped().sources.values()
    if one.connector and not one.simulated and not one.key_required and one.rights.channel is Exposure.public
}
#: Ways to a first number of rates, a first brief and a first screen, and what says that there is one.
FIRST = {
    "/rates/USA": lambda answer: answer["data"]["curve"],
    "/briefs/USA": lambda answer: answer["data"],
    "/screener?filter=gov_yield_10y:gt:0": lambda answer: answer["meta"]["pagination"]["total"],
}
#: What Python does first in every process of the command: requests to any host go to the stand-in.
SITE = "import sys\nif {{'start', 'worker'}} & {{*sys.orig_argv}}:\n    exec({redirected!r})\n"


class WallClock:
    """The clock as it is; answers take a hundredth of the time that they take their publisher."""

    @property
    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds / 100, 1.0))


class Running:
    """A start, and what it says, each line with the second at which it came."""

    def __init__(self, home, site, port, folder) -> None:
        site.mkdir(exist_ok=True)
        redirected = REDIRECTED.format(root=str(ROOT), port=port)
        (site / "sitecustomize.py").write_text(SITE.format(redirected=redirected))
        self.port = free_port()
        given = environment(home, HTTP__REQUESTS_PER_SECOND="1000")
        del given["ALMANAC_NOW"]
        given["PYTHONPATH"] = os.pathsep.join([str(site), given.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self.began = time.monotonic()
        self.lines: list[tuple[float, str]] = []
        self._process = subprocess.Popen(
            command("start", "--port", self.port, "--ops-port", free_port()), env=given, cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._process.stdout as output:
            for line in output:
                self.lines.append((time.monotonic() - self.began, line.rstrip()))

    def said(self, pattern):
        """Every line that was said like that, as matched, in order."""
        return [found for _, line in list(self.lines) if (found := re.search(pattern, line))]

    def until(self, look, what):
        """Wait until there is something to see."""
        end = time.monotonic() + PATIENCE
        while not (found := look()):
            assert self._process.poll() is None, f"it ended\n{self.lines[-20:]}"
            assert time.monotonic() < end, f"{what} did not come\n{self.lines[-20:]}"
            time.sleep(0.2)
        return found

    def serves(self, path, key, there):
        """Whether what is answered has something in it; nobody may listen yet."""
        try:
            answer = httpx2.get(f"http://127.0.0.1:{self.port}{path}", headers={"x-api-key": key}, timeout=30)
        except httpx2.TransportError:
            return False
        return answer.status_code == 200 and there(answer.json())

    def end(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._reader.join(PATIENCE)
        return self._process.returncode


def test_first_numbers_come_before_histories(tmp_path, capsys):
    home, seen, waited = tmp_path / "home", threading.Event(), []
    turns = {room.name: {FREE[one].turn for one in room.sources if one in FREE} for room in every(Figures())}

    def hold_back(room, asked, reply):
        if turns[room.name] == {"then"} and not seen.wait(PATIENCE):
            waited.append(asked.url)
        return reply

    with StandIn(every(Figures()), WallClock()) as stand_in:
        stand_in.trouble.append(hold_back)
        started = Running(home, tmp_path / "site", stand_in.port, tmp_path)
        try:
            key = started.until(lambda: started.said(r"^Key: (alm_\w+)"), "a key")[0][1]
            came = {}
            for path, there in FIRST.items():
                started.until(partial(started.serves, path, key, there), path)
                came[path] = time.monotonic() - started.began
            asked_before = {line.room for line in stand_in.log}
            seen.set()
            started.until(lambda: started.said("further sources:"), "the end of the load")
            loaded = time.monotonic() - started.began
            # Then it asks as `almanac worker` does: what is not there yet, and else it waits.
            started.until(lambda: started.said("waiting: .* is next, at "), "the worker")
        finally:
            seen.set()
            code = started.end()
        asked = list(stand_in.log)
        assert code == 0
        assert waited == []
        assert stand_in.broken == []

        # What rates and briefs need was asked before all else, and the past of each after what is new of all.
        assert {room for room in asked_before if "first" not in turns[room]} <= {"bls-pages"}
        order = [FREE[name].turn for name in dict.fromkeys(found[1] for found in started.said(r"^(\S+): asking, "))]
        assert order == sorted(order)
        # The OECD answers twenty requests an hour, and Eurostat prepares whole histories first: the rest of them comes later,
        # which is said, and is no failure.
        assert started.said(r"^later .*sdmx\.oecd\.org")
        assert started.said(r"^later .*ec\.europa\.eu.*ASYNCHRONOUS_RESPONSE")
        assert len(started.said("^failed ")) == 1
    with capsys.disabled():
        told = [f"{seconds:6.1f} s  {path}" for path, seconds in came.items()]
        sys.stdout.write("\n".join(["", *told, f"{loaded:6.1f} s  all of {len(asked)} requests", ""]))
