"""A first run by one command: an account, a key, what to open; and a load that goes on beside the service."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from almanac.config import Settings
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.records import AccountError
from almanac.store.engine.opening import place

_PLAN = "pro"
#: How long a load may take to end when told to.
_ENDING_SECONDS = 30.0


def welcome(settings: Settings, email: str, key_name: str) -> list[str]:
    """
    Make the operator's account of this address, with a password and a key, where it has none that is live. Return what to do
    now, a line each: where to look, how to sign in, a key, and a first request.

    A later run leaves keys as they are: they are valid until they are revoked. A service that has only other accounts gets
    none: they are nobody's business here.
    """
    program = "almanac" if shutil.which("almanac") else f"{sys.executable} -m almanac"
    home = f"ALMANAC_HOME={settings.home} {program}"
    key = f"as shown before, valid until it is revoked ({home} keys create --account {email} makes another)"
    password = f"as shown at the first run ({home} accounts password {email} sets another)"
    header = '"x-api-key: $ALMANAC_API_KEY"'
    now = int(time.time())
    with closing(Accounts(place(settings.accounts_place), settings.secret)) as accounts:
        emails = [account.email for account in accounts.list_accounts()]
        is_ours = not emails or email in emails
        if is_ours:
            try:
                account = accounts.create_account(email, _PLAN, settings.plans, now=now, role="operator")
            except AccountError:
                account = accounts.account(email)
            if account.password_set is None:
                password = secrets.token_urlsafe(12)
                accounts.set_role(email, "operator")
                Authentication(accounts).set_password(email, password, now=now)
            keys = accounts.list_keys(email)
            if not any(each.revoked is None and (each.expires is None or each.expires > now) for each in keys):
                key, _ = accounts.create_key(email, name=key_name, now=now)
                header = f"'x-api-key: {key}'"
        else:
            key = f"of the accounts that there are ({home} keys create --account E-MAIL makes one)"
    lines = [f"Key: {key}", f"Try: curl -H {header} {settings.api_address}/rates/USA"]
    if settings.dashboard:
        people = [f"E-mail: {email}", f"Password: {password}"] if is_ours else []
        lines = [f"Dashboard: {settings.dashboard_address}", *people, *lines]
    return lines


@contextlib.contextmanager
def loading_beside(
    settings: Settings, commands: Sequence[Sequence[str]], said: Callable[[int, int], None], *, quiet: bool
) -> Iterator[None]:
    """
    Run commands of ours one after the other in a process of their own, until the end of the block.

    They are given the home and the engine of these settings, and cores after the service. `said` hears the number and the
    exit code of each that came to its end. Ended with the block, as if the terminal had been closed: where one of them was,
    the next run goes on. `quiet`: what they say goes nowhere.
    """
    given = {
        "ALMANAC_HOME": str(settings.home),
        "ALMANAC_DATABASE_URL": settings.database_url,
        "ALMANAC_RAW_URL": settings.raw_url,
    }
    environ = {name: value for name, value in os.environ.items() if name not in given}
    environ |= {name: value for name, value in given.items() if value is not None}
    output = subprocess.DEVNULL if quiet else None
    ended = threading.Event()

    def load() -> None:
        for number, words in enumerate(commands):
            command = ["nice", sys.executable, "-m", "almanac", *words]
            with subprocess.Popen(command, env=environ, stdout=output, stderr=output) as process:  # noqa: S603  (our own command)
                while process.poll() is None and not ended.wait(0.2):
                    pass
                if process.poll() is None:
                    process.terminate()
                    try:
                        process.wait(_ENDING_SECONDS)
                    except subprocess.TimeoutExpired:
                        process.kill()
                    return
            said(number, process.returncode)

    thread = threading.Thread(target=load, name="loading")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
