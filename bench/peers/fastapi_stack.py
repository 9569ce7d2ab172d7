"""
The usual Python stack over a wide table: FastAPI, SQLAlchemy (async, aiosqlite) and a pydantic response model.

It is run by `peers/serve.py`. It requires no key, counts no requests, writes no log and knows no vintages: it only
reads and returns rows.
"""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from sqlalchemy import JSON, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_engine = create_async_engine(f"sqlite+aiosqlite:///file:{os.environ['BENCH_TABLE']}?mode=ro&uri=true")
_session = async_sessionmaker(_engine, expire_on_commit=False)


class Base(DeclarativeBase):
    """Base of the mapped classes."""


class Row(Base):
    """A row of the wide table."""

    __tablename__ = "observations"

    id: Mapped[str] = mapped_column(primary_key=True)
    entity_id: Mapped[str] = mapped_column("entityId")
    indicator_id: Mapped[str] = mapped_column("indicatorId")
    source_id: Mapped[str] = mapped_column("sourceId")
    provider_id: Mapped[str] = mapped_column("providerId")
    value_numeric: Mapped[float | None] = mapped_column("valueNumeric")
    value_text: Mapped[str | None] = mapped_column("valueText")
    unit: Mapped[str | None]
    frequency: Mapped[str]
    period_start: Mapped[str | None] = mapped_column("periodStart")
    period_end: Mapped[str | None] = mapped_column("periodEnd")
    observed_at: Mapped[str] = mapped_column("observedAt")
    released_at: Mapped[str | None] = mapped_column("releasedAt")
    ingested_at: Mapped[str] = mapped_column("ingestedAt")
    revision_status: Mapped[str] = mapped_column("revisionStatus")
    source_url: Mapped[str | None] = mapped_column("sourceUrl")
    attribution: Mapped[str]
    freshness_status: Mapped[str] = mapped_column("freshnessStatus")
    row_metadata: Mapped[dict[str, Any]] = mapped_column("metadata", JSON)
    rights: Mapped[dict[str, Any]] = mapped_column(JSON)


class Model(BaseModel):
    """Base of the models: camel-case names on the wire, read from attributes."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Rights(Model):
    """The rights on a row's value."""

    exposure: str
    redistributable: bool
    value_withheld: bool
    reason: str | None
    license: str
    license_class: str
    attribution: str


class Observation(Model):
    """One row with all its fields."""

    id: str
    entity_id: str
    indicator_id: str
    source_id: str
    provider_id: str
    value_numeric: float | None
    value_text: str | None
    unit: str | None
    frequency: str
    period_start: str | None
    period_end: str | None
    observed_at: str
    released_at: str | None
    ingested_at: str
    revision_status: str
    source_url: str | None
    attribution: str
    freshness_status: str
    #: The mapped class uses another name, because `metadata` is reserved there.
    metadata: dict[str, Any] = Field(validation_alias="row_metadata", serialization_alias="metadata")
    rights: Rights


class Page(Model):
    """A page of rows, and the last day of the row to continue from."""

    data: list[Observation]
    following: str | None


async def session() -> Any:
    """Yield a database session for the time of a request."""
    async with _session() as opened:
        yield opened


app = FastAPI(openapi_url=None)


@app.get("/observations")
async def observations(
    database: Annotated[AsyncSession, Depends(session)],
    indicator_id: str,
    entity_id: str,
    frequency: str,
    period_end_from: str,
    limit: int = 100,
) -> Page:
    """Return one page of a series from a period on."""
    found = await database.scalars(
        select(Row)
        .where(
            Row.indicator_id == indicator_id,
            Row.entity_id == entity_id,
            Row.frequency == frequency,
            Row.period_end >= period_end_from,
        )
        .order_by(Row.period_end)
        .limit(limit + 1)
    )
    rows = found.all()
    data = [Observation.model_validate(row) for row in rows[:limit]]
    return Page(data=data, following=rows[limit].period_end if len(rows) > limit else None)
