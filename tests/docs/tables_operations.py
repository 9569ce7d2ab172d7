"""Tables for operators: settings, plans, commands, and which part of the code may import which."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import click
import msgspec

from almanac import __main__
from almanac.config import PLANS, Http, Settings
from tests.support.paths import ROOT

from .markdown import table

#: What each setting means. A setting without words here fails the tests: KeyError names it.
_WORDS = {
    "home": "Data folder: databases, raw store, run files, `almanac.toml`.",
    "database_url": "Where the data database is, `sqlite:///…`. Default: `data.db` in the data folder.",
    "raw_url": "Folder of the raw store. Default: `raw` in the data folder.",
    "redis_url": "`redis://…`: count rate limits of several hosts together. Needs the extra `almanac[redis]`.",
    "now": "For tests: fixes the clock of the data, like `2026-10-31T00:00:00Z`. Limits, key expiry, timeouts and logs keep real time.",
    "secret": "Replaces the random secret in the accounts database from which keys and cursors are protected. Must be the same in all processes.",
    "cors_origins": "Origins whose scripts may call from a browser, separated by commas; `*` for any.",
    "trusted_proxies": "Addresses or networks of proxies, separated by commas, whose `X-Forwarded-For` is believed.",
    "failures_per_minute": "Failed authentications a minute from one address before further failing ones get 429.",
    "cursor_days": "Days a cursor lives.",
    "page_cache_mib": "Memory each worker may use for pages asked before, in MiB; 0 keeps none.",
    "host": "Address the interface listens on, not a name: `127.0.0.1`, `::1`; `0.0.0.0` or `::` for all.",
    "port": "Port the interface listens on.",
    "http2": "`true`: speak HTTP/2 as well, for a proxy that keeps silent connections away; see Silent connections.",
    "dashboard_port": "Reserved for the dashboard.",
    "ops_host": "Address the operations listener listens on. It asks for no key.",
    "ops_port": "Port the operations listener listens on.",
    "workers": "Processes that answer requests.",
    "log_level": "`debug`, `info`, `warning`, `error` or `critical`.",
    "plans.NAME.requests_per_minute": "Requests an account on this plan may make in one UTC minute.",
    "plans.NAME.history_months": "Months back from today that the plan reaches; absent: the whole archive.",
    "sources.ID.api_key": "The key this publisher's API wants. Dashes of the source id become underscores.",
    "sources.ID.contact": "The contact this publisher asks every client to state, such as an e-mail address.",
    "sources.ID.companies": "Companies to ask for, by ticker or CIK, separated by commas. Absent: all.",
    "sources.ID.bulk": "`true`: ask for the archives of all companies instead of each alone; companies are then named by CIK.",
    "sources.ID.consent.by": "Who gave the consent that this source asks for.",
    "sources.ID.consent.on": "The day it was given, which must have come.",
    "sources.ID.consent.reference": "Where it is filed. All three or none.",
    "http.user_agent": "How Almanac names itself to publishers.",
    "http.connect_timeout": "Seconds to wait for a connection.",
    "http.read_timeout": "Seconds to wait for the next piece of an answer.",
    "http.total_timeout": "Seconds one request may take in all.",
    "http.attempts": "Tries before a request counts as failed.",
    "http.max_bytes": "Largest answer that is read, bytes.",
    "http.requests_per_second": "Pace towards one host. A publisher's own limit holds where it is slower.",
}


def paths() -> Iterator[tuple[str, Any]]:
    """Every setting as a dotted path, with its default (None where there is none)."""
    for field in msgspec.structs.fields(Settings):
        default = None if field.default is msgspec.NODEFAULT else field.default
        if field.name == "plans":
            yield from (("plans.NAME.requests_per_minute", None), ("plans.NAME.history_months", None))
        elif field.name == "sources":
            yield from ((f"sources.ID.{part}", None) for part in ("api_key", "contact", "companies", "bulk"))
            yield from ((f"sources.ID.consent.{part}", None) for part in ("by", "on", "reference"))
        elif field.name == "http":
            for inner in msgspec.structs.fields(Http):
                yield f"http.{inner.name}", inner.default
        else:
            yield field.name, default


def variable(path: str) -> str:
    """The environment variable of a setting."""
    return "ALMANAC_" + "__".join(part if part.isupper() else part.upper() for part in path.split("."))


def settings() -> str:
    rows = [
        (f"`{variable(path)}`", "" if default in {None, ()} else f"`{default}`", _WORDS[path])
        for path, default in paths()
    ]
    return table(("Variable", "Default", "Meaning"), rows)


def plans() -> str:
    rows = [
        (name, f"{plan.requests_per_minute:,}", f"{plan.history_months} months" if plan.history_months else "all")
        for name, plan in PLANS.items()
    ]
    return table(("Plan", "Requests a minute", "History reachable"), rows)


def commands() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    blocks = []
    for name, command in _leaves(__main__.main, "almanac"):
        context = click.Context(command, info_name=name)
        usage = " ".join([name, *command.collect_usage_pieces(context)])
        rows = [record for param in command.params if (record := param.get_help_record(context)) is not None]
        words = " ".join((command.help or "").split())
        options = table(("Option", "Meaning"), [(f"`{option}`", text) for option, text in rows]) if rows else ""
        blocks.append(f"### {name}\n\n`{usage}`\n\n{words}\n\n{options}".rstrip())
    return "\n\n".join(blocks)


def _leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for part, inner in sorted(command.commands.items()):
            yield from _leaves(inner, f"{name} {part}")
    elif not command.hidden:
        yield name, command


def layers() -> str:
    """The import contracts that `make check` and the tests enforce."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    lines = []
    for contract in contracts:
        lines.append(f"- {contract['name']}.")
        if contract["type"] == "layers":
            for number, layer in enumerate(contract["layers"], 1):
                lines.append(f"  {number}. `{layer.replace('almanac.', '')}`")
        else:
            kept, away = (", ".join(f"`{name.removeprefix('almanac.')}`" for name in contract[key])
                          for key in ("source_modules", "forbidden_modules"))  # fmt: skip
            lines.append(f"  {kept} must not import {away}.")
    return "\n".join(lines)


def rooms() -> str:
    """Every folder of the package: what its own first sentence says it is, and how many modules it holds."""
    package = ROOT / "src/almanac"
    rows = []
    for init in sorted(package.rglob("__init__.py")):
        name = "/".join(init.parent.relative_to(package.parent).parts[1:])
        sentence = (ast.get_docstring(ast.parse(init.read_text("utf-8"))) or "").split("\n")[0]
        rows.append((f"`{name}`" if name else "the package", str(len([*init.parent.glob("*.py")]) - 1), sentence))
    return table(("Folder", "Modules", "What it is"), rows)


TABLES: dict[str, Callable[..., str]] = {
    "rooms": rooms,
    "settings": settings,
    "plans": plans,
    "commands": commands,
    "layers": layers,
}
