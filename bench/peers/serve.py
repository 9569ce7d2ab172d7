"""Serve one peer application on one worker, on the same server as Almanac: `serve.py MODULE PORT`."""

from __future__ import annotations

import os
import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

if __name__ == "__main__":
    module, port = sys.argv[1:]
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
