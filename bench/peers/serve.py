"""Serve one peer application on one worker, on the same server as Almanac: `serve.py MODULE PORT [in-turns]`.

`in-turns`: with the threads scheduled as Almanac has its own (almanac.hosting).
"""

from __future__ import annotations

import os
import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

if __name__ == "__main__":
    module, port, *more = sys.argv[1:]
    if more and sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  (nothing more is needed here)
    os.environ["PYTHONPATH"] = here
    Granian(
        f"{module}:app",
        address="127.0.0.1",
        port=int(port),
        interface=Interfaces.ASGI,
        workers=1,
        websockets=False,
        log_level=LogLevels.warning,
        workers_kill_timeout=5,
    ).serve()
