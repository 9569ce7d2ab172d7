"""Types hold for who uses the package, on the oldest Python it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_a_program_is_checked_strictly(version, tmp_path):
    program = Path(__file__).with_name("typed_program.py")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version", version, "--config-file", "", "--cache-dir", tmp_path, "--follow-imports", "silent", program],
        capture_output=True, text=True, check=False, cwd=ROOT / "clients/python", env={"MYPYPATH": "src", "PATH": ""},
    )  # fmt: skip
    assert done.stdout == "Success: no issues found in 1 source file\n", done.stdout + done.stderr


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "clients/python/src/almanac_client/py.typed").exists()
