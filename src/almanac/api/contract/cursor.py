"""Cursors: opaque, signed, bound to one query, and pinning the data version and the moment of the first page."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from almanac.api.contract.errors import refuse
from almanac.domain.times import DAY_SECONDS

_MAC_BYTES = 16
_FINGERPRINT_BYTES = 12
#: Characters of a cursor.
LONGEST = 4_096


class Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a cursor says. Times in unix seconds; `key` is the sort key of the last row of the page before."""

    #: Real time of issue, for expiry.
    issued: int
    epoch: str
    version: int
    #: The data's now on the first page.
    at: int
    fingerprint: bytes
    #: None: the walk begins.
    key: list[Any] | None


#: Parameters that may change from page to page.
_UNBOUND = {"limit", "cursor"}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Cursor)
_canonical = msgspec.msgpack.Encoder(enc_hook=str)


def fingerprint(template: str, path: Mapping[str, str], params: Mapping[str, Any]) -> bytes:
    """Return the digest of a query: endpoint, path values (case does not count) and all typed parameters but `limit` and `cursor`."""
    values = sorted([(name, value.lower()) for name, value in path.items()]) if path else []
    query = [template, values, list(map(params.__getitem__, sorted(params.keys() - _UNBOUND)))]
    return hashlib.blake2b(_canonical.encode(query), digest_size=_FINGERPRINT_BYTES).digest()


class Signer:
    """Writes and reads cursors under one 32-byte secret."""

    def __init__(self, secret: bytes, lifetime_days: int) -> None:
        self._mac = partial(hashlib.blake2b, key=secret, digest_size=_MAC_BYTES)
        self._lifetime = lifetime_days * DAY_SECONDS

    def write(self, walk: Cursor, key: list[Any]) -> str:
        """Return the cursor by which a walk goes on after a key: base64url without padding of the body and its MAC."""
        body = _encoder.encode((walk.issued, walk.epoch, walk.version, walk.at, walk.fingerprint, key))
        return base64.urlsafe_b64encode(body + self._mac(body).digest()).rstrip(b"=").decode()

    def read(self, text: str, query: bytes, epoch: str, newest: int, real_now: float) -> Cursor:
        """Return the cursor behind a text. Raises ApiError 400 naming `cursor`: forged, other_query or expired.

        `query` is the fingerprint of the request, `epoch` and `newest` (version) are those of the store.
        """
        forged = refuse("cursor", "was not issued by this service", code="forged")
        if len(text) > LONGEST or not text.isascii():
            raise forged
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise forged from None
        body, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        # One cursor has one spelling: stray low bits and padding of base64 count as forged.
        canonical = base64.urlsafe_b64encode(raw).rstrip(b"=").decode() == text
        if not hmac.compare_digest(mac, self._mac(body).digest()) or not canonical:
            raise forged
        try:
            cursor = _decoder.decode(body)
        except msgspec.MsgspecError:
            raise forged from None
        if not hmac.compare_digest(cursor.fingerprint, query):
            raise refuse("cursor", "belongs to another query; repeat the request without it", code="other_query")
        too_old = cursor.issued + self._lifetime < real_now
        # A version ahead of the store's comes from data that has since been restored from an older backup.
        if too_old or cursor.epoch != epoch or cursor.version > newest:
            raise refuse("cursor", "has expired; start again without it", code="expired")
        return cursor
