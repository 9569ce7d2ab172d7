"""The floor: one answer from memory by the smallest possible ASGI application. It is run by `peers/serve.py`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_FOLDER = Path(os.environ["BENCH_ANSWER"])
_PAGE = (_FOLDER / "page.json").read_bytes()
_HEADERS = json.loads((_FOLDER / "headers.json").read_text("ascii"))
_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(name.encode(), value.encode()) for name, value in _HEADERS],
}
_BODY = {"type": "http.response.body", "body": _PAGE}


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer anything with the page."""
    if scope["type"] == "http":
        await send(_START)
        await send(_BODY)
