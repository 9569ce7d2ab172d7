"""
Write the generated tables of the documentation anew: `make docs`.

A page marks a table with `<!-- table:NAME ARGUMENT -->` and `<!-- end -->`; what stands between is made here, from the
same declarations that the service runs on. `test_tables.py` fails while a page is out of step.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.paths import ROOT

from . import (
    answers,
    client_files,
    client_surface,
    clients,
    reference,
    tables_catalogue,
    tables_companies,
    tables_interface,
    tables_operations,
)

MARK = re.compile(r"(?ms)^(<!-- table:([a-z-]+)(?: (\S+))? -->)\n.*?^(<!-- end -->)$")

TABLES: dict[str, Callable[..., str]] = {
    **clients.TABLES,
    **tables_interface.TABLES,
    **tables_catalogue.TABLES,
    **tables_companies.TABLES,
    **tables_operations.TABLES,
    **client_surface.TABLES,
}


class MarkError(Exception):
    """A page asks for a table that nobody makes, or does not end one. The message names the page and the table."""


def pages() -> Iterator[Path]:
    """Every page of the documentation that may hold tables."""
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    yield from sorted((ROOT / "docs").rglob("*.md"))


def rendered(text: str, where: str) -> str:
    """The text of a page with its tables made anew. Raises MarkError."""

    def made(match: re.Match[str]) -> str:
        opening, name, argument, closing = match.groups()
        if name not in TABLES:
            raise MarkError(f"{where}: there is no table {name!r}; there are {', '.join(sorted(TABLES))}")
        table = TABLES[name](argument) if argument is not None else TABLES[name]()
        return f"{opening}\n{table.rstrip()}\n{closing}"

    opened = len(re.findall(r"(?m)^<!-- table:", text))
    result, count = MARK.subn(made, text)
    if count != opened:
        raise MarkError(f"{where}: {opened} tables begin, {count} of them are well-formed and end with <!-- end -->")
    return result


def main() -> None:
    """
    Ask for the answers that are shown, rewrite every page and module that is out of step, and name what is different.

    What tables of this folder lack is said before anything is asked; a page that cannot be made, before any is written.
    """
    client_surface.methods()
    _texts()  # what cannot be made ends it here: the answers take minutes
    if answers.update():
        sys.stdout.write(f"{answers.FILE.relative_to(ROOT)}\n")
    texts = _texts()
    for name in reference.update():
        sys.stdout.write(f"docs/reference/{name}\n")
    for path, new in texts.items():
        if not path.exists() or path.read_text("utf-8") != new:
            path.write_text(new, "utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def _texts() -> dict[Path, str]:
    """Return the pages with tables, and the files of the client, as they should be."""
    # Pages of the reference are written whole: what was read of one before would put its former words back.
    kept = [page for page in pages() if page.parent != reference.FOLDER]
    return {page: rendered(page.read_text("utf-8"), page.name) for page in kept} | client_files.files()


if __name__ == "__main__":
    try:
        main()
    except (MarkError, client_surface.SurfaceError) as error:
        sys.exit(f"make docs: {error}")
