"""The tokens in `app.css`: readable in both themes, and told apart by every eye."""

import re

import pytest

from .colours import (
    CSS,
    DARK_BY_CHOICE,
    DARK_BY_MEDIA,
    LIGHT,
    SIGHTS,
    THEMES,
    contrast,
    declarations,
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


def test_colours_are_named_once():
    """No colour stands in a rule: what is not a token has no dark twin and no test."""
    rules = CSS[CSS.index("/* The page */") :]
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", rules) == []
    used = set(re.findall(r"var\((--[\w-]+)", CSS))
    told = set(re.findall(r"(--[\w-]+):", CSS))
    assert used - told == set()
    assert told - used - {"--s8"} == set()
