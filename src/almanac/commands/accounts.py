"""`almanac accounts …` and `almanac keys …`."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from almanac.commands.shared import settings, table, time

if TYPE_CHECKING:
    from almanac.config import Settings
    from almanac.store.accounts.accounts import Accounts, KeyInfo


@contextmanager
def _opened(chosen: Settings) -> Iterator[Accounts]:
    from almanac.store.accounts.accounts import Accounts

    accounts = Accounts(chosen.accounts_path, chosen.secret)
    try:
        yield accounts
    finally:
        accounts.close()


def _now() -> int:
    """Real time in unix seconds. Accounts and keys never follow ALMANAC_NOW."""
    from time import time as seconds

    return int(seconds())


@click.group()
def accounts() -> None:
    """Who may ask."""


@accounts.command("create")
@click.argument("email")
@click.option("--plan", required=True, help="A plan of the settings: free, pro, enterprise, or your own.")
def accounts_create(email: str, plan: str) -> None:
    """Make an account and print its id."""
    chosen = settings()
    with _opened(chosen) as store:
        made = store.create_account(email, plan, chosen.plans, now=_now())
    click.echo(made.id)
    click.echo(
        f"{made.email} is on the {plan} plan. Make it a key: almanac keys create --account {made.email}", err=True
    )


@accounts.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def accounts_list(as_json: bool) -> None:
    """List all accounts, the oldest first."""
    with _opened(settings()) as store:
        found = store.list_accounts()
    rows = [{"id": each.id, "email": each.email, "plan": each.plan, "created": time(each.created)} for each in found]
    table(rows, ("id", "email", "plan", "created"), as_json=as_json)


@click.group()
def keys() -> None:
    """API keys."""


@keys.command("create")
@click.option("--account", required=True, metavar="EMAIL", help="Whose key it is.")
@click.option("--scope", "scopes", multiple=True, help="May be given again. None: data:read, which includes all.")
@click.option("--name", default="", help="A label for lists.")
@click.option("--expires", metavar="ISO", help="2027-06-30 (the end of that day, UTC) or 2027-06-30T12:00:00Z.")
@click.option("--json", "as_json", is_flag=True, help="Print {id, key, prefix, scopes, expiresAt}.")
def keys_create(account: str, scopes: tuple[str, ...], name: str, expires: str | None, as_json: bool) -> None:
    """Make a key and print it. It is shown this once."""
    until = _moment(expires) if expires is not None else None
    with _opened(settings()) as store:
        text, info = store.create_key(account, scopes, name, until, now=_now())
    if as_json:
        made = {"id": info.id, "key": text, "prefix": info.prefix, "scopes": info.scopes, "expiresAt": time(until)}
        click.echo(json.dumps(made))
    else:
        click.echo(text)
        click.echo(
            f"This is the key of {info.email}; it is shown this once. To end it: keys revoke {info.prefix}", err=True
        )


@keys.command("list")
@click.option("--account", metavar="EMAIL", help="Only the keys of this account.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def keys_list(account: str | None, as_json: bool) -> None:
    """List keys, revoked ones too, the oldest first. A key itself is never shown again."""
    with _opened(settings()) as store:
        rows = [_key_row(each) for each in store.list_keys(account)]
    table(rows, ("prefix", "account", "name", "scopes", "lastUsedAt", "expiresAt", "revokedAt"), as_json=as_json)


@keys.command("revoke")
@click.argument("key_or_prefix")
def keys_revoke(key_or_prefix: str) -> None:
    """End a key, named by its text, its id, or the start of its prefix. Every worker refuses it at once."""
    with _opened(settings()) as store:
        info = store.revoke(key_or_prefix, now=_now())
    click.echo(info.id)
    click.echo(f"The key {info.prefix} of {info.email} is revoked since {time(info.revoked)}.", err=True)


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
    }


def _moment(text: str) -> int:
    """Unix seconds of an ISO date (its last second, UTC) or of a time with a zone."""
    from datetime import date, datetime

    from almanac.domain.times import end_of_day, instant

    try:
        return end_of_day(date.fromisoformat(text)) if len(text) == 10 else instant(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        message = "must be a date like 2027-06-30 or a time with a zone like 2027-06-30T12:00:00Z"
        raise click.BadParameter(message, param_hint="'--expires'") from None
