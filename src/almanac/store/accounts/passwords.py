"""Passwords: argon2id, and the one rule for choosing one."""

from __future__ import annotations

import functools
import secrets
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from almanac.store.accounts.records import AccountError

#: Characters at least; nothing else is demanded, for rules make passwords worse (NIST SP 800-63B, section 3.1.1.2).
SHORTEST = 12
#: Bytes at most: more is no password, and hashing it costs time.
LONGEST = 1_000


class Passwords:
    """
    Hashes and checks. `hasher` holds the parameters, by default the library's: RFC 9106 for little memory.

    Each takes 64 MiB while it runs, and a tenth of a second of CPU: callers bound how many run at a time.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    def hash(self, password: str) -> str:
        """What is kept of a password. Raises AccountError for one that is too short or too long."""
        return self._hasher.hash(checked_password(password))

    def check(self, password: str, kept: str | None) -> tuple[bool, str | None]:
        """Whether a password is the one kept (None: there is none, which takes as long and is never right).

        Second, where it is right and was hashed with other parameters than today's: what to keep from now on.
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
        """The hash of a password that nobody has, so that an unknown address takes as long as a known one."""
        return self._hasher.hash(secrets.token_bytes(32))

    def prepare(self) -> None:
        """Make what the first unknown address would wait for."""
        _ = self._dummy


def _plain(password: str) -> bytes:
    return _composed(password).encode("utf-8", "surrogatepass")[: LONGEST + 1]


def _composed(password: str) -> str:
    # One spelling for what looks the same, whichever keyboard it came from; cut, so that length costs nothing: what is four
    # times as long is too long however much of it comes together.
    return unicodedata.normalize("NFC", password[: 4 * LONGEST])


def checked_password(password: str) -> bytes:
    """What is hashed of a password that somebody chose. Raises AccountError for one that is too short or too long."""
    plain = _plain(password)
    if len(_composed(password)) < SHORTEST:
        raise AccountError(f"a password has at least {SHORTEST} characters")
    if len(plain) > LONGEST:
        raise AccountError(f"a password has at most {LONGEST:,} bytes")
    return plain
