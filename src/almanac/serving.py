"""The composition root of the running service: its applications. `almanac.hosting` runs them."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from almanac.api.server.app import App
    from almanac.api.server.limits import Limiter
    from almanac.config import Settings
    from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.serving")

#: How long a worker may go by a key that was revoked elsewhere: asking the file is a tenth of a small request.
_NOTICE_SECONDS = 0.5
#: How long the line and the counts of an answer may wait to be written with others.
_JOURNAL_SECONDS = 0.1
#: How often each worker writes down when keys were last used.
_FLUSH_SECONDS = 60.0


def api(settings: Settings) -> App:
    """The HTTP interface of one worker."""
    from almanac.api.interface import endpoints
    from almanac.api.server import logs, metrics
    from almanac.api.server.app import App
    from almanac.api.server.journal import Journal
    from almanac.catalog.load import load
    from almanac.pipeline.explain.companies import explain_company
    from almanac.pipeline.explain.macro import Explainer
    from almanac.pipeline.explain.scores import explain_scores
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.observations.reading.reader import Reader

    logs.configure(settings.log_level)
    journal = Journal(_JOURNAL_SECONDS)
    accounts = Accounts(settings.accounts_path, settings.secret, notice_seconds=_NOTICE_SECONDS)
    reader = Reader(settings.data_path, at_turn=at_turn)

    flusher = _Every(_FLUSH_SECONDS, accounts.flush)
    app = App(
        endpoints(Explainer(load(), explain_company), explain_scores),
        accounts,
        limiter(settings, metrics.LIMITER_FALLBACKS.inc),
        reader.view,
        settings,
        clock=settings.clock,
        unavailable=(UnavailableError,),
        journal=journal,
        # Requests need not wait for it: one that comes before it is through makes what it needs itself.
        on_startup=[flusher.start, lambda: threading.Thread(target=app.warm, name="warming", daemon=True).start()],
        on_shutdown=[flusher.stop, accounts.close, journal.flush],
    )
    return app


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

    def __init__(self, seconds: float, action: Callable[[], object]) -> None:
        self._seconds = seconds
        self._action = action
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
        except Exception:  # when a key was last used is for the eye only: it must not end the service
            log.exception("last uses not written")


def limiter(settings: Settings, on_fallback: object) -> Limiter:
    """One count for all workers: of this host, or through Redis of all hosts."""
    from almanac.api.server.limits import RedisLimiter, SharedLimiter

    folder = settings.home / "run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def fell_back(_: str) -> None:
        if callable(on_fallback):
            on_fallback()

    shared = SharedLimiter(folder / "limits", fell_back)
    if settings.redis_url is None:
        return shared
    return RedisLimiter(settings.redis_url, shared, fell_back)


def ops(settings: Settings, metrics_folder: Path | None, answering: Callable[[], int] | None = None) -> Starlette:
    """The operations listener's application. `answering` counts the workers that answer, see `almanac.ops`."""
    from almanac import ops as module
    from almanac.store.log import payloads
    from almanac.store.observations.reading.reader import Reader

    reader = Reader(settings.data_path)

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

    return module.create(data_version, answering=answering, unread=unread, multiprocess_dir=metrics_folder)
