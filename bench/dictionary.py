"""
Makes the dictionaries with which texts of a kind are packed (almanac.store.engine.packing).

    python -m bench.dictionary statements HOME FILE     # almanac.store.companies.statement_bodies
    python -m bench.dictionary events HOME FILE         # almanac.store.events.bodies

`HOME` holds a simulated world, so that nothing of a publisher's gets into the file.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import zstandard

from almanac.domain.companies import cik_of
from almanac.domain.filings import page_of
from almanac.store.companies.statement_bodies import unpack
from almanac.store.engine import sqlite
from almanac.store.events.bodies import fields_of, spelled

#: Bytes of each dictionary, and how many texts it is trained on.
_SIZES = {"statements": (16 << 10, 4_000), "events": (8 << 10, 12_000)}


def _statements(db: sqlite.Connection) -> Iterator[bytes]:
    for (body,) in db.execute(
        "SELECT body FROM statement WHERE length(body) > 0 ORDER BY entity, kind, frequency, period"
    ):
        yield unpack(body)


def _events(db: sqlite.Connection) -> Iterator[bytes]:
    """Simulated filings have no address: they get one whose document is named as filers name theirs."""
    chance = random.Random(1)
    for entity, body in db.execute("SELECT entity, body FROM event ORDER BY event, known_at"):
        fields = fields_of(entity, body)
        if "accession" in fields:
            form = fields["form"].lower().replace("/", "")
            number, year, month, day = (chance.randrange(*ends) for ends in ((10**6,), (2010, 2026), (1, 13), (1, 29)))
            document = chance.choice(
                (f"form{form}.htm", f"d{number}dex991.htm", f"d{number}d{form}.htm", f"a{form}.htm", "primary_doc.xml",
                 f"abcd-{year}{month:02}{day:02}.htm", "filename1.pdf", None, f"ea{number}-{form}.htm", f"R{number}.txt")
            )  # fmt: skip
            fields["url"] = page_of(cik_of(entity), fields["accession"], document)
        yield spelled(entity, fields)


def trained(kind: str, home: Path) -> bytes:
    """A dictionary of texts of a kind in this store, as an ingest has left it."""
    size, samples = _SIZES[kind]
    with sqlite.Connection(str(home / "data.db")) as db:
        texts = list({"statements": _statements, "events": _events}[kind](db))
    return zstandard.train_dictionary(size, random.Random(1).sample(texts, samples)).as_bytes()


if __name__ == "__main__":
    Path(sys.argv[3]).write_bytes(trained(sys.argv[1], Path(sys.argv[2])))
