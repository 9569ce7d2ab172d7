"""The settings: what each is, and what follows from them."""

from __future__ import annotations

import itertools
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from almanac.domain.rights import Consent
from almanac.domain.times import instant

#: How an address of PostgreSQL begins.
SERVERS = ("postgresql://", "postgres://")


#: Addresses that stand for every one of the machine.
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  (to be compared with)


class SettingError(Exception):
    """Settings that cannot be used. The message names each, what came, and what is allowed."""


_Text = Annotated[str, Meta(min_length=1)]
_Port = Annotated[int, Meta(ge=1, le=65_535)]
_Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
_Seconds = Annotated[float, Meta(gt=0, le=86_400)]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an account may do. `history_months` None: the whole archive."""

    requests_per_minute: _Count
    history_months: Annotated[int, Meta(ge=1, le=12_000)] | None = None


class SourceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Operator's word on one source: a recorded consent, the key its API wants or the contact it asks for."""

    consent: Consent | None = None
    api_key: _Text | None = None
    contact: _Text | None = None
    #: Companies to ask for, by CIK or ticker; none: all.
    companies: tuple[str, ...] = ()
    #: Ask for all companies' responses in one archive.
    bulk: bool = False

    def key(self, setting: str | None) -> str | None:
        """Value of the setting that a source names as its key (`ALMANAC_SOURCES__SEC__CONTACT`), None without one."""
        held: str | None = getattr(self, setting.rpartition("__")[2].lower()) if setting else None
        return held


class Http(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How this service behaves as a client of publishers. Times in seconds, sizes in bytes."""

    #: `{version}` stands for the version of this program.
    user_agent: _Text = "Almanac/{version} (self-hosted financial data service)"
    #: Who runs this service, such as a mail address: some publishers refuse programs that do not say.
    contact: _Text | None = None
    connect_timeout: _Seconds = 10.0
    read_timeout: _Seconds = 60.0
    total_timeout: _Seconds = 300.0
    attempts: Annotated[int, Meta(ge=1, le=100)] = 5
    max_bytes: Annotated[int, Meta(ge=1, le=1 << 40)] = 512 * 1024 * 1024
    requests_per_second: Annotated[float, Meta(gt=0, le=10_000)] = 2.0
    proxy: _Text | None = None
    #: Hosts that are asked without the proxy, with all below them.
    no_proxy: tuple[str, ...] = ()
    #: A file of certificate authorities that are trusted too.
    ca_bundle: _Text | None = None


class Smtp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server that takes mail; without `host` there is none, and links are logged in place of letters."""

    host: _Text | None = None
    port: _Port = 587
    user: _Text | None = None
    password: _Text | None = None
    sender: _Text = "almanac@localhost"
    security: Literal["starttls", "tls", "none"] = "starttls"


PLANS = {
    "free": Plan(requests_per_minute=100, history_months=24),
    "pro": Plan(requests_per_minute=1_000),
    "enterprise": Plan(requests_per_minute=10_000),
}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings. Every field is also `ALMANAC_<FIELD>`, nested fields joined by two underscores."""

    home: Path = Path(".almanac")
    database_url: _Text | None = None
    raw_url: _Text | None = None
    #: Whether all that is taken in goes into one raw store, or each host keeps one of its own on purpose.
    raw_stores: Literal["one", "several"] = "one"
    redis_url: _Text | None = None
    #: Fixes the clock of the data (tests): ingestion, default `as_of`, freshness, history windows, the sandbox.
    now: _Text | None = None
    secret: _Text | None = None
    cors_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    failures_per_minute: _Count = 300
    cursor_days: Annotated[int, Meta(ge=1, le=3_650)] = 7
    #: Memory each worker may use for pages asked before, in MiB.
    page_cache_mib: Annotated[int, Meta(ge=0, le=1 << 20)] = 64
    #: So many vintages at most are gone through for a list in another order than by topic, or within bounds on knowledge.
    sort_rows: Annotated[int, Meta(ge=1, le=1 << 40)] = 2_000_000
    #: After so long a request is given up, with 503.
    request_seconds: _Seconds = 10.0
    #: From so long on a request has a line of its own in the log that says what it asked for; 0: none has.
    slow_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 1.0
    #: Heavy requests of one account that are answered at a time in each worker.
    heavy_requests: Annotated[int, Meta(ge=1, le=1_000)] = 2
    host: _Text = "127.0.0.1"
    port: _Port = 8000
    #: Speak HTTP/2 too. A connection that never says which it speaks is then never closed.
    http2: bool = False
    #: Whether people have a dashboard; it listens on `host` too.
    dashboard: bool = True
    dashboard_port: _Port = 8001
    #: Where programs reach the interface from outside, where that is not where it listens: behind a proxy.
    base_url: _Text | None = None
    dashboard_url: _Text | None = None
    #: Origins whose pages may show charts of the dashboard in a frame, to whoever reads them; none: no page may.
    embed_origins: tuple[str, ...] = ()
    #: The plan that such charts are made with: they are for people without an account.
    embed_plan: _Text = "free"
    ops_host: _Text = "127.0.0.1"
    ops_port: _Port = 9000
    workers: Annotated[int, Meta(ge=1, le=256)] = 1
    #: Processes a command computes with that loads or rebuilds; none: one for each core.
    processes: Annotated[int, Meta(ge=1, le=256)] | None = None
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    #: Share of the good answers that have a line in the log; those with an error always have one.
    log_requests: Annotated[float, Meta(ge=0, le=1)] = 1.0
    #: Whether the line of a 401, 403 or 429 says from which address it was asked.
    log_addresses: bool = True
    signup: Literal["closed", "invite", "open"] = "invite"
    signup_plan: _Text = "free"
    smtp: Smtp = msgspec.field(default_factory=Smtp)
    plans: dict[str, Plan] = msgspec.field(default_factory=lambda: dict(PLANS))
    sources: dict[str, SourceSettings] = msgspec.field(default_factory=dict)
    http: Http = msgspec.field(default_factory=Http)

    def __repr__(self) -> str:
        """Without what is secret: addresses of databases and mail servers hold passwords."""
        return f"Settings(home={str(self.home)!r})"

    @property
    def api_address(self) -> str:
        """Where programs reach the interface, without a slash at the end."""
        return self.base_url or _local(self.host, self.port)

    @property
    def dashboard_address(self) -> str:
        """Where people reach the dashboard, without a slash at the end."""
        return self.dashboard_url or _local(self.host, self.dashboard_port)

    @property
    def data_path(self) -> Path:
        """File of the SQLite data database. Raises SettingError for an engine that is not built in."""
        if self.database_url is None:
            return self.home / "data.db"
        if self.database_url.startswith("sqlite:///"):
            return Path(self.database_url.removeprefix("sqlite:///"))
        raise SettingError(f"the data are on a server, and in no file of SQLite: {self._server}")

    @property
    def data_file(self) -> Path | None:
        """Name the file of the SQLite data database; None where the data are on a server."""
        return self.data_path if self._server is None else None

    @property
    def data_place(self) -> Path | str:
        """Where the data database is: the path of its file, or an address of PostgreSQL, which holds a password."""
        return self.data_path if self._server is None else str(self.database_url)

    @property
    def _server(self) -> str | None:
        """The server of the data database as it may be shown; None where it is a file."""
        if self.database_url is None or not self.database_url.startswith(SERVERS):
            return None
        return self.database_url.rpartition("@")[2].partition("?")[0]

    @property
    def accounts_path(self) -> Path:
        """File of the accounts, where the data are in a file too."""
        return self.home / "accounts.db"

    @property
    def accounts_place(self) -> Path | str:
        """Where accounts are: a file of their own, or the server that has the data."""
        return self.accounts_path if self._server is None else str(self.database_url)

    @property
    def usage_path(self) -> Path:
        """File of the counts of requests, where the data are in a file too."""
        return self.home / "usage.db"

    @property
    def usage_place(self) -> Path | str:
        """Where requests are counted: a file of their own, or the server that has the data."""
        return self.usage_path if self._server is None else str(self.database_url)

    @property
    def raw_place(self) -> str:
        """Where the raw store is: the path of a folder, or `s3://bucket/prefix`."""
        return str(self.home / "raw") if self.raw_url is None else self.raw_url.removeprefix("file://")

    @property
    def raw_path(self) -> Path | None:
        """Folder of the raw store, None where it is in a bucket."""
        return None if self.raw_place.startswith("s3://") else Path(self.raw_place)

    @property
    def restored_path(self) -> Path:
        """
        Holds a restored backup, whole and checked, while it is moved into place: for an instant, or until a restore that
        was killed in that instant is run again.
        """
        return self.home / ".restored"

    @property
    def served_from_path(self) -> Path:
        """Says from which server the data of this home were served last, host and name; not there where they are in a file."""
        return self.home / "run" / "served-from"

    def clashes(self) -> list[str]:
        """Return a sentence on each two settings that cannot both be served. Options of a command may put it right."""
        every = [
            ("ALMANAC_PORT", "the interface", self.host, self.port),
            ("ALMANAC_OPS_PORT", "the operations listener", self.ops_host, self.ops_port),
        ]
        if self.dashboard:
            every.insert(1, ("ALMANAC_DASHBOARD_PORT", "the dashboard", self.host, self.dashboard_port))
        found = [
            f"{setting} and {its}: {one} and {other} cannot both listen on {host}, port {port}"
            for (setting, one, host, port), (its, other, there, same) in itertools.combinations(every, 2)
            if port == same and (host == there or not {host, there}.isdisjoint(_EVERYWHERE))
        ]
        if self.workers > 1 and self.redis_url is None:
            found.append(
                f"ALMANAC_WORKERS or --workers: {self.workers} processes count the requests of an account together in Redis only:"
                " set ALMANAC_REDIS_URL, or serve with one"
            )
        return found

    def consent(self, source_id: str) -> Consent | None:
        """Consent recorded for a source. A simulated source never needs one of its own."""
        found = self.sources.get(source_id)
        return found.consent if found else None

    def clock(self) -> int:
        """The data's now, unix seconds. Limits, sessions, key expiry, timeouts and logs use real time instead."""
        return instant(datetime.fromisoformat(self.now)) if self.now else int(time.time())


def _local(host: str, port: int) -> str:
    """The address of a listener on this machine: one that listens everywhere is met on loopback."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (where to ask who listens on all)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def real_time() -> int:
    """Real time in unix seconds, whatever ALMANAC_NOW says: for limits, cursors, sessions and keys."""
    return int(time.time())
