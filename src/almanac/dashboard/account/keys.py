"""Keys: making one, which is shown once; replacing one; ending one."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

import msgspec

from almanac.dashboard.formatting.dates import long_day, read_day
from almanac.dashboard.formatting.numbers import read_whole
from almanac.dashboard.visit import Answer, Download, FieldProblem, Html, NotFound, Page, Redirect, Visit
from almanac.store.accounts.form_numbers import FormStale, FormUsed
from almanac.store.accounts.records import SCOPES, AccountError, KeyInfo

_DAY = 86_400
_NAME_MAX = 80
#: Keys of one page.
_PAGE = 100
#: What a form's number is for.
_CREATE, _ROTATE = "create_key", "rotate_key"
#: How long a replaced key may live on: value, words, seconds.
GRACES = (
    ("1h", "1 hour", 3_600),
    ("24h", "24 hours", _DAY),
    ("7d", "7 days", 7 * _DAY),
    ("0", "End the old one now", 0),
)
SHOWN_ONCE = "This key was shown once and cannot be shown again. Rotate it to get a new one."
_STALE = "This form had been open too long. Nothing was changed."

Errors = list[FieldProblem]


class WantedKey(msgspec.Struct):
    """The form for a key, as typed."""

    name: str = ""
    may: str = "all"
    scopes: tuple[str, ...] = ()
    ends: str = "never"
    on: str = ""

    @classmethod
    def of(cls, visit: Visit) -> WantedKey:
        form = visit.form
        return cls(
            form.get("name", "").strip(),
            form.get("may", "all"),
            tuple(visit.form_lists.get("scope", ())),
            form.get("ends", "never"),
            form.get("on", "").strip(),
        )

    def checked(self, visit: Visit) -> tuple[Errors, tuple[str, ...], int | None]:
        """Return what is wrong, each at its field; the scopes; and when it ends, unix seconds."""
        errors: Errors = []
        if not self.name:
            errors.append(FieldProblem("name", "Enter a name, for example “Rates monitor”"))
        elif len(self.name) > _NAME_MAX or not self.name.isprintable():
            errors.append(FieldProblem("name", f"A name has at most {_NAME_MAX} characters, all of them printable"))
        scopes = self.scopes if self.may == "some" else ()
        if self.may == "some" and not scopes:
            errors.append(FieldProblem("scope", "Choose at least one thing the key may read"))
        if unknown := [scope for scope in scopes if scope not in SCOPES]:
            errors.append(FieldProblem("scope", f"There is no scope “{unknown[0][:40]}”"))
        ends = None
        if self.ends == "90":
            ends = visit.people.now() + 90 * _DAY
        elif self.ends == "on":
            ends = self._day(visit, errors)
        return errors, scopes, ends

    def _day(self, visit: Visit, errors: Errors) -> int | None:
        today = datetime.fromtimestamp(visit.people.now(), UTC).date()
        try:
            day = read_day(self.on)
        except ValueError:
            errors.append(FieldProblem("on", f"“{self.on[:40]}” is not a date. Write year, month, day: 2027-06-30"))
            return None
        if day <= today:
            errors.append(FieldProblem("on", f"Expiry must be after today, {long_day(today)}"))
            return None
        return int(datetime.combine(day, time(23, 59, 59), UTC).timestamp())


def keys(visit: Visit) -> Answer:
    """Show the keys of an account, and the form for another."""
    return _page(visit, WantedKey())


def _page(visit: Visit, wanted: WantedKey, errors: Errors | None = None, made: Any = None, status: int = 200) -> Answer:
    now, owner = visit.people.now(), visit.who
    held = [_row(key, now) for key in visit.people.accounts.list_keys(owner.email)]
    live = [row for row in held if row["live"]]
    every = "revoked" in visit.query
    shown = [row for row in reversed(held) if row["live"] or every]
    typed = visit.query.get("page", "")
    pages = max(1, -(-len(shown) // _PAGE))
    number = min(max(read_whole(typed) or 1, 1), pages)
    first = (number - 1) * _PAGE
    values = {
        "rows": shown[first : first + _PAGE],
        "place": f"{first + 1:,}–{min(first + _PAGE, len(shown)):,} of {len(shown):,}",
        "before": _numbered(number - 1, every=every) if number > 1 else "",
        "after": _numbered(number + 1, every=every) if number < pages else "",
        "live": len(live),
        "ended": len(held) - len(live),
        "every": every,
        "wanted": wanted,
        "errors": errors or [],
        "made": made,
        "scopes": SCOPES[1:],
        "number": visit.people.forms.give(owner.account, _CREATE, now=now),
        "done": visit.query.get("done", ""),
        "plan": visit.api.plan(owner.plan),
        "left": visit.people.left(owner.account, visit.api.plan(owner.plan).requests_per_minute),
        "used": visit.people.used_by_key(owner.account),
    }
    return Html("account/keys.html", values, status, secret=made is not None)


def used(visit: Visit) -> Answer:
    """Return whether a key of this account has been used yet: for the script that waits for its first request."""
    row = _mine(visit)
    return Download(msgspec.json.encode({"used": row["key"].last_used is not None}), "application/json")


def _numbered(page: int, *, every: bool) -> str:
    return f"/keys?revoked=all&page={page}" if every else f"/keys?page={page}"


def _row(key: KeyInfo, now: int) -> dict[str, Any]:
    ended = key.revoked is not None or (key.expires is not None and key.expires <= now)
    if key.revoked is not None:
        status, kind, sign = "revoked", "bad", "crossed"
    elif ended:
        status, kind, sign = ("replaced" if key.replaced_by else "expired"), "bad", "crossed"
    elif key.replaced_by is not None:
        status, kind, sign = "replaced", "warn", "half"
    elif key.expires is not None:
        status, kind, sign = "live, ends", "warn", "half"
    else:
        status, kind, sign = "live", "good", "disc"
    return {"key": key, "live": not ended, "status": status, "kind": kind, "sign": sign}


def create(visit: Visit) -> Answer:
    """Make a key. Its text is in this answer and nowhere else; the form's number is good once."""
    wanted, owner, now = WantedKey.of(visit), visit.who, visit.people.now()
    errors, scopes, ends = wanted.checked(visit)
    if errors:
        return _page(visit, wanted, errors, status=400)
    try:
        with visit.people.forms.taken(visit.form.get("number", ""), owner.account, _CREATE, now=now):
            text, key = visit.people.accounts.create_key(owner.email, scopes, wanted.name, ends, now=now)
    except FormUsed:
        return _page(visit, WantedKey(), [FieldProblem("", SHOWN_ONCE)], status=409)
    except FormStale:
        return _page(visit, wanted, [FieldProblem("", _STALE)], status=403)
    except AccountError as error:
        return _page(visit, wanted, [FieldProblem("", f"{error}.")], status=400)
    return _page(visit, WantedKey(), made={"id": key.id, "name": key.name, "text": text, "from": None})


def _mine(visit: Visit) -> dict[str, Any]:
    """Return the key an address names. Raises NotFound for one that is not this account's."""
    for key in visit.people.accounts.list_keys(visit.who.email):
        if key.id == visit.values["id"]:
            return _row(key, visit.people.now())
    raise NotFound("You have no such key.")


def rotate_form(visit: Visit) -> Answer:
    """How long the old key is to live on."""
    row = _mine(visit)
    if not row["live"]:
        raise NotFound("This key has ended and cannot be rotated. Create a new one.")
    number = visit.people.forms.give(visit.who.account, _ROTATE, now=visit.people.now())
    return Html("account/rotate.html", {"row": row, "graces": GRACES, "number": number, "errors": []})


def rotate(visit: Visit) -> Answer:
    """Make a key in the place of another; the old one ends after the chosen time."""
    row, now = _mine(visit), visit.people.now()
    seconds = {value: length for value, _, length in GRACES}.get(visit.form.get("grace", ""))
    if seconds is None:
        number = visit.people.forms.give(visit.who.account, _ROTATE, now=now)
        errors = [FieldProblem("grace", "Choose when the old key ends")]
        return Html("account/rotate.html", {"row": row, "graces": GRACES, "number": number, "errors": errors}, 400)
    try:
        with visit.people.forms.taken(visit.form.get("number", ""), visit.who.account, _ROTATE, now=now):
            text, key, old = visit.people.accounts.rotate(row["key"].id, seconds, now=now, owner=visit.who.account)
    except FormUsed:
        return _page(visit, WantedKey(), [FieldProblem("", SHOWN_ONCE)], status=409)
    except FormStale:
        return _page(visit, WantedKey(), [FieldProblem("", _STALE)], status=403)
    except AccountError as error:
        return _page(visit, WantedKey(), [FieldProblem("", f"{error}.")], status=400)
    return _page(visit, WantedKey(), made={"id": key.id, "name": key.name, "text": text, "from": old})


def revoke_form(visit: Visit) -> Answer:
    """Show what ending a key does."""
    return Html("account/revoke.html", {"row": _mine(visit), "used": visit.people.used_by_key(visit.who.account)})


def revoke(visit: Visit) -> Answer:
    """End a key, in every worker within two seconds."""
    row = _mine(visit)
    visit.people.accounts.revoke(row["key"].id, now=visit.people.now(), owner=visit.who.account)
    return Redirect(f"/keys?done=revoked&revoked={row['key'].id}")


def description(visit: Visit) -> Answer:
    """Return the OpenAPI document of the interface, for any client that reads one."""
    return Download(visit.api.document("/openapi.json"), "application/json")


PAGES = (
    Page("/openapi.json", description),
    Page("/keys", keys),
    Page("/keys/new", keys, create),
    Page("/keys/{id}/used.json", used),
    Page("/keys/{id}/rotate", rotate_form, rotate),
    Page("/keys/{id}/revoke", revoke_form, revoke),
)
