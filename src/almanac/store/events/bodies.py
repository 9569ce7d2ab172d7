"""
Event bodies as stored: the fields without a column of their own, as JSON.

Most events are company filings, and a filing's address repeats its company and accession number, so only the document's
name is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from almanac.domain.companies import cik_of, is_company
from almanac.domain.filings import page_of


def body_of(entity: str | None, fields: Mapping[str, Any]) -> bytes:
    """Encode the fields of an entity's event for storage."""
    folder, url = _folder(entity, fields), fields.get("url")
    if folder is not None and url is not None and url.startswith(folder):
        fields = {**fields, "url": None, "document": url.removeprefix(folder)}
    return msgspec.json.encode({name: value for name, value in fields.items() if value not in {None, ()}})


def fields_of(entity: str | None, stored: bytes) -> dict[str, Any]:
    """Decode the fields of a stored body."""
    fields: dict[str, Any] = msgspec.json.decode(stored)
    document = fields.pop("document", None)
    if document is not None:
        fields["url"] = f"{_folder(entity, fields)}{document}"
    fields["data"] = tuple(fields.get("data", ()))
    return fields


def _folder(entity: str | None, fields: Mapping[str, Any]) -> str | None:
    """Return the address of a filing's folder, or None for an event that isn't a company's filing."""
    accession = fields.get("accession")
    if entity is None or accession is None or not (is_company(entity) and entity.removeprefix("company_").isdigit()):
        return None
    return page_of(cik_of(entity), accession, "-")[:-1]
