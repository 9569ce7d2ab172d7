"""`almanac keys …`: what a program asks with."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import click

from almanac.commands.accounts import administration, opened
from almanac.commands.shared import put, put_json, say, settings, table, time
from almanac.config import real_time
from almanac.domain.times import end_of_day, instant
from almanac.store.accounts.records import KeyInfo

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_MOST_GRACE = 365 * 86_400


@click.group()
def keys() -> None:
    """Make, list and revoke API keys."""


@keys.command("create")
@click.option("--account", required=True, metavar="EMAIL", help="Whose key it is.")
@click.option("--scope", "scopes", multiple=True, help="May be given again. None: data:read, which includes all.")
@click.option("--name", default="", help="A label for lists.")
@click.option("--expires", metavar="ISO", help="2027-06-30 (the end of that day, UTC) or 2027-06-30T12:00:00Z.")
@click.option("--json", "as_json", is_flag=True, help="Print {id, key, prefix, scopes, expiresAt}.")
def keys_create(account: str, scopes: tuple[str, ...], name: str, expires: str | None, as_json: bool) -> None:
    """Make a key and print it. It is shown this once."""
    until = _moment(expires) if expires is not None else None
    with opened(settings()) as store:
        text, info = store.create_key(account, scopes, name, until, now=real_time())
    if as_json:
        put_json(_made(text, info))
    else:
        put(text)
        say(f"This is the key of {info.email}; it is shown this once. To end it: keys revoke {info.prefix}")


@keys.command("list")
@click.option("--account", metavar="EMAIL", help="Only the keys of this account.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def keys_list(account: str | None, as_json: bool) -> None:
    """List keys, revoked ones too, the oldest first. A key itself is never shown again."""
    with opened(settings()) as store:
        rows = [_key_row(each) for each in store.list_keys(account)]
    table(rows, ("prefix", "account", "name", "scopes", "lastUsedAt", "expiresAt", "revokedAt"), as_json=as_json)


@keys.command("rotate")
@click.argument("key_or_prefix")
@click.option(
    "--grace", metavar="TIME", required=True, help="How long the old key lives on: 24h, 7d, 30m; 0 ends it now."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print {id, key, prefix, scopes, expiresAt, replaces, replacesUntil}."
)
def keys_rotate(key_or_prefix: str, grace: str, as_json: bool) -> None:
    """Make a key in the place of another, with its name, scopes and expiry, and print it. It is shown this once."""
    seconds = _seconds(grace)
    with administration(settings()) as store:
        text, info, old = store.rotate(key_or_prefix, seconds, now=real_time())
    until = old.revoked if old.revoked is not None else old.expires
    if as_json:
        put_json(_made(text, info) | {"replaces": old.prefix, "replacesUntil": time(until)})
    else:
        put(text)
        ends = "has ended" if old.revoked is not None else f"ends at {time(until)}"
        say(f"This is the key of {info.email}; it is shown this once. {old.prefix} {ends}.")


@keys.command("revoke")
@click.argument("key_or_prefix")
def keys_revoke(key_or_prefix: str) -> None:
    """End a key, named by its text, its id, or the start of its prefix. Every worker refuses it at once."""
    with administration(settings()) as store:
        info = store.revoke(key_or_prefix, now=real_time())
    put(info.id)
    say(f"The key {info.prefix} of {info.email} is revoked since {time(info.revoked)}.")


def _made(text: str, info: KeyInfo) -> dict[str, Any]:
    return {"id": info.id, "key": text, "prefix": info.prefix, "scopes": info.scopes, "expiresAt": time(info.expires)}


def _key_row(info: KeyInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "account": info.email,
        "prefix": info.prefix,
        "name": info.name,
        "scopes": info.scopes,
        "created": time(info.created),
        "lastUsedAt": time(info.last_used),
        "expiresAt": time(info.expires),
        "revokedAt": time(info.revoked),
        "replacedBy": info.replaced_by,
    }


def _seconds(text: str) -> int:
    """`0`, or a number with its unit, a year at most."""
    shape = re.fullmatch(r"(0)|([0-9]{1,9})([smhd])", text, re.ASCII)
    seconds = 0 if shape is None or shape[1] else int(shape[2]) * _UNITS[shape[3]]
    if shape is None or seconds > _MOST_GRACE:
        raise click.BadParameter("must be 0, or a number with s, m, h or d, up to 365d: 24h", param_hint="'--grace'")
    return seconds


def _moment(text: str) -> int:
    """Unix seconds of an ISO date (its last second, UTC) or of a time with a zone."""
    try:
        return end_of_day(date.fromisoformat(text)) if len(text) == 10 else instant(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        message = "must be a date like 2027-06-30 or a time with a zone like 2027-06-30T12:00:00Z"
        raise click.BadParameter(message, param_hint="'--expires'") from None
