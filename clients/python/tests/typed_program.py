"""A program of a user's, looked at by the type checker alone: what it says must hold, and what it doubts must fail."""

from datetime import date, datetime, timezone
from typing import Literal

import polars as pl
from typing_extensions import assert_type

from almanac_client import Almanac, AsyncAlmanac, Response, Rows, models

almanac = Almanac(api_key="alm_x")
rows = almanac.observations.list(country=["USA"], frequency="monthly", as_of=date(2024, 5, 1), order="desc")
assert_type(rows, Rows[models.Observation])
for row in rows:
    assert_type(row.value_numeric, float | None)
    assert_type(row.period_end, datetime)
    assert_type(row.revision_status, Literal["initial", "revised", "final", "unknown"])
    assert_type(row.metadata.withdrawn, bool | None)
assert_type(rows.first(), models.Observation | None)
assert_type(rows.to_polars(), pl.DataFrame)
assert_type(almanac.countries.get("USA"), models.Country)
assert_type(almanac.raw.rates.get("USA"), Response[models.Rates])
assert_type(almanac.at(datetime.now(timezone.utc)).with_options(timeout=1), Almanac)
assert_type(almanac.join_as_of(pl.DataFrame(), indicator="x", place="y"), pl.DataFrame)

almanac.observations.list(contry="USA")  # type: ignore[call-arg]  # no such parameter
almanac.observations.list(frequency="often")  # type: ignore[arg-type]  # no such word
almanac.observations.changes()  # type: ignore[call-arg]  # `since` is required
almanac.observations.list("USA")  # type: ignore[call-arg, arg-type]  # by name only
_ = almanac.countries.get("USA").value  # type: ignore[attr-defined]  # no such field


async def awaited(client: AsyncAlmanac) -> None:
    assert_type(await client.countries.get("USA"), models.Country)
    async for one in client.events.list(category="macro_release"):
        assert_type(one.actual, float | None)
    assert_type(await client.screener.screen(filter="x").all(), list[models.ScreenerRow])
