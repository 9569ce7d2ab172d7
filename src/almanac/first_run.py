"""A first run by one command: an account, a key, what to open; a load that goes on beside the service; the demo of `make run`."""

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
from contextlib import AbstractContextManager
from typing import NamedTuple

import msgspec

from almanac.config import Settings
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import load_first
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.records import AccountError
from almanac.store.engine.opening import place

_PLAN = "pro"
_DEMO_EMAIL = "demo@localhost"
#: How long a load may take to end when told to.
_ENDING_SECONDS = 30.0

Say = Callable[[str], None]


class Welcome(NamedTuple):
    """
    What somebody needs to begin. `key` and `password` where they were made just now: they are kept nowhere.

    `email` None: there were accounts already, which are nobody's business here, and none was made.
    """

    settings: Settings
    email: str | None
    key: str | None
    password: str | None


def first_account(settings: Settings, email: str, key_name: str) -> Welcome:
    """
    Make the operator's account of this address, with a password and a key, where it has none that is live.

    A later run leaves keys as they are: they are valid until they are revoked. A service that has only other accounts gets
    none.
    """
    now = int(time.time())
    accounts = Accounts(place(settings.accounts_place), settings.secret)
    try:
        emails = [account.email for account in accounts.list_accounts()]
        if emails and email not in emails:
            return Welcome(settings, None, None, None)
        try:
            found = accounts.create_account(email, _PLAN, settings.plans, now=now, role="operator")
        except AccountError:
            found = accounts.account(email)
        password = None
        if found.password_set is None:
            password = secrets.token_urlsafe(12)
            accounts.set_role(email, "operator")
            Authentication(accounts).set_password(email, password, now=now)
        if any(key.revoked is None and (key.expires is None or key.expires > now) for key in accounts.list_keys(email)):
            return Welcome(settings, email, None, password)
        text, _ = accounts.create_key(email, name=key_name, now=now)
    finally:
        accounts.close()
    return Welcome(settings, email, text, password)


def next_steps(welcome: Welcome) -> list[str]:
    """Return what to do now, a line each: where to look, how to sign in, a key, and a first request."""
    settings, email, key, password = welcome
    program = "almanac" if shutil.which("almanac") else f"{sys.executable} -m almanac"
    home = f"ALMANAC_HOME={settings.home} {program}"
    lines = []
    if settings.dashboard:
        lines.append(f"Dashboard: {settings.dashboard_address}")
        if email is not None:
            again = f"as shown at the first run ({home} accounts password {email} sets another)"
            lines += [f"E-mail: {email}", f"Password: {again if password is None else password}"]
    if key is not None:
        lines.append(f"Key: {key}")
    elif email is not None:
        lines.append(
            f"Key: as shown before, valid until it is revoked ({home} keys create --account {email} makes another)"
        )
    else:
        lines.append(f"Key: of the accounts that there are ({home} keys create --account E-MAIL makes one)")
    header = '"x-api-key: $ALMANAC_API_KEY"' if key is None else f"'x-api-key: {key}'"
    return [*lines, f"Try: curl -H {header} {settings.api_address}/rates/USA"]


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
    environ = {**os.environ, "ALMANAC_HOME": str(settings.home)}
    for name, value in (("ALMANAC_DATABASE_URL", settings.database_url), ("ALMANAC_RAW_URL", settings.raw_url)):
        environ.pop(name, None)
        if value is not None:
            environ[name] = value
    output = subprocess.DEVNULL if quiet else None
    ended = threading.Event()

    def load() -> None:
        for number, words in enumerate(commands):
            command = ["nice", sys.executable, "-m", "almanac", *words]
            with subprocess.Popen(command, env=environ, stdout=output, stderr=output) as process:  # noqa: S603  (our own command)
                while process.poll() is None and not ended.wait(0.2):
                    pass
                if process.poll() is None:
                    _end(process)
                    return
            said(number, process.returncode)

    thread = threading.Thread(target=load, name="loading")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def apart(settings: Settings) -> Settings:
    """Turn settings into those of a folder of its own, whatever engine the others use."""
    return msgspec.structs.replace(settings, home=settings.home / "demo", database_url=None, raw_url=None)


def prepare(settings: Settings, say: Say) -> Welcome:
    """Load a simulated yield curve up to today into the folder of these settings; make the first account, and its key.

    A second run adds only the days since and leaves keys as they are. All else is left to `rest`.
    """
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with PipelineContext(settings, kind=SIMULATED) as opened:
        say("Loading a simulated yield curve …")
        outcomes = load_first(opened, lambda _: None)
        say(f"{sum(o.folded for o in outcomes)} simulated payloads read.")
    return first_account(settings, _DEMO_EMAIL, "make run")


def rest(settings: Settings, say: Say) -> AbstractContextManager[None]:
    """
    Load the other curves and economies, then companies, in a process of their own while the service answers already.

    Ended with the block if it is not through by then; the next run goes on where it was.
    """

    def said(_number: int, code: int) -> None:
        say("The whole world is there." if code == 0 else f"Loading the rest of the world failed: exit {code}.")

    say("Other curves and economies, then companies are loaded meanwhile (some minutes the first time) …")
    return loading_beside(settings, [["sandbox"]], said, quiet=True)
