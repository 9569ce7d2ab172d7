"""Every command that a page shows can be given; those that need no network, no terminal and no minute are run."""

import re

import click
import pytest
from click.testing import CliRunner

from almanac.__main__ import main

from .render import ROOT, pages
from .shown import commands

#: Commands that are only checked to be well-formed, by their first words, and why.
NOT_RUN = {
    "make": "its targets are looked up in the Makefile",
    "curl": "its path is looked up among the endpoints",
    "export": "its name is looked up among the settings by the commands that follow it",
    "almanac serve": "listens until it is stopped",
    "almanac ingest": "asks a publisher, or reads a folder of its responses",
    "almanac worker": "asks publishers until it is stopped",
}
TARGETS = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
SHOWN = commands()


def split(words):
    """Settings before a command, and the command."""
    settings = {}
    while "=" in words[0]:
        name, _, value = words[0].partition("=")
        settings[name] = value
        words = words[1:]
    return settings, words


def reason(words):
    return next((why for start, why in NOT_RUN.items() if words[: len(start.split())] == start.split()), None)


@pytest.mark.parametrize(
    ("page", "words"), SHOWN, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_shown_command_is_well_formed(page, words):
    _, words = split(words)
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS
    elif words[0] == "almanac" and reason(words) is not None:
        command, rest = main, words[1:]
        while isinstance(command, click.Group):
            assert rest[0] in command.commands, f"{page}: almanac has no command {rest[0]}"
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context(words[1], list(rest))
    else:
        assert words[0] in {"almanac", "curl", "export"}


@pytest.mark.parametrize("page", sorted({page for page, _ in SHOWN}))
def test_the_commands_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, words in SHOWN:
        settings, words = split(words)
        if name != page:
            continue
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            monkeypatch.setenv(name, value)
        if reason(words) is None:
            done = CliRunner().invoke(main, words[1:], env=settings)
            assert done.exit_code == 0, f"{' '.join(words)}: {done.output}"


def test_every_reason_is_needed_and_most_commands_run():
    used = {start for start in NOT_RUN for _, words in SHOWN if split(words)[1][: len(start.split())] == start.split()}
    assert used == set(NOT_RUN)
    assert sum(reason(split(words)[1]) is None for _, words in SHOWN) >= 8


def test_every_command_is_on_the_page_for_operators():
    text = (ROOT / "docs/operations.md").read_text("utf-8")
    assert set(main.commands) <= set(re.findall(r"(?m)^### almanac (\w+)", text))
    assert all(page.exists() for page in pages())
