"""Companies' filings at the U.S. Securities and Exchange Commission (EDGAR): facts, submissions, tickers, data sets.

There are no native series in the catalogue's sense: a response tells of companies, and what of them is taken follows
from the lines of statements that the catalogue has. `sec_facts`, `sec_submissions`, `sec_reference` and `sec_datasets`
read one kind of response each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Self
from urllib.parse import urlsplit

from almanac.catalog.companies import wanted_tags
from almanac.domain.reference import Source
from almanac.domain.times import midnight
from almanac.sources.base import Connector, Options, Parsed, Payload, Request, Specs
from almanac.sources.feeds.sec import datasets, facts, indexes, reference, submissions
from almanac.sources.formats.archive import Archive, Budget

_DATA, _FILES = "https://data.sec.gov", "https://www.sec.gov"

_FACTS = re.compile(r"/api/xbrl/companyfacts/CIK([0-9]{10})\.json")
_SUBMISSIONS = re.compile(r"/submissions/CIK(?P<cik>[0-9]{10})\.json")
_PAGE = re.compile(r"/submissions/(CIK(?P<cik>[0-9]{10})-submissions-[0-9]{3,}\.json)")
_SUBMISSIONS_OF = f"{_DATA}/submissions/CIK{{:010d}}.json"
_FACTS_OF = f"{_DATA}/api/xbrl/companyfacts/CIK{{:010d}}.json"
#: Of a company that never filed facts (funds, small issuers from abroad) there is no such file.
_NO_FACTS = frozenset([404])
#: The turn of data sets: behind those of all companies, whose numbers have ten digits.
_BEHIND_COMPANIES = 2 * 10**10
_TICKERS = "/files/company_tickers.json"
_LISTINGS = "/files/company_tickers_exchange.json"
_DATASET = re.compile(
    r"/(?:files/dera/financial-statement-data-sets|files/node/add/data_distribution"
    r"|files/dera/data/financial-statement-data-sets)/([0-9]{4}q[1-4]\.zip)"
)
_BULK_FACTS = "/Archives/edgar/daily-index/xbrl/companyfacts.zip"
_BULK_SUBMISSIONS = "/Archives/edgar/daily-index/bulkdata/submissions.zip"
#: Where the responses in an archive are found alone.
_ARCHIVES = {_BULK_SUBMISSIONS: f"{_DATA}/submissions/", _BULK_FACTS: f"{_DATA}/api/xbrl/companyfacts/"}
_MEMBER = re.compile(r"CIK([0-9]{10})(?:-submissions-[0-9]{3,})?\.json")
#: Bytes that an archive may unpack to, and one response in it; the nightly ones have about twenty billion.
_TOTAL, _LARGEST = 128 << 30, 64 << 20

#: Kinds of response that are the SEC's and hold nothing this service keeps, by the beginning of their path.
_SET_ASIDE = {
    "/api/xbrl/companyconcept/": "one tag of one company; company facts have them all",
    "/api/xbrl/frames/": "one fact of all companies, as last filed: it does not say what was known when",
    "/files/company_tickers_mf.json": "tickers of funds, which file no statements",
    "/search-filings/standard-industrial-classification": "the list of industry codes, which the catalogue has",
    "/info/edgar/siccodes": "the list of industry codes, which the catalogue has",
}

#: Companies that the list of tickers names, whose responses are asked for where none are named.
_COMPANIES = 8_000
#: Bytes of a nightly archive at most: several times those of today's.
_IN_FILE = 8 << 30

_CONTACT = re.compile(r"[!-'*-~]+(?: [!-'*-~]+)*")
_CIK = re.compile(r"(?:CIK)?([0-9]{1,10})", re.IGNORECASE)


@dataclass(frozen=True)
class Sec(Connector):
    """The connector. `companies`: CIKs and tickers to ask for, none for all; `bulk`: by the nightly archives."""

    version = 2
    hosts = frozenset({"data.sec.gov", "www.sec.gov", "sec.gov"})
    leads_further = True
    companies: tuple[str, ...] = ()
    bulk: bool = False

    def chosen(self, options: Options) -> Self:
        """Return the connector for these companies. Raises ValueError naming the setting for a ticker where CIKs are needed."""
        if options.bulk:
            for name in options.companies:
                if _CIK.fullmatch(name) is None:
                    raise ValueError(
                        f"sources.sec.companies: with sources.sec.bulk companies are named by CIK, not {name!r}"
                    )
        return replace(self, companies=options.companies, bulk=options.bulk)

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """Plan the list of tickers, then facts and submissions of the companies named by CIK; in bulk, the two archives.

        What companies named by ticker, or all, need is told by `follow` from the list of tickers, and the older pages
        of a company's filings from its submissions. `since` narrows nothing: a response has a company's whole history.
        `key` is the contact that the SEC asks every client to state; without one ValueError names the setting.
        """
        named = len(self.companies) - len(self._ciks())
        others = 0 if self.bulk else named if self.companies else _COMPANIES
        # By the lists of who filed, where these are fewer than the companies that only the list of tickers names.
        by_news = others > indexes.WINDOW and since is None
        opened = midnight(today.toordinal() - indexes.WINDOW + 1)
        listings = indexes.quarters(today) if by_news else []
        planned = [_request(_FILES + path, source, key, newest=True, news_since=opened) for path in listings]
        planned.append(_request(_FILES + _LISTINGS, source, key, led_by_news=by_news))
        if self.bulk:
            return planned + [_request(_FILES + path, source, key, most_in_file=_IN_FILE) for path in _ARCHIVES]
        return planned + _of_companies(self._ciks(), source, key)

    def follow(self, payload: Payload, source: Source, key: str | None) -> list[Request]:
        """Return the requests that the list of tickers, or a company's submissions, leads to.

        Raises SourceChanged for a body of another shape, ValueError naming the setting for a ticker that is not listed.
        """
        path = urlsplit(payload.url).path
        if path == _LISTINGS and not self.bulk:
            return _of_companies(self._listed(reference.tickers_with_exchanges(payload.body, Parsed())), source, key)
        if indexes.is_listing(path):
            today = datetime.fromtimestamp(payload.fetched_at, UTC).date()
            masters = indexes.masters(payload.body, today, path)
            return [_request(_FILES + name, source, key, settled_at=indexes.settled_at(day)) for name, day in masters]
        if found := _SUBMISSIONS.fullmatch(path):
            names = submissions.pages(payload.body, int(found[1]))
            return [_request(f"{_DATA}/submissions/{name}", source, key) for name in names]
        return []

    def announced(self, payload: Payload) -> Mapping[str, int]:
        """Return the submissions of those who filed on the day of an index, and the facts of those who filed any."""
        path = urlsplit(payload.url).path
        day = indexes.day_of(path)
        if day is None:
            return {}
        found = indexes.changed(payload.body, day, path)
        return {(_FACTS_OF if facts else _SUBMISSIONS_OF).format(cik): at for (cik, facts), at in found.items()}

    def unpack(self, payload: Payload) -> Iterator[Payload]:
        """Yield the responses in a nightly archive, of the companies asked for; any other payload as it is."""
        path = urlsplit(payload.url).path
        if path not in _ARCHIVES:
            yield payload
            return
        archive = Archive(payload.file or payload.body, Budget(_TOTAL, _LARGEST), path)
        asked = set(self._ciks())
        for name in archive.names:
            found = _MEMBER.fullmatch(name)
            if found is not None and (not asked or int(found[1]) in asked):
                yield Payload(_ARCHIVES[path] + name, archive.read(name), payload.fetched_at, "application/json")

    def turn(self, url: str) -> int:
        """Order lists of all companies before single ones, and data sets, which stand in for facts, last.

        Of each company its submissions come before its facts.

        Facts of which it is not known when they were filed would be folded and derived from twice. A company is derived by
        a worker as soon as both are there, while the next ones are folded.
        """
        path = urlsplit(url).path
        if found := _FACTS.fullmatch(path):
            return 2 * int(found[1]) + 1
        if found := _SUBMISSIONS.fullmatch(path) or _PAGE.fullmatch(path):
            return 2 * int(found["cik"])
        if _DATASET.fullmatch(path):
            return _BEHIND_COMPANIES
        return int(path == _BULK_FACTS)

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one response, told apart by its path. Raises SourceChanged."""
        path = urlsplit(payload.url).path
        if found := _FACTS.fullmatch(path):
            return facts.read(payload.body, int(found[1]), wanted_tags())
        if found := _SUBMISSIONS.fullmatch(path):
            return submissions.read(payload.body, int(found[1]))
        if found := _PAGE.fullmatch(path):
            return submissions.read_page(payload.body, int(found[2]), found[1])
        if path in {_TICKERS, _LISTINGS}:
            parsed = Parsed()
            read = reference.tickers if path == _TICKERS else reference.tickers_with_exchanges
            parsed.companies += reference.companies(read(payload.body, parsed))
            return parsed
        if found := _DATASET.fullmatch(path):
            return datasets.read(payload.body, found[1], wanted_tags())
        if path in _ARCHIVES:
            return Parsed(ignored=f"{path}: an archive of many responses, each of which is read in its place")
        if indexes.is_listing(path):
            today = datetime.fromtimestamp(payload.fetched_at, UTC).date()
            days = f"{len(list(indexes.masters(payload.body, today, path)))} of the last {indexes.WINDOW}"
            return Parsed(ignored=f"{path}: the days that have an index of filings, {days}")
        if (day := indexes.day_of(path)) is not None:
            count = len({cik for cik, _ in indexes.changed(payload.body, day, path)})
            return Parsed(ignored=f"{path}: who filed on a day, {count} in all: of them it is asked what is new")
        reason = next((told for start, told in _SET_ASIDE.items() if path.startswith(start)), None)
        return Parsed(ignored=f"{path}: {reason or 'a kind of response nobody reads'}")

    def _ciks(self) -> list[int]:
        return sorted({int(found[1]) for name in self.companies if (found := _CIK.fullmatch(name))})

    def _listed(self, entries: Sequence[reference.Ticker]) -> list[int]:
        """CIKs of the companies asked for that the plan could not know, in the order of the list."""
        if not self.companies:
            return list(dict.fromkeys(entry.cik for entry in entries))
        owners = {entry.ticker.upper(): entry.cik for entry in reversed(entries)}
        tickers = sorted({name.upper() for name in self.companies if not _CIK.fullmatch(name)})
        unknown = [ticker for ticker in tickers if ticker not in owners]
        if unknown:
            raise ValueError(f"sources.sec.companies: the SEC lists no ticker {', '.join(unknown)}")
        planned = set(self._ciks())
        return [cik for cik in dict.fromkeys(owners[ticker] for ticker in tickers) if cik not in planned]


def _of_companies(ciks: Sequence[int], source: Source, key: str | None) -> list[Request]:
    planned = []
    for cik in ciks:
        planned.append(_request(_SUBMISSIONS_OF.format(cik), source, key))
        planned.append(_request(_FACTS_OF.format(cik), source, key, empty=_NO_FACTS))
    return planned


def _request(url: str, source: Source, key: str | None, **fields: Any) -> Request:
    setting = source.key_setting or "contact"
    if not key:
        raise ValueError(f"source {source.id} needs in setting {setting} a contact, such as your e-mail address")
    if _CONTACT.fullmatch(key) is None:
        raise ValueError(f"setting {setting} must be words in ASCII without brackets, like Jane Doe jane@example.org")
    agent = f"Almanac (self-hosted financial data service; {key})"
    return Request(url, headers={"user-agent": agent}, **fields)


CONNECTOR = Sec()
