"""The image's file: what it says, what a linter finds, and its steps done by hand in a clean folder."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.house.files import name, tracked
from tests.support.paths import ROOT
from tests.support.processes import environment, run
from tests.support.servers import serving

pytestmark = pytest.mark.slow

TEXT = (ROOT / "Containerfile").read_text("utf-8")
#: (instruction, rest) of every line, continued lines joined.
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", TEXT).splitlines()
    if line and not line.startswith("#")
]
BUILD = STEPS[: [number for number, (word, _) in enumerate(STEPS) if word == "FROM"][1]]
FINAL = dict(STEPS[len(BUILD) :])


def test_the_image_runs_as_nobody_who_matters_from_the_lock_file():
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", FINAL["USER"])
    assert FINAL["VOLUME"] == "/var/lib/almanac"
    installs = [rest for word, rest in STEPS if word == "RUN" and " pip install " in rest]
    assert [("--require-hashes -r requirements/runtime.txt" in one, "--no-deps" in one) for one in installs] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert all("index" not in one for one in installs)


def test_a_linter_finds_nothing():
    if shutil.which("hadolint") is None:
        pytest.skip("hadolint is not here")
    done = subprocess.run(["hadolint", ROOT / "Containerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_copied_is_there_and_no_more_is_sent():
    """What the file of exceptions lets through is what is copied, in both directions."""
    copied = {part for word, rest in BUILD if word == "COPY" for part in rest.split()[:-1]}
    lines = (ROOT / ".containerignore").read_text("utf-8").splitlines()
    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == copied
    assert [part for part in copied if not (ROOT / part).exists()] == []


def test_the_probe_says_whether_the_service_is_ready(tmp_path):
    """HEALTHCHECK against the operations listener: fails where nobody answers, and where the answer is no."""
    probe = json.loads(FINAL["HEALTHCHECK"].split("CMD ")[1])
    assert (probe[:2], "127.0.0.1:9000/readyz" in probe[2]) == (["python3", "-c"], True)

    def ask(base):
        words = [sys.executable, "-c", probe[2].replace("http://127.0.0.1:9000", base)]
        return subprocess.run(words, capture_output=True, check=False).returncode

    with serving(tmp_path / "home") as server:
        ready = ask(server.ops)
        (tmp_path / "home/data.db").rename(tmp_path / "gone")
        assert (ready, ask(server.ops)) == (0, 1)
    assert ask(server.ops) == 1


@pytest.mark.slow
def test_its_steps_make_a_program_that_serves(tmp_path):
    """RUN and COPY of the first stage, done by hand in an empty folder; then a command of what came of it."""
    source, venv = tmp_path / "source", tmp_path / "venv"
    source.mkdir()
    for word, rest in BUILD:
        if word == "COPY":
            *parts, target = rest.split()
            for path in tracked():
                if any(name(path) == part or name(path).startswith(f"{part}/") for part in parts):
                    into = source / (name(path) if target in {"./", *parts} else target)
                    into.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, into)
        elif word == "RUN":
            done = subprocess.run(
                ["/bin/sh", "-ec", rest.replace("/opt/almanac/venv", str(venv))],
                cwd=source, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
    assert not list((venv / "lib").glob("python*/site-packages/pytest"))
    home = tmp_path / "home"
    made = subprocess.run(
        [venv / "bin/almanac", "accounts", "create", "ada@example.org", "--plan", "free"],
        env=environment(home), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "ada@example.org" in run(home, "accounts", "list").stdout
