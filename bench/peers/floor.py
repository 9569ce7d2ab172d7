"""The floor: one page from memory, by the smallest ASGI application there is. Run by `peers/serve.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_PAGE = Path(os.environ["BENCH_PAGE"]).read_bytes()
_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_PAGE))],
}
_BODY = {"type": "http.response.body", "body": _PAGE}


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer anything with the page."""
    if scope["type"] == "http":
        await send(_START)
        await send(_BODY)
