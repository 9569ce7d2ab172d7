"""
One book: the lines of every statement are the derived observations of the same items, at any moment of knowledge.

What is left over are lone lines, of periods whose statement has no line of its own kind (assets, net income, operating flow)
and so is none: those stay observations.

Statements are kept as they are served, observations row by row, both written from one derivation. Here the two are read
from the store by two plain statements each, and nothing of the code that serves them.
"""

import gzip
import json
import random
from collections import defaultdict
from zlib import crc32

import pytest

from almanac.catalog.companies import items
from almanac.domain.companies import company_id
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.store.companies.statements import unpack
from almanac.store.engine.sqlite import OPEN
from tests.support.service import settings

from .company_files import FOLDER, whole_companies
from .files import REAL

pytestmark = REAL
KINDS = {"income": 0, "balance": 1, "cash_flow": 2}
# What a statement of each kind has, or is none.
BEARING = {0: "net_income", 1: "total_assets", 2: "net_cash_flow_from_operations"}
EVER = 1 << 62


def bodies(cik):
    """Submissions, where they are here, and facts of a company as they come from the regulator."""
    for folder, address in (("submissions", "submissions"), ("companyfacts", "api/xbrl/companyfacts")):
        for path in sorted((FOLDER / folder).glob(f"CIK{cik:010d}.json*")):
            data = path.read_bytes()
            body = gzip.decompress(data) if path.suffix == ".gz" else data
            yield Arrival(f"https://data.sec.gov/{address}/CIK{cik:010d}.json", body, "application/json", None)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with PipelineContext(settings(tmp_path_factory.mktemp("book") / "home", NOW="2026-11-20T12:00:00Z")) as opened:
        run = Ingest(opened, opened.catalog.sources["sec"], lambda _: None)
        outcome = run.run([arrival for cik in whole_companies() for arrival in bodies(cik)])
        assert (outcome.quarantined, outcome.failed) == ({}, {})
        yield opened


def histories(rows):
    """(key, moment, state) → key → states, ascending by moment."""
    found = defaultdict(list)
    for *key, moment, state in rows:
        found[tuple(key)].append((moment, state))
    return found


def as_of(history, moment):
    """The last state known by a moment."""
    return next((state for known, state in reversed(history) if known <= moment), None)


@pytest.mark.parametrize("cik", whole_companies())
def test_statements_and_observations_say_the_same(world, cik):
    """All statements, now and at 20 moments chosen at random: no line more, none less but lone ones, and the same numbers."""
    entity, served = company_id(cik), {key: KINDS[item.statement] for key, item in items().items() if item.served}
    statements = histories(
        world.db.execute(
            "SELECT kind, frequency, period, known_at, body FROM statement WHERE entity = ? AND to_version = ? ORDER BY known_at",
            (entity, OPEN),
        )
    )
    values = histories(
        world.db.execute(
            "SELECT t.indicator, t.frequency, v.period, v.known_at, v.value FROM vintages v JOIN topic t USING(topic)"
            " WHERE t.entity = ? AND t.kind = 'derived' AND v.to_version = ? ORDER BY v.known_at",
            (entity, OPEN),
        )
    )
    values = {key: history for key, history in values.items() if key[0] in served}
    known = sorted({moment for of in (statements, values) for history in of.values() for moment, _ in history})
    chosen = random.Random(crc32(entity.encode())).sample(known, min(20, len(known)))
    compared = 0
    for moment in (*chosen, EVER):
        told = {}
        for (kind, frequency, period), history in statements.items():
            if body := as_of(history, moment):
                statement = json.loads(unpack(body))
                told |= {(kind, frequency, period, key): float(value) for key, value in statement["items"].items()}
        stored = {
            (served[item], frequency, period, item): value
            for (item, frequency, period), history in values.items()
            if (value := as_of(history, moment)) is not None
        }
        shown = {key[:3] for key in told}
        assert told == {key: value for key, value in stored.items() if key[:3] in shown}
        assert all(item != BEARING[kind] for kind, *_, item in stored.keys() - told.keys())
        compared += len(told)
    assert compared > 2_000


def test_a_share_count_in_millions_makes_no_earnings_per_share(world):
    """McDonald's tags 714 average shares, of 714 million; a quarter's earnings over these are no earnings per share."""
    sql = (
        "SELECT max(abs(v.value)), count(*) FROM vintages v JOIN topic t USING(topic) WHERE t.entity = ? AND t.kind = 'derived'"
        " AND t.indicator IN ('earnings_per_share_basic', 'earnings_per_share_diluted', 'earnings_per_share_diluted_ttm')"
    )
    largest, rows = world.db.execute(sql, (company_id(63908),)).fetchone()
    assert rows > 200
    assert 10 < largest < 15  # 11.95 in 2025


def test_inventory_of_a_company_that_tags_finished_goods(world):
    """Nike's 7,487 million on 28 February 2026, in 10-Q of April 2026."""
    sql = (
        "SELECT v.value FROM vintages v JOIN topic t USING(topic) WHERE t.entity = ? AND t.indicator = 'inventory'"
        " AND t.frequency = 'Q' AND v.to_version = ? ORDER BY v.period DESC, v.known_at DESC LIMIT 1"
    )
    assert world.db.execute(sql, (company_id(320187), OPEN)).get == 7_487_000_000
