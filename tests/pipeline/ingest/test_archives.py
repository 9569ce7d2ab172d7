"""The nightly archives of all companies, larger than a body may be: written to a file, read from there, gone after it. Invented."""

import io
import random
import zipfile

import pytest

from almanac.catalog.load import shipped
from almanac.config import Http, Settings, SourceSettings
from almanac.pipeline.ingest import asking
from almanac.pipeline.ingest.asking import from_network
from almanac.pipeline.workplace import REAL, Workplace
from almanac.sources.feeds.sec import connector as sec
from almanac.sources.transport import body as bodies
from tests.support.publisher import Publisher, ToLoopback
from tests.support.sec_invented import CIK, encoded, facts_body, submissions_body

NOW = "2026-11-20T12:00:00Z"
LISTING = b'{"fields":["cik","name","ticker","exchange"],"data":[[9900001,"Invented Widgets Inc.","IWDG","NYSE"]]}'
#: Bytes of a body that is held, and of an archive: many times as many.
HELD, ARCHIVE = 100_000, 3_000_000


def archive(member, body):
    """One response, beside much that is not read."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as made:
        made.writestr("readme.bin", random.Random(1).randbytes(ARCHIVE))
        made.writestr(member, encoded(body))
    return held.getvalue()


@pytest.fixture
def answers():
    name = f"CIK{CIK:010d}.json"
    return {
        "/files/company_tickers_exchange.json": LISTING,
        "/Archives/edgar/daily-index/xbrl/companyfacts.zip": archive(name, facts_body()),
        "/Archives/edgar/daily-index/bulkdata/submissions.zip": archive(name, submissions_body()),
    }


@pytest.fixture
def loaded(tmp_path, answers, monkeypatch):
    """Loads the archives into a home, and tells what came of it, what is kept, and the pieces that were written at a time."""
    real = asking.Fetcher

    def load():
        with Publisher(lambda path: (200, answers[path], {})) as publisher:
            monkeypatch.setattr(
                asking, "Fetcher", lambda http, **more: real(http, transport=ToLoopback(publisher.port), **more)
            )
            settings = Settings(
                home=tmp_path / "home",
                now=NOW,
                http=Http(max_bytes=HELD, requests_per_second=1_000.0, attempts=1),
                sources={"sec": SourceSettings(contact="a@example.org", bulk=True)},
            )
            with Workplace(settings, kind=REAL) as world:
                (outcome,) = from_network(world, [shipped().sources["sec"]], None, lambda _: None)
                kept = {capture.url: world.raw.read(capture) for capture in world.raw.captures("sec")}
        return outcome, kept, settings.home / "run" / "bodies"

    return load


def test_each_response_of_an_archive_beyond_the_bound_is_kept_as_it_was_and_the_file_is_gone(loaded, monkeypatch):
    largest = []
    writing = bodies.write_body

    def watched(pieces, encoding, most, file):
        def counted():
            for piece in pieces:
                largest.append(len(piece))
                yield piece

        writing(counted(), encoding, most, file)

    monkeypatch.setattr(bodies, "write_body", watched)
    outcome, kept, folder = loaded()
    assert (outcome.failed, outcome.quarantined) == ({}, {})
    data = "https://data.sec.gov"
    assert kept[f"{data}/api/xbrl/companyfacts/CIK{CIK:010d}.json"] == encoded(facts_body())
    assert kept[f"{data}/submissions/CIK{CIK:010d}.json"] == encoded(submissions_body())
    assert len(kept) == 3
    assert sum(largest) > 2 * ARCHIVE
    assert max(largest) <= 1 << 17  # what is held at a time
    assert list(folder.iterdir()) == []


def test_an_archive_has_a_bound_of_its_own_and_one_that_is_broken_is_told(loaded, answers, monkeypatch):
    answers["/Archives/edgar/daily-index/bulkdata/submissions.zip"] = b"<html>busy</html>"
    monkeypatch.setattr(sec, "_IN_FILE", ARCHIVE - 1)
    outcome, kept, folder = loaded()
    reasons = sorted(outcome.failed.values())
    assert [reason.partition("allowed")[1] or reason.partition("zip archive")[1] for reason in reasons] == [
        "zip archive",
        "allowed",
    ]
    assert list(kept) == ["https://www.sec.gov/files/company_tickers_exchange.json"]
    assert list(folder.iterdir()) == []
