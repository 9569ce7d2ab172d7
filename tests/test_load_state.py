"""Notes of what is being loaded: whose they are, how far it is, and that none outlives its load."""

import signal
import subprocess
import sys

from almanac.commands.progress import Progress
from almanac.load_state import going_on, noted

WAITS = """
import sys, time
from pathlib import Path
from almanac.load_state import noted
with noted(Path(sys.argv[1]), "the simulated world") as note:
    note("pages, 3 of 9")
    print("ready", flush=True)
    time.sleep(600)
"""


def test_a_note_says_how_far_a_load_is_and_goes_with_it(tmp_path):
    assert going_on(tmp_path) == {}
    clock = iter(range(100))
    with noted(tmp_path, "data of publishers", lambda: next(clock)) as note:
        assert going_on(tmp_path) == {"data of publishers": ""}
        advance = Progress(note=note).meter("us-treasury-par", 3)
        assert going_on(tmp_path) == {"data of publishers": "us-treasury-par, 0 of 3"}
        advance(2)
        assert going_on(tmp_path) == {"data of publishers": "us-treasury-par, 2 of 3"}
        with noted(tmp_path, "the rest") as other:
            other("x" * 10_000)
            assert going_on(tmp_path)["the rest"] == "x" * 200
    assert going_on(tmp_path) == {}


def test_a_note_of_a_process_that_was_killed_is_nobodys(tmp_path):
    words = [sys.executable, "-c", WAITS, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        assert going_on(tmp_path) == {"the simulated world": "pages, 3 of 9"}
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert going_on(tmp_path) == {}
        assert list((tmp_path / "run/loading").iterdir()) == []


def test_of_two_loads_of_the_same_the_one_that_knows_more_is_told(tmp_path):
    with noted(tmp_path, "the simulated world"):
        with noted(tmp_path, "the simulated world") as inner:
            inner("pages, 1 of 2")
            assert going_on(tmp_path) == {"the simulated world": "pages, 1 of 2"}
        assert going_on(tmp_path) == {"the simulated world": ""}


def test_a_load_goes_on_where_no_note_can_be_written(tmp_path):
    (tmp_path / "run").write_text("no folder")
    with noted(tmp_path, "the simulated world") as note:
        note("pages, 1 of 2")
        assert going_on(tmp_path) == {}
