"""Rooms of two treasuries, with the formats of the simulated world: the United States' and Japan's."""

from datetime import date, timedelta

import numpy as np

from almanac.domain.times import wire_time
from almanac.sandbox import formats
from tests.publishers.figures import Figure, Timetable
from tests.publishers.room import Asked, Reply, Room, Rules, newest


def curve(room: Room, asked: Asked, first: date, last: date) -> tuple[list[date], dict[str, list[Figure]]]:
    """Days with figures between two, and the figures of every series of a room on them."""
    found = {
        native: room.published(spec, asked, first.isoformat(), last.isoformat()) for native, spec in room.series.items()
    }
    days = sorted({figure.span.last for figures in found.values() for figure in figures})
    return days, found


class UsTreasury(Room):
    name, sources, hosts = "us-treasury", ("us-treasury-par",), ("home.treasury.gov",)
    rules = Rules(
        documented="No limit is stated; the feed has a file a year, by 18:00 New York time of each business day",
        seconds=1.0, publishes=Timetable(23.0),
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        year = asked.query.get("field_tdr_date_value", "")
        if asked.query.get("data") != "daily_treasury_yield_curve" or not year.isdigit():
            return Reply(b"<html>Page not found</html>", "text/html", 404)
        days, found = curve(self, asked, date(int(year), 1, 1), date(int(year), 12, 31))
        columns = {name: np.array([figure.value for figure in figures]) for name, figures in found.items() if figures}
        updated = max((figure.changed for figures in found.values() for figure in figures), default=0)
        body = formats.treasury_year(np.array(days, "datetime64[D]"), columns, wire_time(int(updated)), frozenset())
        return Reply(body, "application/xml", series=newest(found.items()), changed=updated)


class MofJapan(Room):
    name, sources, hosts = "mof", ("mof-japan",), ("www.mof.go.jp",)
    rules = Rules(
        documented="Static files: the current month, and the history to the end of last month",
        last_modified=True, publishes=Timetable(2.5),
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        month = date.fromtimestamp(asked.now).replace(day=1)
        if asked.path.endswith("/historical/jgbcme_all.csv"):
            days, found = curve(self, asked, date(1970, 1, 1), month - timedelta(days=1))
            titled = None
        elif asked.path.endswith("/jgbcme.csv"):
            days, found = curve(self, asked, month, date(2100, 1, 1))
            titled = month
        else:
            return Reply(b"<html>Not Found</html>", "text/html", 404)
        columns = {name: np.array([figure.value for figure in figures]) for name, figures in found.items()}
        changed = max((figure.changed for figures in found.values() for figure in figures), default=0.0)
        body = formats.mof_table(np.array(days, "datetime64[D]"), columns, month=titled, absent=frozenset())
        return Reply(body, series=newest(found.items()), changed=changed)


ROOMS = [UsTreasury, MofJapan]
