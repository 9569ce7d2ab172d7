"""
Two stores that differ in nothing but the values that may not be shown.

The first is the invented world and a small company, taken in from their publishers' formats. The second is the same with
other numbers in every response of FRED and of the company's filings: of FRED each series stands on its head, so that what
was the largest is the least and what rose falls; of the company all is twice as much, so that its accounts still add up.
Then consent of FRED is taken back and the source of filings is shut, in both.
"""

import csv
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.watchlist import Watchlist
from almanac.store.engine.data_schema import set_meta
from tests.contract import filed
from tests.contract.test_rights import NO_CONSENT
from tests.support import filed_company, invented_mirror
from tests.support.service import REAL_NOW, build, settings

WHY = "An invented reason."
SPREAD = "fred:country_usa:high_yield_spread:D"


def build_both(folder: Path) -> None:
    """Make the homes `one` and `other`, with the very same accounts."""
    for name in ("one", "other"):
        # Numbers of runs and of the store are drawn by chance: the same chance for both.
        with patch("secrets.token_hex", _chance(1)):
            _build(folder / name, other=name == "other")
    _watch(folder / "one")
    shutil.copy(settings(folder / "one").home / "accounts.db", settings(folder / "other").home / "accounts.db")
    shutil.copy(folder / "one" / "keys", folder / "other" / "keys")


def _chance(seed: int) -> Callable[[int], str]:
    chance = random.Random(seed)
    return lambda size: chance.randbytes(size).hex()


def _build(home: Path, *, other: bool) -> None:
    mirror = invented_mirror.write(home.parent / f"{home.name}-mirror")
    if other:
        _upside_down(mirror)
    build(home, mirror)
    facts = filed_company.facts()
    with PipelineContext(settings(home)) as world:
        run = Ingest(world, world.catalog.sources["sec"], lambda _: None)
        bodies = (
            (filed_company.INDEX_URL, filed_company.index()),
            (filed_company.FACTS_URL, _doubled(facts) if other else facts),
        )
        outcome = run.run([Arrival(url, body, "application/json", None) for url, body in bodies])
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (2, {}, {})
    filed.add(settings(home).home / "data.db")
    shut(home)


def shut(home: Path) -> None:
    """Take back the consent of FRED, and let nothing of the source of filings be passed on."""
    _rights_of_filings(home, NO_CONSENT, exposure=2, reason=WHY, derivativesAllowed=False)


def opened(home: Path) -> None:
    """Give both back."""
    _rights_of_filings(home, {}, exposure=0, reason=None, derivativesAllowed=True)


def _rights_of_filings(home: Path, more: dict[str, str], **rights: Any) -> None:
    with PipelineContext(settings(home, **more)) as world, world.batch("test") as batch:
        batch.touch()
        body = world.db.execute("SELECT body FROM record WHERE kind = 'source' AND id = 'sec'").get
        told = msgspec.json.decode(body)
        told["rights"] |= rights
        world.db.execute("UPDATE record SET body = ? WHERE kind = 'source' AND id = 'sec'", (json.dumps(told),))
        set_meta(world.db, "reference", str(batch.version))


def _upside_down(mirror: Path) -> None:
    """Write other values into all responses of FRED: those of a series about its own middle, and a little more."""
    with (mirror / "mirror.csv").open(newline="") as listing:
        files = [row["file"] for row in csv.DictReader(listing) if row["url"].startswith(invented_mirror.FRED)]
    assert len(files) > 5
    for file in files:
        body = json.loads((mirror / file).read_bytes())
        values = [float(row["value"]) for row in body["observations"]]
        around = min(values) + max(values) + 0.25
        for row in body["observations"]:
            row["value"] = str(round(around - float(row["value"]), 3))
        (mirror / file).write_bytes(json.dumps(body).encode())


def _doubled(facts: bytes) -> bytes:
    body = json.loads(facts)
    rows: list[dict[str, Any]] = [
        row
        for tags in body["facts"].values()
        for tag in tags.values()
        for unit in tag["units"].values()
        for row in unit
    ]
    for row in rows:
        row["val"] *= 2
    return json.dumps(body).encode()


def _watch(home: Path) -> None:
    """Have somebody watch what is withheld."""
    accounts = Accounts(settings(home).home / "accounts.db")
    lists, account = Watchlist(accounts), accounts.account("pro@example.org").id
    for kind, what in (
        ("series", SPREAD),
        ("series", "fred:country_usa:misery_index:M"),
        ("indicator", "unemployment_rate"),
        ("company", filed_company.ENTITY),
    ):
        lists.watch(account, kind, what, now=REAL_NOW)
    accounts.close()
