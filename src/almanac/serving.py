"""The composition root of the running service: its applications. `almanac.hosting` runs them."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from almanac.domain.memory import reuse, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from starlette.applications import Starlette

    from almanac.api.server.app import App
    from almanac.api.server.warming import Warming
    from almanac.api.use.limits import Limiter
    from almanac.api.use.seen import Seen
    from almanac.config import Settings
    from almanac.dashboard.app import Dashboard
    from almanac.ops import Answering
    from almanac.store.observations.reading.reader import Reader, View
    from almanac.store.observations.reading.replicas import Replicas

log = structlog.get_logger("almanac.serving")

#: How long a thread may keep the interpreter from another that wants it. Each statement of the event loop gives it away for
#: a moment; with the five milliseconds that Python allows, a page beside two heavy requests waited for them many times.
_SWITCH_SECONDS = 0.0005
#: How long a worker may go by a key that was revoked elsewhere: asking the file is a tenth of a small request.
_NOTICE_SECONDS = 0.5
#: How long the line and the counts of an answer may wait to be written with others.
_JOURNAL_SECONDS = 0.1
#: How often each worker writes down when keys were last used.
_FLUSH_SECONDS = 60.0
#: How often each worker writes down what accounts used: as much is lost with one that is killed, and a second of waiting.
_USAGE_SECONDS = 3.0


def api(settings: Settings, warming: Warming | None = None, begun: Callable[[], None] | None = None) -> App:
    """
    The HTTP interface of one worker.

    `warming` makes it warm when it starts: what needs nothing of that is answered meanwhile, what does waits for it.
    `begun`: given where others answer meanwhile: the worker is then warm before it takes a request, and says so by it.
    """
    from almanac.api.interface import endpoints
    from almanac.api.server import logs
    from almanac.api.server.app import App
    from almanac.api.server.journal import Journal
    from almanac.api.use import metrics
    from almanac.api.use.slots import Slots
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
    sys.setswitchinterval(_SWITCH_SECONDS)
    usage = UsageFile(place(settings.usage_place))
    tally = Tally(usage, time.time)
    journal = Journal(_JOURNAL_SECONDS, settings.log_requests, tally)
    accounts = Accounts(place(settings.accounts_place), settings.secret, notice_seconds=_NOTICE_SECONDS)
    flusher = _Every(_FLUSH_SECONDS, accounts.flush, "last uses of keys")
    counting = _Every(_USAGE_SECONDS, tally.flush, "usage")
    readers = _readers(settings, at_turn)
    limits = limiter(settings, metrics.LIMITER_FALLBACKS.inc)
    slots = Slots(settings.heavy_requests, run_folder(settings) / "heavy")
    return App(
        endpoints(Explainer(shipped(), explain_company), explain_scores),
        accounts,
        limits,
        readers.view,
        settings,
        clock=settings.clock,
        unavailable=(UnavailableError,),
        turns=readers if isinstance(readers, Reader) else None,
        slots=slots,
        seen=seen(settings),
        journal=journal,
        warming=warming,
        on_startup=[
            flusher.start,
            counting.start,
            *([] if warming is None else [warming.start]),
            *([] if warming is None or begun is None else [warming.wait, begun]),
        ],
        on_shutdown=[
            flusher.stop,
            accounts.close,
            journal.flush,
            counting.stop,
            usage.close,
            limits.close,
            slots.close,
        ],
    )


def reading(settings: Settings) -> Callable[..., AbstractContextManager[View]]:
    """What opens one state of the data: of the one database, or of whichever replica is far enough."""
    return _readers(settings).view


def _readers(
    settings: Settings, at_turn: Callable[[Callable[[], object]], bool] = lambda _: False
) -> Reader | Replicas:
    """What reads the one database, or whichever replica is far enough. `at_turn`: see `Reader`."""
    from almanac.store.engine.opening import place
    from almanac.store.observations.reading.reader import Reader
    from almanac.store.observations.reading.replicas import Replicas

    primary = Reader(place(settings.data_place), at_turn=at_turn)
    if not settings.database_read_urls:
        return primary
    replicas = [Reader(place(url), at_turn=at_turn) for url in settings.database_read_urls]
    return Replicas(primary, replicas)


def seen(settings: Settings) -> Seen | None:
    """What all workers of the host know of what accounts were answered from; None where no database lags behind another."""
    from almanac.api.use.seen import Seen

    return Seen(run_folder(settings) / "seen") if settings.database_read_urls else None


def dashboard(settings: Settings) -> Dashboard:
    """The dashboard. Its accounts are opened apart from those in which keys are verified."""
    from almanac.api.interface import endpoints
    from almanac.catalog.load import shipped
    from almanac.dashboard.app import Dashboard
    from almanac.dashboard.asking import Desk
    from almanac.dashboard.books import Books
    from almanac.dashboard.letters import Letters
    from almanac.dashboard.site import pages, templates
    from almanac.dashboard.statics import Statics
    from almanac.mail import Mail
    from almanac.pipeline.explain.companies import explain_company
    from almanac.pipeline.explain.macro import Explainer
    from almanac.pipeline.explain.scores import explain_scores
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.engine.opening import place
    from almanac.store.usage.counts import UsageFile
    from almanac.store.usage.reports import UsageReports

    accounts = Accounts(place(settings.accounts_place), settings.secret)
    usage = UsageFile(place(settings.usage_place))
    letters = Letters(Mail(settings.smtp, log.warning), settings.dashboard_address)
    desk = Desk(
        endpoints(Explainer(shipped(), explain_company), explain_scores),
        accounts.secret("cursor"),
        reading(settings),
        settings,
        clock=settings.clock,
    )
    statics = Statics()
    limits = limiter(settings, None)
    made = Dashboard(
        pages(),
        desk,
        Books(accounts, UsageReports(usage), limits, letters),
        accounts.secret("form"),
        templates(settings, statics),
        statics,
        settings,
        unavailable=(UnavailableError,),
        on_startup=[lambda: threading.Thread(target=ready, args=(made,), name="warming", daemon=True).start()],
        on_shutdown=[letters.close, accounts.close, usage.close, limits.close],
    )
    return made


def ready(app: App | Dashboard) -> None:
    """Have an application make what its first requests would wait for, and leave that out of the search for cycles. Memory is reused."""
    reuse()
    app.warm()
    settle()


def at_turn(action: Callable[[], object]) -> bool:
    """Have something done after all that waits in this thread's event loop by now. False where there is no such loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    loop.call_soon(action)
    return True


class _Every:
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
            self._action()
        except Exception:  # what is written here is for the eye only: it must not end the service
            log.exception("not written", what=self._what)


def run_folder(settings: Settings) -> Path:
    """Where the processes of one service keep what they share."""
    folder = settings.home / "run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def limiter(settings: Settings, on_fallback: object) -> Limiter:
    """One count for all workers: of this host, or through Redis of all hosts."""
    from almanac.api.use.limits import RedisLimiter, SharedLimiter

    folder = run_folder(settings)

    def fell_back(_: str) -> None:
        if callable(on_fallback):
            on_fallback()

    shared = SharedLimiter(folder / "limits", fell_back)
    if settings.redis_url is None:
        return shared
    return RedisLimiter(settings.redis_url, shared, fell_back)


def missing_plans(settings: Settings) -> list[str]:
    """
    Plans that accounts are on and the settings do not have, sorted. Raises AccountError for accounts that are not ours.

    None where the accounts cannot be read just now, on a full disk: the service then starts, and answers when there is room.
    """
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.engine.opening import place

    try:
        with contextlib.closing(Accounts(place(settings.accounts_place), settings.secret)) as accounts:
            return sorted({one.plan for one in accounts.list_accounts()} - set(settings.plans))
    except (UnavailableError, OSError) as error:
        log.warning("whether all accounts have a plan is not known", reason=str(error))
        return []


def plans_told(missing: list[str]) -> str:
    """What to do about plans that accounts are on and the settings do not have."""
    return (
        f"accounts are on plans that are not in the settings: {', '.join(missing)} (`almanac accounts list` says"
        " which); add ALMANAC_PLANS__NAME__REQUESTS_PER_MINUTE for each, or move the accounts to another plan"
    )


def ops(
    settings: Settings,
    metrics_folder: Path | None,
    answering: Callable[[], Answering] | None = None,
    parent: int | None = None,
) -> Starlette:
    """
    The operations listener's application, for the service whose parent has this process number.

    `answering` counts the workers that answer, see `almanac.ops`.
    """
    from almanac import ops as module
    from almanac.gauges import Held, HostGauges, StoreGauges
    from almanac.pipeline.operate import rounds
    from almanac.store.engine.opening import place
    from almanac.store.log import payloads
    from almanac.store.observations.reading.reader import Reader

    reader = Reader(place(settings.data_place))

    @contextlib.contextmanager
    def looking() -> Iterator[View]:
        # Opened anew for each probe: what is in memory would hide a file that was damaged in place.
        try:
            with reader.view() as view:
                yield view
        finally:
            reader.close()

    def data_version() -> int:
        with looking() as view:
            return view.version

    def unread() -> Counter[tuple[str, str]]:
        with looking() as view:
            return Counter((row.source, row.kind) for row in payloads.unread(view))

    def verified() -> module.Verified | None:
        if not settings.verify_hours:
            return None
        noted = rounds.read(rounds.path_of(settings))
        last = noted.last
        return module.Verified(
            problems=noted.problems,
            completed_at=None if last is None else last.completed,
            took=None if last is None or last.completed is None else last.completed - last.started,
        )

    beside = [
        Held(StoreGauges(Reader(place(settings.data_place)).view, settings.clock)),
        Held(
            HostGauges(settings, os.getpid() if parent is None else parent, answering and (lambda: answering().workers))
        ),
    ]
    return module.create(
        data_version,
        answering=answering,
        unread=unread,
        verified=verified,
        beside=beside,
        multiprocess_dir=metrics_folder,
    )
