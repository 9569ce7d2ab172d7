"""The map: what its outlines are made of, and that every country with a reading is on it or is named as not."""

import json
import re

import pytest

from almanac.dashboard.drawing.world import SOURCE, MapPlace, classes, outlines, without_outline, world_map
from tests.support import make_outlines
from tests.support.paths import REAL_DATA

WORLD = REAL_DATA / "geometry" / "ne_110m_admin_0_countries.json"


@pytest.mark.skipif(not WORLD.is_file(), reason="Natural Earth's file is not beside the repository")
def test_the_outlines_are_what_the_script_makes_of_the_file_it_names():
    made = make_outlines.written(make_outlines.made(json.loads(WORLD.read_text())))
    shipped = (make_outlines.Path(make_outlines.outlines.__file__)).with_suffix(".json").read_text()
    assert shipped == made
    assert len(made.encode()) < 60_000


def test_every_path_begins_on_the_map_and_none_leaves_it():
    world = outlines()
    assert world.source == SOURCE
    assert len(world.paths) > 150
    for code, path in world.paths.items():
        assert re.fullmatch("[A-Z]{3}", code)
        for ring in path.split("z")[:-1]:
            start, steps = re.fullmatch(r"M(-?\d+ -?\d+)l([-\d ]+)", ring).groups()
            x, y = map(int, start.split())
            numbers = list(map(int, re.findall(r"-?\d+", steps)))
            places = [(x, y)]
            for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
                x, y = x + dx, y + dy
                places.append((x, y))
            assert all(-1 <= a <= world.width + 1 and -1 <= b <= world.height + 1 for a, b in places), code


def test_neighbours_share_the_points_of_their_border():
    def corners(code):
        found = set()
        for ring in outlines().paths[code].split("z")[:-1]:
            x, y = map(int, ring[1 : ring.index("l")].split())
            numbers = list(map(int, re.findall(r"-?\d+", ring[ring.index("l") :])))
            found.add((x, y))
            for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
                x, y = x + dx, y + dy
                found.add((x, y))
        return found

    assert len(corners("FRA") & corners("ESP")) > 3
    assert len(corners("BRA") & corners("BOL")) > 5


def test_the_projection_is_equal_earth():
    # Corners and the north pole of the published table of its reference implementation (proj: +proj=eqearth, radius 1).
    assert make_outlines.equal_earth(0, 0) == (0, 0)
    assert make_outlines.equal_earth(180, 0)[0] == pytest.approx(2.7066299836, abs=1e-9)
    assert make_outlines.equal_earth(0, 90)[1] == pytest.approx(1.3173627591, abs=1e-9)


def test_classes_are_fifths_by_rank_and_equals_stay_together():
    assert classes([10, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == [5, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert classes([1.0, 1.0, 1.0, 1.0, 2.0]) == [1, 1, 1, 1, 5]
    assert classes([3.0]) == [1]


def test_a_country_is_drawn_once_with_its_words_escaped():
    drawn = world_map(
        {"FRA": MapPlace("q3", "France <1> & more", "/series/x?a=1&b=2"), "MLT": MapPlace("q1", "Malta", "/m")}
    )
    assert drawn.count("<a ") == 1
    assert 'class="q3"' in drawn
    assert "France &lt;1&gt; &amp; more" in drawn
    assert 'href="/series/x?a=1&amp;b=2"' in drawn
    assert outlines().paths["FRA"] not in drawn.partition("<a ")[0]
    assert world_map({"MLT": MapPlace("q1", "Malta", "/m")}) == ""
    assert without_outline({"FRA": "France", "MLT": "Malta"}) == ["Malta"]
