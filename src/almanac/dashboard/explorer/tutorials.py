"""The tutorials of the documentation, with the address of this service in their requests."""

from __future__ import annotations

from typing import NamedTuple

from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Visit
from almanac.domain.names import folded

#: Letters of a word that a tutorial is found by: shorter ones begin too many.
_LETTERS = 3


class Tutorial(NamedTuple):
    """One tutorial: the name of its file, its title, what it is about, and other words by which people look for it."""

    name: str
    title: str
    about: str
    words: str = ""

    @property
    def address(self) -> str:
        """Where it stands."""
        return f"/tutorials/{self.name}"


#: In the order in which to read them. `make docs` writes the template of each.
TUTORIALS = (
    Tutorial("dashboard", "The dashboard", "what its pages show, past days, comparisons, files for a spreadsheet or a slide", "guide help pages charts compare"),
    Tutorial("first-series", "A first series", "find an indicator, see which series there are of it, read one", "begin start curl python"),
    Tutorial("spreadsheets", "Spreadsheets", "a table of this service in Excel, LibreOffice or Google Sheets", "spreadsheet xlsx csv workbook calc power query importdata"),
    Tutorial("point-in-time", "What was known when", "what was known on a day, how a number changed, where it comes from", "vintages revisions as-of lineage provenance"),
    Tutorial("companies", "Companies", "a company's statements, restated ones too", "fundamentals financials balance sheet income statement"),
    Tutorial("screens", "Screens", "countries or companies that pass a filter", "screener filters"),
    Tutorial("backtest", "A backtest", "a rule tested on the past without looking ahead", "backtesting strategy notebook"),
    Tutorial("javascript", "JavaScript and TypeScript", "fetch alone, then a client that the compiler checks", "js ts node browser"),
    Tutorial("agents", "Language models", "what a model needs to answer from numbers", "mcp llm agent claude chatgpt"),
    Tutorial("four-tasks", "Four tasks", "a model's table, an app, a notebook and an agent, done", "notebook app table"),
)  # fmt: skip
_TITLES = {one.name: one.title for one in TUTORIALS}


def tutorials_about(words: str) -> list[Tutorial]:
    """The tutorials that all the words stand for: each begins a word of the title, of what it is about or of its other words."""
    asked = [word for word in folded(words).split() if len(word) >= _LETTERS]
    found = []
    for one in TUTORIALS:
        own = folded(f"{one.title} {one.about} {one.words}").split()
        if asked and all(any(one_word.startswith(word) for one_word in own) for word in asked):
            found.append(one)
    return found


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
