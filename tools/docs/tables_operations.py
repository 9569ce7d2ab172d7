"""Tables for operators: settings, plans, commands, and which part of the code may import which."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import click
import msgspec
import yaml

from almanac import __main__
from almanac.api.server import logs
from almanac.config import PLANS, Settings, list_known
from tests.support.paths import ROOT

from .markdown import table

#: What each setting means. A setting without words here fails the tests: KeyError names it.
_WORDS = {
    "home": "Data folder: databases, raw store, run files, `almanac.toml`.",
    "database_url": "Where the data database is: `sqlite:///…`, or `postgresql://…`, which needs the extra `postgres`; see [PostgreSQL](operations.md#postgresql). Default: `data.db` in the data folder.",
    "raw_url": "Where the raw store is: a folder, or `s3://bucket/prefix`, which needs the extra `s3`; see [Raw payloads in a bucket](operations.md#raw-payloads-in-a-bucket). Default: `raw` in the data folder.",
    "raw_stores": "`several`: each host that ingests keeps a raw store of its own for one database of PostgreSQL, on purpose; none of them can then rebuild it. See [Several workers, several hosts](operations.md#several-workers-several-hosts).",
    "redis_url": "`redis://…`: count rate limits of several workers or hosts together. Needs the extra `redis`.",
    "now": "For tests: fixes the clock of the data, like `2026-10-31T00:00:00Z`. Limits, key expiry, timeouts and logs keep real time.",
    "secret": "Replaces the random secret in the accounts database from which keys and cursors are protected. Must be the same in all processes.",
    "cors_origins": "Origins whose scripts may call from a browser, separated by commas; `*` for any.",
    "trusted_proxies": "Addresses or networks of proxies, separated by commas, whose `X-Forwarded-For` is believed.",
    "failures_per_minute": "Failed authentications a minute from one address before further failing ones get 429.",
    "cursor_days": "Days a cursor lives.",
    "page_cache_mib": "Memory each worker may use for pages asked before, in MiB; 0 keeps none.",
    "sort_rows": "Vintages at most that are gone through for a list in another order than by topic, or within bounds on knowledge; what means more is refused with `too_broad`.",
    "request_seconds": "Seconds after which a request is given up, with 503.",
    "slow_seconds": "Seconds from which on a request has a line in the log that says what it asked for, and is counted as slow; 0: none.",
    "heavy_requests": "Heavy requests of one account that are answered at a time in each worker; see [Heavy requests](operations.md#heavy-requests).",
    "host": "Address the interface listens on, not a name: `127.0.0.1`, `::1`; `0.0.0.0` or `::` for all.",
    "port": "Port the interface listens on.",
    "dashboard": "`false`: no dashboard.",
    "dashboard_port": "Port the dashboard listens on, on the same address as the interface.",
    "base_url": "Where programs reach the interface, for the requests that the dashboard shows; `https://api.example.org`. Default: the address and port above.",
    "dashboard_url": "Where people reach the dashboard, for links; `https://data.example.org`. Default: the address and port above.",
    "embed_origins": "Origins whose pages may show charts of the dashboard in a frame, to whoever reads them, separated by commas; none: no page may. See [Charts in other pages](operations.md#charts-in-other-pages).",
    "embed_plan": "The plan that such charts are made with: they are for people without an account.",
    "ops_host": "Address the operations listener listens on. It asks for no key.",
    "ops_port": "Port the operations listener listens on.",
    "workers": "Processes that answer requests; more than one want `ALMANAC_REDIS_URL`.",
    "processes": "Processes that `ingest`, `sandbox`, `rebuild`, `derive` and `verify` compute with; see [Several cores](operations.md#several-cores). Default: one for each core.",
    "log_level": "`debug`, `info`, `warning`, `error` or `critical`.",
    "log_requests": "Share of the good answers that have a line in the log, `1.0` to `0`; errors always have one.",
    "log_addresses": "`false`: leave the client's address out of the lines of 401, 403 and 429.",
    "signup": "Who may make an account in the dashboard: `closed`, `invite` or `open` (whoever can read mail at the address).",
    "signup_plan": "The plan of accounts that are made there, and of invitations that name none.",
    "smtp.host": "The server that takes mail. Absent: links are written to the log in place of letters.",
    "smtp.port": "Its port.",
    "smtp.user": "The name to log in with. Absent: no login.",
    "smtp.password": "The password to log in with. Never logged.",
    "smtp.sender": "The address letters come from.",
    "smtp.security": "`starttls`, `tls` from the first byte, or `none`, with which no password is sent but on this host.",
    "plans.NAME.requests_per_minute": "Requests an account on this plan may make in one UTC minute.",
    "plans.NAME.history_months": "Months back from today that the plan reaches; absent: the whole archive.",
    "sources.ID.api_key": "The key this publisher's API wants. Dashes of the source id become underscores.",
    "sources.ID.contact": "The contact this publisher asks every client to state, such as an e-mail address.",
    "sources.ID.companies": "Companies to ask for, by ticker or CIK, separated by commas. Absent: all.",
    "sources.ID.bulk": "`true`: ask for the archives of all companies instead of each alone; companies are then named by CIK.",
    "sources.ID.consent.by": "Who gave the consent that this source asks for.",
    "sources.ID.consent.on": "The day it was given, which must have come.",
    "sources.ID.consent.reference": "Where it is filed. All three or none.",
    "http.user_agent": "How Almanac names itself to publishers; `{version}` stands for its version.",
    "http.contact": "Whom publishers can ask about this service, such as a mail address; it is added to that name. Some refuse programs that do not say.",
    "http.connect_timeout": "Seconds to wait for a connection.",
    "http.read_timeout": "Seconds to wait for the next piece of an answer.",
    "http.total_timeout": "Seconds one request may take in all.",
    "http.attempts": "Tries before a request counts as failed.",
    "http.max_bytes": "Largest answer that is read, bytes.",
    "http.requests_per_second": "Pace towards one host. A publisher's own limit holds where it is slower.",
    "http.proxy": "`http://` or `https://`, host and port: all requests to publishers go through this proxy. May hold a user and password.",
    "http.no_proxy": "Hosts, separated by commas, that are asked without the proxy, with all hosts below them.",
    "http.ca_bundle": "File of certificate authorities (PEM) to trust beside the usual ones, as a proxy that looks into TLS needs.",
}


def paths() -> Iterator[tuple[str, Any]]:
    """List every setting as a dotted path, with its default (None where there is none)."""
    for path in list_known():
        default: Any = Settings()
        for part in path:
            default = getattr(default, part, None)
        yield ".".join(path), default


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


#: What each line of the service's log is about. A line without words here fails the tests: KeyError names it.
_EVENTS = {
    "service started": "First line of a run. `settings` are those given, without secrets.",
    "the store needs time to open": "Before the first line of a run that begins with another catalogue, consent or order of sources than the store was made with. Nothing is answered until what follows from it is derived anew: of a large store that takes minutes.",
    "service stopped": "Last line of a run: the exit code, and for how many seconds it ran.",
    "request": "One answer. `path` is a template, `null` where there is none; `key` the prefix of the key.",
    "a process beside the workers ended and is started anew": "The operations listener's or the dashboard's: its process ended before the service did.",
    "an account has a plan that is not in the settings": "Its requests get 403 until the settings have the plan.",
    "whether all accounts have a plan is not known": "The accounts could not be read at the start.",
    "Redis does not answer, each process counts for itself": "From now on; it is asked again every two seconds. One line for each worker.",
    "Redis answers again": "Limits are counted together again, after so many seconds.",
    "not ready": "A probe of `/readyz` was answered 503.",
    "not shown": "Part of `/metrics` cannot be looked up in the store; the rest is shown.",
    "the raw store cannot be reached": "At the start: its bucket is away. What is served does not need it; ingests do.",
    "the raw store is not the one the data came from": "At the start: of a host that only serves, this is well. It can neither ingest nor rebuild.",
    "given up": "A request was answered 503: it took longer than `ALMANAC_REQUEST_SECONDS`.",
    "a list was cut": "A whole list (`all=true`) ended without its mark: `reason` says why.",
    "a slow request": "It took longer than `ALMANAC_SLOW_SECONDS`, answered or not. `parameters` are the endpoint's own, path values too, without what looks like a key; `database_ms` is how much of it a database server took, `null` where it is a file; `read` says how a list of observations was read, `null` of anything else.",
    "a slow page": "The same of a page of the dashboard.",
    "not warmed": "What the first requests wait for could not be made beforehand; they make it.",
    "storage unavailable": "A request was answered 503: the data or the accounts cannot be read.",
    "fault": "A request, or with `path` a page of the dashboard, was answered 500: a fault of ours. Please report it.",
    "data version unknown": "The store could not be asked for the version that an error's header names.",
    "not written": "When keys were last used, or how much, could not be noted; tried again soon.",
    "usage cannot be written, it waits in memory": "The file of usage cannot be written; what was counted waits for it.",
    "usage is written again": "It can be again, and nothing was lost.",
    "usage was given up": "It could not be written for long; `requests` are in nobody's usage.",
    "a password was refused": "In the dashboard, after it was looked at: `account` where the address is one's. What was typed is never told. `address` is `null` with `ALMANAC_LOG_ADDRESSES=false`.",
    "a letter has no mail server": "No `ALMANAC_SMTP__HOST` is set: hand the link in `text` to the address in `to`.",
    "a letter was not sent": "The mail server refused it or cannot be reached.",
    "a letter was not written": "A letter for somebody who asked in the dashboard could not be made.",
    "a response could not be read": "Of an ingest, as the two that follow: the reader of `source` failed on the response from `url`, which is quarantined. A fault of ours. Please report it.",
    "a response cannot be stored": "What was read of it cannot be stored or derived from: it is quarantined. Please report it.",
    "a source could not be asked": "The worker goes on with the others, and asks it again later. Please report it.",
    "lifespan failed": "A worker could not start or end as it should.",
}


def events() -> str:
    """Every line that the service may write, with its fields, read from the calls that write it; then any other."""
    found: dict[str, tuple[str, set[str]]] = {}
    for path in sorted((ROOT / "src/almanac").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if "structlog.get_logger" not in ast.unparse(tree):
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if not isinstance(call.func, ast.Attribute) or ast.unparse(call.func.value) != "log":
                continue
            event, level = ast.literal_eval(call.args[0]), call.func.attr.replace("exception", "error")
            fields = {"exception" if word.arg == "exc_info" else str(word.arg) for word in call.keywords}
            fields |= {"exception"} if call.func.attr == "exception" else set()
            found[event] = level, found.get(event, ("", set()))[1] | fields
    own = [field.name for field in msgspec.structs.fields(logs.AccessLine)]
    found["request"] = "info", {name for name in own if name not in {"event", "level", "timestamp"}}
    found["a letter has no mail server"] = "warning", {"setting", "to", "subject", "text"}  # handed to `Mail`
    order = {name: number for number, name in enumerate(_EVENTS)}
    rows = [
        (f"`{event}`", level, ", ".join(f"`{name}`" for name in _in_order(fields, own)), _EVENTS[event])
        for event, (level, fields) in sorted(found.items(), key=lambda one: order[one[0]])
    ]
    unused = _EVENTS.keys() - found.keys()
    assert not unused, f"nobody writes {unused}"
    return table(("Event", "Level", "Fields", "Means"), rows)


def _in_order(names: set[str], order: list[str]) -> list[str]:
    return sorted(names, key=lambda name: (order.index(name) if name in order else -1, name))


def alerts() -> str:
    """The alerts that are shipped, as Prometheus has them."""
    told = yaml.safe_load((ROOT / "deploy/prometheus/almanac.rules.yml").read_text("utf-8"))
    rows = [
        (
            f"`{rule['alert']}`",
            f"`{' '.join(rule['expr'].split())}`",
            rule.get("for", "at once"),
            rule["labels"]["severity"],
            re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"`\1`", rule["annotations"]["action"]),
        )
        for group in told["groups"]
        for rule in group["rules"]
    ]
    return table(("Alert", "When", "For", "Severity", "Do"), rows)


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
        context = click.Context(command)
        for part in sorted(command.list_commands(context)):
            inner = command.get_command(context, part)
            assert inner is not None
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
    "events": events,
    "alerts": alerts,
    "layers": layers,
}
