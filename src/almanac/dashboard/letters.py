"""Letters that pages send: written after the page was answered, so that the time it took tells nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import structlog
from cachetools import TTLCache

from almanac.mail import Mail, MailError
from almanac.store.accounts.authentication import Letter

log = structlog.get_logger("almanac.letters")

#: Letters that one address of the network may have sent in an hour; more are not written, and nobody is told.
_MOST, _SECONDS = 20, 3_600
_ADDRESSES = 10_000

_TEXTS = {
    "join": (
        "Your account at Almanac",
        (
            "Somebody, probably you, asked for an account at {dashboard} for this address.\n\n"
            "Choose a password behind this link. It works once, within a week:\n\n{link}\n\n"
            "If it was not you, nothing needs to be done.\n"
        ),
    ),
    "reset": (
        "Another password for Almanac",
        (
            "Somebody, probably you, asked to set another password for your account at {dashboard}.\n\n"
            "This link does. It works once, for 30 minutes:\n\n{link}\n\n"
            "If it was not you, nothing needs to be done: your password is as it was.\n"
        ),
    ),
    "known": (
        "Your account at Almanac",
        (
            "Somebody, probably you, asked for an account at {dashboard} for this address. It has one already.\n\n"
            "Sign in, or set another password, at:\n\n{link}\n"
        ),
    ),
}
_PATHS = {"join": "/signup/{}", "reset": "/reset/{}", "known": "/signin"}


class Letters:
    """Writes and sends, one letter after the other, in a thread of its own. `dashboard` is where links lead."""

    def __init__(self, mail: Mail, dashboard: str) -> None:
        self._mail, self._dashboard = mail, dashboard
        self._thread = ThreadPoolExecutor(1, "letters")
        self._lock = threading.Lock()
        self._sent: TTLCache[str, int] = TTLCache(_ADDRESSES, _SECONDS)

    def later(self, make: Callable[[], Letter | None], address: str) -> None:
        """Have a letter made and sent, unless this address of the network had too many sent."""
        with self._lock:
            count = self._sent.get(address, 0) + 1
            self._sent[address] = count
        if count <= _MOST:
            self._thread.submit(self._send, make)

    def _send(self, make: Callable[[], Letter | None]) -> None:
        try:
            letter = make()
            if letter is None:
                return
            subject, text = _TEXTS[letter.kind]
            link = self._dashboard + _PATHS[letter.kind].format(letter.token)
            self._mail.send(letter.to, subject, text.format(dashboard=self._dashboard, link=link))
        except MailError as error:
            log.error("a letter was not sent", reason=str(error))  # noqa: TRY400  (its stack says no more)
        except Exception:  # whatever it is: the page was answered, and the next letter must go out
            log.exception("a letter was not written")

    def close(self) -> None:
        """Send what waits, and no more."""
        self._thread.shutdown()
