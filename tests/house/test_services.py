"""The hook that forbids to skip tests of a service that is there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

@pytest.fixture
def server():
    pytest.skip("no server")

@pytest.mark.redis
def test_by_fixture(server):
    pass

@pytest.mark.redis
@pytest.mark.skip(reason="no server")
def test_by_marker():
    pass

@pytest.mark.skip(reason="has nothing to do with it")
def test_other():
    pass

@pytest.mark.redis
def test_that_runs():
    pass
"""


@pytest.mark.parametrize(
    ("required", "code", "counts"),
    [
        ("", 0, "1 passed, 3 skipped"),
        ("redis", 1, "1 passed, 1 skipped, 2 errors"),
        ("postgres", 0, "1 passed, 3 skipped"),
    ],
)
def test_a_skip_for_want_of_a_required_service_fails(tmp_path, required, code, counts):
    done = ran(tmp_path, TESTS, REQUIRE_SERVICES=required)
    assert counts in done.stdout, done.stdout + done.stderr
    assert done.returncode == code


SLOW = """
import pytest

@pytest.mark.slow
@pytest.mark.redis
def test_slow():
    pass

@pytest.mark.redis
def test_quick():
    pass
"""


@pytest.mark.parametrize(
    ("until", "counts"), [("", "2 passed"), ("1", "1 passed, 1 skipped"), (str(2**40), "2 passed")]
)
def test_no_slow_test_begins_when_no_time_is_left(tmp_path, until, counts):
    """Its service is there all the same: that is no failure."""
    done = ran(tmp_path, SLOW, REQUIRE_SERVICES="redis", SLOW_TESTS_UNTIL=until)
    assert counts in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def ran(tmp_path, tests, **more):
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "test_it.py").write_text(tests)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  redis: needs it\n  slow: takes long\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", str(tmp_path)],
        env={**environment, **more},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
