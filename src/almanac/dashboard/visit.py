"""One visit: who came, what they sent, what the page asked for them; and what a handler may answer."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request

from almanac import load_state
from almanac.api.contract.errors import ApiError
from almanac.config import Settings
from almanac.dashboard.asking import InProcessApi, ShownRequest, Told
from almanac.dashboard.formatting.dates import day_of
from almanac.dashboard.formatting.numbers import read_whole
from almanac.dashboard.people import People, Person

#: What may stand in a path as it is (RFC 3986, 3.3).
_IN_PATHS = "/:@!$&'()*+,;="


def own_path(path: str) -> str:
    """
    Return a decoded path as links and forms have it: escaped, and with one slash at its beginning. A browser takes `//name/…`,
    and the same with backslashes, for the address of another host.
    """
    return "/" + quote(path.lstrip("/\\"), safe=_IN_PATHS, errors="replace")


def leads_here(to: str) -> bool:
    """Return whether an address for a browser is one of this dashboard, and can stand in a header."""
    plain = to.isascii() and to.isprintable() and " " not in to
    return plain and to.startswith("/") and to[1:2] not in {"/", "\\"}


class Html(msgspec.Struct, frozen=True):
    """A page to be rendered. `values` are the template's, beside what every template gets."""

    template: str
    values: Mapping[str, Any] = {}
    status: int = 200
    #: Shown once and to nobody else: kept by no cache, not even the browser's.
    secret: bool = False
    #: Origins whose pages may show this one in a frame.
    frames: tuple[str, ...] = ()


class Redirect(msgspec.Struct, frozen=True):
    """Go on at an address of this dashboard. 303, so that a reload does not send a form again."""

    to: str
    status: int = 303


class Download(msgspec.Struct, frozen=True):
    """A body as it is, under a file's name where it has one."""

    body: bytes
    media_type: str
    filename: str | None = None
    status: int = 200


def csv_download(name: str, head: Sequence[str], rows: Iterable[Sequence[Any]], *, end: str = "\r\n") -> Download:
    """Return a table as a CSV file called `name`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=end)
    writer.writerow(head)
    writer.writerows(rows)
    return Download(out.getvalue().encode(), "text/csv; charset=utf-8", name)


Answer = Html | Redirect | Download


class Cookie(msgspec.Struct, frozen=True):
    """A cookie that a handler sets. `seconds` is its lifetime; None: until the browser closes; 0: delete it."""

    name: str
    value: str
    seconds: int | None = None


class Forbidden(Exception):  # noqa: N818 - named for the answer, 403
    """Not for this visitor. The text is shown."""


class NotFound(Exception):  # noqa: N818 - named for the answer, 404
    """There is no such thing here. The text is shown."""


class FieldProblem(msgspec.Struct, frozen=True):
    """A problem of a form: shown in the summary and at its field, or for the whole page without a field."""

    field: str
    message: str


class Pager(NamedTuple):
    """One page of a table: the places of its rows, which these are in words, and the addresses of the pages beside it."""

    rows: slice
    text: str
    before: str
    after: str


class Visit:
    """Made for each request; handlers run in a thread and may use all of it."""

    def __init__(
        self,
        api: InProcessApi,
        people: People,
        settings: Settings,
        request: Request,
        *,
        address: str,
        cookies: Mapping[str, str],
    ) -> None:
        self.api, self.people, self.settings, self.request = api, people, settings, request
        self.method, self.values = request.method, request.path_params
        #: As a link has it: `own_path`.
        self.path = own_path(request.scope["path"])
        self.query: Mapping[str, str] = dict(request.query_params)
        self.query_string: str = request.scope["query_string"].decode("latin-1")
        self.request_id: str = request.state.request_id
        self.address, self.user_agent, self.cookies = address, request.headers.get("user-agent", ""), cookies
        #: Whether cookies are for TLS alone.
        self.secure: bool = request.state.secure
        #: Of a POST whose token was found good.
        self.form: Mapping[str, str] = {}
        self.form_lists: Mapping[str, list[str]] = {}
        self.person: Person | None = None
        #: The session's cookie, whether or not it was good for anything.
        self.session_token: str | None = None
        #: What a form must carry to be believed.
        self.csrf = ""
        #: The cookie that this is bound to.
        self.csrf_bound = ""
        #: Set by handlers, sent with the answer.
        self.set_cookies: list[Cookie] = []
        #: What the interface answered, in order.
        self.responses: list[Told] = []

    # What was sent

    @property
    def as_of(self) -> str | None:
        """The day or moment in the address, None for today. A malformed one is refused by the interface when it is asked."""
        return self.query.get("as_of") or None

    @property
    def known_on(self) -> date | None:
        """The past day that the frame of the page may speak of; None for today, and for what is no day that has been."""
        try:
            found = None if self.as_of is None else day_of(self.as_of)
        except ValueError:
            return None
        return None if found is None or found > self.today else found

    @property
    def operator(self) -> bool:
        """Return whether an operator reads the page."""
        return self.person is not None and self.person.role == "operator"

    @property
    def theme(self) -> str:
        chosen = self.cookies.get("almanac-theme", "system")
        return chosen if chosen in {"light", "dark"} else "system"

    @property
    def today(self) -> date:
        """Today by the data's clock."""
        return datetime.fromtimestamp(self.api.now(), UTC).date()

    @property
    def loading(self) -> dict[str, str]:
        """Return the loads now running on this host, each with its progress."""
        return load_state.going_on(self.settings.home)

    def here(self, **changes: str | None) -> str:
        """Return the address of this page with some of its query changed; None takes a name out."""
        kept = {**self.query, **changes}
        query = urlencode([(name, value) for name, value in kept.items() if value], safe=":,")
        return f"{self.path}?{query}" if query else self.path

    @property
    def then(self) -> str:
        """The query with which a link leads to the same day; empty for today."""
        return f"?as_of={self.as_of}" if self.as_of else ""

    def kept(self, *names: str) -> dict[str, str]:
        """Return the parts of the query that a form keeps."""
        return {name: self.query[name] for name in names if self.query.get(name)}

    def pager(self, total: int, size: int) -> Pager:
        """Return the page of the address, of a table with so many rows; the last one if there are fewer."""
        pages = max(1, -(-total // size))
        number = min(max(read_whole(self.query.get("page")) or 1, 1), pages)
        first, last = (number - 1) * size, min(number * size, total)
        before = self.here(page=str(number - 1)) if number > 1 else ""
        after = self.here(page=str(number + 1)) if number < pages else ""
        return Pager(slice(first, last), f"{first + 1:,}–{last:,} of {total:,}", before, after)

    # What the interface says

    def ask(self, path: str, **params: Any) -> Told:
        """Return the interface's answer to this visitor; the page shows the request. Raises ApiError where it refuses."""
        response = self.follow(path, **params)
        self.responses.append(response)
        return response

    def ask_if_known(self, path: str, **params: Any) -> Told | None:
        """Ask as `ask` does; return None where there is no such thing (404)."""
        response = self.look_up(path, **params)
        if response is not None:
            self.responses.append(response)
        return response

    def follow(self, path: str, **params: Any) -> Told:
        """Ask for the next page of a list: a request that the page does not show."""
        return self.api.ask(self.who.account, self.who.plan, path, params)

    def pages(self, path: str, *, shown: float = 0, **params: Any) -> Iterator[Told]:
        """Yield the pages of a list. `shown`: of how many of them the page shows the requests."""
        cursor: str | None = None
        for number in itertools.count():
            response = (self.ask if number < shown else self.follow)(path, **params, cursor=cursor)
            yield response
            cursor = response.next_cursor
            if cursor is None:
                return

    def look_up(self, path: str, **params: Any) -> Told | None:
        """Ask what a thing is called, not for numbers: not shown either, and None where there is no such thing."""
        try:
            return self.follow(path, **params)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    @property
    def who(self) -> Person:
        """Whoever is signed in; pages for anyone must not ask."""
        if self.person is None:
            raise Forbidden("Sign in first.")
        return self.person

    @property
    def shown_requests(self) -> list[ShownRequest]:
        """Return the requests by which a program gets the same data, each once."""
        return list(dict.fromkeys(response.request for response in self.responses))

    @property
    def history_from(self) -> str | None:
        """The first day that the plan reaches, where an answer was cut there."""
        return next((response.history_from for response in self.responses if response.history_from), None)

    @property
    def data_version(self) -> int | None:
        return self.responses[0].version if self.responses else None


Handler = Callable[[Visit], Answer]
#: Anyone; somebody signed in; somebody signed in who runs the service.
Who = Literal["anyone", "person", "operator"]


class Page(msgspec.Struct, frozen=True):
    """One address. `post` answers its form, once the token in it was found good; without it there is none."""

    path: str
    look: Handler | None = None
    post: Handler | None = None
    who: Who = "person"
    #: Whether the form has a password: those are read in threads of their own, for hashing takes as long as many pages.
    hashes: bool = False

    @property
    def methods(self) -> list[str]:
        return [*(["GET"] if self.look else []), *(["POST"] if self.post else [])]
