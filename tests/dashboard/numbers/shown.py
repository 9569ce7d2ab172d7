"""Pages read back: their tables, the whole values in them, and the requests that they show."""

import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from lxml import html

from tests.support.service import Service

#: A cell and what is in it may both have the value: it counts once.
_WHOLE = ".//*[@data-value][not(ancestor::*/@data-value)]/@data-value"


class Cell(NamedTuple):
    """A cell as it is read, and the unrounded values in it."""

    text: str
    values: list[float]


class Shown:
    """One page."""

    def __init__(self, text: str) -> None:
        self._page = html.document_fromstring(text)
        (self.main,) = self._page.xpath("//main")

    @property
    def words(self) -> str:
        """All that is read in the page's main part."""
        return _plain(self.main.text_content())

    @property
    def values(self) -> list[float]:
        """Every unrounded value, in the order of the page."""
        return [float(one) for one in self.main.xpath(_WHOLE)]

    def table(self, name: str) -> list[list[Cell]]:
        """Rows of a table that have cells; the one that says why there are none is left out."""
        rows = self.main.xpath(".//*[@id=$name]//tbody/tr[not(contains(@class, 'none'))]", name=name)
        return [[_cell(one) for one in row.xpath("./th|./td")] for row in rows]

    def links(self, name: str) -> list[str]:
        """Where the links of a section lead."""
        return [str(one) for one in self.main.xpath(".//*[@id=$name]//a/@href", name=name)]

    @property
    def asked(self) -> list[tuple[str, dict[str, str]]]:
        """The requests it shows: path and parameters."""
        found = []
        for code in self.main.xpath(".//section[@id='api']//code"):
            parts = urlsplit(re.search(r'"(https?://[^"]+)"$', code.text_content())[1])
            found.append((parts.path, dict(parse_qsl(parts.query))))
        return found

    def told(self, service: Service, path: str, plan: str = "pro") -> list[Any]:
        """What the interface answers each shown request of a path."""
        found = [service.ok(one, plan, **params) for one, params in self.asked if one == path]
        assert found, f"{path} is not among {self.asked}"
        return found


def _cell(element: Any) -> Cell:
    own = element.get("data-value")
    return Cell(
        _plain(element.text_content()), [float(one) for one in (element.xpath(_WHOLE) if own is None else [own])]
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
