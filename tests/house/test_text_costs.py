"""
Texts of others cost what they are long, and no more: ten times the length takes ten times the time, not a hundred times.

Every regular expression that modules hold is asked what its module asks it, about texts made of its own letters; every
function that reads a text from outside is given texts that were hard on one of them. Ratios only, of the processor's time.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from almanac.api.contract import keyshape
from almanac.api.contract.cursor import Signer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param, nearest
from almanac.api.server import auth, envelope, logs
from almanac.api.server.routes import path_of
from almanac.dashboard import cookies
from almanac.dashboard.account.sign_in import onward
from almanac.dashboard.explorer.screening import filters
from almanac.dashboard.words import dates, numbers
from almanac.dashboard.words import periods as typed_periods
from almanac.domain import companies, names, periods, plain_text
from almanac.reports import filter_text, resolve, suggestions
from almanac.reports.haystack import Haystack, LetterCounts
from almanac.reports.spellings import Spellings, ends_word
from almanac.sources.base import SourceChanged
from almanac.sources.feeds import snb
from almanac.sources.feeds.sec import places, submissions
from almanac.sources.formats import icalendars, notes, sdmx_message, strict, workbook
from almanac.sources.transport.secrecy import Secrecy, safe
from almanac.store.accounts import keytext, passwords, records, web_sessions
from almanac.store.observations import ids
from almanac.store.raw import captures
from almanac_client import ApiError as ClientError
from almanac_mcp.text import words
from almanac_mcp.tools import screen
from bench.odd import UNITS

from .patterns import Pattern, hard, held, loops, modules, used, written

#: Ten times as long may take so many times as long, and what is over sooner than this many seconds is not told from noise.
MOST, FLOOR = 35, 0.001
#: What is asked of an expression that its module hands on, or goes through in a loop.
ELSEWHERE = {
    "almanac.dashboard.words.periods:_TYPED": {"fullmatch"},
    "almanac.dashboard.policy:_MORE": {"fullmatch"},
    "almanac.sources.feeds.rba:_TABLES": {"fullmatch"},
    "almanac.sources.feeds.sec.statement_lines:_LABELS": {"fullmatch"},
}
#: Asked about texts of this program alone: statements of SQL.
OURS = {
    *(f"almanac.store.engine.postgres.statements:{name}" for name in ("_MARK", "_HINT", "_LIST", "_PLAIN")),
    *(f"almanac.store.engine.postgres.spreading:{name}" for name in ("_OF_TOPIC", "_FOLLOWING")),
    *(f"almanac.store.engine.postgres.tables:{name}" for name in ("_COMMENT", "_TYPE", "_KIND", "_TRIGGER", "_GONE")),
}
#: Expressions without a name, each about a text that is short, or ours.
UNNAMED = {
    "'[0-9]{4}'", "'(0)|([0-9]{1,9})([smhd])'", "'\\\\w+'", "'(?<=[a-z])(?=[A-Z])'", "'[^a-z0-9]'", "'[^A-Z]'", "'[a-z0-9]+'",
    "f'CIK{cik:010d}-submissions-[0-9]{{3,}}\\\\.json'", "'//[^/?#]*@'", "'^CREATE TABLE (\\\\w+)'",
    "re.escape(place['matchedAlias'] or '')", "'[0-9a-fA-F]{8,64}'",
}  # fmt: skip


def seconds(work: Callable[[str], object], text: Callable[[int], str], length: int) -> float:
    """The least of three, of this thread alone; of texts that differ, for some readers remember what they read."""
    taken = []
    for _ in range(3):
        one = f"{text(length)}{next(_NUMBERS)}"
        began = time.thread_time()
        work(one)
        taken.append(time.thread_time() - began)
    return min(taken)


_NUMBERS = itertools.count()


def in_step(work: Callable[[str], object], text: Callable[[int], str], short: int) -> str | None:
    """What is wrong where ten times the text takes far more than ten times as long; None where it does not."""
    ratio = 0.0
    for _ in range(3):  # a machine that does other things too may disturb one try, and hardly three
        one = seconds(work, text, short)
        if one > 0.2:
            return f"{short} characters take {one:.2f} s"
        ratio = seconds(work, text, 10 * short) / max(one, FLOOR)
        if ratio < MOST:
            return None
    return f"{short} and {10 * short} characters: {ratio:.0f} times as long"


# -- regular expressions ------------------------------------------------------------------------------------------------

PATTERNS = held()


def asked(one: Pattern) -> set[str]:
    """What any module asks of an expression, by the name it has there."""
    found = set(ELSEWHERE.get(one.place, ()))
    for module in modules():
        known = [name for name, value in vars(module).items() if value is one.compiled]
        told = used(module) if known else {}
        for name in known:
            found |= told.get(name, set())
    return found


def ask(one: Pattern, method: str, text: str) -> None:
    subject: Any = text if isinstance(one.compiled.pattern, str) else text.encode("latin-1", "replace")
    if method == "sub":
        one.compiled.sub(subject[:0], subject)
    elif method == "finditer":
        list(one.compiled.finditer(subject))
    else:
        getattr(one.compiled, method)(subject)


def test_there_are_expressions_and_each_is_asked_something():
    assert len(PATTERNS) > 90
    assert [one.place for one in PATTERNS if not asked(one)] == []


def test_no_expression_without_a_name_is_new():
    assert {source for _, _, source in written()} == UNNAMED


@pytest.mark.parametrize("one", [one for one in PATTERNS if one.place not in OURS], ids=lambda one: one.place)
def test_an_expression_goes_through_a_text_once(one):
    wrong = [
        (method, begin, unit, end, told)
        for method in asked(one)
        for begin, unit, end in hard(one.compiled)
        if (told := in_step(
            lambda text: ask(one, method, text),  # noqa: B023  (called at once)
            lambda length: begin + unit * (length // len(unit)) + end,  # noqa: B023  (called at once)
            1_000,
        ))
    ]  # fmt: skip
    assert wrong == []


def test_one_that_does_not_is_found():
    import re

    bad = Pattern("here", re.compile(r"\s*[&+]\s*"))
    assert any(
        in_step(lambda text: ask(bad, "sub", text), lambda n: begin + unit * (n // len(unit)) + end, 1_000)  # noqa: B023  (called at once)
        for begin, unit, end in hard(bad.compiled)
    )


# -- functions ----------------------------------------------------------------------------------------------------------


def param(kind: str, **more: Any) -> Callable[[str], object]:
    return Param("x", "", kind, longest=10**9, **more).read


def scheme(name: str) -> Callable[[str], object]:
    return lambda text: names.normal(text, name)


KNOWN = ("sector", "revenue_ttm", "cpi_index", "net_margin")
FOUND = {name: filter_text.Field(name, name == "sector") for name in KNOWN}
SUGGESTED = suggestions.Suggestions((name, ()) for name in KNOWN)
SPELLED, HELD = Spellings([]), Haystack(["Apple Inc", "Nestlé S.A."] * 50)
COUNTED = LetterCounts(["Apple Inc", "Nestlé S.A."] * 50)
ADDRESSES, SIGNER = auth.Addresses(["127.0.0.1"]), Signer(b"k" * 32, 7)
ENTITY = {"idOrSlug": "x"}

#: Every function that is given a text as it came from outside: from clients, from browsers, from publishers, from a model.
READERS: dict[str, Callable[[str], object]] = {
    "names.folded": names.folded, "names.slugify": names.slugify, "names.without_mark": names.without_mark,
    **{f"names.normal {one}": scheme(one) for one in ("name", "ticker", "cik", "slug", "lei")},
    "plain_text.one_line": plain_text.one_line, "plain_text.escaped": lambda text: plain_text.escaped(f'"{text}"'),
    "cookies.read": cookies.read, "periods.parse": periods.Period.parse, "companies.raw_slug": companies.raw_slug, "companies.base_form": companies.base_form,
    **{f"param {kind}": param(kind) for kind in ("text", "integer", "list", "time", "period")},
    "param enum": param("enum", choices=("asc", "desc", "monthly")), "params.nearest": lambda text: nearest(text, list(KNOWN)),
    "errors.quoted": quoted, "keyshape.redact": keyshape.redact, "keyshape.has_key": keyshape.has_key,
    "auth.split_query": lambda text: auth.split_query(text.encode()), "auth.pairs": lambda text: auth.split_query(b"a=" + text.encode() + b"&" * len(text)),
    "auth.key_in_query": lambda text: auth.key_in_query([(text, text)]),
    "auth.presented_key": lambda text: auth.presented_key({b"authorization": b"Bearer " + text.encode()}),
    "auth.addresses": lambda text: ADDRESSES.of(("127.0.0.1", 1), text.encode()),
    "auth.read_headers": lambda text: auth.read_headers([(b"a", part.encode()) for part in text.split(" ")]),
    "envelope.matches": lambda text: envelope.matches(text.encode(), b'W/"x"'),
    "envelope.choose_coding": lambda text: envelope.choose_coding(text.encode()),
    "routes.path_of": lambda text: path_of({"path": text, "raw_path": f"/{text}%2f".encode()}),
    "logs.told_path": logs.told_path, "cursor.read": lambda text: SIGNER.read(text, b"", "e", 1, 0.0),
    "filter_text.parse": lambda text: filter_text.parse(text, FOUND.get, KNOWN),
    "filter_text.clause": lambda text: filter_text.parse(f"sector:in:{text}", FOUND.get, KNOWN),
    "filter_text.quoted": lambda text: filter_text.parse(f'sector:eq:"{text}"', FOUND.get, KNOWN),
    "filter_text.number": lambda text: filter_text.parse(f"net_margin:gt:{text}", FOUND.get, KNOWN),
    "filter_text.written": filter_text.written, "filter_text.value_written": lambda text: filter_text.value_written(text, several=True),
    "filters.text_of": lambda text: filters.text_of({"field1": text, "value1": text}),
    "filters.rows_of": lambda text: filters.rows_of(text, {}),
    "resolve.norms": resolve.norms, "suggestions.nearest": SUGGESTED.nearest, "spellings.close": SPELLED.close,
    "haystack.holding": HELD.holding, "dates.read_day": dates.read_day, "numbers.read_whole": numbers.read_whole,
    "dates.moment_of": dates.moment_of, "periods.read_period": typed_periods.read_period, "sign_in.onward": onward,
    "strict.shown": strict.shown, "strict.number": lambda text: strict.number(text, "x"), "strict.day": lambda text: strict.day(text, "x"),
    "icalendars.period": lambda text: icalendars._period(text, text), "notes.published_at": lambda text: notes.published_at(text, None, "x"),
    "sdmx_message.name_in": sdmx_message.name_in, "sdmx_message.version_in": sdmx_message.version_in,
    "sdmx_message.period": lambda text: sdmx_message._period.__wrapped__(text), "workbook.column": lambda text: workbook._column(text, "x"),
    "haystack.alike": lambda text: COUNTED.alike(text, 0.8), "spellings.ends_word": lambda text: ends_word(text, len(text) // 2),
    "submissions.items": lambda text: submissions._items("8-K", text), "web_sessions.cut": lambda text: web_sessions._cut(text, 10**9),
    "snb.selected": snb._SELECTED.findall, "places.country": places.country, "secrecy.safe": safe,
    "secrecy.clean": Secrecy({"key": "hush a/b"}).clean,
    "keytext.is_wellformed": keytext.KEY_SHAPE.fullmatch, "passwords.plain": passwords._plain, "records.email": records.checked_email,
    "records.folded": records.folded, "records.shown": records.shown, "tokens": keytext.TOKEN_SHAPE.fullmatch,
    "ids.place": ids.place, "captures.slug": captures._SLUG.fullmatch,
    "mcp plain": words.plain, "mcp csv": lambda text: words.csv_line([text]), "mcp first_day": words.first_day,
    "mcp spelled": words.spelled, "mcp fiscal period": words.fiscal, "mcp calendar name": words.calendar_name, "mcp fields": screen._FIELD.findall,
}  # fmt: skip
#: Functions that go through a text, each with the reader above that is timed, or why there is none.
LOOPS = {
    "almanac.api.contract.params:_list": "param list",
    "almanac.reports.indicator_search:nearness": "of at most 100 characters, as the parameter is declared",
    "almanac.api.server.auth:split_query": "auth.split_query",
    "almanac.api.server.auth:of": "auth.addresses",
    "almanac.api.server.envelope:matches": "envelope.matches",
    "almanac.api.server.envelope:choose_coding": "envelope.choose_coding",
    "almanac.catalog.records:input_slugs": "of the catalogue, which is ours",
    "almanac.dashboard.cookies:read": "cookies.read",
    "almanac.dashboard.explorer.companies.statements:in_words": "findings of our own checks, one pass",
    "almanac.dashboard.words.reasons:reason_for": "a reason of our own catalogue, split once",
    "almanac.dashboard.words.company_names:_core": "a word of a name of at most 500 bytes, split once",
    "almanac.dashboard.explorer.watching.watchlist:_usual": "a filter that the interface took, split once",
    "almanac.dashboard.explorer.finding:_named": "cut by the page of the search",
    "almanac.dashboard.explorer.screening.filters:_aside": "filters.rows_of",
    "almanac.domain.names:_apart": "names.folded",
    "almanac.domain.plain_text:one_line": "plain_text.one_line",
    "almanac.reports.filter_text:_split": "filter_text.written",
    "almanac.reports.haystack:alike": "haystack.alike",
    "almanac.reports.spellings:ends_word": "spellings.ends_word",
    "almanac.reports.statement_counts:absences": "of a check of ours, a few words for each line of a statement",
    "almanac.reports.suggestions:_digits": "suggestions.nearest",
    "almanac.sandbox.companies.trades:_sics": "of the simulated world, which is ours",
    "almanac.sources.feeds.sec.submissions:_items": "submissions.items",
    "almanac.store.accounts.web_sessions:_cut": "web_sessions.cut",
    "almanac_mcp.tools.find:_indicators": "of at most 200 characters, as the tool declares",
    "almanac_mcp.tools.find:_entities": "of at most 200 characters, as the tool declares",
}  # fmt: skip
#: How a reader says that a text is none of its kind.
REFUSALS = (
    ApiError,
    ClientError,
    filter_text.FilterError,
    ValueError,
    records.AccountError,
    KeyError,
    SourceChanged,
)


def test_no_loop_over_a_text_is_new():
    assert loops() == set(LOOPS)
    assert [told for told in LOOPS.values() if told not in READERS and " " not in told] == []


@pytest.mark.parametrize("name", READERS)
def test_a_reader_goes_through_a_text_once(name):
    def work(text: str) -> None:
        with contextlib.suppress(REFUSALS):
            READERS[name](text)

    wrong = {
        unit: told
        for unit in (*UNITS, "&", "=", "%20", ";", "\n", "é", "\\1", "M", "2026-")
        if (told := in_step(work, lambda length: f"a{unit * (length // len(unit))}b", 2_000))  # noqa: B023  (called at once)
    }
    assert wrong == {}
