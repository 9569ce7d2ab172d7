"""The noise and the calendar under the simulated world."""

import hashlib
from datetime import date

from almanac.sandbox.noise import business_days, normals, uniforms, wander


def test_noise_is_splitmix64_of_the_name_and_does_not_depend_on_the_count() -> None:
    """Checked against the algorithm in plain integers."""
    mask = 2**64 - 1
    state = int.from_bytes(hashlib.sha256(b"name").digest()[:8], "big")
    expected = []
    for _ in range(5):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        expected.append(((z ^ (z >> 31)) >> 11) / 2**53)
    assert uniforms("name", 5).tolist() == expected
    assert uniforms("name", 1000)[:5].tolist() == expected


def test_noise_has_the_moments_it_claims() -> None:
    draws = normals("moments", 100_000)
    assert abs(draws.mean()) < 0.02
    assert abs(draws.std() - 1) < 0.02
    path = wander("moments", 100_000, 0.9, 2.5)
    assert abs(path.std() - 2.5) < 0.15
    assert wander("moments", 50, 0.9, 2.5).tolist() == path[:50].tolist()


def test_business_days_leave_out_weekends_and_the_two_holidays() -> None:
    days = business_days(date(2024, 1, 3)).astype(str).tolist()
    assert days[0] == "1960-01-04"  # 1 January 1960 was a Friday
    assert days[-7:] == [
        "2023-12-22",
        "2023-12-26",
        "2023-12-27",
        "2023-12-28",
        "2023-12-29",
        "2024-01-02",
        "2024-01-03",
    ]
