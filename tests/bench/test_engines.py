"""What the comparison of both engines is made of: its database, and how rounds become a line."""

from __future__ import annotations

import contextlib
import os

import pytest

from almanac.store.engine import opening
from bench.__main__ import arguments
from bench.engines import Database, _Compared, _line
from bench.report import Round
from tests.support import postgres


def made(rate: float, cpu: float | None) -> Round:
    return Round(rate, cpu, 0.1, [100] * 10, 90_000.0)


def test_a_line_tells_the_rounds_ratios_and_where_the_time_went() -> None:
    rounds = [_Compared(made(1_000, 200), made(rate, 400), 100) for rate in (400, 900, 500)]
    assert _line("page", rounds) == "| page | 0.50 | 0.40 to 0.90 | 0.50 | 1,000 | 500 | 200 | 300 | 100 |"
    assert _line("page", [_Compared(made(1_000, None), made(250, None), 0)]).startswith(
        "| page | 0.25 | 0.25 to 0.25 |  |"
    )


def test_without_a_server_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["engines"])
    assert "--postgres" in capsys.readouterr().err
    assert arguments(["engines", "--postgres", postgres.SERVER]).postgres == postgres.SERVER


@pytest.mark.postgres
@pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or "")
def test_its_database_is_kept_with_what_it_holds() -> None:
    first, second = (Database(postgres.SERVER, f"almanac_test_bench{n}_{os.getpid()}") for n in (1, 2))
    try:
        assert first.noted() is None
        first.make()
        first.note("a state's name")
        assert first.noted() == "a state's name"
        with contextlib.closing(opening.create(opening.Server(first.url))) as db:
            db.execute("INSERT INTO version VALUES(7, 7, 'here')")
            assert first.seconds() >= 0
        second.make(first.name)
        with contextlib.closing(opening.connect(opening.Server(second.url))) as db:
            assert db.execute("SELECT cause FROM version").get == "here"
    finally:
        for one in (second, first):
            one.drop()
    assert first.noted() is None
