"""What shows that one registrant goes on as another: the new one states the old one's numbers, or has them in its sums."""

from datetime import date

from almanac.store.companies.succession import StatedAmount, shown_since


def day(text):
    return date.fromisoformat(text).toordinal()


def flow(line, start, end, value, known=100):
    return StatedAmount(line, day(start), day(end), value, known)


def instant(line, end, value, known=100):
    return StatedAmount(line, None, day(end), value, known)


OLD = [
    flow("revenues", "2026-01-01", "2026-03-31", 83e9),
    flow("net_income_loss", "2026-01-01", "2026-03-31", 7e9),
    instant("assets", "2025-12-31", 449e9),
]


def test_two_lines_stated_alike_show_it_from_the_later_one_on():
    new = [instant("assets", "2025-12-31", 449e9, 200), flow("revenues", "2026-01-01", "2026-03-31", 83e9, 300)]
    assert shown_since(OLD, new) == 300
    assert shown_since(OLD, new[:1]) is None


def test_a_year_to_date_less_its_last_part_is_stated_too():
    new = [
        flow("revenues", "2026-01-01", "2026-06-30", 168e9, 200),
        flow("revenues", "2026-04-01", "2026-06-30", 85e9, 200),
        flow("net_income_loss", "2026-01-01", "2026-06-30", 14.2e9, 200),
        flow("net_income_loss", "2026-04-01", "2026-06-30", 7.2e9, 200),
    ]
    assert shown_since(OLD, new) == 200


def test_one_line_twice_is_one_line():
    """A ticker used again by a company that happens to have one number alike continues nothing."""
    old = [*OLD, flow("revenues", "2025-01-01", "2025-03-31", 80e9)]
    new = [
        flow("revenues", "2026-01-01", "2026-03-31", 83e9, 200),
        flow("revenues", "2025-01-01", "2025-03-31", 80e9, 200),
    ]
    assert shown_since(old, new) is None


def test_small_numbers_and_numbers_stated_first_by_the_new_one_show_nothing():
    small = [instant("assets", "2025-12-31", 0.0), instant("goodwill", "2025-12-31", 7.0)]
    assert shown_since(small, [one._replace(known=200) for one in small]) is None
    early = [one._replace(known=50) for one in OLD]
    assert shown_since(OLD, early) is None
