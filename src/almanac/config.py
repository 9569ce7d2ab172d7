"""Settings: environment over `$ALMANAC_HOME/almanac.toml` over defaults. The only reader of the environment and of the clock."""

from __future__ import annotations

import difflib
import os
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from almanac.domain.rights import Consent
from almanac.domain.times import instant


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

    user_agent: _Text = "Almanac/0.1 (self-hosted financial data service)"
    connect_timeout: _Seconds = 10.0
    read_timeout: _Seconds = 60.0
    total_timeout: _Seconds = 300.0
    attempts: Annotated[int, Meta(ge=1, le=100)] = 5
    max_bytes: Annotated[int, Meta(ge=1, le=1 << 40)] = 512 * 1024 * 1024
    requests_per_second: Annotated[float, Meta(gt=0, le=10_000)] = 2.0


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
    host: _Text = "127.0.0.1"
    port: _Port = 8000
    #: Speak HTTP/2 too. A connection that never says which it speaks is then never closed.
    http2: bool = False
    dashboard_port: _Port = 8001
    ops_host: _Text = "127.0.0.1"
    ops_port: _Port = 9000
    workers: Annotated[int, Meta(ge=1, le=256)] = 1
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    plans: dict[str, Plan] = msgspec.field(default_factory=lambda: dict(PLANS))
    sources: dict[str, SourceSettings] = msgspec.field(default_factory=dict)
    http: Http = msgspec.field(default_factory=Http)

    @property
    def data_path(self) -> Path:
        """File of the SQLite data database. Raises SettingError for an engine that is not built in."""
        if self.database_url is None:
            return self.home / "data.db"
        if self.database_url.startswith("sqlite:///"):
            return Path(self.database_url.removeprefix("sqlite:///"))
        raise SettingError("ALMANAC_DATABASE_URL must start with sqlite:///")

    @property
    def accounts_path(self) -> Path:
        return self.home / "accounts.db"

    @property
    def raw_path(self) -> Path:
        """Folder of the raw store. Raises SettingError for a kind of storage that is not built in."""
        if self.raw_url is None:
            return self.home / "raw"
        if "://" in self.raw_url and not self.raw_url.startswith("file://"):
            raise SettingError("ALMANAC_RAW_URL must be a folder")
        return Path(self.raw_url.removeprefix("file://"))

    def consent(self, source_id: str) -> Consent | None:
        """Consent recorded for a source. A simulated source never needs one of its own."""
        found = self.sources.get(source_id)
        return found.consent if found else None

    def clock(self) -> int:
        """The data's now, unix seconds. Limits, sessions, key expiry, timeouts and logs use real time instead."""
        return instant(datetime.fromisoformat(self.now)) if self.now else int(time.time())


class _Given(NamedTuple):
    """One setting as it came: its path, its value, and how its giver knows it."""

    path: tuple[str, ...]
    value: Any
    file: Path | None

    @property
    def name(self) -> str:
        return self.named(self.path)

    def named(self, path: tuple[str, ...]) -> str:
        """A setting and the place it is given in, where that is a file."""
        return f"{self.file}: {self.called(path)}" if self.file else self.called(path)

    def called(self, path: tuple[str, ...]) -> str:
        """A setting as it would be called in the same place."""
        return ".".join(path) if self.file else "ALMANAC_" + "__".join(path).replace("-", "_").upper()


_LISTS = {"cors_origins", "trusted_proxies", "companies"}
#: Never shown in a message; nor is the value of a setting that does not exist, which may be a misspelt one of these.
_SECRETS = {"secret", "api_key", "redis_url"}


def load(environ: dict[str, str] | None = None, sources: Callable[[], Collection[str]] | None = None) -> Settings:
    """
    Read the settings. Raises SettingError telling all that is wrong with them at once.

    `sources` gives the ids of sources that settings may name; without it any may be named.
    """
    env = dict(os.environ) if environ is None else environ
    home = Path(env.get("ALMANAC_HOME") or ".almanac")
    merged: dict[str, Any] = {"plans": {name: msgspec.to_builtins(plan) for name, plan in PLANS.items()}}
    problems: list[str] = []
    for one in given(env):
        found = list(_wrong(one, sources))
        problems += found
        if not found and one.value != {}:
            _merge(merged, _nest(list(one.path), one.value))
    problems += _together(merged, [one for one in given(env) if one.value != {} or one.path[0] == "plans"])
    if problems:
        raise SettingError(_listed(problems))
    return msgspec.convert(merged | {"home": home}, Settings, strict=False)


def given(env: Mapping[str, str]) -> list[_Given]:
    """All that is given: by the file first, then by the environment, which wins. Raises SettingError for a file that cannot be read."""
    file = Path(env.get("ALMANAC_HOME") or ".almanac") / "almanac.toml"
    found: list[_Given] = []
    if file.exists():
        try:
            found = [
                _Given(_plainly(path), value, file) for path, value in _leaves(tomllib.loads(file.read_text("utf-8")))
            ]
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingError(f"{file}: {error}") from None
    for name in sorted(env):
        if name.startswith("ALMANAC_") and name != "ALMANAC_HOME":
            path = tuple(name.removeprefix("ALMANAC_").lower().split("__"))
            value: Any = env[name]
            if path[-1] in _LISTS:
                value = [part.strip() for part in value.split(",") if part.strip()]
            found.append(_Given(_plainly(path), value, None))
    return found


def _leaves(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Values by their paths; a table without any is one itself. TOML's own days and times become text."""
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value.isoformat() if isinstance(value, date) else value


def _plainly(path: tuple[str, ...]) -> tuple[str, ...]:
    """Source ids have dashes, which the name of a variable cannot have."""
    return (path[0], path[1].replace("_", "-"), *path[2:]) if path[0] == "sources" and len(path) > 1 else path


def _wrong(one: _Given, sources: Callable[[], Collection[str]] | None) -> Iterator[str]:
    """What is wrong with one setting by itself."""
    if one.path == ("home",):
        yield f"{one.name}: the data folder is named by the variable ALMANAC_HOME alone"
        return
    if one.path[0] == "sources" and len(one.path) > 1 and sources is not None and one.path[1] not in sources():
        near = difflib.get_close_matches(one.path[1], sources(), n=1)
        advice = f"; the nearest is {one.called((*one.path[:1], *near, *one.path[2:]))}" if near else ""
        yield f"{one.name}: there is no source '{one.path[1]}'{advice}"
        return
    kind = _kind(one.path)
    if kind is None:
        known = {"__".join(path): path for path in _paths(Settings, one.path)}
        near = difflib.get_close_matches("__".join(one.path), known, n=1, cutoff=0.75)
        advice = f"; the nearest is {one.called(known[near[0]])}" if near else ""
        yield f"{one.name}: there is no such setting{advice}"
    elif _is_table(kind):
        if one.value != {}:
            yield f"{one.name}: came {_shown(one)}; allowed: a table of settings"
    else:
        check, words = _CHECKS.get(one.path[-1], (None, _words(kind)))
        try:
            value = msgspec.convert(one.value, kind, strict=False)
            good = check is None or all(map(check, value if isinstance(value, tuple) else (value,)))
        except ValueError:  # msgspec's own ValidationError is one
            good = False
        if not good:
            yield f"{one.name}: came {_shown(one)}; allowed: {words}"


def _shown(one: _Given) -> str:
    text = repr(",".join(one.value) if one.file is None and isinstance(one.value, list) else one.value)
    return "a value that is not shown" if one.path[-1] in _SECRETS else text if len(text) <= 80 else f"{text[:79]}…"


def _together(merged: Mapping[str, Any], every: list[_Given]) -> Iterator[str]:
    """What is wrong with settings that are each good, or not there."""
    groups = {
        (*one.path[:2], "consent"): one for one in every if one.path[0] == "sources" and one.path[2:3] == ("consent",)
    }
    plans = {one.path[:2]: one for one in every if one.path[0] == "plans" and len(one.path) > 1}
    wanted = [(path, one, Consent.__struct_fields__) for path, one in groups.items()]
    wanted += [(path, one, ("requests_per_minute",)) for path, one in plans.items() if path[1] not in PLANS]
    there = {one.path for one in every}
    for path, one, parts in wanted:
        for part in parts:
            if (*path, part) not in there:
                yield f"{one.named((*path, part))}: is missing; {', '.join(parts)} must be given for {'.'.join(path[1:])}"
    now = merged.get("now")
    # A consent is given in real time, whatever the day of the data; but for data of days to come it may be one of those.
    today = max(
        datetime.now(UTC), datetime.fromisoformat(now).astimezone(UTC) if now else datetime.min.replace(tzinfo=UTC)
    )
    for one in every:
        held = merged.get("sources", {}).get(one.path[1], {}) if one.path[2:] == ("consent", "on") else {}
        on = held.get("consent", {}).get("on")
        # By the calendar of whoever is furthest ahead: nobody's today is refused.
        if on and one.value == on and date.fromisoformat(on) > (today + timedelta(hours=14)).date():
            yield f"{one.name}: came '{on}'; allowed: {_CHECKS['on'][1]}"


def _listed(problems: list[str]) -> str:
    return (
        problems[0] if len(problems) == 1 else f"{len(problems)} settings cannot be used:\n  " + "\n  ".join(problems)
    )


def _kind(path: tuple[str, ...]) -> Any:
    """The declared type of a setting, None where there is none of this path."""
    here: Any = Settings
    for part in path:
        if get_origin(here) is dict:
            here = get_args(here)[1]
        elif isinstance(here, type) and issubclass(here, msgspec.Struct):
            here = _optional(get_type_hints(here, include_extras=True).get(part))
        else:
            return None
    return here


def _paths(table: Any, like: tuple[str, ...], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All settings of a table; where a name is free, with that of the path that is given."""
    if get_origin(table) is dict:
        yield from _paths(get_args(table)[1], like, (*path, like[1] if like[:1] == path and len(like) > 1 else "NAME"))
    elif isinstance(table, type) and issubclass(table, msgspec.Struct):
        for name, kind in get_type_hints(table, include_extras=True).items():
            yield from _paths(_optional(kind), like, (*path, name))
    else:
        yield path


def _optional(kind: Any) -> Any:
    """The type without the None that stands for a setting that is not given."""
    parts = [part for part in get_args(kind) if part is not NoneType]
    return parts[0] if NoneType in get_args(kind) else kind


def _is_table(kind: Any) -> bool:
    return get_origin(kind) is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct))


def _words(kind: Any) -> str:
    """What a type allows, for people."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is Annotated:
        kind, meta = get_args(kind)
        if kind is int:
            return f"a whole number from {meta.ge} to {meta.le}"
        if kind is float:
            return f"a number above {meta.gt} and up to {meta.le}"
    return {bool: "true or false"}.get(kind, "a list of texts" if get_origin(kind) is tuple else "text, not empty")


def _is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return text == "*" or (parts.scheme in {"http", "https"} and text == f"{parts.scheme}://{parts.netloc}" != "")


def _is_folder(text: str) -> bool:
    return "://" not in text or text.startswith("file://")


#: What the type of a setting cannot say, by its last name: a check that may raise ValueError, and what is allowed.
_CHECKS: dict[str, tuple[Callable[[str], object], str]] = {
    "host": (ip_address, "an address, like 127.0.0.1 or ::"),
    "ops_host": (ip_address, "an address, like 127.0.0.1 or ::"),
    "trusted_proxies": (lambda text: ip_network(text, strict=False), "addresses or networks, like 10.0.0.0/8"),
    "cors_origins": (_is_origin, "origins, like https://app.example.org, or *"),
    "now": (lambda text: datetime.fromisoformat(text).tzinfo, "a time with a zone, like 2026-10-31T00:00:00Z"),
    "on": (lambda text: date.fromisoformat(text).isoformat() == text, "a day that has come, like 2026-10-01"),
    "database_url": (lambda text: text.startswith("sqlite:///"), "sqlite:/// and the path of a file"),
    "raw_url": (_is_folder, "a folder, or file:// and its path"),
    "redis_url": (
        lambda text: urlsplit(text).scheme in {"redis", "rediss", "unix"},
        "redis://, rediss:// or unix:// …",
    ),
}


def _nest(path: list[str], value: Any) -> dict[str, Any]:
    return {path[0]: value if len(path) == 1 else _nest(path[1:], value)}


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def real_time() -> int:
    """Real time in unix seconds, whatever ALMANAC_NOW says: for limits, cursors, sessions and keys."""
    return int(time.time())
