"""Companies: the scored list, and what is known of one."""

from __future__ import annotations

import msgspec
import numpy as np

from almanac.api.contract.endpoint import Context, Endpoint, ListAnswer
from almanac.api.contract.params import Param
from almanac.api.contract.ports import ScoreExplainer
from almanac.api.endpoints.companies import financials, profile
from almanac.api.endpoints.companies.records import CompanySchema
from almanac.api.endpoints.companies.rows import TESTS, CompanyScoring
from almanac.api.endpoints.screeners.peers import CompanyTable, Peers
from almanac.api.endpoints.screeners.screening import ProcessCache, cut_page
from almanac.api.rows.filters import DOMICILE, entities
from almanac.api.rows.names import suggested_word
from almanac.domain.names import folded
from almanac.reports.scoring import PILLARS
from almanac.reports.screener import Column, Mask, Texts
from almanac.store.companies.rows import by_ids
from almanac.store.companies.universe import reporting

_SORTS = ("name", "ticker", "score", *PILLARS, *TESTS)


class CompanyList:
    """The list of one process."""

    def __init__(self, cache: ProcessCache) -> None:
        self._cache = cache

    def listed(self, ctx: Context) -> ListAnswer:
        """One page of companies that have statements."""
        params = ctx.params
        standing = CompanyScoring(self._cache, ctx)
        table = standing.peers.table
        scores = standing.scores
        columns: dict[str, Column | None] = {
            "name": None, "ticker": table.tickers, "score": scores.score, **scores.pillars, **standing.tests,
        }  # fmt: skip
        wanted = self._wanted(ctx, standing.peers)
        numbers, following, _ = cut_page(ctx, wanted, table.ties, columns[params["sort"]])
        found = by_ids(ctx.view, [table.companies.ids[number] for number in numbers])
        rows = [msgspec.json.encode(standing.row(found[table.companies.ids[number]])) for number in numbers]
        return ListAnswer(rows, following)

    def _wanted(self, ctx: Context, peers: Peers) -> Mask:
        """Companies that pass every filter that is given."""
        params, table = ctx.params, peers.table
        passed: Mask = (
            np.ones(len(table.ties), dtype=np.bool_)
            if ctx.version == ctx.view.version
            else reporting(ctx.view, table.companies, ctx.version)
        )
        for name, texts in (("sector", table.sectors), ("industry", table.industries)):
            if (asked := params[name]) is not None:
                matches = [word.casefold() == asked.casefold() for word in texts.words]
                if not any(matches):
                    near = suggested_word(ctx, name, asked, texts.words)
                    ctx.warn(name, asked, f"is the {name} of no company", near)
                passed &= _among(texts, matches)
        domiciles = entities(ctx, "country")
        if domiciles is not None:
            passed &= _among(table.countries, [word in domiciles for word in table.countries.words])
        if params["q"] is not None:
            words = folded(params["q"]).split()
            state = ("company words", ctx.view.epoch, ctx.view.version, ctx.view.directory.reference)
            described = self._cache.once(state, lambda: _words(table))
            passed &= np.array(
                [bool(words) and all(word in text for word in words) for text in described], dtype=np.bool_
            )
        return passed


def _among(texts: Texts, matches: list[bool]) -> Mask:
    """Return the rows whose text matches; `matches` says it word by word, and a row without a text has none."""
    return np.array([*matches, False], dtype=np.bool_)[texts.codes]


def _words(table: CompanyTable) -> list[str]:
    """Return the text that `q` is looked for in, by company: name and ticker."""
    named = zip(table.companies.names, table.companies.tickers, strict=True)
    return [f"{folded(name)} {(ticker or '').lower()}" for name, ticker in named]


def endpoints(cache: ProcessCache, explain: ScoreExplainer) -> tuple[Endpoint, ...]:
    """Return the endpoints about companies. `explain` computes a company's scores test by test."""
    companies = CompanyList(cache)
    return (
        Endpoint(
            path="/companies",
            operation_id="listCompanies",
            summary="Scored companies",
            description="Companies that have statements. The score compares a company with those of its sector that have a statement of the last "
            "18 months, from values that may be shown; it is computed when asked. Any company that is known by name only is found by "
            "/entities/resolve.",
            handler=companies.listed,
            scope="companies:read",
            params=(
                Param("sector", "Only companies of this sector; case does not matter.", example="Technology"),
                Param("industry", "Only companies of this industry; case does not matter."),
                DOMICILE,
                Param(
                    "q",
                    "Words to look for in name and ticker; case and accents do not matter.",
                    longest=100,
                    example="apple",
                ),
                Param(
                    "sort",
                    "Sort field; companies without the value come last either way, ties are by name, then id.",
                    "enum",
                    "name",
                    choices=_SORTS,
                ),
            ),
            kind="list",
            record=CompanySchema,
            dated=True,
            cached=True,
            cost="thread",
            tag="Companies",
        ),
        profile.endpoint(cache, explain),
        financials.ENDPOINT,
    )
