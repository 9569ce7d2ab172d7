"""Downloads of whole lists: they have the rows of all pages, and a cut one is refused."""

import asyncio

import httpx2
import polars as pl
import pytest

import almanac_client as a
from almanac_client._frames import MissingExtra
from tests.support.forms import arrow_rows, cells_of

from .served import asked, async_client, client

LISTS = [
    lambda almanac: almanac.observations.list(country="USA"),
    lambda almanac: almanac.observations.vintages(indicator="gov_yield_10y", sources="all"),
    lambda almanac: almanac.derived.observations(),
    lambda almanac: almanac.countries.list(),
    lambda almanac: almanac.companies.list(),
    lambda almanac: almanac.equities.screen(filter="sector:in:technology|financials"),
    lambda almanac: almanac.observations.list(country="Atlantis"),
]


@pytest.mark.parametrize("ask", LISTS)
@pytest.mark.filterwarnings("ignore::almanac_client.ServerWarning")
def test_it_is_all_pages(service, almanac, ask):
    rows = ask(almanac)
    whole, records = rows.whole(), rows.to_records()
    table = whole.to_arrow()
    address = asked(almanac)[0].url
    assert address.path.endswith(".arrows")
    assert len(whole) == len(records) == table.num_rows == len(whole.to_pandas()) == len(whole.to_polars())
    assert whole.data_version == rows.data_version
    asking = {name: value for name, value in address.params.items() if name != "all"}
    pages = service.walk(address.path.removesuffix(".arrows"), **asking)
    assert arrow_rows(table) == [cells_of(row, table.column_names) for row in pages]
    assert pl.DataFrame(whole).equals(whole.to_polars())
    assert whole.to_pandas().attrs["data_version"] == whole.data_version


def test_it_warns_as_pages_do(almanac):
    with pytest.warns(a.ServerWarning, match="Atlantis"):
        almanac.observations.list(country="Atlantis").whole()


def test_a_part_is_no_whole(almanac):
    for rows in (almanac.observations.list(limit=7), almanac.observations.list().head(7)):
        with pytest.raises(a.InvalidArgument, match="'limit'"):
            rows.whole()
    assert not asked(almanac)


def test_awaited(service):
    async def run():
        async with async_client(service) as almanac:
            return await almanac.countries.list().whole(), await almanac.countries.list().all()

    whole, rows = asyncio.run(run())
    assert len(whole) == len(rows)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_what_was_cut_is_refused(service, share):
    """A cut anywhere is found, between two batches too; only the mark behind the last row may be missing."""
    for endpoint in (
        found.endpoint for found in service.app._routes._literal.values() if found.path == "/countries.arrows"
    ):
        before = endpoint.batch
        object.__setattr__(endpoint, "batch", 3)
    try:
        body = service.get("/countries.arrows?all=true").content
    finally:
        object.__setattr__(endpoint, "batch", before)
    length = int(len(body) * share)

    def answer(request):
        headers = {"content-type": "application/vnd.apache.arrow.stream", "x-request-id": "req_x"}
        return httpx2.Response(200, headers=headers, content=body[: min(length, len(body) - 9)])

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    almanac = a.Almanac(url="http://api.example", api_key=service.keys["pro"], insecure=True, http_client=http)
    with pytest.raises(a.Incomplete, match="req_x"):
        almanac.countries.list().whole()


def test_it_needs_pyarrow(service, monkeypatch):
    def refuse(extra):
        raise MissingExtra("pyarrow", extra)

    almanac = client(service)
    monkeypatch.setattr("almanac_client._whole.require", refuse)
    with pytest.raises(a.MissingExtra, match="arrow"):
        almanac.countries.list().whole()
    assert not asked(almanac)
