"""What all tests share: a service that must be there turns a skip for want of it into a failure."""

import gc
import os
import shutil
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog

# Tests start a few hundred processes. Where the environment forbids bytecode beside sources, each would compile the whole of
# ours and of what it imports: that is more than half of what a process costs. It is kept apart from them instead.
sys.pycache_prefix = os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parents[1] / ".pytest_cache" / "bytecode")
)
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Left to itself it draws a traceback with all local variables for each logged error: up to half a second each.
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

ON_POSTGRES = os.environ.get("ALMANAC_TEST_ENGINE") == "postgres"

# How long a case takes says how busy the machine is: `make bench` measures, tests do not.
# What lands must not depend on chance: there the examples are the same each time. `make test-deep` looks for new ones, and for many.
hypothesis.settings.register_profile(
    "almanac",
    max_examples=25,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.filter_too_much,
        hypothesis.HealthCheck.data_too_large,
        hypothesis.HealthCheck.function_scoped_fixture,
    ],
)
hypothesis.settings.register_profile(
    "deep", hypothesis.settings.get_profile("almanac"), max_examples=400, derandomize=False
)
hypothesis.settings.load_profile("almanac")


def pytest_configure() -> None:
    """With ALMANAC_TEST_ENGINE=postgres, tests that say nothing of engines are of PostgreSQL."""
    if ON_POSTGRES:
        from tests.support import postgres

        postgres.stand_in()


def pytest_unconfigure() -> None:
    """Leave no database behind."""
    postgres = sys.modules.get("tests.support.postgres")  # not loaded: none was made
    if postgres is not None:
        postgres.leave()


#: Key of pytest's cache: test function → seconds its calls took when it last ran.
_SECONDS = "almanac/seconds"
_taken: dict[str, float] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="leave out functions that took a second or more when last run"
    )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        function = report.nodeid.partition("[")[0]
        _taken[function] = _taken.get(function, 0.0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    cache = getattr(session.config, "cache", None)
    if cache is not None and "PYTEST_XDIST_WORKER" not in os.environ:
        cache.set(_SECONDS, cache.get(_SECONDS, {}) | _taken)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests of files where a server stands in for them, and leave dear functions out of a quick run."""
    if ON_POSTGRES:
        for item in items:
            if item.get_closest_marker("sqlite"):
                item.add_marker(pytest.mark.skip(reason="what it is about, a server has not"))
    if config.getoption("--quick"):
        seconds = config.cache.get(_SECONDS, {})
        dear = [item for item in items if seconds.get(item.nodeid.partition("[")[0], 0.0) >= 1]
        items[:] = [item for item in items if item not in set(dear)]
        config.hook.pytest_deselected(items=dear)


def pytest_collection_finish() -> None:
    """Searches for cycles pass over what is there for the whole run, thousands of tests among it: a tenth of the suite's time."""
    gc.collect()
    gc.freeze()


#: Whether a test was skipped because there was no time left for it.
_TOO_LATE = pytest.StashKey[bool]()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """
    Begin no slow test after SLOW_TESTS_UNTIL (unix seconds), and say so. `.ci/run` sets it: a machine on which they take too
    long would be stopped with nothing said at all.
    """
    until = os.environ.get("SLOW_TESTS_UNTIL")
    if until and item.get_closest_marker("slow") and time.time() > float(until):
        item.stash[_TOO_LATE] = True
        pytest.skip("no time is left for it: SLOW_TESTS_UNTIL has passed")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_tests() -> None:
    """Which servers there are to test with has been read by now; the program knows no such settings, and would say so."""
    for name in [name for name in os.environ if name.startswith("ALMANAC_TEST_")]:
        del os.environ[name]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test whose marker REQUIRE_SERVICES names (words, `redis` for one). `.ci/run` sets it where the service answers."""
    report = yield
    needed = [name for name in os.environ.get("REQUIRE_SERVICES", "").split() if item.get_closest_marker(name)]
    excused = (ON_POSTGRES and item.get_closest_marker("sqlite")) or item.stash.get(_TOO_LATE, False)
    if report.skipped and needed and not excused:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but REQUIRE_SERVICES says that {', '.join(needed)} is there"
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's chromium, one for all tests of a process: its driver's loop stays there. Skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
