"""Settings: environment over `$ALMANAC_HOME/almanac.toml` over defaults. The only reader of the environment and of the clock."""

from __future__ import annotations

import os
import time
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from almanac.domain.rights import Consent
from almanac.domain.times import instant


class SettingError(Exception):
    """A setting that cannot be used. The message names it and what is allowed."""


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an account may do. `history_months` None: the whole archive."""

    requests_per_minute: int
    history_months: int | None = None


class SourceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Operator's word on one source: a recorded consent, the key its API wants or the contact it asks for."""

    consent: Consent | None = None
    api_key: str | None = None
    contact: str | None = None
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

    user_agent: str = "Almanac/0.1 (self-hosted financial data service)"
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    total_timeout: float = 300.0
    attempts: int = 5
    max_bytes: int = 512 * 1024 * 1024
    requests_per_second: float = 2.0


PLANS = {
    "free": Plan(requests_per_minute=100, history_months=24),
    "pro": Plan(requests_per_minute=1_000),
    "enterprise": Plan(requests_per_minute=10_000),
}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings. Every field is also `ALMANAC_<FIELD>`, nested fields joined by two underscores."""

    home: Path = Path(".almanac")
    database_url: str | None = None
    raw_url: str | None = None
    redis_url: str | None = None
    #: Fixes the clock of the data (tests): ingestion, default `as_of`, freshness, history windows, the sandbox.
    now: str | None = None
    secret: str | None = None
    cors_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    failures_per_minute: int = 300
    cursor_days: int = 7
    #: Memory each worker may use for pages asked before, in MiB.
    page_cache_mib: int = 64
    host: str = "127.0.0.1"
    port: int = 8000
    dashboard_port: int = 8001
    ops_host: str = "127.0.0.1"
    ops_port: int = 9000
    workers: int = 1
    log_level: str = "info"
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


_LISTS = {"cors_origins", "trusted_proxies", "companies"}


def load(environ: dict[str, str] | None = None) -> Settings:
    """Read the settings. Raises SettingError naming the setting at fault."""
    env = dict(os.environ) if environ is None else environ
    home = Path(env.get("ALMANAC_HOME", ".almanac"))
    merged: dict[str, Any] = {"plans": {name: msgspec.to_builtins(plan) for name, plan in PLANS.items()}}
    file = home / "almanac.toml"
    if file.exists():
        try:
            _merge(merged, tomllib.loads(file.read_text("utf-8")))
        except tomllib.TOMLDecodeError as error:
            raise SettingError(f"{file}: {error}") from None
    for name in sorted(env):
        if name.startswith("ALMANAC_"):
            path = name.removeprefix("ALMANAC_").lower().split("__")
            value: Any = env[name]
            if path[-1] in _LISTS:
                value = [part.strip() for part in value.split(",") if part.strip()]
            _merge(merged, _nest(path, value))
    merged["home"] = str(home)
    merged["sources"] = {key.replace("_", "-"): value for key, value in merged.get("sources", {}).items()}
    try:
        settings = msgspec.convert(merged, Settings, strict=False, dec_hook=_decode)
        settings.clock()
    except msgspec.ValidationError as error:
        raise SettingError(f"setting {_where(str(error))}") from None
    except ValueError:
        raise SettingError("ALMANAC_NOW must be a time with a zone, like 2026-10-31T00:00:00Z") from None
    return settings


def _decode(wanted: type, value: Any) -> Any:
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"expected {wanted.__name__}")


def _nest(path: list[str], value: Any) -> dict[str, Any]:
    return {path[0]: value if len(path) == 1 else _nest(path[1:], value)}


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _where(message: str) -> str:
    text, _, path = message.partition(" - at `$.")
    return f"ALMANAC_{path.rstrip('`').replace('.', '__').upper()}: {text}" if path else message


def real_time() -> int:
    """Real time in unix seconds, whatever ALMANAC_NOW says: for limits, cursors, sessions and keys."""
    return int(time.time())
