"""`make run`: the simulated world, served, with a fresh key and a first request to try."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from almanac.config import Settings
from almanac.pipeline.ingest.simulation import load
from almanac.pipeline.world import SIMULATED, World
from almanac.store.accounts.accounts import AccountError, Accounts

EMAIL = "demo@localhost"
_PLAN = "pro"
_KEY_NAME = "make run"


def prepare(settings: Settings, say: Callable[[str], None]) -> tuple[Settings, str]:
    """Load the simulated economies up to today into a folder of its own; returns its settings and a fresh key.

    A second run adds only the days since. The key of the run before stops working. Companies are left to `companies`.
    """
    apart = msgspec.structs.replace(settings, home=settings.home / "demo", database_url=None, raw_url=None)
    apart.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with World(apart, kind=SIMULATED) as opened:
        say("Loading the simulated world (about a minute the first time) …")
        outcomes = load(opened, lambda _: None, companies=False)
        say(f"{sum(o.folded for o in outcomes)} simulated payloads read.")
    return apart, _fresh_key(apart)


@contextmanager
def companies(settings: Settings, say: Callable[[str], None]) -> Iterator[None]:
    """
    Load the simulated companies in a process of their own while the service answers already.

    Ended with the block if it is not through by then; the next run goes on where it was.
    """
    environ = {**os.environ, "ALMANAC_HOME": str(settings.home)}
    for name in ("ALMANAC_DATABASE_URL", "ALMANAC_RAW_URL"):
        environ.pop(name, None)
    say("The simulated companies are loaded meanwhile (a few minutes the first time) …")
    command = [sys.executable, "-m", "almanac", "sandbox"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environ, stdout=quiet, stderr=quiet) as process:  # noqa: S603  (our own command)

        def tell() -> None:
            code = process.wait()
            if not ended.is_set():
                say(
                    "The simulated companies are there." if code == 0 else f"Loading the companies failed: exit {code}."
                )

        ended = threading.Event()
        threading.Thread(target=tell, daemon=True).start()
        try:
            yield
        finally:
            ended.set()
            process.terminate()


def _fresh_key(settings: Settings) -> str:
    now = int(time.time())
    accounts = Accounts(settings.accounts_path, settings.secret)
    try:
        try:
            accounts.create_account(EMAIL, _PLAN, settings.plans, now=now)
        except AccountError:
            for held in accounts.list_keys(EMAIL):
                if held.name == _KEY_NAME:
                    accounts.revoke(held.id, now=now)
        text, _ = accounts.create_key(EMAIL, name=_KEY_NAME, now=now)
    finally:
        accounts.close()
    return text


def first_request(settings: Settings, key: str) -> str:
    """A command to paste."""
    return f"curl -H 'x-api-key: {key}' http://{settings.host}:{settings.port}/rates/USA"
