"""The tokens in `app.css`: readable in both themes, and told apart by every eye."""

import re
from itertools import combinations, pairwise

import pytest

from .colours import (
    CSS,
    DARK_BY_CHOICE,
    DARK_BY_MEDIA,
    LIGHT,
    SIGHTS,
    THEMES,
    ciede2000,
    cielab,
    contrast,
    declarations,
    linear,
    mixed,
    smallest_distance,
    tokens,
)

GROUNDS = ("--paper", "--surface", "--sunken", "--code")
WORDS = (
    "--ink",
    "--ink-2",
    "--ink-3",
    "--accent",
    "--accent-strong",
    "--good",
    "--warn",
    "--bad",
    "--revised",
    "--withheld",
)
SOFT = ("accent", "good", "warn", "bad", "revised", "withheld")
LINES = [f"--c{number}" for number in range(1, 8)]
themes = pytest.mark.parametrize("theme", ["light", "dark"])


def ratios(theme, pairs):
    return {pair: round(contrast(THEMES[theme][pair[0]], THEMES[theme][pair[1]]), 2) for pair in pairs}


def test_contrast_is_the_known_one():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_both_dark_blocks_are_equal_and_leave_no_colour_light():
    assert declarations(DARK_BY_MEDIA) == declarations(DARK_BY_CHOICE)
    assert tokens(DARK_BY_MEDIA).keys() == LIGHT.keys()
    assert len(LIGHT) > 30
    assert declarations(DARK_BY_MEDIA)["color-scheme"] == "dark"


def test_paper_always_prints_light():
    before = CSS[: CSS.index(DARK_BY_CHOICE)]
    assert before.rstrip().endswith("@media screen {")
    assert "@media screen and (prefers-color-scheme: dark) {" in before


@themes
def test_words_are_readable_on_every_ground(theme):
    found = ratios(theme, [(word, ground) for word in WORDS for ground in GROUNDS])
    assert {pair: ratio for pair, ratio in found.items() if ratio < 4.8} == {}


@themes
def test_words_are_readable_on_their_own_soft_ground(theme):
    pairs = [(f"--{name}", f"--{name}-soft") for name in SOFT]
    pairs += [("--ink", f"--{name}-soft") for name in SOFT] + [("--ink-2", f"--{name}-soft") for name in SOFT]
    pairs += [("--on-accent", "--accent"), ("--on-accent", "--accent-strong")]
    assert {pair: ratio for pair, ratio in ratios(theme, pairs).items() if ratio < 4.8} == {}


@themes
def test_borders_of_controls_axes_and_ghosts_are_seen(theme):
    found = ratios(theme, [(name, ground) for name in ("--line-strong", "--axis", "--ghost") for ground in GROUNDS[:3]])
    assert {pair: ratio for pair, ratio in found.items() if ratio < 3} == {}


@themes
def test_every_rule_that_sets_words_and_their_ground_is_readable(theme):
    # A later rule of a component cannot sneak a pair in that is not in the lists above.
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", CSS)
    pairs = {}
    for selector, inside in rules:
        ground = re.search(r"background: var\((--[\w-]+)\)", inside)
        word = re.search(r"(?:^|[ ;])color: var\((--[\w-]+)\)", inside)
        if ground and word:
            pairs[selector.strip()] = (word[1], ground[1])
    assert len(pairs) > 10
    found = ratios(theme, set(pairs.values()))
    assert {selector: pair for selector, pair in pairs.items() if found[pair] < 4.5} == {}


@pytest.mark.parametrize(("theme", "least"), [("light", 3.05), ("dark", 4.0)])
def test_lines_of_charts_stand_out_from_the_ground(theme, least):
    found = ratios(theme, [(line, ground) for line in LINES for ground in ("--paper", "--surface")])
    assert {pair: ratio for pair, ratio in found.items() if ratio < least} == {}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize(("theme", "least"), [("light", 10.75), ("dark", 11.95)])
def test_lines_of_charts_differ_for_every_eye(theme, least, sight):
    assert smallest_distance([THEMES[theme][line] for line in LINES], sight) >= least


# -- by CIEDE2000 ---------------------------------------------------------------------------------------------------------
#
# About 2.3 is a difference that is just noticed where two large fields touch. A stroke of two pixels and a legend's sign far
# from it want several times as much: 10, at which colours have different names to most people, and even there each line has its
# name at its end, and from four lines on a dash. Areas are large and their order is told by lightness too: 7.5.

STROKES, AREAS = 10, 7.5


def shares(name, of):
    """Shares in percent of the classes of a scale, as the style has them."""
    return [float(share) for share in re.findall(rf"^\.{name} \{{ --{of}: (\d+)%; \}}$", CSS, re.MULTILINE)]


def scale_of_map(theme):
    """Light of the five classes of the map, the lowest first."""
    (rule,) = re.findall(
        r"^\.q1, .* \{ fill: color-mix\(in oklab, var\((--\w+)\) var\(--of\), var\((--\w+)\)\); \}$", CSS, re.MULTILINE
    )
    found = shares("q[1-5]", "of")
    assert len(found) == 5
    return [mixed(THEMES[theme][rule[0]], THEMES[theme][rule[1]], share) for share in found]


def scale_of_heat(theme):
    """Light of the five classes of the map of numbers, the lowest first: the middle is the ground."""
    ends = dict(re.findall(r"^\.(p\d), \.p\d \{ --of: var\((--[\w-]+)\); \}$", CSS, re.MULTILINE))
    far, near = shares("p1", "at"), shares("p2, .p4", "at")
    assert (len(far), len(near), set(ends)) == (1, 1, {"p1", "p4"})
    colours = THEMES[theme]
    low, high, ground = colours[ends["p1"]], colours[ends["p4"]], colours["--surface"]
    steps = [(low, far[0]), (low, near[0]), (ground, 100), (high, near[0]), (high, far[0])]
    return [mixed(colour, ground, share) for colour, share in steps]


def test_the_difference_is_the_known_one():
    """Pairs of the paper that goes with the formula."""
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
        ((50, 0, 0), (50, -1, 2), 2.3669), ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644), ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ]  # fmt: skip
    assert [round(ciede2000(one, other), 4) for one, other, _ in pairs] == [wanted for *_, wanted in pairs]
    assert [round(part, 2) for part in cielab(linear("#ff0000"))] == [53.24, 80.09, 67.2]
    assert mixed("#ff0000", "#0000ff", 100) == pytest.approx([1, 0, 0], abs=1e-5)


@themes
@pytest.mark.parametrize("sight", SIGHTS)
def test_any_two_lines_are_told_apart_by_every_eye(theme, sight):
    seen = {line: cielab(linear(THEMES[theme][line]), sight) for line in LINES}
    found = {(one, other): round(ciede2000(seen[one], seen[other]), 1) for one, other in combinations(LINES, 2)}
    assert {pair: difference for pair, difference in found.items() if difference < STROKES} == {}


@themes
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("scale", [scale_of_map, scale_of_heat])
def test_neighbouring_classes_are_told_apart_by_every_eye(theme, sight, scale):
    seen = [cielab(light, sight) for light in scale(theme)]
    assert [round(ciede2000(*pair), 1) for pair in pairwise(seen) if ciede2000(*pair) < AREAS] == []
    if scale is scale_of_heat:
        # Its two ends are of two hues: they, and what lies next to the middle, are no less apart than neighbours are.
        assert min(ciede2000(seen[0], seen[4]), ciede2000(seen[1], seen[3])) >= AREAS
    else:
        # In order of lightness, the lowest nearest to the ground: without any hue the order stays.
        order = [light for light, *_ in seen]
        assert order == sorted(order, reverse=theme == "light")


@themes
@pytest.mark.parametrize("sight", SIGHTS)
def test_on_the_map_what_has_no_number_is_told_apart_by_every_eye(theme, sight):
    """Stale and withheld differ from each other and from every class; from land without data by an outline as well, one of them broken."""
    colours = THEMES[theme]
    stale, withheld = (cielab(linear(colours[name]), sight) for name in ("--warn-soft", "--withheld-soft"))
    classes = [cielab(light, sight) for light in scale_of_map(theme)]
    assert ciede2000(stale, withheld) >= AREAS
    assert min(ciede2000(one, other) for one in (stale, withheld) for other in classes) >= AREAS
    rules = {name: re.search(rf"^\.world \.{name}, .*$", CSS, re.MULTILINE)[0] for name in ("old", "withheld")}
    for name, outline, ground in (("old", "--warn", "--warn-soft"), ("withheld", "--withheld", "--withheld-soft")):
        assert f"fill: var({ground}); stroke: var({outline});" in rules[name]
        assert contrast(colours[outline], colours[ground]) >= 3
    assert ["stroke-dasharray" in rules[name] for name in ("old", "withheld")] == [False, True]


def test_colours_are_named_once():
    """No colour stands in a rule: what is not a token has no dark twin and no test."""
    rules = CSS[CSS.index("/* The page */") :]
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", rules) == []
    used = set(re.findall(r"var\((--[\w-]+)", CSS))
    told = set(re.findall(r"(--[\w-]+):", CSS))
    assert used - told == set()
    assert told - used - {"--s8"} == set()
