"""GET /observations/changes?since=<data version>: what is served otherwise than then, whatever the reason."""

import pytest

from almanac.domain.periods import Period
from almanac.pipeline.operate.rebuild import rebuild
from almanac.store.engine.data_schema import set_meta
from tests.support.invented_mirror import FREE_FROM, TREASURY_DAYS, treasury_file

from .declared import ENDPOINTS
from .test_pages import URL, arrive, seconds
from .test_rights import NO_CONSENT

PATH = "/observations/changes"
MODES = ["preferred", "all"]


def served(one, sources, **more):
    """Every row served now, raw and derived, by cell and, where every source counts, series; with all 21 fields."""
    raw = [{**row, "derivedFrom": []} for row in one.walk("/observations", limit=500, sources=sources, **more)]
    derived = one.walk("/derived-observations", limit=500, sources=sources, **more)
    return {name(row, sources): row for row in raw + derived}


def name(row, sources):
    cell = (row["indicatorId"], row["entityId"], row["frequency"], row["periodStart"], row["periodEnd"])
    return (*cell, row["metadata"]["seriesId"]) if sources == "all" else cell


def listed(one, since, sources, **more):
    rows = one.walk(PATH, limit=500, since=since, sources=sources, **more)
    found = {name(row, sources): row for row in rows}
    assert len(found) == len(rows)
    return found


def version(one):
    return one.ok("/coverage")["dataVersion"]


@pytest.mark.parametrize("sources", MODES)
def test_since_nothing_is_everything(service, sources):
    """`since=0` lists all that is served, and no withdrawal: nothing was served before the first version."""
    assert listed(service, 0, sources) == served(service, sources)


def test_since_now_is_nothing(service):
    answer = service.get(PATH, since=version(service))
    assert answer.json()["data"] == []
    assert answer.headers["x-data-version"] == str(version(service))


@pytest.mark.parametrize("sources", MODES)
def test_what_arrived_is_listed_and_nothing_else(own, sources):
    """Cells whose served state changed: revised ones, what is computed from them; not what was said once more."""
    before, since = served(own, sources), version(own)
    arrive(own)
    now = served(own, sources)
    changed = {key: row for key, row in now.items() if row != before.get(key)}
    # A day that was withdrawn has come back.
    assert before.keys() < now.keys()
    assert 100 < len(changed) < len(now)
    assert any(row["derivedFrom"] for row in changed.values())
    assert listed(own, since, sources) == changed
    only = {key: row for key, row in changed.items() if row["sourceId"] == "us-treasury-par"}
    day = {
        key: row
        for key, row in only.items()
        if key[0] == "indicator_gov_yield_10y" and row["periodEnd"][:7] == "2026-11"
    }
    assert listed(own, since, sources, source_id="us-treasury-par", indicator="gov_yield_10y", period="2026-11") == day
    assert len(day) > 5


@pytest.mark.parametrize("sources", MODES)
def test_as_of_compares_what_was_known_then(own, sources):
    """With `as_of` the two states are those of that day: only what arrived back-dated makes a difference."""
    query = {"as_of": "2026-06-01"}
    before, since = served(own, sources, **query), version(own)
    arrive(own)
    now = served(own, sources, **query)
    changed = {key: row for key, row in now.items() if row != before.get(key)}
    assert listed(own, since, sources, **query) == changed
    assert {row["periodEnd"][:4] for row in changed.values()} == {"2025"}


def test_a_withdrawn_cell_has_a_row_without_a_value(own):
    """Tombstones included: null, `metadata.withdrawn`, and what was computed from it is withdrawn with it."""
    since = version(own)
    days = [day for day in TREASURY_DAYS if day.year == 2026]
    # Inside the span that the file lists completely.
    gone = days[-3].isoformat()
    before = served(own, "all", period=gone)
    own.ingest("us-treasury-par", URL + "2026", treasury_file([*days[:-3], *days[-2:]]), seconds("2026-11-20T11:00:00"), "application/xml")  # fmt: skip
    now = served(own, "all", period=gone)
    lost = before.keys() - now.keys()
    rows = listed(own, since, "all", period=gone)
    withdrawn = {key: row for key, row in rows.items() if row["metadata"].get("withdrawn")}
    assert withdrawn.keys() == lost
    assert {row["sourceId"] for row in withdrawn.values()} >= {"us-treasury-par"}
    assert any(row["derivedFrom"] for row in withdrawn.values())
    for row in withdrawn.values():
        assert (row["valueNumeric"], row["valueText"]) == (None, None)
        assert row["observedAt"] == "2026-11-20T11:00:00Z"
        states = own.ok(f"/observations/{row['id']}/provenance")["vintages"]
        assert row in states
    # Where another source has the cell, the preferred row is that one's and the cell is not withdrawn.
    left = {name(row, "preferred") for row in now.values()}
    preferred = listed(own, since, "preferred", period=gone)
    assert {key for key, row in preferred.items() if row["metadata"].get("withdrawn")} == {
        name(row, "preferred") for row in before.values()
    } - left


def test_what_left_no_trace_is_listed_as_it_was_without_its_value(own):
    """A cell whose vintages a replay took back altogether: its last id, no value."""
    since = version(own)
    (row,) = own.ok("/observations", indicator="gov_yield_10y", source_id="us-treasury-par", period="2026-11-17")
    with own.world() as world, world.batch("test") as batch:
        series = batch.existing(row["metadata"]["seriesId"])
        batch.replace(series, {Period.parse("2026-11-17").key: []})
    (found,) = listed(own, since, "all", source_id="us-treasury-par").values()
    metadata = {**row["metadata"], "withdrawn": True}
    assert found == {**row, "valueNumeric": None, "derivedFrom": [], "metadata": metadata}
    assert own.ok(f"/observations/{found['id']}/provenance")["observation"]["id"] == row["id"]


@pytest.mark.parametrize("sources", MODES)
def test_a_change_of_rights_lists_all_cells_of_its_topics(own, sources):
    """FRED's consent is withdrawn: its cells, what is computed from them, and those it has together with others."""
    since, before = version(own), served(own, sources)
    with own.world(**NO_CONSENT):
        pass
    now = served(own, sources)
    every = served(own, "all").values()
    fred = {row["metadata"]["seriesId"] for row in every if row["sourceId"] == "fred"}
    while True:
        more = fred | {row["metadata"]["seriesId"] for row in every if fred & set(row["derivedFrom"])}
        if more == fred:
            break
        fred = more
    topics = {name(row, "preferred")[:3] for row in every if row["metadata"]["seriesId"] in fred}
    concerned = {key: row for key, row in now.items() if key[:3] in topics}
    assert listed(own, since, sources) == concerned
    assert {key for key in now if now[key] != before[key]} <= concerned.keys()
    assert 0 < len(concerned) < len(now)
    withheld = [row for row in concerned.values() if row["rights"]["valueWithheld"]]
    assert len(withheld) > 50
    assert {row["valueNumeric"] for row in withheld} == {None}


@pytest.mark.parametrize("sources", MODES)
def test_a_change_of_order_lists_all_cells_of_its_topics(own, sources):
    since = version(own)
    with own.world() as world, world.batch("test") as batch:
        row = ("gov_yield_10y", batch.version, '["fred", "us-treasury-par"]')
        world.db.execute(
            "INSERT INTO preference VALUES(?, ?, ?) ON CONFLICT(indicator, from_version) DO UPDATE SET sources = excluded.sources",
            row,
        )
        set_meta(world.db, "reference", str(batch.version))
        batch.touch()
    rows = listed(own, since, sources)
    assert rows == served(own, sources, indicator="gov_yield_10y")
    assert {row["entityId"] for row in rows.values()} == {"country_usa", "country_jpn"}


@pytest.mark.parametrize("sources", MODES)
def test_a_rebuild_lists_everything_and_every_withdrawal(own, sources):
    """What was served before a rebuild is not known after it; so all is listed, what is withdrawn too."""
    since = version(own)
    with own.world() as world:
        rebuild(world, lambda _: None)
    after = version(own)
    now = served(own, sources)
    rows = listed(own, since, sources)
    withdrawn = {key for key, row in rows.items() if row["metadata"].get("withdrawn")}
    assert {key: row for key, row in rows.items() if key not in withdrawn} == now
    states = {name(row, sources) for row in own.walk("/observations/vintages", limit=500, sources=sources)}
    assert withdrawn == states - now.keys()
    assert withdrawn
    assert listed(own, after, sources) == {}
    assert listed(own, 0, sources) == now


@pytest.mark.parametrize(
    ("given", "reason", "says"),
    [
        ({}, "required", "'since' is required"),
        ({"since": ""}, "empty", "'since' must not be empty"),
        ({"since": "-1"}, "type", "'since' must be a whole number of at least 0 in plain digits, not '-1'"),
        ({"since": "1e2"}, "type", "'since' must be a whole number of at least 0 in plain digits, not '1e2'"),
        ({"since": "2026-11-01"}, "type", "'since' must be a whole number of at least 0 in plain digits, not '2026-11-01'"),
        ({"since": "9" * 30}, "range", f"'since' must be a whole number of at least 0, not '{'9' * 30}'"),
    ],
)  # fmt: skip
def test_since_must_be_a_data_version(service, given, reason, says):
    error = service.error(PATH, 400, **given)
    assert error["message"] == says
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("since", reason)


def test_since_must_not_be_ahead(service):
    """Greater than the present version: 400 that names it and says what is allowed."""
    newest = version(service)
    error = service.error(PATH, 400, since=newest + 1)
    assert error["message"] == f"'since' must be a data version up to the present one, {newest}, not {newest + 1}"
    assert error["details"] == {"parameter": "since", "reason": "range", "allowed": {"minimum": 0, "maximum": newest}}


def test_the_plan_bounds_it(service):
    """History bounds every way to old data."""
    full = listed(service, 0, "all")
    inside = {key: row for key, row in full.items() if row["periodEnd"][:10] >= FREE_FROM}
    assert 0 < len(inside) < len(full)
    rows = service.walk(PATH, "free", limit=500, since=0, sources="all")
    assert {name(row, "all"): row for row in rows} == inside


def test_it_takes_the_filters_of_observations_and_runs_in_a_thread():
    changes, vintages = ENDPOINTS[PATH], ENDPOINTS["/observations/vintages"]
    assert set(changes.by_name) == {"since", *vintages.by_name} - {"sort"}
    assert changes.cost == "heavy"
