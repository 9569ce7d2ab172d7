"""Settings: what may be set, how it is given, and the clock of the data. The only reader of the environment."""

from __future__ import annotations

import contextlib
import os
import re
import ssl
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from ipaddress import ip_address, ip_network
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, inspect

from almanac.domain.errors import UserError
from almanac.domain.plain_text import nearest
from almanac.domain.rights import Consent
from almanac.domain.times import instant


class SettingError(UserError):
    """Settings that cannot be used. The message names each, what came, and what is allowed."""


_Text = Annotated[str, Meta(min_length=1)]
_Port = Annotated[int, Meta(ge=1, le=65_535)]
_Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
_Seconds = Annotated[float, Meta(gt=0, le=86_400)]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of an account. `history_months` None: the whole archive."""

    requests_per_minute: _Count
    history_months: Annotated[int, Meta(ge=1, le=12_000)] | None = None


class SourceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of one source: a recorded consent, the key of its API, the contact that it asks for."""

    consent: Consent | None = None
    api_key: _Text | None = None
    contact: _Text | None = None
    #: Companies to ask for, by CIK or ticker; none: all.
    companies: tuple[str, ...] = ()
    #: Ask for all companies' responses in one archive.
    bulk: bool = False

    def key(self, setting: str | None) -> str | None:
        """Return the value of the setting that a source names as its key (`ALMANAC_SOURCES__SEC__CONTACT`), None without one."""
        value: str | None = getattr(self, setting.rpartition("__")[2].lower()) if setting else None
        return value


class Http(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The manners of this service as a client of publishers. Times in seconds, sizes in bytes."""

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
        """Show the home alone: addresses of databases and mail servers hold passwords."""
        return f"Settings(home={str(self.home)!r})"

    @property
    def api_address(self) -> str:
        """Return where programs reach the interface, without a slash at the end."""
        return self.base_url or _local(self.host, self.port)

    @property
    def dashboard_address(self) -> str:
        """Return where people reach the dashboard, without a slash at the end."""
        return self.dashboard_url or _local(self.host, self.dashboard_port)

    @property
    def data_place(self) -> Path | str:
        """Return where the data database is: the path of its file, or an address of PostgreSQL, which holds a password."""
        return self._place("data.db")

    @property
    def accounts_place(self) -> Path | str:
        """Return where accounts are: a file of their own, or the server that has the data."""
        return self._place("accounts.db")

    @property
    def usage_place(self) -> Path | str:
        """Return where requests are counted: a file of their own, or the server that has the data."""
        return self._place("usage.db")

    def _place(self, name: str) -> Path | str:
        if self.database_url is None or not self.database_url.startswith("sqlite:///"):
            return self.database_url or self.home / name
        return Path(self.database_url.removeprefix("sqlite:///")) if name == "data.db" else self.home / name

    @property
    def raw_place(self) -> str:
        """Return where the raw store is: the path of a folder, or `s3://bucket/prefix`."""
        return str(self.home / "raw") if self.raw_url is None else self.raw_url.removeprefix("file://")

    @property
    def raw_path(self) -> Path | None:
        """Return the folder of the raw store, None if it is in a bucket."""
        return None if self.raw_place.startswith("s3://") else Path(self.raw_place)

    @property
    def restored_path(self) -> Path:
        """Return the folder that holds a restored backup, whole and checked, while it is moved into place."""
        return self.home / ".restored"

    @property
    def served_from_path(self) -> Path:
        """Return the file that names the server from which the data of this home were served last, if not from a file."""
        return self.home / "run" / "served-from"

    def consent(self, source_id: str) -> Consent | None:
        """Return the consent recorded for a source. A simulated source never needs one of its own."""
        source = self.sources.get(source_id)
        return source.consent if source else None

    def clock(self) -> int:
        """Return the data's now, unix seconds. Limits, sessions, key expiry, timeouts and logs use real time instead."""
        return instant(datetime.fromisoformat(self.now)) if self.now else int(time.time())


def met_at(host: str) -> str:
    """Return where on this machine a listener is met: one that listens everywhere, on loopback."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (where to ask who listens on all)


def _local(host: str, port: int) -> str:
    """Return the address of a listener on this machine."""
    return f"http://[{met_at(host)}]:{port}" if ":" in host else f"http://{met_at(host)}:{port}"


def real_time() -> int:
    """Return real time in unix seconds, whatever ALMANAC_NOW says: for limits, cursors, sessions and keys."""
    return int(time.time())


#: Variables that the Python client and the server for language models read: who exports a key may run the service too.
_OF_CLIENTS = {"ALMANAC_API_KEY", "ALMANAC_API_KEY_FILE", "ALMANAC_PROFILE", "ALMANAC_URL"}
_LISTS = {"cors_origins", "embed_origins", "trusted_proxies", "companies", "no_proxy"}
#: Never shown in a message; nor is the value of a setting that does not exist, which may be a misspelt one of these.
_SECRETS = {"secret", "api_key", "redis_url", "password", "proxy"}
#: An origin of letters, digits, dots and dashes, or of an address of IPv6: nothing in it ends a directive of a policy.
_ORIGIN = re.compile(r"https?://([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")
#: Name of a bucket as S3 allows it, and a prefix that is plain parts, so that nothing of it needs an escape.
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")


class _Given(NamedTuple):
    """A setting as it came: its path, its value, and the file that it stands in, None for the environment."""

    path: tuple[str, ...]
    value: Any
    file: Path | None

    def spelt(self, path: tuple[str, ...]) -> str:
        """Spell a setting as it would be given in the same place."""
        return ".".join(path) if self.file else "ALMANAC_" + "__".join(path).replace("-", "_").upper()

    def named(self, path: tuple[str, ...]) -> str:
        """Spell a setting as it would be given in the same place, after the file."""
        return f"{self.file}: {self.spelt(path)}" if self.file else self.spelt(path)

    def came(self, allowed: str | None) -> str:
        """Say what came, as far as it may be shown, and what is allowed."""
        shown = repr(",".join(self.value) if self.file is None and isinstance(self.value, list) else self.value)
        shown = "a value that is not shown" if self.is_secret else shown if len(shown) <= 80 else f"{shown[:79]}…"
        return f"came {shown}; allowed: {allowed}"

    @property
    def is_secret(self) -> bool:
        """Say whether the value is never repeated: addresses of servers and buckets may hold a password."""
        name, text = self.path[-1], str(self.value)
        has_password = "@" in text if name == "raw_url" else not text.startswith("sqlite:")
        return name in _SECRETS or (name in {"raw_url", "database_url"} and has_password)


def load(environ: Mapping[str, str] | None = None, sources: Callable[[], Collection[str]] | None = None) -> Settings:
    """
    Read the settings: environment over `$ALMANAC_HOME/almanac.toml` over defaults. Raises SettingError naming all that is
    wrong with them at once.

    `sources` gives the ids of sources that settings may name; without it any may be named.
    """
    env = os.environ if environ is None else environ
    tree: dict[str, Any] = {"plans": {name: msgspec.to_builtins(plan) for name, plan in PLANS.items()}}
    problems: list[str] = []
    given = _given(env)
    refused = set()
    for item in given:
        problem = _problem(item, sources)
        if problem is None:
            *tables, name = item.path
            table = reduce(lambda outer, inner: outer.setdefault(inner, {}), tables, tree)
            # An empty table of the file takes nothing away.
            table[name] = table.get(name, {}) if item.value == {} else item.value
        else:
            problems.append(f"{item.named(item.path)}: {problem}")
            refused.add(item.path[:2])
    # Plans and consents have parts that must all be there, by file or environment.
    whole: dict[tuple[str, ...], tuple[_Given, type[msgspec.Struct]]] = {}
    for item in given:
        if item.path[:2] in refused:
            continue
        if item.path[0] == "plans" and len(item.path) > 1:
            whole[item.path[:2]] = item, Plan
        elif item.path[2:3] == ("consent",):
            whole[item.path[:3]] = item, Consent
    for path, (item, kind) in whole.items():
        wanted = [field.name for field in msgspec.structs.fields(kind) if field.required]
        problems += [
            f"{item.named((*path, part))}: is missing; {', '.join(wanted)} must be given for {'.'.join(path[1:])}"
            for part in wanted
            if part not in reduce(getitem, path, tree)
        ]
    if not problems:
        settings = msgspec.convert(tree | {"home": _home(env)}, Settings, strict=False)
        problems += _conflicts(settings, {item.path: item for item in given})
        if not problems:
            return settings
    count = f"{len(problems)} settings cannot be used:"
    raise SettingError(problems[0] if len(problems) == 1 else "\n  ".join([count, *problems]))


def list_settings(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what is given, by name, for the log: no secret, and nobody's address."""
    return {
        item.named(item.path): "not shown" if item.path[-1] == "contact" or item.is_secret else str(item.value)
        for item in _given(os.environ if env is None else env)
    }


#: Tables whose keys are free, and what stands for such a key.
_FREE_NAMES = {"plans": "NAME", "sources": "ID"}


def list_known() -> dict[tuple[str, ...], inspect.Type]:
    """Return the type of every setting by its path; `NAME` and `ID` stand for a plan and a source."""
    return dict(_leaf_types(inspect.type_info(Settings), ()))


def _leaf_types(kind: inspect.Type, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], inspect.Type]]:
    if isinstance(kind, inspect.UnionType):
        kind = next(part for part in kind.types if not isinstance(part, inspect.NoneType))
    if isinstance(kind, inspect.StructType):
        for field in kind.fields:
            yield from _leaf_types(field.type, (*path, field.name))
    elif isinstance(kind, inspect.DictType):
        yield from _leaf_types(kind.value_type, (*path, _FREE_NAMES[path[0]]))
    else:
        yield path, kind


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("ALMANAC_HOME") or ".almanac")


def _given(env: Mapping[str, str]) -> list[_Given]:
    """Return all that is given: by the file first, then by the environment, which wins. Raises SettingError for a file that cannot be read."""
    file = _home(env) / "almanac.toml"
    every: list[_Given] = []
    if file.exists():
        try:
            every = [_Given(path, value, file) for path, value in _leaves(tomllib.loads(file.read_text("utf-8")))]
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingError(f"{file}: {error}") from None
    for name in sorted(env):
        if name.startswith("ALMANAC_") and name != "ALMANAC_HOME" and name not in _OF_CLIENTS:
            path = tuple(name.removeprefix("ALMANAC_").lower().split("__"))
            parts = [part.strip() for part in env[name].split(",") if part.strip()]
            every.append(_Given(path, parts if path[-1] in _LISTS else env[name], None))
    # Source ids have dashes, which the name of a variable cannot have.
    return [
        item._replace(path=("sources", item.path[1].replace("_", "-"), *item.path[2:]))
        if item.path[0] == "sources" and len(item.path) > 1
        else item
        for item in every
    ]


def _leaves(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """List values by their paths; a table without any is a value itself. TOML's own days and times become text."""
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value.isoformat() if isinstance(value, date) else value


def _problem(item: _Given, sources: Callable[[], Collection[str]] | None) -> str | None:
    """Return what is wrong with a setting by itself, and what is allowed; None if it is good."""
    path, free_name = item.path, _FREE_NAMES.get(item.path[0])
    if path == ("home",):
        return "the data folder is named by the variable ALMANAC_HOME alone"
    if free_name == "ID" and len(path) > 1 and sources is not None and path[1] not in sources():
        near = nearest(path[1], sources(), spell=lambda name: item.spelt((path[0], name, *path[2:])))
        return f"there is no source '{path[1]}'{near}"
    like = (path[0], free_name, *path[2:]) if free_name is not None and len(path) > 1 else path
    known = list_known()
    if not any(other[: len(like)] == like for other in known):
        names = {"__".join(other): [path[1] if part == free_name else part for part in other] for other in known}
        near = nearest("__".join(like), names, cutoff=0.75, spell=lambda name: item.spelt(tuple(names[name])))
        return f"there is no such setting{near}"
    # The mail server is named, not addressed.
    check, allowed = _CHECKS.get(path[-1] if path[0] != "smtp" else "", (None, None))
    try:
        msgspec.convert(reduce(lambda inner, name: {name: inner}, reversed(path), item.value), Settings, strict=False)
    except msgspec.ValidationError as error:
        if "missing required field" not in str(error):  # a table's other parts come apart
            return item.came(allowed or _allowed(str(error), known.get(like)))
    with contextlib.suppress(ValueError, OSError):
        if check is None or all(map(check, item.value if isinstance(item.value, list) else (item.value,))):
            return None
    return item.came(allowed)


#: msgspec's types in words for people.
_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "array": "a list",
    "object": "a table of settings",
}


def _allowed(error: str, kind: inspect.Type | None) -> str:
    """Return what msgspec says is allowed, in words for people: ``Expected `int` >= 1 - at `$.workers` ``."""
    if isinstance(kind, inspect.LiteralType):
        return "one of " + ", ".join(map(str, kind.values))
    text = re.sub(r"^Expected | \| null|, got `.*?`| - at `.*`$", "", error)
    return re.sub(r"`(\w+)`", lambda word: _WORDS.get(word[1], word[1]), text)


def _conflicts(settings: Settings, given: Mapping[tuple[str, ...], _Given]) -> Iterator[str]:
    """List what is wrong with settings that are each good, or not there."""
    for name, plan in (("signup_plan", settings.signup_plan), ("embed_plan", settings.embed_plan)):
        if plan not in settings.plans:
            near, allowed = nearest(plan, settings.plans), ", ".join(settings.plans)
            yield f"{given[(name,)].named((name,))}: there is no plan '{plan}'{near}; allowed: {allowed}"
    # A shell that reads `/etc/almanac/environment` ends a value at an `&` that is not quoted, and drops it: a command would
    # look into an empty file, and say that all is well.
    note = settings.served_from_path
    if settings.database_url is None and os.access(note, os.R_OK):
        yield (
            f"ALMANAC_DATABASE_URL: is missing, while the data of {settings.home} are served from {note.read_text('utf-8').strip()}"
            f" ({note} says so); set it, in single quotes where a shell reads it; or set it to"
            f" sqlite:///{settings.home.absolute() / 'data.db'} if they are in that file now"
        )


def _is_origin(text: str) -> bool:
    return _ORIGIN.fullmatch(text) is not None and urlsplit(text).port != 0


def _is_proxy(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and parts.path in {"", "/"}


def _is_database(text: str) -> bool:
    if text.startswith("sqlite:///"):
        return True
    parts = urlsplit(text)
    # libpq takes several hosts, each with a port; of each the port is looked at, for it may be none.
    hosts = parts.netloc.rpartition("@")[2].split(",")
    ports = [urlsplit(f"//{host}").port for host in hosts]
    is_server = text.startswith(("postgresql://", "postgres://"))
    return is_server and 0 not in ports and (parts.netloc != "" or parts.query != "")


def _has_come(text: str) -> bool:
    """Say whether a day has come, in real time, by the calendar of whoever is furthest ahead: nobody's today is refused."""
    day = date.fromisoformat(text)
    return day.isoformat() == text and day <= (datetime.now(UTC) + timedelta(hours=14)).date()


#: What the type of a setting cannot say, by its last name: a check that may raise ValueError or OSError, and what is allowed.
_CHECKS: dict[str, tuple[Callable[[str], object] | None, str | None]] = {
    "host": (ip_address, "an address, like 127.0.0.1 or ::"),
    "ops_host": (ip_address, "an address, like 127.0.0.1 or ::"),
    "trusted_proxies": (lambda text: ip_network(text, strict=False), "addresses or networks, like 10.0.0.0/8"),
    "base_url": (_is_origin, "an origin, like https://api.example.org"),
    "dashboard_url": (_is_origin, "an origin, like https://data.example.org"),
    "cors_origins": (lambda text: text == "*" or _is_origin(text), "origins, like https://app.example.org, or *"),
    "embed_origins": (_is_origin, "origins, each by its whole name, like https://blog.example.org"),
    "now": (lambda text: datetime.fromisoformat(text).tzinfo, "a time with a zone, like 2026-10-31T00:00:00Z"),
    "on": (_has_come, "a day that has come, like 2026-10-01"),
    "database_url": (_is_database, "sqlite:/// and the path of a file, or postgresql://user@host/database"),
    "raw_url": (
        lambda text: "://" not in text or text.startswith("file://") or _BUCKET.fullmatch(text),
        "a folder, file:// and its path, or s3://bucket/prefix",
    ),
    "proxy": (_is_proxy, "http:// or https://, a host and a port"),
    # It is not there, cannot be read, or holds no certificates.
    "ca_bundle": (
        lambda file: ssl.create_default_context(cafile=file),
        "a file of certificates in PEM that can be read",
    ),
    "redis_url": (
        lambda text: urlsplit(text).scheme in {"redis", "rediss", "unix"},
        "redis://, rediss:// or unix:// …",
    ),
}
