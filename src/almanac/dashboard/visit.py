"""One visit: who came, what they sent, what the page asked for them; and what a handler may answer."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec

from almanac import load_state
from almanac.api.contract.errors import ApiError
from almanac.config import Settings
from almanac.dashboard.asking import InProcessApi, Told
from almanac.dashboard.formatting.dates import day_of
from almanac.dashboard.people import People, Person

#: What may stand in a path as it is (RFC 3986, 3.3).
_IN_PATHS = "/:@!$&'()*+,;="


def own_path(path: str) -> str:
    """
    A decoded path as links and forms have it: escaped, and with one slash at its beginning. A browser takes `//name/…`, and
    the same with backslashes, for the address of another host.
    """
    return "/" + quote(path.lstrip("/\\"), safe=_IN_PATHS, errors="replace")


def leads_here(to: str) -> bool:
    """Whether an address that is given to a browser is one of this dashboard, and can stand in a header."""
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
    """What a handler has the browser keep. Seconds of life; None: until it is closed; 0: no longer."""

    name: str
    value: str
    seconds: int | None = None


class Forbidden(Exception):  # noqa: N818 - named for the answer, 403
    """Not for this visitor. The text is shown."""


class NotFound(Exception):  # noqa: N818 - named for the answer, 404
    """There is no such thing here. The text is shown."""


class Visit:
    """Made for each request; handlers run in a thread and may use all of it."""

    def __init__(
        self,
        api: InProcessApi,
        people: People,
        settings: Settings,
        *,
        method: str,
        path: str,
        values: Mapping[str, str],
        query: Mapping[str, str],
        query_string: str,
        request_id: str,
        address: str,
        user_agent: str,
        cookies: Mapping[str, str],
    ) -> None:
        self.api, self.people, self.settings = api, people, settings
        self.method, self.values = method, values
        #: As a link has it: `own_path`. What is found at a path is looked for by the path that was sent.
        self.path = own_path(path)
        self.query, self.query_string = query, query_string
        self.request_id, self.address, self.user_agent, self.cookies = request_id, address, user_agent, cookies
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
        #: Whether the browser came by TLS.
        self.secure = False
        #: All that was asked of the interface, in order.
        self.told: list[Told] = []

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
        """Whether an operator reads the page."""
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
        """What is being loaded on this host just now, and how far each is."""
        return load_state.going_on(self.settings.home)

    def here(self, **changes: str | None) -> str:
        """The address of this page with some of its query changed; None takes a name out."""
        kept = {**self.query, **changes}
        query = urlencode([(name, value) for name, value in kept.items() if value], safe=":,")
        return f"{self.path}?{query}" if query else self.path

    # What the interface says

    def ask(self, path: str, **params: Any) -> Told:
        """The interface's answer to this visitor. Raises ApiError where it refuses."""
        told = self.api.ask(self.who.account, self.who.plan, path, params)
        self.told.append(told)
        return told

    def follow(self, path: str, **params: Any) -> Told:
        """The next page of a list that was asked for: no request of its own among `asked`."""
        return self.api.ask(self.who.account, self.who.plan, path, params)

    def look_up(self, path: str, **params: Any) -> Told | None:
        """Ask what a thing is called, not for numbers: None where there is no such thing, and the request is not among `asked`."""
        try:
            return self.api.ask(self.who.account, self.who.plan, path, params)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def ask_known(self, path: str, **params: Any) -> Told | None:
        """Ask the interface for this visitor; None where there is no such thing (404)."""
        try:
            return self.ask(path, **params)
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
    def asked(self) -> list[AskedOnPage]:
        """What a program would ask for the same data, each request once."""
        return [AskedOnPage(t.request.path_and_query, t.request.curl(self.settings.api_address)) for t in self._once()]

    def _once(self) -> list[Told]:
        return list({t.request: t for t in self.told}.values())

    @property
    def data_version(self) -> int | None:
        return self.told[0].version if self.told else None


class AskedOnPage(msgspec.Struct, frozen=True):
    """One request, as shown."""

    path_and_query: str
    curl: str


Handler = Callable[[Visit], Answer]
#: Anyone; somebody signed in; somebody signed in who runs the service.
Who = Literal["anyone", "person", "operator"]


class Page(msgspec.Struct, frozen=True):
    """One address. `post` answers its form, once the token in it was found good; without it there is none."""

    path: str
    look: Handler | None = None
    post: Handler | None = None
    who: Who = "person"
