"""Every command that a page shows can be given: it is run, or it is named why not."""

import re

import click
import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from tools.docs.render import ROOT, pages

from .machine import Machine
from .session import commands

#: Commands of Almanac that are only checked to be well-formed, by their first words, and why.
NOT_RUN = {
    "almanac serve": "listens until it is stopped",
    "almanac distribute": "needs machines with Citus",
    "almanac ingest": "asks a publisher, or reads a folder of its responses",
    "almanac start": "asks publishers, and listens until it is stopped",
    "almanac worker": "asks publishers until it is stopped",
}
TARGETS = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))


def split(words):
    """Settings before a command, and the command, as whoever gives it."""
    if words[0] == "sudo":
        words = words[3:] if words[1] == "-u" else words[1:]
    settings = {}
    while "=" in words[0]:
        name, _, value = words[0].partition("=")
        settings[name] = value
        words = words[1:]
    settings.pop("ALMANAC_PROGRAM", None)  # for the operators' command, whose tests are those of deploy/almanac.sh
    return settings, words


SHOWN = [(page, *split(words)) for page, words in commands()]
#: What the pages show of other programs, in their order: the page for operators sets up one machine with them.
OUTSIDE = [(page, words) for page, _, words in SHOWN if words[0] not in {"almanac", "make", "export"}]


def reason(words):
    return next((why for start, why in NOT_RUN.items() if words[: len(start.split())] == start.split()), None)


def told(value):
    return value if isinstance(value, str) else " ".join(value) if isinstance(value, list) else ""


@pytest.mark.parametrize(
    ("page", "settings", "words"), [shown for shown in SHOWN if shown[2][0] in {"almanac", "make"}], ids=told
)
def test_a_shown_command_is_well_formed(page, settings, words):
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS
        return
    command, rest = main, words[1:]
    if rest == ["--version"]:
        return
    while isinstance(command, click.Group):
        subcommand = command.get_command(click.Context(command), rest[0])
        assert subcommand is not None, f"{page}: almanac has no command {rest[0]}"
        command, rest = subcommand, rest[1:]
    if reason(words) is not None:
        command.make_context(words[1], list(rest))


@pytest.mark.parametrize("page", sorted({page for page, _, _ in SHOWN}))
def test_the_commands_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, settings, words in SHOWN:
        if name != page:
            continue
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            monkeypatch.setenv(name, value)
        if words[0] == "almanac" and reason(words) is None:
            done = CliRunner().invoke(main, words[1:], env=settings)
            assert done.exit_code == 0, f"{' '.join(words)}: {done.output}"


@pytest.mark.slow
def test_what_the_pages_show_of_other_programs_sets_up_a_machine(tmp_path):
    """In the pages' order. Without downloading: packages are those of this very environment, looked up against the lock files."""
    machine, missing = Machine(tmp_path), set()
    machine.publish()
    for _, words in OUTSIDE:
        if words[:2] == ["git", "-C"] and "fetch" in words:
            (machine.origin / "CHANGELOG.md").write_text("a version later")
            machine.commit("A version later")
        try:
            machine.run(words)
        except pytest.skip.Exception as error:
            missing.add(str(error))
    assert (machine.root / "opt/almanac/source/CHANGELOG.md").read_text() == "a version later"
    if missing:
        pytest.skip("run, all but: " + "; ".join(sorted(missing)))


def test_a_command_of_a_program_that_no_test_knows_fails(tmp_path):
    with pytest.raises(AssertionError, match="no test runs frobnicate: name it in Machine"):
        Machine(tmp_path).run(["frobnicate", "--now"])


def test_every_command_is_on_the_page_of_commands():
    text = (ROOT / "docs/commands.md").read_text("utf-8")
    assert set(main.list_commands(click.Context(main))) <= set(re.findall(r"(?m)^### almanac (\w+)", text))
    assert all(page.exists() for page in pages())
