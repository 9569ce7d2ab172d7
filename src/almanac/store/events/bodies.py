"""
Bodies of events as they are stored: what has no column of its own, as JSON.

Most events are filings of companies, and the address of one repeats company and accession number: only the name of its
document is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from almanac.domain.companies import cik_of, is_company
from almanac.domain.filings import page_of


def body_of(entity: str | None, fields: Mapping[str, Any]) -> bytes:
    """Return the fields of an event of an entity as they are stored."""
    folder, url = _folder(entity, fields), fields.get("url")
    if folder is not None and url is not None and url.startswith(folder):
        fields = {**fields, "url": None, "document": url.removeprefix(folder)}
    return msgspec.json.encode({name: value for name, value in fields.items() if value not in {None, ()}})


def fields_of(entity: str | None, stored: bytes) -> dict[str, Any]:
    """Read the fields of a stored body."""
    fields: dict[str, Any] = msgspec.json.decode(stored)
    document = fields.pop("document", None)
    if document is not None:
        fields["url"] = f"{_folder(entity, fields)}{document}"
    fields["data"] = tuple(fields.get("data", ()))
    return fields


def _folder(entity: str | None, fields: Mapping[str, Any]) -> str | None:
    """Where the documents of a filing are; None for what is none."""
    accession = fields.get("accession")
    if entity is None or accession is None or not (is_company(entity) and entity.removeprefix("company_").isdigit()):
        return None
    return page_of(cik_of(entity), accession, "-")[:-1]
