"""A browser without script: keeps cookies, follows nothing by itself, and fills in forms as they were given."""

import asyncio
import re
from typing import Any
from urllib.parse import urlencode

import httpx2

_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


class Browser:
    """One person's browser before a dashboard that runs in this process."""

    def __init__(self, app: Any, base: str = "http://127.0.0.1:8001", address: str = "127.0.0.1") -> None:
        self.app, self.base, self.address = app, base, address
        self.cookies: dict[str, str] = {}
        #: The last page's text.
        self.text = ""

    def send(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, content: bytes = b""
    ) -> httpx2.Response:
        """One request with the cookies kept so far."""
        sent = {"accept-encoding": "identity", **(headers or {})}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        transport = httpx2.ASGITransport(self.app, client=(self.address, 5000), raise_app_exceptions=True)

        async def go() -> httpx2.Response:
            async with httpx2.AsyncClient(transport=transport) as client:
                # Put together as texts: joined, a path of two slashes would be another host's address.
                return await client.request(method, self.base + path, headers=sent, content=content)

        answer = asyncio.run(go())
        for line in answer.headers.get_list("set-cookie"):
            name, _, rest = line.partition("=")
            value, _, attributes = rest.partition(";")
            if "Max-Age=0" in attributes:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        if answer.headers.get("content-type", "").startswith("text/html"):
            self.text = answer.text
        return answer

    def get(self, path: str, **params: str) -> httpx2.Response:
        """Look at a page."""
        return self.send("GET", f"{path}?{urlencode(params)}" if params else path)

    def post(
        self, path: str, fields: dict[str, Any] | None = None, *, token: str | None = None, **headers: str
    ) -> httpx2.Response:
        """Send a form, with the token of the page looked at last unless another is given (empty: none)."""
        found = _TOKEN.search(self.text)
        csrf = token if token is not None else found[1] if found else ""
        body = urlencode({**({"csrf": csrf} if csrf else {}), **(fields or {})}, doseq=True).encode()
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, headers={**kind, **headers}, content=body)
