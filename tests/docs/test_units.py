"""The systemd unit and the cron line that the page for operators shows: their commands exist, their times are times."""

import configparser
import re
import shlex

import click
import pytest

from almanac.__main__ import main
from almanac.config import Http
from almanac.domain.cadence import Cadence

from .render import ROOT

TEXT = (ROOT / "docs/operations.md").read_text("utf-8")


def block(language):
    (found,) = re.findall(rf"(?ms)^```{language}\n(.*?)^```$", TEXT)
    return found


def well_formed(words):
    """The command of the words after the program's path, with its options checked."""
    assert words[0].endswith("/bin/almanac")
    command = main.commands[words[1]]
    return command, command.make_context(words[1], list(words[2:])).params


@pytest.fixture
def unit():
    made = configparser.ConfigParser()
    made.optionxform = str
    made.read_string(block("ini"))
    return made


def test_the_unit_starts_a_worker_and_waits_for_the_answer_in_hand(unit):
    command, given = well_formed(shlex.split(unit["Service"]["ExecStart"]))
    assert isinstance(command, click.Command)
    assert (command.name, given) == ("worker", {"names": (), "once": False})
    assert unit["Service"]["Environment"].startswith("ALMANAC_HOME=")
    assert int(unit["Service"]["TimeoutStopSec"]) > Http().total_timeout


def test_the_cron_line_does_what_is_due():
    fields, words = re.fullmatch(r"((?:\S+ ){5}) *(.*)\n", block("text")).groups()
    assert Cadence(fields.strip()).next(0) == 900
    words = shlex.split(words)
    assert words.pop(0).startswith("ALMANAC_HOME=")
    assert words.pop().startswith("2>>")
    command, given = well_formed(words)
    assert (command.name, given["due"], given["names"], given["every"]) == ("ingest", True, (), False)
