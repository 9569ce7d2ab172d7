"""The tutorials of the documentation, with the address of this service in their requests."""

from __future__ import annotations

from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Visit

#: Name, title and what it is about, in the order in which to read them. `make docs` writes the template of each.
TUTORIALS = (
    ("dashboard", "The dashboard", "what its pages show, past days, comparisons, files for a spreadsheet or a slide"),
    ("first-series", "A first series", "find an indicator, see which series there are of it, read one"),
    ("point-in-time", "What was known when", "what was known on a day, how a number changed, where it comes from"),
    ("companies", "Companies", "a company's statements, restated ones too"),
    ("screens", "Screens", "countries or companies that pass a filter"),
    ("backtest", "A backtest", "a rule tested on the past without looking ahead"),
    ("javascript", "JavaScript and TypeScript", "fetch alone, then a client that the compiler checks"),
    ("agents", "Language models", "what a model needs to answer from numbers"),
    ("four-tasks", "Four tasks", "a model's table, an app, a notebook and an agent, done"),
)
_TITLES = {name: title for name, title, _ in TUTORIALS}


def listing(_: Visit) -> Answer:
    """List the tutorials, in the order in which to read them."""
    return Html("explorer/tutorials.html", {"tutorials": TUTORIALS})


def one(visit: Visit) -> Answer:
    """Show a tutorial from its beginning to its end."""
    name = visit.values["name"]
    title = _TITLES.get(name)
    if title is None:
        raise NotFound("There is no tutorial of this name. All of them are under /tutorials.")
    return Html("explorer/tutorial.html", {"title": title, "body": f"tutorials/{name}.html"})


PAGES = (
    Page("/tutorials", listing),
    Page("/tutorials/{name}", one),
)
