"""What is asked of a publisher whose answers lead to more, or hold many. Publisher and answers are invented."""

from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from almanac.config import SourceSettings
from almanac.pipeline.ingest import asking, ingest, request_ledger
from almanac.pipeline.ingest.outcome import RunOutcome, exit_code
from almanac.sources.base import Connector, Payload, Request, SourceChanged
from almanac.sources.transport.answers import Fetched, FetchFailed
from almanac.store.log.requests import RequestState
from tests.support.central_banks import source

HOME = "https://invented.example/"
SOURCE = source("invented", homepage=HOME, key_setting="ALMANAC_SOURCES__INVENTED__CONTACT")


@dataclass(frozen=True)
class Reader(Connector):
    """`list` leads to the pages it names, `archive` holds two responses."""

    leads_further = True
    companies: tuple[str, ...] = ()

    def chosen(self, options):
        return replace(self, companies=options.companies)

    def plan(self, source, series, since, today, key):
        return [Request(HOME + name, {"key": key}) for name in ("list", "archive", "page0", *self.companies)]

    def parse(self, payload, source, series):
        raise AssertionError("responses are asked for here, not read")

    def follow(self, payload, source, key):
        if payload.body == b"changed":
            raise SourceChanged("another shape")
        if payload.body == b"unknown":
            raise ValueError("setting companies: nobody knows GONE")
        if payload.url != HOME + "list":
            return []
        return [Request(HOME + name, {"key": key}) for name in payload.body.decode().split()]

    def unpack(self, payload):
        if payload.url != HOME + "archive":
            yield payload
            return
        for name in payload.body.decode().split():
            if name == "broken":
                raise SourceChanged("member broken is damaged")
            yield Payload(HOME + "inside/" + name, name.encode(), payload.fetched_at, "text/plain")


@dataclass
class Publisher:
    answers: dict
    asked: list = field(default_factory=list)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def fetch(self, request, validators):
        self.asked.append((request.url.removeprefix(HOME), request.secret.get("key"), validators))
        body = self.answers.get(request.url.removeprefix(HOME))
        if body is None:
            raise FetchFailed(request.url, "answered 404")
        unchanged = body == "unchanged"
        return Fetched(
            request.url, 304 if unchanged else 200, b"" if unchanged else body, "text/plain", "tag", None, unchanged
        )


class Held:
    """Stands for the table of requests: URL → how it stands."""

    def __init__(self):
        self.rows = {}

    def standing(self, db, source):
        return dict(self.rows)

    def forget(self, db, source, urls):
        for url in urls:
            self.rows.pop(url, None)

    def note(self, db, source, url, via, answered_at, keep):
        self.rows[url] = RequestState(via, answered_at)


class Ingest:
    fail = ingest.Ingest.fail

    def __init__(self, world, source, say, reader):
        assert isinstance(reader, Reader)  # the one that was asked for the plan
        self.connector, self._say = reader, say
        self.outcome = RunOutcome(source.id)
        self.arrived = []
        world.ingests.append(self)

    def unchanged(self, last):
        self.outcome.known += 1
        return False

    def run(self, arrivals):
        self.arrived = [(a.url.removeprefix(HOME), a.body, a.etag) for a in arrivals]
        return self.outcome


def ask(
    monkeypatch, answers, kept=None, before=(), since=None, entities=None, series=None, between=lambda: None, **settings
):
    publisher = Publisher({name: text if text == "unchanged" else text.encode() for name, text in answers.items()})
    monkeypatch.setattr(asking, "connector", lambda name: Reader())
    monkeypatch.setattr(asking, "Fetcher", lambda http, **_: publisher)
    monkeypatch.setattr(asking, "Ingest", Ingest)
    monkeypatch.setattr(asking, "check_clock", lambda db, source, now: None)
    monkeypatch.setattr(request_ledger, "requests", Held())
    raw = SimpleNamespace(
        latest=lambda source, url: (
            SimpleNamespace(etag="old", last_modified=None, fetched_at=1_790_000_000)
            if (url == HOME + "list" and kept) or url.removeprefix(HOME) in before
            else None
        ),
        read=lambda capture: kept,
    )
    world = SimpleNamespace(
        ingests=[], db=None,
        raw=raw,
        settings=SimpleNamespace(
            clock=lambda: 1_795_000_000, home=Path("home"), http=None,
            sources={"invented": SourceSettings(contact="jane@example.org", **settings)},
        ),
        catalog=SimpleNamespace(series=series or {}, providers={"invented": SimpleNamespace(limit=None)}),
    )  # fmt: skip
    told = []
    (outcome,) = asking.from_network(world, [SOURCE], since, told.append, entities=entities, between=between)
    return publisher, world.ingests[0].arrived, outcome, told


ANSWERS = {"list": "page1 page2 page0 page1", "archive": "a b", "page0": "0", "page1": "1", "page2": "2"}


def test_answers_lead_on_and_archives_arrive_as_what_is_in_them(monkeypatch):
    publisher, arrived, outcome, told = ask(monkeypatch, ANSWERS)
    assert [(name, key) for name, key, _ in publisher.asked] == [
        (name, "jane@example.org") for name in ("list", "page1", "page2", "archive", "page0")
    ]
    assert arrived == [
        ("list", b"page1 page2 page0 page1", "tag"),
        ("page1", b"1", "tag"),
        ("page2", b"2", "tag"),
        ("inside/a", b"a", None),
        ("inside/b", b"b", None),
        ("page0", b"0", "tag"),
    ]
    assert (outcome.failed, told) == ({}, [])


def test_the_many_that_an_answer_leads_to_wait_until_all_that_was_planned_is_asked(monkeypatch):
    many = [f"page{number}" for number in range(1, 52)]
    publisher, *_ = ask(monkeypatch, ANSWERS | {"list": " ".join(many)} | dict.fromkeys(many, "1"))
    assert [name for name, *_ in publisher.asked] == ["list", "archive", "page0", *many]
    publisher, *_ = ask(monkeypatch, ANSWERS | {"list": " ".join(many[:50])} | dict.fromkeys(many, "1"))
    assert [name for name, *_ in publisher.asked] == ["list", *many[:50], "archive", "page0"]


def test_options_reach_the_connector(monkeypatch):
    publisher, *_ = ask(monkeypatch, ANSWERS | {"list": "", "ACME": "x"}, companies=("ACME",))
    assert [name for name, _, _ in publisher.asked] == ["list", "archive", "page0", "ACME"]


def test_an_answer_that_has_not_changed_leads_where_it_led(monkeypatch):
    publisher, arrived, outcome, _ = ask(monkeypatch, ANSWERS | {"list": "unchanged"}, kept=b"page2")
    assert [name for name, _, _ in publisher.asked] == ["list", "page2", "archive", "page0"]
    assert publisher.asked[0][2].etag == "old"
    assert "list" not in [name for name, _, _ in arrived]
    assert outcome.known == 1


@pytest.mark.parametrize(
    ("answers", "failed", "arrives"),
    [
        ({"page0": None}, {"page0": f"{HOME}page0: answered 404"}, {"list", "page2"}),
        ({"list": "unknown"}, {"list": "setting companies: nobody knows GONE"}, {"list", "page0"}),
        ({"archive": "a broken b"}, {"archive": "member broken is damaged"}, {"inside/a", "page2"}),
        ({"list": "changed"}, {}, {"list", "page0"}),  # the reader refuses it, and says so
    ],
)
def test_what_fails_is_told_and_the_rest_goes_on(monkeypatch, answers, failed, arrives):
    given = {name: text for name, text in (ANSWERS | answers).items() if text is not None}
    _, arrived, outcome, told = ask(monkeypatch, given)
    assert {url.removeprefix(HOME): reason for url, reason in outcome.failed.items()} == failed
    assert arrives <= {name for name, _, _ in arrived}
    assert len(told) == len(failed)


def test_the_requests_to_a_host_that_cannot_be_reached_wait_for_the_next_turn(monkeypatch):
    """The first that failed says how many more wait, in the run and in the health of the source; others go on."""

    def fetch(self, request, validators):
        self.asked.append(request.url)
        if "//invented.example/page" in request.url:
            failed = FetchFailed(request.url, "connect error")
            failed.given_up = "invented.example"
            raise failed
        return real(self, request, validators)

    real = Publisher.fetch
    monkeypatch.setattr(Publisher, "fetch", fetch)
    _, arrived, outcome, told = ask(monkeypatch, ANSWERS)
    waits = "2 more requests to invented.example wait for the next turn"
    assert told == [f"failed {HOME}page1: connect error", waits]
    assert outcome.failed == {HOME + "page1": f"{HOME}page1: connect error; {waits}"}
    assert [name for name, *_ in arrived] == ["list", "inside/a", "inside/b"]
    outcome.folded = 3
    assert exit_code([outcome]) == 3


def test_between_requests_and_parts_of_archives_it_can_be_ended(monkeypatch):
    calls = []
    ask(monkeypatch, ANSWERS, between=lambda: calls.append(1))
    assert len(calls) == 5 + 6  # before each request, after each response that was taken in

    class EndedError(Exception):
        pass

    asked = []

    def end():
        asked.append(1)
        if len(asked) == 8:
            raise EndedError

    fetched = []
    real = Publisher.fetch

    def fetch(self, request, validators):
        fetched.append(request.url.removeprefix(HOME))
        return real(self, request, validators)

    monkeypatch.setattr(Publisher, "fetch", fetch)
    with pytest.raises(EndedError):
        ask(monkeypatch, ANSWERS, between=end)
    assert fetched == ["list", "page1", "page2", "archive"]  # ended after the first of the two responses in the archive


def test_where_entities_are_named_a_source_without_series_is_not_asked(monkeypatch):
    publisher, *_ = ask(monkeypatch, ANSWERS, entities={"country_usa"})
    assert publisher.asked == []


def test_nor_one_whose_series_are_of_others(monkeypatch):
    series = {"invented": {"X": SimpleNamespace(entity="country_fra")}}
    assert ask(monkeypatch, ANSWERS, entities={"country_usa"}, series=series)[0].asked == []
    assert ask(monkeypatch, ANSWERS, entities={"country_fra"}, series=series)[0].asked != []


def test_an_answer_that_there_is_nothing_is_no_failure(monkeypatch):
    """By a status that the protocol has for it; another one is a failure, and so is that one of a publisher without it."""
    failure = FetchFailed(HOME + "page0", "answered 404 Not Found: No results found", status=404)
    refused = FetchFailed(HOME + "archive", "answered 403 Forbidden", status=403)

    def fetch(self, request, validators):
        if request.url == HOME + "page0":
            raise failure
        if request.url == HOME + "archive":
            raise refused
        return Fetched(request.url, 200, b"", "text/plain", None, None, False)

    monkeypatch.setattr(Publisher, "fetch", fetch)
    _, _, outcome, told = ask(monkeypatch, {})
    assert set(outcome.failed) == {HOME + "page0", HOME + "archive"}
    plan = Reader.plan
    monkeypatch.setattr(Reader, "plan", lambda *given: [replace(one, empty=frozenset({404})) for one in plan(*given)])
    _, _, outcome, told = ask(monkeypatch, {})
    assert set(outcome.failed) == {HOME + "archive"}
    assert outcome.empty == [HOME + "page0"]
    assert f"nothing in {HOME}page0" in told


class OfTwoFlows(Reader):
    """Asks for two series of one data set and one of another, of which nothing may be left."""

    def plan(self, source, series, since, today, key):
        return [
            Request(HOME + name, empty=frozenset({404}), gone=("no such flow",), dataset=name[0])
            for name in ("a1", "a2", "b1")
        ]


@pytest.fixture
def of_two_flows(monkeypatch):
    def fetch(self, request, validators):
        name = request.url.removeprefix(HOME)
        if name not in self.answers:
            raise FetchFailed(request.url, f"answered 404: {self.answers.get('why', b'').decode()}", status=404)
        return Fetched(request.url, 200, b"", "text/plain", None, None, False)

    monkeypatch.setattr("tests.pipeline.ingest.test_asking.Reader", OfTwoFlows)
    monkeypatch.setattr(Publisher, "fetch", fetch)
    return lambda answers, **more: ask(monkeypatch, dict.fromkeys(answers, "unchanged") | more.pop("body", {}), **more)


def test_a_data_set_of_which_every_request_finds_nothing_is_gone_and_says_since_when(of_two_flows):
    *_, outcome, told = of_two_flows(["b1"], before=("a1", "a2", "b1"))
    said = "all 2 requests for a found nothing, as if it were gone; the last answer is of 2026-09-21T14:13:20Z"
    assert outcome.failed == {HOME + "a1": said}
    assert outcome.empty == [HOME + "a1", HOME + "a2"]
    assert f"failed {HOME}a1: {said}" in told
    # Nor was there ever anything in it.
    *_, outcome, _ = of_two_flows(["b1"])
    assert outcome.failed == {HOME + "a1": "all 2 requests for a found nothing, as if it were gone"}
    # They are asked for again at the next turn of what failed.
    assert {url for url, row in request_ledger.requests.rows.items() if row.answered_at is None} == {
        HOME + "a1",
        HOME + "a2",
    }


def test_one_series_without_anything_is_no_data_set_that_is_gone(of_two_flows):
    *_, outcome, _ = of_two_flows(["a2", "b1"], before=("a1", "a2", "b1"))
    assert (outcome.failed, outcome.empty) == ({}, [HOME + "a1"])
    # Nor are the days since one day, if there are none yet.
    *_, outcome, _ = of_two_flows([], since=date(2026, 11, 27))
    assert (outcome.failed, len(outcome.empty)) == ({}, 3)


def test_a_publisher_that_says_that_it_has_no_such_data_set_is_taken_at_its_word(of_two_flows):
    *_, outcome, _ = of_two_flows(["a2", "b1"], body={"why": "here is no such flow at all"})
    assert list(outcome.failed) == [HOME + "a1"]
    assert outcome.empty == []
