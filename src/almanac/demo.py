"""`make run`: the simulated world, served, with a first account, a key and a first request to try."""

from __future__ import annotations

from contextlib import AbstractContextManager

import msgspec

from almanac.config import Settings
from almanac.pipeline.ingest.simulation import load_first
from almanac.pipeline.workplace import SIMULATED, Workplace
from almanac.welcome import Say, Welcome, first_account, loading_beside

EMAIL = "demo@localhost"
_KEY_NAME = "make run"


def apart(settings: Settings) -> Settings:
    """Turn settings into those of a folder of its own, whatever engine the others use."""
    return msgspec.structs.replace(settings, home=settings.home / "demo", database_url=None, raw_url=None)


def prepare(settings: Settings, say: Say) -> Welcome:
    """Load a simulated yield curve up to today into the folder of these settings; make the first account, and its key.

    A second run adds only the days since and leaves keys as they are. All else is left to `rest`.
    """
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Workplace(settings, kind=SIMULATED) as opened:
        say("Loading a simulated yield curve …")
        outcomes = load_first(opened, lambda _: None)
        say(f"{sum(o.folded for o in outcomes)} simulated payloads read.")
    return first_account(settings, EMAIL, _KEY_NAME)


def rest(settings: Settings, say: Say) -> AbstractContextManager[None]:
    """
    Load the other curves and economies, then companies, in a process of their own while the service answers already.

    Ended with the block if it is not through by then; the next run goes on where it was.
    """

    def said(_number: int, code: int) -> None:
        say("The whole world is there." if code == 0 else f"Loading the rest of the world failed: exit {code}.")

    say("Other curves and economies, then companies are loaded meanwhile (some minutes the first time) …")
    return loading_beside(settings, "the simulated world", [["sandbox"]], said, quiet=True)
