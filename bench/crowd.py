"""A crowded service: the effect of 100,000 keys and millions of counters on its pages and on the interface's rate."""

from __future__ import annotations

import contextlib
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from almanac.config import load as read_settings
from almanac.store.accounts.accounts import Accounts
from bench import data, usage
from bench.contenders import Contender, almanac_target
from bench.looks import Client, looks, share
from bench.report import Round
from bench.servers import interface

#: Pages about keys, usage and accounts, and how often each is requested.
PAGES = ("/keys", "/usage", "/usage?by=key", "/usage?by=endpoint", "/usage?by=status", "/account", "/operate",
         "/operate/plans", "/operate/accounts", "/operate/accounts?email=person-99")  # fmt: skip
_LOOKS = 20
_ROUNDS, _SECONDS = 9, 2.0


def prepare(folder: Path, home: Path, say: Callable[[str], None]) -> tuple[Path, dict[str, str], str]:
    """
    Create a second home over the same data, with many accounts, keys and counters; only the counters are reused.

    Returns the home, its settings and a key. The account that looks at pages has half of all requests.
    """
    counters = usage.prepare(folder, say)
    crowd = folder / "crowd"
    if crowd.exists():
        shutil.rmtree(crowd)
    crowd.mkdir(mode=0o700)
    environment = {**data.environment(crowd), "ALMANAC_DATABASE_URL": f"sqlite:///{home / 'data.db'}"}
    given = {name: value for name, value in environment.items() if name.startswith("ALMANAC_")}
    settings = read_settings(given)
    shutil.copyfile(counters, settings.usage_path)
    accounts = Accounts(settings.accounts_path, settings.secret)
    say(f"making {usage.ACCOUNTS:,} accounts and {usage.KEYS:,} keys")
    with contextlib.closing(accounts), accounts.changing() as db:
        accounts.create_account(data.EMAIL, data.PLAN, settings.plans, now=1)
        for number in range(1, usage.ACCOUNTS):
            accounts.create_account(f"person-{number}@example.org", data.PLAN, settings.plans, now=1)
        emails = [one.email for one in accounts.list_accounts()]
        text = ""
        for number in range(usage.KEYS):
            # The first account has fifty, the others share the rest, as the counters have it.
            owner = 0 if number < usage.OWN_KEYS else (number - usage.OWN_KEYS) % usage.ACCOUNTS or 1
            text, info = accounts.create_key(emails[owner], name=f"key {number}", now=1)
            db.execute("UPDATE api_key SET prefix = ? WHERE id = ?", (f"alm_{number:08}", info.id))
        text, _ = accounts.create_key(data.EMAIL, name="asks", now=1)
        owner_id = accounts.account(data.EMAIL).id
    with contextlib.closing(apsw.Connection(str(settings.usage_path))) as file:
        file.execute("UPDATE name SET name = ? WHERE name = ?", (owner_id, usage.account_name(0)))
    return crowd, environment, text


def measure(
    folder: Path, home: Path, key: str, say: Callable[[str], None], load: Callable[..., tuple[Round, int]]
) -> str:
    """
    Measure a crowded service. Returns two tables: its pages, and its interface's rate compared with a service with a
    single key.
    """
    crowd, environment, own = prepare(folder, home, say)
    with contextlib.closing(Client(environment, own)) as client:
        looked = looks(client, {page: [page] * _LOOKS for page in PAGES}, say)
    found = {page: [one.seconds * 1000 for one in each] for page, each in looked.items()}
    lines = [
        f"| pages with {usage.KEYS:,} keys and {usage.COUNTERS:,} counters | median ms | 95th percentile ms |",
        "| --- | --: | --: |",
        *(f"| `{page}` | {statistics.median(times):.1f} | {share(times, 0.95):.1f} |" for page, times in found.items()),
        "",
        *_rates(home, key, crowd, environment, own, say, load),
    ]
    return "\n".join(lines)


def _rates(
    home: Path, key: str, crowd: Path, environment: dict[str, str], own: str, say: Callable[[str], None],
    load: Callable[..., tuple[Round, int]],
) -> list[str]:  # fmt: skip
    """Compare answers per second of CPU of both services, in turns."""
    pages = data.pages(home, data.year_ago(int(time.time())))[:5_000]
    targets = [almanac_target(page) for page in pages]
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        both = [
            Contender(name, stack.enter_context(interface(name, settings, logs, None)), targets, {"x-api-key": text})
            for name, settings, text in (("single", data.environment(home), key), ("crowd", environment, own))
        ]
        ratios, first = [], 0
        for number in range(_ROUNDS + 1):
            say(f"round {number} of {_ROUNDS}")
            each = []
            for one in both if number % 2 else reversed(both):
                made, _ = load(one, crowd, seconds=_SECONDS, connections=8, first=first, cpu=None)
                each.append((one.name, made.server_cpu or 1e6 / made.rate))
            first += 200
            times = dict(each)
            if number:
                ratios.append(times["single"] / times["crowd"])
    ratios.sort()
    return [
        "| pages of the interface, answers per second of CPU | of a service with one key |",
        "| --- | --: |",
        f"| {usage.KEYS:,} keys, {usage.COUNTERS:,} counters | {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) |",
    ]
