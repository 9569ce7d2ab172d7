"""Passwords: argon2id hashes, and the one rule for choosing a password."""

from __future__ import annotations

import functools
import secrets
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from almanac.store.accounts.records import AccountError

#: Fewest characters. Nothing else is demanded, because rules make passwords worse (NIST SP 800-63B, section 3.1.1.2).
SHORTEST = 12
#: Most bytes, because hashing longer texts costs time.
LONGEST = 1_000


class Passwords:
    """
    Hashing and checking of passwords. `hasher` holds the parameters, by default the library's (RFC 9106, low memory).

    Each call takes 64 MiB and a tenth of a second of CPU: callers bound how many run at a time.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    def hash(self, password: str) -> str:
        """Return the hash of a password. Raises AccountError if it is too short or too long."""
        return self._hasher.hash(checked_password(password))

    def check(self, password: str, kept: str | None) -> tuple[bool, str | None]:
        """
        Return whether a password matches its hash, and a new hash to store if its parameters are outdated, or else
        None.

        Without a hash (None) the check takes as long and is never right.
        """
        plain = _plain(password)
        try:
            self._hasher.verify(kept or self._dummy, plain)
        except (VerificationError, InvalidHashError):
            return False, None
        if kept is None:
            return False, None
        return True, self._hasher.hash(plain) if self._hasher.check_needs_rehash(kept) else None

    @functools.cached_property
    def _dummy(self) -> str:
        """The hash of a random password, so that an unknown address takes as long as a known one."""
        return self._hasher.hash(secrets.token_bytes(32))

    def prepare(self) -> None:
        """Compute the dummy hash now, so that the first unknown address doesn't wait for it."""
        _ = self._dummy


def _plain(password: str) -> bytes:
    return _composed(password).encode("utf-8", "surrogatepass")[: LONGEST + 1]


def _composed(password: str) -> str:
    # One form for texts that look the same, from whichever keyboard; cut first, so that length costs nothing: four
    # times the limit is too long in any form.
    return unicodedata.normalize("NFC", password[: 4 * LONGEST])


def checked_password(password: str) -> bytes:
    """Return the bytes of a chosen password that are hashed. Raises AccountError if it is too short or too long."""
    plain = _plain(password)
    if len(_composed(password)) < SHORTEST:
        raise AccountError(f"a password has at least {SHORTEST} characters")
    if len(plain) > LONGEST:
        raise AccountError(f"a password has at most {LONGEST:,} bytes")
    return plain
