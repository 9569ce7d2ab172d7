"""
Charts in pages of others: only where the operator named those pages' origins, and only what people without an account may see.

An address below `/embed` shows the chart of the page of the same name, with its source, licence, day and the way back. It is
made with the plan of the setting `embed_plan`, whoever looks: who is signed in here sees the same there as anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
from markupsafe import Markup

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.figure import ChartFigure
from almanac.dashboard.formatting.dates import day
from almanac.dashboard.people import Person
from almanac.dashboard.visit import Answer, Html, NotFound, Redirect, Visit
from almanac.reports.wording import sentence

PREFIX = "/embed"
#: What a frame is given unless its page says otherwise; the chart takes the width that there is.
_HEIGHT = 560


class EmbeddedChart(msgspec.Struct, frozen=True):
    """The content of a frame: figures one below the other, and pairs of attribution and licence."""

    title: str
    figures: Sequence[ChartFigure]
    sources: Iterable[tuple[str, str]]
    #: The day that all of it is known on, as addresses have it; None: today.
    as_of: str | None = None
    #: What could not be read of the address, as sentences.
    problems: Sequence[str] = ()


Made = Callable[[Visit], EmbeddedChart | Answer]


def framed(visit: Visit, make: Made) -> Answer:
    """Show the chart that `make` gives, for a frame. Raises NotFound where no origin may have one."""
    origins = visit.settings.embed_origins
    if not origins:
        raise NotFound("There is no page at this address.")
    visit.person = Person("", "", visit.settings.embed_plan, "user", "")
    # Nothing is sent here that a cookie would prove.
    visit.set_cookies.clear()
    visit.path = visit.path.removeprefix(PREFIX)
    try:
        made = make(visit)
    except NotFound as error:
        return _refused(str(error), 404, origins)
    except ApiError as error:
        return _refused(sentence(error.message), error.status, origins)
    if isinstance(made, Redirect):
        return Redirect(f"{PREFIX}{made.to}", made.status)
    if isinstance(made, Html):
        return _refused("There is no such chart.", made.status, origins)
    if not isinstance(made, EmbeddedChart):
        raise TypeError(f"no chart to be shown in a frame: {type(made).__name__}")
    values = {
        "chart": made,
        "known": f"As known on {day(made.as_of)}" if made.as_of else f"As known today, {day(visit.today)}",
        "page": f"{visit.settings.dashboard_address}{visit.here()}",
    }
    return Html("explorer/embed.html", values, 400 if made.problems else 200, frames=origins)


def _refused(text: str, status: int, origins: tuple[str, ...]) -> Html:
    return Html("explorer/embed.html", {"chart": None, "text": text}, status, frames=origins)


def frame_markup(visit: Visit, path: str, title: str, **changes: str | None) -> str:
    """
    Return the HTML that shows the chart of the page at `path` in another page; empty where the operator allows it nowhere. `changes`:
    of the query of this page.
    """
    if not visit.settings.embed_origins:
        return ""
    query = visit.here(page=None, period=None, **changes).partition("?")[2]
    address = f"{visit.settings.dashboard_address}{PREFIX}{path}{f'?{query}' if query else ''}"
    return str(
        Markup('<iframe src="{}" title="{}" width="100%" height="{}" loading="lazy"></iframe>').format(
            address, title, _HEIGHT
        )
    )
