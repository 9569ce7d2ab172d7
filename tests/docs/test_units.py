"""The systemd units and the cron line that the page for operators shows: their commands exist, their times are times."""

import configparser
import re
import shlex

import pytest

from almanac.__main__ import main
from almanac.config import Http
from almanac.domain.cadence import Cadence
from almanac.hosting import _KILL_AFTER_SECONDS

from .render import ROOT

TEXT = (ROOT / "docs/operations.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", TEXT)


def well_formed(words):
    """The command of the words after the program's path, with its options checked."""
    assert words[0].endswith("/bin/almanac")
    command = main.commands[words[1]]
    return command, command.make_context(words[1], list(words[2:])).params


@pytest.fixture
def units():
    """The units of the page by the command that each starts."""
    made = {}
    for text in blocks("ini"):
        unit = configparser.ConfigParser(interpolation=None)
        unit.optionxform = str
        unit.read_string(text)
        assert unit["Service"]["Environment"].startswith("ALMANAC_HOME=")
        command, given = well_formed(shlex.split(unit["Service"]["ExecStart"]))
        made[command.name] = unit["Service"], given
    return made


def test_the_unit_of_a_worker_waits_for_the_answer_in_hand(units):
    service, given = units["worker"]
    assert given == {"names": (), "once": False}
    assert int(service["TimeoutStopSec"]) > Http().total_timeout


def test_the_unit_of_the_service_reloads_by_sighup_and_waits_for_its_workers(units):
    service, _ = units["serve"]
    assert service["ExecReload"].split()[1:] == ["-HUP", "$MAINPID"]
    assert int(service["TimeoutStopSec"]) > 2 * _KILL_AFTER_SECONDS
    assert set(units) == {"serve", "worker"}


def test_the_cron_line_does_what_is_due():
    fields, words = re.fullmatch(r"((?:\S+ ){5}) *(.*)\n", blocks("text")[0]).groups()
    assert Cadence(fields.strip()).next(0) == 900
    words = shlex.split(words)
    assert words.pop(0).startswith("ALMANAC_HOME=")
    assert words.pop().startswith("2>>")
    command, given = well_formed(words)
    assert (command.name, given["due"], given["names"], given["every"]) == ("ingest", True, (), False)
