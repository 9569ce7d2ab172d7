"""Settings as they are given: environment over `$ALMANAC_HOME/almanac.toml` over defaults. The only reader of the environment."""

from __future__ import annotations

import difflib
import os
import stat
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from almanac.config.checks import check_of, is_table, kind_of, paths_of
from almanac.config.settings import PLANS, SettingError, Settings
from almanac.domain.rights import Consent

#: Variables that the Python client and the server for language models read: who exports a key may run the service too.
_OF_CLIENTS = {"ALMANAC_API_KEY", "ALMANAC_API_KEY_FILE", "ALMANAC_PROFILE", "ALMANAC_URL"}


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


_LISTS = {"cors_origins", "embed_origins", "trusted_proxies", "companies", "no_proxy"}
#: Addresses, which are never empty on purpose.
_ADDRESSES = {"database_url", "raw_url", "redis_url"}
#: Never shown in a message; nor is the value of a setting that does not exist, which may be a misspelt one of these.
_SECRETS = {"secret", "api_key", "redis_url", "password", "proxy"}


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
    if not problems:
        problems += _forgotten(merged, home)
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
        if name.startswith("ALMANAC_") and name != "ALMANAC_HOME" and name not in _OF_CLIENTS:
            path = tuple(name.removeprefix("ALMANAC_").lower().split("__"))
            value: Any = env[name]
            if path[-1] in _LISTS:
                value = [part.strip() for part in value.split(",") if part.strip()]
            found.append(_Given(_plainly(path), value, None))
    return found


def list_settings(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """What is given, by name, for the log: no secret, and nobody's address."""
    every = given(dict(os.environ) if env is None else env)
    return {one.name: "not shown" if one.path[-1] == "contact" or _is_secret(one) else str(one.value) for one in every}


def exposed(env: Mapping[str, str] | None = None) -> str | None:
    """What is wrong with the mode of almanac.toml: None, or that others may read it and which secrets it holds."""
    every = given(dict(os.environ) if env is None else env)
    held = [one for one in every if one.file is not None and _is_secret(one)]
    if not held or held[0].file is None:
        return None
    file = held[0].file
    try:
        # Who may not pass its folder does not reach it.
        reached = file.stat().st_mode & stat.S_IRWXO and file.resolve().parent.stat().st_mode & stat.S_IXOTH
    except OSError:
        return None
    names = ", ".join(".".join(one.path) for one in held)
    return f"{file} holds {names} and may be read by everybody on this machine: chmod 600 {file}" if reached else None


def _is_secret(one: _Given) -> bool:
    """Whether a value is never repeated. Credentials in the address of a bucket are refused."""
    named = one.path[-1] == "raw_url" and "@" in str(one.value)
    return one.path[-1] in _SECRETS or named or _on_a_server(one)


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
    kind = kind_of(one.path)
    if kind is None:
        known = {"__".join(path): path for path in paths_of(Settings, one.path)}
        near = difflib.get_close_matches("__".join(one.path), known, n=1, cutoff=0.75)
        advice = f"; the nearest is {one.called(known[near[0]])}" if near else ""
        yield f"{one.name}: there is no such setting{advice}"
    elif is_table(kind):
        if one.value != {}:
            yield f"{one.name}: came {_shown(one)}; allowed: a table of settings"
    else:
        check, words = check_of(one.path, kind)
        try:
            value = msgspec.convert(one.value, kind, strict=False)
            good = check is None or all(map(check, value if isinstance(value, tuple) else (value,)))
        except ValueError:  # msgspec's own ValidationError is one
            good = False
        if one.path[-1] in _ADDRESSES and one.value in ("", []):
            advice = "leave it out for none; in a file that a shell reads, a value with an & wants single quotes"
            yield f"{one.name}: is empty; allowed: {words}; {advice}"
        elif not good:
            yield f"{one.name}: came {_shown(one)}; allowed: {words}"


def _on_a_server(one: _Given) -> bool:
    """Whether a value is the address of a database that is no file: it may have a password in it, in more places than one."""
    return one.path[-1] == "database_url" and not str(one.value).startswith("sqlite:")


def _shown(one: _Given) -> str:
    text = repr(",".join(one.value) if one.file is None and isinstance(one.value, list) else one.value)
    return "a value that is not shown" if _is_secret(one) else text if len(text) <= 80 else f"{text[:79]}…"


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
    names = merged["plans"]
    # Their defaults name a plan that is always there.
    for setting in ("signup_plan", "embed_plan"):
        given_as = next((one for one in reversed(every) if one.path == (setting,)), None)
        plan = merged.get(setting)
        if given_as is not None and plan is not None and plan not in names:
            near = difflib.get_close_matches(str(plan), names, n=1)
            advice = f"; the nearest is {near[0]}" if near else ""
            yield f"{given_as.name}: there is no plan '{plan}'{advice}; allowed: {', '.join(names)}"
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
            yield f"{one.name}: came '{on}'; allowed: {check_of(one.path, str)[1]}"


def _forgotten(merged: Mapping[str, Any], home: Path) -> Iterator[str]:
    """
    An address that is not there although the service has one: a shell that reads `/etc/almanac/environment` ends a value
    at an `&` that is not quoted, and drops it. A command would look into an empty file, and say that all is well.
    """
    note = Settings(home=home).served_from_path
    if "database_url" in merged:
        return
    try:
        served = note.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return
    yield (
        f"ALMANAC_DATABASE_URL: is missing, while the data of {home} are served from {served} ({note} says so); set it, in"
        f" single quotes where a shell reads it; or set it to sqlite:///{home.absolute() / 'data.db'} if they are in that file now"
    )


def _listed(problems: list[str]) -> str:
    return (
        problems[0] if len(problems) == 1 else f"{len(problems)} settings cannot be used:\n  " + "\n  ".join(problems)
    )


def _nest(path: list[str], value: Any) -> dict[str, Any]:
    return {path[0]: value if len(path) == 1 else _nest(path[1:], value)}


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
