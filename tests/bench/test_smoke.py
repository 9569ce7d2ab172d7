"""The whole of the comparison once, on a small store and for a moment: that it runs, and compares what it says."""

import json

import pytest

from bench import data
from bench.contenders import FLOOR, almanac_target, contenders
from bench.load import LoadError
from bench.rounds import run


def test_a_folder_that_no_measurement_made_is_left_alone(tmp_path):
    home = tmp_path / "home-100"
    home.mkdir()
    (home / "mine").touch()
    with pytest.raises(RuntimeError, match="left alone"):
        data.prepare(tmp_path, 100, lambda _: None)
    assert [path.name for path in home.iterdir()] == ["mine"]


@pytest.mark.slow
def test_a_small_run(made, tmp_path):
    home, key = data.prepare(made, 1, lambda _: None)
    as_of = data.year_ago(1_790_000_000)
    pages = data.pages(home, as_of)
    assert len({almanac_target(page) for page in pages}) == len(pages) > 1_000
    revised = data.revised(home, as_of, lambda _: None)
    with contenders(home, key, pages[:50], as_of, None, None, revised, lambda _: None) as every:
        names = [one.name for one in every]
        assert names[0] == f"{FLOOR} bytes from memory"
        assert len(names) == 7
        for one in every:
            port = one.server.port
            found, place = run(one, home, seconds=0.2, connections=4, first=3, cpu=None)
            assert place == 3 + len(found.latencies) > 7
            if one.status == 304:
                assert found.size < 1_500
                continue
            assert found.size > 50_000
            answer = json.loads(data.fetch(port, one.targets[len(one.targets) // 2], one.headers))
            assert len(answer["data"]) == data.ROWS
        then, since = (next(one for one in every if one.name.endswith(name)) for name in ("year ago", "revised since"))
        assert then.targets == since.targets
        for target in then.targets[:10]:
            rows = [json.loads(data.fetch(one.server.port, target, one.headers))["data"] for one in (then, since)]
            assert [row["valueNumeric"] for row in rows[0]] == [row["valueNumeric"] for row in rows[1]]
            now = json.loads(data.fetch(since.server.port, target.partition("&as_of")[0], since.headers))["data"]
            assert len({row["id"] for row in now} & {row["id"] for row in rows[1]}) in range(20, 80)
        ours = next(one for one in every if one.name.startswith("Almanac"))
        keyless = ours._replace(headers={})
        with pytest.raises(LoadError, match="401"):
            run(keyless, home, seconds=0.2, connections=1, first=0, cpu=None)
        # The wide table that peers are given holds the rows as the interface says them.
        rows = next(data.walk(ours.server.port, key))
        assert data.wide_table(tmp_path / "wide.db", iter([rows])) == 500
