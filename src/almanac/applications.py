"""
The applications of a running service, put together from their parts: the interface and the dashboard.

It is imported in the process that serves one of them: the folder of the metrics must be named before they are loaded.
"""
# ruff: noqa: PLC0415  (a worker of the interface loads no pages)

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import structlog

from almanac.api.contract.endpoint import Endpoint
from almanac.api.interface import endpoints
from almanac.api.server import logs
from almanac.api.server.app import App
from almanac.api.server.journal import Journal
from almanac.api.use import metrics
from almanac.api.use.limits import open_limiter
from almanac.api.use.usage import Tally
from almanac.catalog.load import shipped
from almanac.config import Settings
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.macro import Explainer
from almanac.pipeline.explain.scores import explain_scores
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.opening import place
from almanac.store.observations.reading.reader import Reader
from almanac.store.usage.counts import UsageFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from almanac.dashboard.app import Dashboard

log = structlog.get_logger("almanac.serving")

#: How long a worker may go by a key that was revoked elsewhere: asking the file is a tenth of a small request.
_NOTICE_SECONDS = 0.5
#: How long the line and the counts of an answer may wait to be written with others.
_JOURNAL_SECONDS = 0.1
#: How often each worker writes down when keys were last used.
_FLUSH_SECONDS = 60.0
#: How often each worker writes down what accounts used: as much is lost with one that is killed, and a second of waiting.
_USAGE_SECONDS = 3.0
#: How long one of these may take, seconds: a server may not answer.
_WRITE_SECONDS = 10.0
#: How long a worker that starts waits for the server of its accounts.
_OPEN_SECONDS = 30.0


class Every:
    """Does something every so often in a thread of its own, and once more when stopped."""

    def __init__(self, seconds: float, action: Callable[[], object], what: str) -> None:
        self._seconds = seconds
        self._action = action
        self._what = what
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flusher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._once()
        self._once()

    def _once(self) -> None:
        try:
            with deadline_scope(Deadline(_WRITE_SECONDS)):
                self._action()
        except Exception:  # what is written here is for the eye only: it must not end the service
            log.exception("not written", what=self._what)


def api(settings: Settings, *, warms: bool = False) -> App:
    """Return the HTTP interface of one worker. `warms` lets it make in a thread, when it starts, what its first requests need."""
    logs.configure(settings.log_level)
    usage = UsageFile(place(settings.usage_place))
    tally = Tally(usage)
    journal = Journal(_JOURNAL_SECONDS, settings.log_requests, tally)
    with deadline_scope(Deadline(_OPEN_SECONDS)):
        accounts = Accounts(place(settings.accounts_place), settings.secret, notice_seconds=_NOTICE_SECONDS)
    flusher = Every(_FLUSH_SECONDS, accounts.flush, "last uses of keys")
    counting = Every(_USAGE_SECONDS, tally.flush, "usage")
    reader = Reader(place(settings.data_place), most_sorted=settings.sort_rows, by_turns=True)
    limits = open_limiter(settings, lambda _: metrics.LIMITER_FALLBACKS.inc())
    return App(
        _endpoints(),
        accounts,
        limits,
        reader.view,
        settings,
        clock=settings.clock if settings.now else time.time,
        journal=journal,
        warms=warms,
        on_startup=[flusher.start, counting.start],
        on_shutdown=[flusher.stop, accounts.close, journal.flush, counting.stop, usage.close, limits.close],
    )


def _endpoints() -> tuple[Endpoint, ...]:
    return endpoints(Explainer(shipped(), explain_company), explain_scores)


def dashboard(settings: Settings) -> Dashboard:
    """Return the dashboard. Its accounts are opened apart from those in which keys are verified."""
    from almanac.dashboard.app import Dashboard
    from almanac.dashboard.asking import InProcessApi
    from almanac.dashboard.letters import Letters
    from almanac.dashboard.people import People
    from almanac.dashboard.site import pages, templates
    from almanac.dashboard.statics import Statics
    from almanac.mail import Mail
    from almanac.store.usage.reports import UsageReports

    accounts = Accounts(place(settings.accounts_place), settings.secret)
    usage = UsageFile(place(settings.usage_place))
    letters = Letters(Mail(settings.smtp, log.warning), settings.dashboard_address)
    reader = Reader(place(settings.data_place), most_sorted=settings.sort_rows)
    asked = InProcessApi(_endpoints(), accounts.secret("cursor"), reader.view, settings, clock=settings.clock)
    statics = Statics()
    limits = open_limiter(settings)
    made = Dashboard(
        pages(),
        asked,
        People(accounts, UsageReports(usage), letters),
        accounts.secret("form"),
        templates(settings, statics),
        statics,
        settings,
        unavailable=(UnavailableError,),
        limits=limits,
        on_startup=[lambda: threading.Thread(target=made.warm, name="warming", daemon=True).start()],
        on_shutdown=[letters.close, accounts.close, usage.close, limits.close],
    )
    return made
