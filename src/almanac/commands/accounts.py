"""`almanac accounts …`: who may ask, and who may sign in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import click

from almanac.commands.shared import put, put_json, say, settings, table, time
from almanac.config import Settings, real_time
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.administration import COMMAND_LINE, Administration
from almanac.store.accounts.passwords import Passwords
from almanac.store.accounts.records import AccountInfo
from almanac.store.engine.errors import StoreError, UnavailableError
from almanac.store.engine.opening import advise_of_kept, place

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_PASSWORD_STDIN = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, one line."
)


@contextmanager
def opened(chosen: Settings) -> Iterator[Accounts]:
    """Open the accounts of a home. A database that cannot be used ends the command with its path, the fault and what to do."""
    at = place(chosen.accounts_place)
    try:
        with closing(Accounts(at, chosen.secret)) as accounts:
            yield accounts
    except UnavailableError as error:
        raise StoreError(advise_of_kept(error, at)) from None


@contextmanager
def administration(chosen: Settings) -> Iterator[Administration]:
    """Open the accounts of a home for actions that are recorded as those of the command line."""
    with opened(chosen) as store:
        yield Administration(store, COMMAND_LINE)


@click.group()
def accounts() -> None:
    """Make and change accounts: who may ask."""


@accounts.command("create")
@click.argument("email")
@click.option("--plan", required=True, help="A plan of the settings: free, pro, enterprise, or your own.")
@click.option("--operator", is_flag=True, help="May use the operator's pages of the dashboard.")
@_PASSWORD_STDIN
@click.option("--link", is_flag=True, help="Print a link by which a password is chosen, once, within half an hour.")
@_JSON
def accounts_create(email: str, plan: str, operator: bool, password_stdin: bool, link: bool, as_json: bool) -> None:
    """Make an account and print its id."""
    if password_stdin and link:
        raise click.UsageError("--password-stdin and --link exclude each other")
    chosen, at, made_link = settings(), real_time(), None
    kept = _hashed() if password_stdin else None
    with administration(chosen) as store, store.accounts.changing():
        made = store.create(email, plan, chosen.plans, now=at, role="operator" if operator else "user")
        if kept is not None:
            made = store.set_password_hash(made.email, kept, now=at)
        if link:
            made_link = f"{chosen.dashboard_address}/reset/{store.reset_link(made.email, now=at)}"
    if as_json:
        put_json(_row(made) | ({"link": made_link} if link else {}))
        return
    put(made.id)
    if made_link:
        put(made_link)
    say(f"{made.email} is on the {plan} plan. Make it a key: almanac keys create --account {made.email}")


@accounts.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def accounts_list(as_json: bool) -> None:
    """List all accounts, the oldest first."""
    with opened(settings()) as store:
        rows = [_row(each) for each in store.list_accounts()]
    table(rows, ("id", "email", "plan", "role", "created", "disabledAt"), as_json=as_json)


@accounts.command("plan")
@click.argument("email")
@click.option("--plan", required=True, help="A plan of the settings.")
@_JSON
def accounts_plan(email: str, plan: str, as_json: bool) -> None:
    """Move an account to another plan. Every worker goes by it within half a second."""
    chosen = settings()
    with administration(chosen) as store:
        account = store.set_plan(email, plan, chosen.plans, now=real_time())
    _tell(account, f"{account.email} is on the {account.plan} plan.", as_json)


@accounts.command("role")
@click.argument("email")
@click.option("--role", required=True, help="user or operator.")
@_JSON
def accounts_role(email: str, role: str, as_json: bool) -> None:
    """Make an account an operator's, or a user's again."""
    with administration(settings()) as store:
        account = store.set_role(email, role, now=real_time())
    _tell(account, f"{account.email} has the role {account.role}.", as_json)


@accounts.command("disable")
@click.argument("email")
@_JSON
def accounts_disable(email: str, as_json: bool) -> None:
    """Refuse an account's keys with 403 and end its web sessions, within half a second. Nothing of it is lost."""
    with administration(settings()) as store:
        account = store.disable(email, now=real_time())
    _tell(account, f"{account.email} is disabled since {time(account.disabled)}.", as_json)


@accounts.command("enable")
@click.argument("email")
@_JSON
def accounts_enable(email: str, as_json: bool) -> None:
    """Let a disabled account's keys in again."""
    with administration(settings()) as store:
        account = store.enable(email, now=real_time())
    _tell(account, f"{account.email} is enabled.", as_json)


@accounts.command("delete")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_JSON
def accounts_delete(email: str, yes: bool, as_json: bool) -> None:
    """Delete an account with its keys, web sessions and links. What it used stays counted, under no name.

    Asks first; where nobody can be asked, --yes is needed.
    """
    with administration(settings()) as store:
        account, keys = store.accounts.account(email), len(store.accounts.list_keys(email))
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(f"deleting {account.email} with its {keys} keys cannot be undone: say --yes")
            click.confirm(f"Delete {account.email} with its {keys} keys? This cannot be undone.", abort=True, err=True)
        account, keys = store.delete(email, now=real_time())
    _tell(account, f"{account.email} is deleted with its {keys} keys.", as_json, keys=keys)


@accounts.command("password")
@click.argument("email")
@_PASSWORD_STDIN
@_JSON
def accounts_password(email: str, password_stdin: bool, as_json: bool) -> None:
    """Print a link by which a password is chosen, once, within half an hour; or set one. Web sessions then end."""
    chosen, at = settings(), real_time()
    kept = _hashed() if password_stdin else None
    with administration(chosen) as store:
        if kept is not None:
            account = store.set_password_hash(email, kept, now=at)
            _tell(account, f"{account.email} has a new password; its web sessions have ended.", as_json)
            return
        link = f"{chosen.dashboard_address}/reset/{store.reset_link(email, now=at)}"
    _link(link, as_json, "Good once, for half an hour.")


@accounts.command("invite")
@click.argument("email")
@click.option("--plan", help="A plan of the settings. Default: ALMANAC_SIGNUP_PLAN, free.")
@click.option("--operator", is_flag=True, help="May use the operator's pages of the dashboard.")
@_JSON
def accounts_invite(email: str, plan: str | None, operator: bool, as_json: bool) -> None:
    """Print a link by which whoever has this address makes an account, once, within a week."""
    chosen = settings()
    with administration(chosen) as store:
        token, _ = store.invite(
            email, plan or chosen.signup_plan, chosen.plans, now=real_time(), role="operator" if operator else "user"
        )
    _link(
        f"{chosen.dashboard_address}/signup/{token}",
        as_json,
        "Good once, for a week. Send it to them; nothing was sent.",
    )


@accounts.command("deeds")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="The latest so many.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def accounts_deeds(limit: int, as_json: bool) -> None:
    """List what operators did to accounts, the latest first."""
    with administration(settings()) as store:
        deeds = store.audit_log.latest(limit)
    rows = [
        {"at": time(deed.at), "who": deed.who, "what": deed.what, "subject": deed.subject, "detail": deed.detail}
        for deed in deeds
    ]
    table(rows, ("at", "who", "what", "subject", "detail"), as_json=as_json)


def _hashed() -> str:
    """Read the password on standard input and return its hash. Raises AccountError for one that is not allowed."""
    return Passwords().hash(sys.stdin.readline().rstrip("\r\n"))


def _link(link: str, as_json: bool, words: str) -> None:
    put_json({"link": link}) if as_json else put(link)
    if not as_json:
        say(words)


def _tell(account: AccountInfo, words: str, as_json: bool, **more: Any) -> None:
    if as_json:
        put_json(_row(account) | more)
    else:
        put(account.id)
        say(words)


def _row(info: AccountInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "email": info.email,
        "plan": info.plan,
        "role": info.role,
        "created": time(info.created),
        "disabledAt": time(info.disabled),
        "signedInAt": time(info.signed_in),
    }
