"""Records of accounts and keys, and the checks on what is written into them."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from almanac.domain.errors import UserError
from almanac.store.accounts.keytext import KEY_SHAPE, PREFIX
from almanac.store.engine.errors import SchemaError

#: Every scope a key may have. `data:read` includes the others and is the default.
SCOPES = (
    "data:read",
    "macro:read",
    "reference:read",
    "companies:read",
    "analytics:read",
    "screeners:read",
    "events:read",
)
ROLES = ("user", "operator")
_EMAIL_MAX, _NAME_MAX = 254, 100  # RFC 5321 section 4.5.3.1.3 with its erratum; a label, not an essay


class AccountError(UserError):
    """An account or key that cannot be created, found or changed as asked. The message names it, and nothing was done."""


class NewerAccountsError(AccountError, SchemaError):
    """The accounts were written by a later version."""


class AccountInfo(msgspec.Struct, frozen=True):
    """One account. Times are unix seconds."""

    id: str
    email: str
    plan: str
    created: int
    #: `user` or `operator`.
    role: str = "user"
    #: Since when its keys and people are refused.
    disabled: int | None = None
    #: When its password was set; None: it has none, and nobody can sign in.
    password_set: int | None = None
    #: When somebody signed in last.
    signed_in: int | None = None


class KeyInfo(msgspec.Struct, frozen=True):
    """One key as its owner sees it, without its text. Times are unix seconds; `last_used` is exact to the minute."""

    id: str
    account_id: str
    email: str
    prefix: str
    name: str
    scopes: tuple[str, ...]
    created: int
    last_used: int | None = None
    expires: int | None = None
    revoked: int | None = None
    #: Id of the key that replaced it in a rotation.
    replaced_by: str | None = None


class KeyRecord(msgspec.Struct, frozen=True):
    """The facts about a live key that a request needs."""

    id: str
    account_id: str
    plan: str
    scopes: tuple[str, ...]
    prefix: str
    #: The key is valid, but its account is disabled.
    disabled: bool = False


class Refused(msgspec.Struct, frozen=True):
    """A refused key. Unknown, revoked and expired keys all get `unknown`, so the answer doesn't reveal which one it is."""

    reason: Literal["malformed", "unknown"]

    def __bool__(self) -> bool:
        return False


MALFORMED = Refused("malformed")
UNKNOWN = Refused("unknown")


def checked_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """Return the scopes without duplicates, or `data:read` if there are none. Raises AccountError for an unknown scope."""
    return tuple(dict.fromkeys(_allowed("scope", scope, SCOPES) for scope in scopes)) or SCOPES[:1]


def checked_name(name: str) -> str:
    """Check the name of a key and return it. Raises AccountError if it is too long or unprintable."""
    if len(name) > _NAME_MAX or not name.isprintable():
        raise AccountError(f"the name of a key is at most {_NAME_MAX} printable characters")
    return name


def checked_plan(plan: str, plans: Collection[str]) -> str:
    """Check that a plan is one of the settings' and return it. Raises AccountError that lists them all."""
    return _allowed("plan", plan, plans)


def checked_role(role: str) -> str:
    """Check that a role is known and return it. Raises AccountError that lists the allowed roles."""
    return _allowed("role", role, ROLES)


def _allowed(what: str, value: str, allowed: Collection[str]) -> str:
    if value not in allowed:
        raise AccountError(f"unknown {what} {shown(value)}: allowed are {', '.join(allowed)}")
    return value


def checked_email(text: str) -> str:
    """
    Return an address as stored: one mailbox, normalised as mail servers read it. Raises AccountError that says what is
    wrong.

    Only the form is checked, so that internal hosts pass. It must be strict: if a mail server read the text as two
    addresses, or as a different one from that stored, letters would go to strangers, and accounts would be made for
    unproved addresses.
    """
    # Loaded only when an address is checked, because workers for API requests never need it.
    import email_validator  # noqa: PLC0415  (as said)

    if len(text) > _EMAIL_MAX:
        raise AccountError(f"{shown(text)} is not an email address: it has more than {_EMAIL_MAX} characters")
    # A name reserved on the internet (localhost, corp.local) may exist on an internal network.
    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
    try:
        found = email_validator.validate_email(text, check_deliverability=False, globally_deliverable=False)
    except email_validator.EmailNotValidError as error:
        why = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())
        raise AccountError(f"{shown(text)} is not an email address: {why[:1].lower()}{why[1:].rstrip('.')}") from None
    return found.normalized


def folded(email: str) -> str:
    """Return the form in which two spellings of an address are equal. A text far longer than an address is cut first."""
    # Normalising a long text takes quadratic time, so cut it; a letter has three accents at most.
    email = email[: 4 * _EMAIL_MAX]
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", email).casefold())


def askable(text: str) -> str:
    """
    Make a stranger's text safe for a look-up, by replacing lone surrogates and zero characters, which no stored text
    contains.
    """
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def shown(text: str) -> str:
    """Format text for a message: quoted, escaped, cut, and with no more of a key than its prefix."""
    text = KEY_SHAPE.sub(lambda key: key[0][:PREFIX] + "…", text)
    return ascii(text if len(text) <= 60 else text[:60] + "…")
