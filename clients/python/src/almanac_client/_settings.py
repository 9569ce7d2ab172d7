"""The client's settings (address, key and options) from arguments, the environment, a file and the keyring."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from almanac_client._errors import MissingKey, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    import httpx2

    from almanac_client._cache import Cache

DEFAULT_URL = "http://127.0.0.1:8000"
#: Longest Retry-After that is obeyed, in seconds: the service's windows last a minute.
MAX_RETRY_WAIT = 65.0


class Key:
    """A key that is never shown: not in a repr, not in a pickle, and to nobody but the service."""

    __slots__ = ("_text", "origin")

    def __init__(self, text: str, origin: str) -> None:
        text = text.strip()
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise SettingsError(f"the key from {origin} is empty, or has characters that no key has")
        self._text = text
        self.origin = origin

    def sign(self, request: httpx2.Request) -> httpx2.Request:
        """Add the key to a request, in the header whose value HTTP libraries do not show."""
        request.headers["authorization"] = f"Bearer {self._text}"
        return request

    def digest(self) -> bytes:
        """Return a digest that distinguishes answers for different keys without revealing the key."""
        import hashlib  # noqa: PLC0415 - only the cache needs it

        return hashlib.blake2b(self._text.encode(), digest_size=16, person=b"almanac-client").digest()

    def __repr__(self) -> str:
        return f"<key from {self.origin}>"

    def __reduce__(self) -> Any:
        raise TypeError("a key is not to be pickled")


class Options(Struct, frozen=True, kw_only=True):
    """The options of a client's requests."""

    url: str
    key: Key
    timeout: float = 30.0
    max_retries: int = 3
    max_retry_wait: float = MAX_RETRY_WAIT
    pace: bool = True
    cache: Cache | None = None
    insecure: bool = False
    #: The argument of `.at()` as sent.
    as_of: str | None = None


def options(
    *,
    url: str | None = None,
    api_key: str | None = None,
    profile: str | None = None,
    insecure: bool = False,
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> Options:
    """Combine arguments, environment and file into options. Raises MissingKey and SettingsError."""
    env = os.environ if environment is None else environment
    profile = profile or env.get("ALMANAC_PROFILE") or None
    found = _File(profile, env)
    where = url or env.get("ALMANAC_URL") or found.get("url") or DEFAULT_URL
    return Options(url=checked_url(where, insecure=insecure), key=key(api_key, found, env), insecure=insecure, **more)


_CHANGEABLE = ("url", "api_key", "timeout", "max_retries", "max_retry_wait", "pace", "cache", "insecure")


def checked(found: Options) -> Options:
    """Return the options if they are valid. Raises SettingsError."""
    for name, least in (("timeout", 0.001), ("max_retries", 0), ("max_retry_wait", 0)):
        value = getattr(found, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
            raise SettingsError(f"{name} has to be a number of at least {least}, not {value!r}")
    return found


def changed(held: Options, changes: dict[str, Any]) -> Options:
    """Return options with some of them changed. Raises TypeError for an unknown option."""
    unknown = sorted(set(changes) - set(_CHANGEABLE))
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}; there are {', '.join(_CHANGEABLE)}")
    if "api_key" in changes:
        changes["key"] = Key(changes.pop("api_key"), "api_key")
    if "url" in changes:
        changes["url"] = checked_url(changes["url"], insecure=changes.get("insecure", held.insecure))
    return checked(msgspec.structs.replace(held, **changes))


def shown(held: Options, name: str) -> str:
    at = "" if held.as_of is None else f", at {held.as_of}"
    return f"<{name} {held.url}, {held.key!r}{at}>".replace("<key", "key").replace(">,", ",").replace(">>", ">")


def checked_url(url: str, *, insecure: bool) -> str:
    """
    Return the address without a trailing slash. Raises SettingsError for an invalid one, and for plain HTTP to another
    machine, which would expose the key.
    """
    from urllib.parse import urlsplit  # noqa: PLC0415 - importing this package must stay quick

    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingsError(f"the address has to begin with https:// or http://, and {_shown(url)} does not")
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsError("the address may hold no user, no query and no fragment; the key is given as api_key")
    if parts.scheme == "http" and not is_loopback(parts.hostname) and not insecure:
        raise SettingsError(
            f"{_shown(url)} is plain HTTP to another machine: the key would be readable on the way. Use https://, or "
            "say insecure=True"
        )
    return url.rstrip("/")


def _shown(url: str) -> str:
    from urllib.parse import urlsplit  # noqa: PLC0415 - importing this package must stay quick

    parts = urlsplit(url)
    return repr(f"{parts.scheme}://{parts.hostname}" if parts.hostname else parts.path[:40])


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    import ipaddress  # noqa: PLC0415 - importing this package must stay quick

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def key(api_key: str | None, found: _File, env: Mapping[str, str]) -> Key:
    """
    Return the key of the first place that has one: argument, environment, file named there, profile, keyring. Raises
    MissingKey.
    """
    if api_key is not None:
        return Key(api_key, "api_key")
    if env.get("ALMANAC_API_KEY"):
        return Key(env["ALMANAC_API_KEY"], "ALMANAC_API_KEY")
    if env.get("ALMANAC_API_KEY_FILE"):
        return Key(_read(env["ALMANAC_API_KEY_FILE"]), "ALMANAC_API_KEY_FILE")
    held = found.get("api_key")
    if held is not None:
        return Key(held, str(found.path))
    held = _from_keyring(found.profile)
    if held is not None:
        return Key(held, "the keyring")
    raise MissingKey(
        "there is no key. Give api_key=, or set ALMANAC_API_KEY or ALMANAC_API_KEY_FILE, or write one to "
        f'{found.path} ([{found.profile}] api_key = "…", chmod 600), or keep one in the keyring '
        f"(keyring set almanac-client {found.profile})"
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as opened:  # noqa: PTH123 - pathlib is slow to import
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"ALMANAC_API_KEY_FILE names {path}, which cannot be read: {_why(error)}") from None


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not text"


class _File:
    """The profiles of `~/.config/almanac/client.toml`, read on first use."""

    def __init__(self, profile: str | None, env: Mapping[str, str]) -> None:
        from pathlib import Path  # noqa: PLC0415 - importing this package must stay quick

        self._asked = profile is not None
        self.profile = profile or "default"
        self.path = Path(env.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "almanac/client.toml"
        self._held: dict[str, str] | None = None

    def get(self, name: str) -> str | None:
        if self._held is None:
            self._held = self._load()
        return self._held.get(name)

    def _load(self) -> dict[str, str]:
        try:
            with self.path.open("rb") as opened:
                if os.name == "posix" and os.fstat(opened.fileno()).st_mode & (stat.S_IRGRP | stat.S_IROTH):
                    raise SettingsError(f"{self.path} holds a key, and others can read it: chmod 600 {self.path}")
                content = opened.read()
        except FileNotFoundError:
            content = b""
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be read: {_why(error)}") from None
        profiles = _parsed(content, self.path)
        chosen = profiles.get(self.profile)
        if chosen is None and self._asked:
            known = ", ".join(sorted(profiles)) or "none"
            raise SettingsError(f"{self.path} has no profile {self.profile!r}; there is {known}")
        if chosen is None:
            return {}
        unknown = sorted(set(chosen) - {"url", "api_key"}) if isinstance(chosen, dict) else None
        if unknown is None or unknown or not all(isinstance(value, str) for value in chosen.values()):
            raise SettingsError(f"{self.path}: [{self.profile}] may hold the texts url and api_key, and nothing else")
        return {name: str(value) for name, value in chosen.items()}


def _parsed(content: bytes, path: Path) -> dict[str, Any]:
    if not content:
        return {}
    try:
        import tomllib as toml  # noqa: PLC0415 - Python 3.11; and only where there is a file
    except ImportError:
        try:
            import tomli as toml  # type: ignore[import-not-found,no-redef]  # noqa: PLC0415  # for Python 3.10
        except ImportError:
            raise SettingsError(f"Python 3.10 reads {path} with tomli: pip install tomli") from None
    try:
        return toml.loads(content.decode("utf-8"))
    except ValueError:
        # The parser's message may repeat a line that contains a key.
        raise SettingsError(f"{path} is not TOML") from None


def _from_keyring(profile: str) -> str | None:
    """Read the key from the keyring. It is asked last, because it may open a window, or wait for one without a screen."""
    try:
        import keyring  # noqa: PLC0415 - an extra, slow to import
    except ImportError:
        return None
    try:
        held: str | None = keyring.get_password("almanac-client", profile)
    except Exception:  # a keyring that is locked or broken is none; what else is missing is said then
        return None
    return held
