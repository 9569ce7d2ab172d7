"""Keys of the publishers' APIs: put on the wire here, and taken out of everything said about it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from urllib.parse import quote, quote_plus, urlencode

from almanac.domain.plain_text import MARK, one_line

_GONE = "[secret]"
_SHOWN = 200


class Secrecy:
    """The secret parameters of one request."""

    def __init__(self, secret: Mapping[str, str]) -> None:
        self._secret = dict(secret)
        forms = {form for value in secret.values() if value for form in _forms(value)}
        # Longest first: a form may begin with another.
        pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        self._pattern = re.compile(pattern, re.IGNORECASE) if forms else None
        self._longest = max(map(len, forms), default=0)

    def address(self, url: str) -> str:
        """Return the URL as sent: the secret parameters behind the others, which are left as they stand."""
        if not self._secret:
            return url
        bare, mark, fragment = url.partition("#")
        return f"{bare}{'&' if '?' in bare else '?'}{urlencode(self._secret)}{mark}{fragment}"

    def within(self, text: str) -> bool:
        return self._pattern is not None and self._pattern.search(text) is not None

    def clean(self, text: str) -> str:
        """Return the text without the secrets, in whatever way they may be escaped."""
        return text if self._pattern is None else self._pattern.sub(_GONE, text)

    def excerpt(self, body: bytes, *, whole: bool) -> str:
        """Return at most 200 printable characters from the beginning of a body, which may be cut anywhere if not `whole`."""
        text = self.clean(body.decode("utf-8", "replace"))
        # What the cut left of a secret at the very end cannot be recognised, so that end is not shown.
        end = len(text) if whole else max(0, len(text) - self._longest)
        return safe(text[:end])[:_SHOWN]


def safe(text: str) -> str:
    """One line without control characters: an error of ours must not carry a terminal's commands."""
    return " ".join(one_line(text).replace(MARK, "").split())


def _forms(value: str) -> set[str]:
    return {value, quote(value), quote(value, safe=""), quote_plus(value), html.escape(value), json.dumps(value)[1:-1]}
