"""What a setting may be: by its type, and by what its type cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from ipaddress import ip_address, ip_network
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec

from almanac.config.settings import Settings


def kind_of(path: tuple[str, ...]) -> Any:
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


def paths_of(table: Any, like: tuple[str, ...], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All settings of a table; where a name is free, with that of the path that is given."""
    if get_origin(table) is dict:
        yield from paths_of(
            get_args(table)[1], like, (*path, like[1] if like[:1] == path and len(like) > 1 else "NAME")
        )
    elif isinstance(table, type) and issubclass(table, msgspec.Struct):
        for name, kind in get_type_hints(table, include_extras=True).items():
            yield from paths_of(_optional(kind), like, (*path, name))
    else:
        yield path


def _optional(kind: Any) -> Any:
    """The type without the None that stands for a setting that is not given."""
    parts = [part for part in get_args(kind) if part is not NoneType]
    return parts[0] if NoneType in get_args(kind) else kind


def is_table(kind: Any) -> bool:
    return get_origin(kind) is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct))


def words_of(kind: Any) -> str:
    """What a type allows, for people."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is Annotated:
        kind, meta = get_args(kind)
        if kind is int:
            return f"a whole number from {meta.ge} to {meta.le}"
        if kind is float:
            low = f"above {meta.gt} and up" if meta.ge is None else f"from {meta.ge}"
            return f"a number {low} to {meta.le}"
    return {bool: "true or false"}.get(kind, "a list of texts" if get_origin(kind) is tuple else "text, not empty")


def check_of(path: tuple[str, ...], kind: Any) -> tuple[Callable[[str], object] | None, str]:
    """What a setting must pass beyond its type, which may raise ValueError (None: nothing), and what is allowed, for people."""
    # The mail server is named, not addressed.
    return _CHECKS.get(path[-1] if path[0] != "smtp" else "", (None, words_of(kind)))


def _is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return text == "*" or (parts.scheme in {"http", "https"} and text == f"{parts.scheme}://{parts.netloc}" != "")


def _is_frame_origin(text: str) -> bool:
    """Whether a text is one origin that can stand in a policy as it is: no name for any, no sign that ends a directive."""
    return _is_origin(text) and _ORIGIN.fullmatch(text) is not None and urlsplit(text).port != 0


def _is_proxy(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and parts.path in {"", "/"}


def _is_bundle(text: str) -> bool:
    import ssl  # noqa: PLC0415  (most commands never need it)

    try:
        ssl.create_default_context(cafile=text)
    except OSError:  # not there, not to be read, or no certificates
        return False
    return True


def _is_raw_place(text: str) -> bool:
    return "://" not in text or text.startswith("file://") or _BUCKET.fullmatch(text) is not None


def _is_database(text: str) -> bool:
    if text.startswith("sqlite:///"):
        return True
    parts = urlsplit(text)
    # libpq takes several hosts, each with a port; of each the port is looked at, for it may be none.
    hosts = parts.netloc.rpartition("@")[2].split(",")
    ports = [urlsplit(f"//{host}").port for host in hosts]
    return parts.scheme in {"postgresql", "postgres"} and 0 not in ports and (parts.netloc != "" or parts.query != "")


#: An origin of letters, digits and dots, or of an address of IPv6.
_ORIGIN = re.compile(r"https?://([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")
#: Name of a bucket as S3 allows it, and a prefix that is plain parts, so that nothing of it needs an escape.
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")
#: What the type of a setting cannot say, by its last name: a check that may raise ValueError, and what is allowed.
_CHECKS: dict[str, tuple[Callable[[str], object], str]] = {
    "host": (ip_address, "an address, like 127.0.0.1 or ::"),
    "ops_host": (ip_address, "an address, like 127.0.0.1 or ::"),
    "trusted_proxies": (lambda text: ip_network(text, strict=False), "addresses or networks, like 10.0.0.0/8"),
    "base_url": (lambda text: text != "*" and _is_origin(text), "an origin, like https://api.example.org"),
    "dashboard_url": (lambda text: text != "*" and _is_origin(text), "an origin, like https://data.example.org"),
    "cors_origins": (_is_origin, "origins, like https://app.example.org, or *"),
    "embed_origins": (_is_frame_origin, "origins, each by its whole name, like https://blog.example.org"),
    "now": (lambda text: datetime.fromisoformat(text).tzinfo, "a time with a zone, like 2026-10-31T00:00:00Z"),
    "on": (lambda text: date.fromisoformat(text).isoformat() == text, "a day that has come, like 2026-10-01"),
    "database_url": (_is_database, "sqlite:/// and the path of a file, or postgresql://user@host/database"),
    "raw_url": (_is_raw_place, "a folder, file:// and its path, or s3://bucket/prefix"),
    "proxy": (_is_proxy, "http:// or https://, a host and a port"),
    "ca_bundle": (_is_bundle, "a file of certificates in PEM that can be read"),
    "redis_url": (
        lambda text: urlsplit(text).scheme in {"redis", "rediss", "unix"},
        "redis://, rediss:// or unix:// …",
    ),
}
