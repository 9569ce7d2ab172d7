"""`make run`: the simulated world, served, with a first account, a fresh key and a first request to try."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from almanac.config import Settings
from almanac.pipeline.ingest.simulation import load_curves
from almanac.pipeline.world import SIMULATED, World
from almanac.store.accounts.accounts import AccountError, Accounts
from almanac.store.accounts.people import People
from almanac.store.engine.opening import place

EMAIL = "demo@localhost"
_PLAN = "pro"
_KEY_NAME = "make run"


class Prepared(NamedTuple):
    """What somebody needs to begin. `password` of the first account, where it was made just now: it is kept nowhere."""

    settings: Settings
    key: str
    password: str | None


def prepare(settings: Settings, say: Callable[[str], None]) -> Prepared:
    """Load the simulated yield curves up to today into a folder of its own; make the first account, and a fresh key.

    A second run adds only the days since. The key of the run before stops working. All else is left to `rest`.
    """
    apart = msgspec.structs.replace(settings, home=settings.home / "demo", database_url=None, raw_url=None)
    apart.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with World(apart, kind=SIMULATED) as opened:
        say("Loading the simulated yield curves …")
        outcomes = load_curves(opened, lambda _: None)
        say(f"{sum(o.folded for o in outcomes)} simulated payloads read.")
    return Prepared(apart, *_first_account(apart))


@contextmanager
def rest(settings: Settings, say: Callable[[str], None]) -> Iterator[None]:
    """
    Load the other economies, then companies, in a process of their own while the service answers already.

    Ended with the block if it is not through by then; the next run goes on where it was.
    """
    environ = {**os.environ, "ALMANAC_HOME": str(settings.home)}
    for name in ("ALMANAC_DATABASE_URL", "ALMANAC_RAW_URL"):
        environ.pop(name, None)
    say("Other economies, then companies are loaded meanwhile (some minutes the first time) …")
    command = [sys.executable, "-m", "almanac", "sandbox"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environ, stdout=quiet, stderr=quiet) as process:  # noqa: S603  (our own command)

        def tell() -> None:
            code = process.wait()
            if not ended.is_set():
                say("The whole world is there." if code == 0 else f"Loading the rest of the world failed: exit {code}.")

        ended = threading.Event()
        threading.Thread(target=tell, daemon=True).start()
        try:
            yield
        finally:
            ended.set()
            process.terminate()


def _first_account(settings: Settings) -> tuple[str, str | None]:
    """A fresh key of the operator's account, and its password where it had none."""
    now = int(time.time())
    accounts = Accounts(place(settings.accounts_place), settings.secret)
    try:
        try:
            found = accounts.create_account(EMAIL, _PLAN, settings.plans, now=now, role="operator")
        except AccountError:
            found = accounts.account(EMAIL)
            for held in accounts.list_keys(EMAIL):
                if held.name == _KEY_NAME:
                    accounts.revoke(held.id, now=now)
        password = None
        if found.password_set is None:
            password = secrets.token_urlsafe(12)
            accounts.set_role(EMAIL, "operator")
            People(accounts).set_password(EMAIL, password, now=now)
        text, _ = accounts.create_key(EMAIL, name=_KEY_NAME, now=now)
    finally:
        accounts.close()
    return text, password


def told(prepared: Prepared) -> list[str]:
    """What to do now, a line each: where to look, how to sign in, a key, and a first request."""
    settings, key, password = prepared
    lines = []
    if settings.dashboard:
        again = (
            f"as shown at the first run (ALMANAC_HOME={settings.home} almanac accounts password {EMAIL} sets another)"
        )
        lines = [
            f"Dashboard: {settings.dashboard_address}",
            f"E-mail: {EMAIL}",
            f"Password: {again if password is None else password}",
        ]
    return [*lines, f"Key: {key}", f"Try: {first_request(settings, key)}"]


def first_request(settings: Settings, key: str) -> str:
    """A command to paste."""
    return f"curl -H 'x-api-key: {key}' {settings.api_address}/rates/USA"
