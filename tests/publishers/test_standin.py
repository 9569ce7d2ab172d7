"""The stand-in keeps publishers' rules: what is asked beyond them is answered as they would, and written down."""

from __future__ import annotations

import pytest

from almanac.config import Http
from almanac.sources.base import Request
from almanac.sources.transport.http import FetchFailed, Validators
from tests.publishers import troubles
from tests.publishers.clock import SimulatedClock
from tests.publishers.figures import Figures
from tests.publishers.room import Asked, Reply, Room, Rules
from tests.publishers.rooms import every
from tests.publishers.standin import StandIn, fetcher

AGENT = {"user-agent": "Almanac-Test (invented; a@example.org)"}
OECD = "https://sdmx.oecd.org/public/rest/data/OECD.SDD.STES,DSD_STES@DF_CLI,4.1/.M.LI.IX._Z.AA.IX._Z.H?format=csvfile"
ISTAT = "https://esploradati.istat.it/SDMXWS/rest/data/115_333/M.IT.IND_PROD_21.Y.0020"


class Office(Room):
    """A publisher that does what no other does, all at once."""

    name, sources, hosts = "office", (), ("office.example",)
    rules = Rules(documented="Invented", etag=True, moved={"/old/": "/new/"}, seconds=100.0, named=True)

    def answer(self, asked: Asked) -> Reply:
        return Reply(b"invented " * 10, "text/plain", cut=asked.path == "/new/cut")


@pytest.fixture
def stand_in():
    clock, figures = SimulatedClock("2026-11-02T08:00:00+00:00"), Figures()
    with StandIn([*every(figures), Office(figures)], clock) as made:
        yield made


def ask(stand_in, url, **headers):
    return stand_in.reply(Asked(url, {**AGENT, **headers}, stand_in.clock.now))


def test_the_hour_of_a_publisher_is_kept_and_what_is_more_is_refused_and_written_down(stand_in):
    answers = [ask(stand_in, OECD) for _ in range(21)]
    assert [one.status for one in answers] == [200] * 20 + [429]
    assert answers[-1].headers == {"retry-after": "3600"}
    assert (len(stand_in.broken), stand_in.touched["oecd"]) == (1, 1)
    stand_in.clock.sleep(3_600)
    assert ask(stand_in, OECD).status == 200


def test_one_that_shuts_out_does_so_for_a_day(stand_in):
    started = stand_in.clock.now
    assert [stand_in.reply(Asked(ISTAT, AGENT, started)).status for _ in range(6)] == [200] * 5 + [403]
    stand_in.clock.sleep(23 * 3_600)
    assert ask(stand_in, ISTAT).status == 403
    stand_in.clock.sleep(3_600)
    assert ask(stand_in, ISTAT).status == 200


@pytest.mark.parametrize(
    ("url", "agent", "status"),
    [
        ("https://www.sec.gov/files/company_tickers_exchange.json", "Almanac (self-hosted)", 403),
        ("https://www.bls.gov/schedule/news_release/bls.ics", "Almanac (self-hosted)", 403),
        ("https://www.rba.gov.au/statistics/tables/csv/f1-data.csv", "python", 403),
        ("https://www.rba.gov.au/statistics/tables/csv/f1-data.csv", "Almanac (self-hosted)", 200),
        ("https://nobody.example/", "Almanac (self-hosted)", 502),
    ],
)
def test_who_does_not_say_who_asks_is_refused_where_a_publisher_wants_to_know(stand_in, url, agent, status):
    assert ask(stand_in, url, **{"user-agent": agent}).status == status


def test_redirects_validators_silence_and_cut_answers_reach_the_client_as_they_are(stand_in):
    with fetcher(stand_in)(Http(attempts=2)) as client:
        began = stand_in.clock.now
        with pytest.raises(FetchFailed, match="read timeout"):
            client.fetch(Request("https://office.example/new/x"))
        assert stand_in.clock.now - began >= 2 * 60
    with fetcher(stand_in)(Http(attempts=2, read_timeout=200.0, total_timeout=900.0)) as client:
        first = client.fetch(Request("https://office.example/old/x"))
        assert first.body == b"invented " * 10
        again = client.fetch(Request("https://office.example/new/x"), Validators(first.etag))
        assert again.not_modified
        with pytest.raises(FetchFailed):
            client.fetch(Request("https://office.example/new/cut"))
    assert [line.status for line in stand_in.log if "/old/" in line.url] == [301]
    assert sum(line.failed for line in stand_in.log) == 2
    assert stand_in.broken == []


def test_what_goes_wrong_for_a_while_is_over_after_it(stand_in):
    now = stand_in.clock.now
    stand_in.trouble.append(troubles.down("oecd", now, now + 60))
    assert ask(stand_in, OECD).status == 503
    stand_in.clock.sleep(60)
    assert ask(stand_in, OECD).status == 200
