"""Walks: every row once, as few requests as may be, and what the service says of the question."""

import asyncio
import warnings
from datetime import date, datetime, timezone

import pytest

from almanac_client import AsOfUnsupported, InvalidArgument, NotFound, ServerWarning

from .served import asked

ASK = {"indicator": "gov_yield_10y", "country": "USA"}


def test_a_ticker_is_taken_for_an_entity_where_it_means_one_alone(almanac, awaited):
    expected = almanac.events.list(entity="company_0000005001").all()
    assert len(expected) > 0
    assert (
        almanac.events.list(entity="ACW").all()
        == almanac.events.list(entity_id=["ACW", "country_jpn"], category="issuer_filing").all()
        == expected
    )
    assert asyncio.run(awaited.events.list(entity="ACW", page_size=1).all()) == expected
    before = len(asked(almanac))
    almanac.events.list(entity="company_0000005001,united-states", limit=1).all()
    assert len(asked(almanac)) == before + 1
    with pytest.warns(ServerWarning, match="QQQQ"):
        assert almanac.events.list(entity="QQQQ").all() == []


@pytest.mark.parametrize("ask", ["entity", "entity_id"])
def test_a_code_of_a_country_is_the_country_and_a_ticker_can_say_that_it_is_one(almanac, awaited, ask):
    """Bolt Bank has the ticker USA here."""
    yields = almanac.observations.list(**ASK).all()
    filings = almanac.events.list(entity="company_0000005002").all()
    assert len(yields) > 0 < len(filings)
    for name in ("USA", "US", "usa"):
        assert almanac.observations.list(**{ask: name, "indicator": "gov_yield_10y"}).all() == yields
    for name in ("ticker:USA", "TICKER: usa", "cik:5002"):
        assert almanac.events.list(**{ask: name}).all() == filings
    both = almanac.events.list(**{ask: ["ticker:USA", "ACW"]}).all()
    assert {row.entity_id for row in both} == {"company_0000005002", "company_0000005001"}
    assert list(almanac.raw.events.list(**{ask: "ticker:USA"}).data) == filings
    assert list(asyncio.run(awaited.raw.events.list(**{ask: "ticker:USA"})).data) == filings
    with pytest.raises((NotFound, InvalidArgument), match="QQQQ"):
        almanac.events.list(**{ask: "ticker:QQQQ"}).all()


@pytest.mark.parametrize(
    "listed",
    [
        lambda almanac, **who: almanac.observations.list(**who),
        lambda almanac, **who: almanac.observations.latest(**who),
        lambda almanac, **who: almanac.observations.vintages(**who),
        lambda almanac, **who: almanac.derived.observations(**who),
        lambda almanac, **who: almanac.indicators.series("gov_yield_10y", **who),
        lambda almanac, **who: almanac.events.list(**who),
    ],
    ids=["observations", "latest", "vintages", "derived", "series", "events"],
)
def test_wherever_a_list_takes_an_entity_it_takes_its_code(almanac, listed):
    assert listed(almanac, entity="USA", limit=20).all() == listed(almanac, entity="country_usa", limit=20).all() != []
    with pytest.raises(NotFound, match="ZZZZ"):
        listed(almanac, entity="ticker:ZZZZ").all()


def test_a_walk_gives_the_rows_of_the_service(almanac, service):
    expected = service.walk("/observations", "pro", **ASK, limit=7)
    rows = almanac.observations.list(**ASK, page_size=7)
    assert [row.id for row in rows] == [row["id"] for row in expected]
    assert len(expected) > 14
    assert len(asked(almanac)) == -(-len(expected) // 7)


def test_without_a_limit_a_page_is_as_large_as_may_be(almanac):
    almanac.observations.list(**ASK).all()
    assert [request.url.params["limit"] for request in asked(almanac)] == ["500"]
    almanac.equities.screen(filter="sector:in:technology").all()
    assert asked(almanac)[-1].url.params["limit"] == "200"


def test_the_first_row_and_at_most_some_rows_ask_no_further_page(almanac):
    rows = almanac.observations.list(**ASK, page_size=3)
    assert rows.data_version is None
    first = rows.first()
    assert first is not None
    assert rows.first() is first
    assert len(asked(almanac)) == 1
    assert rows.data_version == 18
    assert len(rows.all(max_rows=5)) == 5
    assert len(asked(almanac)) == 3


@pytest.mark.parametrize(
    ("given", "requests"),
    [({"limit": 3}, 1), ({"limit": 3, "page_size": 2}, 2), ({"limit": 4, "page_size": 2}, 2), ({"limit": 12, "page_size": 500}, 1)],
)  # fmt: skip
def test_a_limit_is_how_many_rows_there_are_in_all(almanac, given, requests):
    whole = almanac.observations.list(**ASK).all()
    before = len(asked(almanac))
    rows = almanac.observations.list(**ASK, **given)
    assert rows.all() == whole[: given["limit"]]
    assert len(asked(almanac)) - before == requests
    assert sum(int(one.url.params["limit"]) for one in asked(almanac)[before:]) >= given["limit"]
    assert repr(rows).splitlines()[-1] == f"{given['limit']} rows, data version 18, as known now"
    assert list(almanac.observations.list(**ASK, **given)) == rows.all()
    assert sum(len(page) for page in almanac.observations.list(**ASK, **given).pages()) == given["limit"]
    assert len(rows.to_polars()) == given["limit"]


def test_more_rows_than_there_are_are_all_of_them(almanac):
    assert len(almanac.observations.list(**ASK, limit=100_000).all()) == len(almanac.observations.list(**ASK).all())


def test_the_head_of_rows_is_rows(almanac, awaited):
    rows = almanac.observations.list(**ASK)
    head = rows.head(3)
    assert head.all() == rows.all(max_rows=3)
    assert [int(one.url.params["limit"]) for one in asked(almanac)] == [3, 500]
    assert (len(rows.head().to_pandas()), len(head.head(9).all()), len(head.head(2).all())) == (5, 3, 2)
    assert asyncio.run(awaited.observations.list(**ASK).head(3).all()) == head.all()
    assert len(asyncio.run(awaited.observations.list(**ASK, limit=4).all())) == 4
    for wrong in (0, -1, 1.5, True, "3"):
        with pytest.raises(InvalidArgument, match="'n' is how many rows are wanted, at least 1"):
            rows.head(wrong)
        with pytest.raises(InvalidArgument, match="'limit' is how many rows are wanted, at least 1"):
            almanac.observations.list(**ASK, limit=wrong)


def test_rows_once_asked_for_together_are_kept(almanac):
    rows = almanac.observations.list(**ASK)
    whole = rows.all()
    assert list(rows) == whole
    assert rows.to_records()[0]["valueNumeric"] == whole[0].value_numeric
    assert len(asked(almanac)) == 1
    assert len(rows.table()) == len(whole)
    assert len(asked(almanac)) == 1
    assert rows.request_ids == [rows.request_ids[0]]


def test_records_are_what_the_service_answers(almanac, service):
    expected = service.walk("/observations", "pro", country="USA", limit=500)
    for found, row in zip(almanac.observations.list(country="USA").to_records(), expected, strict=True):
        assert {
            key: value.replace("+00:00", "Z") if isinstance(value, str) else value for key, value in found.items()
        } == row


def test_raw_answers_say_what_is_known_of_them_and_warn_of_nothing(almanac):
    answer = almanac.raw.observations.list(indicator_id=["gov_yield_10y", "gov_yeild_2y"], country="USA", limit=5)
    assert (len(answer.data), answer.data_version, answer.total) == (5, 18, None)
    assert answer.pagination.limit == 5
    assert answer.pagination.has_more is True
    assert answer.next_cursor == answer.pagination.next_cursor is not None
    (said,) = answer.said
    assert (said.parameter, said.value, said.suggestion) == ("indicator_id", "gov_yeild_2y", "gov_yield_2y")
    assert answer.headers["x-request-id"] == answer.request_id
    item = almanac.raw.coverage()
    assert (item.data.data_version, item.pagination, item.next_cursor) == (18, None, None)


def test_pages_and_totals(almanac):
    rows = almanac.screener.screen(filter="gov_yield_10y:gt:0", page_size=1)
    pages = list(rows.pages())
    assert [len(page) for page in pages] == [1, 1]
    assert rows.total == 2
    assert pages[0].next_cursor is not None
    assert list(pages[1]) == pages[1].rows
    resumed = almanac.screener.screen(filter="gov_yield_10y:gt:0", page_size=1, cursor=pages[0].next_cursor)
    assert resumed.all() == pages[1].rows


def test_an_answer_without_rows(almanac):
    rows = almanac.observations.list(**ASK, period="1999")
    assert rows.first() is None
    assert rows.all() == []
    assert repr(rows) == "0 rows, data version 18, as known now"


def test_awaited_rows_are_the_same(almanac, awaited):
    async def both():
        rows = awaited.observations.list(**ASK, page_size=7)
        assert await rows.first() == expected.first()
        walked = [row async for row in rows]
        pages = [len(page) async for page in rows.pages()]
        return walked, await rows.all(), pages, await rows.to_records(), await rows.to_pandas()

    expected = almanac.observations.list(**ASK)
    expected.all()
    walked, whole, pages, records, frame = asyncio.run(both())
    assert walked == whole == expected.all()
    assert sum(pages) == len(whole)
    assert records == expected.to_records()
    assert frame.equals(expected.to_pandas())


def test_as_of_is_sent_with_every_page_and_refused_where_there_is_none(almanac, service):
    then = almanac.at("2026-11-10")
    rows = then.observations.list(**ASK, page_size=5)
    expected = service.walk("/observations", "pro", **ASK, as_of="2026-11-10")
    assert [row.id for row in rows] == [row["id"] for row in expected]
    assert {request.url.params["as_of"] for request in asked(almanac)} == {"2026-11-10"}
    assert rows.as_of == "2026-11-10"
    with pytest.raises(AsOfUnsupported, match="/countries"):
        then.countries.list()
    assert then.observations.list(**ASK, as_of=date(2026, 11, 12)).as_of == "2026-11-12"
    assert almanac.countries.list().first() is not None


def test_times_and_lists_are_written_as_the_interface_wants_them(almanac):
    moment = datetime.fromisoformat("2026-11-10T12:30:00+02:00")
    almanac.observations.list(indicator_id=["gov_yield_10y", "gov_yield_2y"], country={"USA"}, as_of=moment).first()
    params = asked(almanac)[-1].url.params
    assert params["indicator_id"] == "gov_yield_10y,gov_yield_2y"
    assert params["as_of"] == "2026-11-10T10:30:00Z"
    fine = datetime(2026, 11, 10, 1, 2, 3, 456, tzinfo=timezone.utc)
    assert almanac.at(fine).observations.list().as_of == "2026-11-10T01:02:03.000456Z"
    almanac.countries.list(has_data=True).first()
    assert asked(almanac)[-1].url.params["has_data"] == "true"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"as_of": datetime(2026, 11, 10, 12)}, "without a zone"),
        ({"country": ["USA,JPN"]}, "has a comma"),
        ({"country": 1.5}, "'country' cannot be 1.5, of type float"),
        ({"country": {"USA": 1}}, "of type dict"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused_here(almanac, wrong, told):
    with pytest.raises(InvalidArgument, match=told):
        almanac.observations.list(**wrong)
    assert asked(almanac) == []


@pytest.mark.parametrize("name", ["", "..", " "])
def test_a_path_needs_a_name(almanac, name):
    with pytest.raises(InvalidArgument, match="idOrIso"):
        almanac.countries.get(name)


def test_a_path_is_quoted(almanac, service):
    with pytest.raises(Exception, match="a/b"):
        almanac.entities.aliases("a/b?x").all()
    assert asked(almanac)[-1].url.raw_path.startswith(b"/entities/a%2Fb%3Fx/aliases?")


def test_a_misspelt_parameter_is_a_type_error(almanac):
    with pytest.raises(TypeError, match="contry"):
        almanac.observations.list(contry="USA")


def test_what_is_asked_in_vain_is_warned_of_once_at_the_line_that_asked(almanac):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = almanac.observations.list(
            indicator_id=["gov_yield_10y", "gov_yeild_2y"], country="USA", page_size=5
        ).all()
    assert len(rows) > 5
    (told,) = caught
    assert told.category is ServerWarning
    assert str(told.message) == "indicator_id 'gov_yeild_2y' names no indicator; did you mean 'gov_yield_2y'?"
    assert told.filename == __file__
