"""The composition root of the running service: its applications. `almanac.hosting` runs them."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import structlog

from almanac.repeating import Every
from almanac.store.engine.deadline import Deadline, deadline_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from almanac.api.server.app import App
    from almanac.api.use.limits import Limiter
    from almanac.config import Settings
    from almanac.dashboard.app import Dashboard
    from almanac.dashboard.asking import InProcessApi
    from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.serving")

#: How long a worker may go by a key that was revoked elsewhere: asking the file is a tenth of a small request.
_NOTICE_SECONDS = 0.5
#: How long the line and the counts of an answer may wait to be written with others.
_JOURNAL_SECONDS = 0.1
#: How often each worker writes down when keys were last used.
_FLUSH_SECONDS = 60.0
#: How often each worker writes down what accounts used: as much is lost with one that is killed, and a second of waiting.
_USAGE_SECONDS = 3.0

#: How long a probe waits for the store, and how long it may take to be looked through for the metrics.
_PROBE_SECONDS, _LOOK_SECONDS = 1.0, 120.0
#: How long a worker that starts waits for the server of its accounts, and how long what is written now and then may take.
_OPEN_SECONDS, _WRITE_SECONDS = 30.0, 10.0
#: How long is waited at a start to learn which plans accounts are on.
_PLANS_SECONDS = 10.0


def api(settings: Settings, *, warms: bool = False) -> App:
    """Return the HTTP interface of one worker. `warms` lets it make in a thread, when it starts, what its first requests need."""
    from almanac.api.interface import endpoints
    from almanac.api.server import logs
    from almanac.api.server.app import App
    from almanac.api.use import metrics
    from almanac.api.use.usage import Tally
    from almanac.catalog.load import shipped
    from almanac.pipeline.explain.companies import explain_company
    from almanac.pipeline.explain.macro import Explainer
    from almanac.pipeline.explain.scores import explain_scores
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.engine.opening import place
    from almanac.store.observations.reading.reader import Reader
    from almanac.store.usage.counts import UsageFile

    logs.configure(settings.log_level)
    usage = UsageFile(place(settings.usage_place))
    tally = Tally(usage, time.time)
    journal = logs.Journal(_JOURNAL_SECONDS, settings.log_requests, tally)
    with deadline_scope(Deadline(_OPEN_SECONDS)):
        accounts = Accounts(place(settings.accounts_place), settings.secret, notice_seconds=_NOTICE_SECONDS)
    flusher = Every(_FLUSH_SECONDS, accounts.flush, "last uses of keys")
    counting = Every(_USAGE_SECONDS, tally.flush, "usage")
    reader = Reader(place(settings.data_place), at_turn=at_turn, most_sorted=settings.sort_rows)
    limits = limiter(settings, lambda _: metrics.LIMITER_FALLBACKS.inc())
    return App(
        endpoints(Explainer(shipped(), explain_company), explain_scores),
        accounts,
        limits,
        reader.view,
        settings,
        clock=settings.clock,
        unavailable=(UnavailableError,),
        journal=journal,
        warms=warms,
        on_startup=[flusher.start, counting.start],
        on_shutdown=[
            flusher.stop,
            accounts.close,
            journal.flush,
            counting.stop,
            usage.close,
            limits.close,
        ],
    )


def in_process_api(settings: Settings, cursor_secret: bytes) -> InProcessApi:
    """Return the interface, asked within this process, without keys and limits."""
    from almanac.api.interface import endpoints
    from almanac.catalog.load import shipped
    from almanac.dashboard.asking import InProcessApi
    from almanac.pipeline.explain.companies import explain_company
    from almanac.pipeline.explain.macro import Explainer
    from almanac.pipeline.explain.scores import explain_scores
    from almanac.store.engine.opening import place
    from almanac.store.observations.reading.reader import Reader

    declared = endpoints(Explainer(shipped(), explain_company), explain_scores)
    reader = Reader(place(settings.data_place), most_sorted=settings.sort_rows)
    return InProcessApi(declared, cursor_secret, reader.view, settings, clock=settings.clock)


def dashboard(settings: Settings) -> Dashboard:
    """The dashboard. Its accounts are opened apart from those in which keys are verified."""
    from almanac.dashboard.app import Dashboard
    from almanac.dashboard.letters import Letters
    from almanac.dashboard.people import People
    from almanac.dashboard.site import pages, templates
    from almanac.dashboard.statics import Statics
    from almanac.mail import Mail
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.engine.opening import place
    from almanac.store.usage.counts import UsageFile
    from almanac.store.usage.reports import UsageReports

    accounts = Accounts(place(settings.accounts_place), settings.secret)
    usage = UsageFile(place(settings.usage_place))
    letters = Letters(Mail(settings.smtp, log.warning), settings.dashboard_address)
    in_process = in_process_api(settings, accounts.secret("cursor"))
    statics = Statics()
    limits = limiter(settings)
    made = Dashboard(
        pages(),
        in_process,
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


def at_turn(action: Callable[[], object]) -> bool:
    """Have something done after all that waits in this thread's event loop by now. False where there is no such loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    loop.call_soon(action)
    return True


def limiter(settings: Settings, on_fallback: Callable[[str], None] = lambda _: None) -> Limiter:
    """
    Return what counts requests: in Redis if there is one, else in this process. Raises SettingError.

    `on_fallback` gets the name of the error each time that a process has to count for itself because Redis fails.
    """
    from almanac.api.use.limits import Limiter, Memory, Redis

    return Limiter(Memory() if settings.redis_url is None else Redis(settings.redis_url, on_fallback))


def missing_plans(settings: Settings) -> list[str]:
    """
    Return the plans that accounts are on and the settings do not have, sorted. Raises AccountError for accounts that are not ours.

    Return none if the accounts cannot be read just now, on a full disk: the service then starts, and answers when there is room.
    """
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import StoppedError, UnavailableError
    from almanac.store.engine.opening import place

    try:
        with (
            deadline_scope(Deadline(_PLANS_SECONDS)),
            contextlib.closing(Accounts(place(settings.accounts_place), settings.secret)) as accounts,
        ):
            return sorted({account.plan for account in accounts.list_accounts()} - set(settings.plans))
    except (UnavailableError, StoppedError, OSError) as error:
        log.warning("whether all accounts have a plan is not known", reason=str(error))
        return []


def plans_told(missing: list[str]) -> str:
    """What to do about plans that accounts are on and the settings do not have."""
    return (
        f"accounts are on plans that are not in the settings: {', '.join(missing)} (`almanac accounts list` says"
        " which); add ALMANAC_PLANS__NAME__REQUESTS_PER_MINUTE for each, or move the accounts to another plan"
    )


def ops(settings: Settings, probe: str | None = None) -> Starlette:
    """Return the operations listener's application. `probe`: the path at which a worker answers it (`almanac.hosting`)."""
    from almanac import ops as module
    from almanac.gauges import HostGauges, StoreGauges
    from almanac.store.engine.opening import place
    from almanac.store.log import payloads
    from almanac.store.observations.reading.reader import Reader

    reader = Reader(place(settings.data_place))

    @contextlib.contextmanager
    def view(seconds: float) -> Iterator[View]:
        """Open the store anew: what is in memory would hide a file that was damaged in place."""
        try:
            with deadline_scope(Deadline(seconds)), reader.view() as opened:
                yield opened
        finally:
            reader.close()

    def version() -> int:
        with view(_PROBE_SECONDS) as opened:
            return opened.version

    def unread() -> Counter[tuple[str, str]]:
        with view(_WRITE_SECONDS) as opened:
            return Counter((row.source, row.kind) for row in payloads.unread(opened))

    return module.create(
        version,
        worker=None if probe is None else module.Worker(settings.host, settings.port, probe),
        unread=unread,
        beside=[StoreGauges(lambda: view(_LOOK_SECONDS), settings.clock), HostGauges(settings)],
        multiprocess_dir=os.environ.get("PROMETHEUS_MULTIPROC_DIR"),
    )
