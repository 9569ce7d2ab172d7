"""What keeps going beside the requests."""

import subprocess
import sys
import threading

from almanac.applications import Every


def test_it_goes_on_after_a_failure_and_does_it_once_more_when_stopped() -> None:
    done: list[int] = []
    enough = threading.Event()

    def action() -> None:
        done.append(len(done))
        if len(done) == 1:
            raise OSError("the disk is full")
        if len(done) == 3:
            enough.set()

    every = Every(0.001, action, "what is tried")
    every.start()
    assert enough.wait(10)
    every.stop()
    assert len(done) >= 4  # three in their turn, one at the end


def test_metrics_are_loaded_only_by_processes_that_know_their_folder() -> None:
    """Loaded sooner, they would count in the memory of each worker, and `/metrics` would show none of it."""
    code = "import sys, almanac.serving, almanac.api.server.logs, almanac.pipeline.context; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
