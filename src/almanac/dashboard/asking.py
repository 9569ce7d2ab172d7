"""The interface, asked in the same process for one account: its own parameters, rights, window and redaction."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlencode

import msgspec

from almanac.api.contract.cursor import Signer
from almanac.api.contract.endpoint import ALL_SCOPES, Endpoint
from almanac.api.contract.errors import ApiError
from almanac.api.server.answers import Answers
from almanac.api.server.app import warm
from almanac.api.server.request import ClientRequest, Reply
from almanac.api.server.routes import Routes
from almanac.config import Plan, Settings
from almanac.store.accounts.records import KeyRecord
from almanac.store.engine.deadline import time_limit
from almanac.store.engine.errors import StoppedError, UnavailableError
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered

#: How long a page that asks nothing of the data waits to learn whose they are.
_BANNER_SECONDS = 0.25
#: A series id is a segment of a path, colons and all.
_PATH_SAFE = "/:"


K = TypeVar("K")
V = TypeVar("V")


class ShownRequest(msgspec.Struct, frozen=True):
    """A request as a program would send it."""

    path: str
    params: tuple[tuple[str, str], ...] = ()

    @property
    def path_and_query(self) -> str:
        return f"{self.path}?{urlencode(self.params, safe=':,')}" if self.params else self.path

    def curl(self, api_url: str) -> str:
        """Return a command to paste, with the key left to the reader's shell."""
        return f'curl -H "x-api-key: $ALMANAC_API_KEY" "{api_url}{self.path_and_query}"'


class Told(msgspec.Struct, frozen=True):
    """An answer of the interface: `data` as its JSON reads, and the rest of the envelope."""

    request: ShownRequest
    data: Any
    meta: dict[str, Any]
    #: Data version the answer is made from.
    version: int
    #: First day the plan reaches, like 2024-11-22; None where it reaches all.
    history_from: str | None = None

    @property
    def next_cursor(self) -> str | None:
        found: str | None = self.meta.get("pagination", {}).get("next_cursor")
        return found

    @property
    def total(self) -> int | None:
        found: int | None = self.meta.get("pagination", {}).get("total")
        return found


def is_simulated(view: View) -> bool:
    """Return whether the store holds the simulated world, which says so in the ids of its sources."""
    return any(source.startswith("sandbox-") for source in view.directory.sources)


class _Held(threading.local):
    """The one state that a page of this thread is made from: opened by the first who asks for it."""

    view: View | None = None
    until: contextlib.ExitStack | None = None


class InProcessApi:
    """
    Asks the declared endpoints, as the interface's own server does once a key has passed its gate.

    `clock` is the data's now, `walltime` real time, both in unix seconds. Requests are not counted: they are a page's.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        cursor_secret: bytes,
        open_view: Callable[[], AbstractContextManager[View]],
        settings: Settings,
        *,
        clock: Callable[[], int],
        walltime: Callable[[], float] = time.time,
    ) -> None:
        self._routes = Routes(endpoints)
        self._endpoints = endpoints
        self._held = _Held()
        self._simulated = False
        self._open_view = open_view
        self._settings = settings
        self._clock = clock
        signer = Signer(cursor_secret, settings.cursor_days)
        self._answers = Answers(self._view, signer, settings, walltime)

    def now(self) -> int:
        """Return the data's now, unix seconds."""
        return self._clock()

    def warm(self) -> None:
        """Make what the first pages would wait for. What cannot be made now, they make themselves."""
        warm(self._endpoints, self._open_view, self._clock)

    @contextlib.contextmanager
    def one_state(self) -> Iterator[None]:
        """
        Let all that this thread asks within the block be answered from one state of the store. It is opened by the first
        question: a page that asks nothing of the data is one, though they cannot be read.
        """
        held = self._held
        with contextlib.ExitStack() as held.until:
            try:
                yield
            finally:
                held.view = held.until = None

    def _state(self) -> View | None:
        """Return the state of the block, opened now if need be; None outside of one."""
        held = self._held
        if held.view is None and held.until is not None:
            held.view = held.until.enter_context(self._open_view())
        return held.view

    def simulated(self) -> bool:
        """Return whether the store holds the simulated world; where that cannot be read just now, as it was last."""
        try:
            with time_limit(_BANNER_SECONDS), self._view() as view:
                self._simulated = is_simulated(view)
        except (UnavailableError, StoppedError):
            pass
        return self._simulated

    def remembered(self, what: Remembered[dict[K, V]]) -> dict[K, V]:
        """Give what pages keep of one state of the store, for every account alike. Empty where no state is held."""
        view = self._state()
        return {} if view is None else what.of(view)

    def log(self) -> AbstractContextManager[View]:
        """Return the state that the page is made from, for what `store.log` has of it: operators' pages alone, and no numbers."""
        return self._view()

    def document(self, path: str) -> bytes:
        """Return the body of an endpoint outside the envelope, of kind `json` or `text`. Raises ApiError 404 for any other."""
        found = self._routes.find(path)
        if found is None or found[0].kind not in {"json", "text"}:
            raise ApiError(404, "there is no document at this path")
        return self._reply("", next(iter(self._settings.plans)), ShownRequest(path), found)[1].body

    @contextlib.contextmanager
    def _view(self) -> Iterator[View]:
        state = self._state()
        if state is not None:
            yield state
        else:
            with self._open_view() as view:
                yield view

    def ask(self, account: str, plan: str, path: str, params: Mapping[str, Any] | None = None) -> Told:
        """
        Return what the interface answers an account on a plan. Parameters that are None are left out.

        Raises ApiError as the interface would refuse: 400, 403, 404; and errors of the store.
        """
        request = ShownRequest(
            path, tuple((name, _text(value)) for name, value in (params or {}).items() if value is not None)
        )
        found = self._routes.find(path)
        if found is None:
            raise self._routes.unknown(path)
        client, reply = self._reply(account, plan, request, found)
        answer = msgspec.json.decode(reply.body)
        history = dict(reply.headers).get(b"x-history-from")
        return Told(
            ShownRequest(quote(path, safe=_PATH_SAFE), request.params),
            answer["data"],
            answer["meta"],
            client.version or 0,
            None if history is None else history.decode(),
        )

    def _reply(
        self,
        account: str,
        plan: str,
        request: ShownRequest,
        found: tuple[Endpoint, dict[str, str]],
    ) -> tuple[ClientRequest, Reply]:
        endpoint, path_values = found
        now = self._clock()
        endpoint.check_path(path_values)
        values = endpoint.read(request.params, now)
        client = ClientRequest(
            {"type": "http", "method": "GET", "path": request.path, "query_string": b"", "headers": []}
        )
        client.endpoint, client.path = endpoint, path_values
        client.key = KeyRecord("", account, plan, (ALL_SCOPES,), "")
        return client, cast("Reply", self._answers.produce(client, values, self.plan(plan), now))

    def plan(self, name: str) -> Plan:
        """Return a plan of the settings. Raises ApiError 403 where there is none of this name any more."""
        found = self._settings.plans.get(name)
        if found is None:
            raise ApiError(403, f"the plan '{name}' of this account is not among the service's plans", {"plan": name})
        return found


def _text(value: Any) -> str:
    """Return a parameter as a query string has it; a list is joined by commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)
