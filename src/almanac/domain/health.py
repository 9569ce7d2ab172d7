"""Whether a source still brings what it should."""

from __future__ import annotations

from collections.abc import Iterable

from almanac.domain.periods import Frequency

_DAY = 86_400


def health(
    last_attempt: int | None, last_success: int | None, failures: int, frequencies: Iterable[Frequency], now: int
) -> str:
    """`never_run`; `failing` while the last attempt failed; `late` when the last success is older than the allowance of
    the source's highest frequency; else `ok`. Times in unix seconds.
    """
    if last_attempt is None:
        return "never_run"
    if failures:
        return "failing"
    highest = min(frequencies, key=lambda f: f.rank, default=Frequency.DAILY)
    if last_success is None or now - last_success > highest.allowance_days * _DAY:
        return "late"
    return "ok"
