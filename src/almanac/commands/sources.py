"""`almanac sources`: which feeds there are, what each needs, and what came of asking them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import click

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.commands.shared import put_json, settings, table
from almanac.config import Settings
from almanac.domain.plain_text import nearest
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.pipeline.ingest.outcome import RunOutcome


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def sources(as_json: bool) -> None:
    """List the sources: what they fetch, their licence, their needs."""
    chosen = settings(home=False)
    rows = []
    for source in named_sources(shipped(), ()):
        needs = ["network"]
        if source.key_setting is not None:
            optional = "optional, " if source.key_optional else ""
            needs.append(f"key ({source.key_setting}, {optional}{'set' if has_key(chosen, source) else 'missing'})")
        consent = "missing" if chosen.consent(source.id) is None else "recorded"
        rows.append(
            {
                "id": source.id,
                "provider": source.provider,
                "fetches": source.name,
                "license": source.rights.license,
                "exposure": source.rights.exposure.name,
                "vintages": "yes" if source.stores_vintages else "no",
                "needs": needs,
                "keySetting": source.key_setting,
                "consent": "not needed" if source.rights.channel is Exposure.public else consent,
                "homepage": source.homepage,
            }
        )
    table(rows, ("id", "fetches", "license", "vintages", "needs", "consent"), as_json=as_json)


def named_sources(catalog: Catalog, names: Sequence[str]) -> list[Source]:
    """
    Return the real sources with a connector that these names mean, each once, in the order of naming; all of them for none.

    A name is an id, a provider's id, or what a source's id begins with, up to a dash.
    """
    real = {key: source for key, source in catalog.sources.items() if source.connector and not source.simulated}
    meant: dict[str, Source] = {}
    for name in names:
        short = [key for key in sorted(real) if real[key].provider == name or key.startswith(f"{name}-")]
        if name not in real and not short:
            valid = sorted({*real, *(source.provider for source in real.values())})
            near = nearest(name.lower(), valid, cutoff=0.4)
            message = f"there is no source {name!r}{near}. Valid: {', '.join(valid)}"
            raise click.BadParameter(message, param_hint="'SOURCE…'")
        meant |= {key: real[key] for key in ([name] if name in real else short)}
    return list(meant.values()) if names else [real[key] for key in sorted(real)]


def has_key(chosen: Settings, source: Source) -> bool:
    """Say whether the settings hold the key that a publisher's API wants."""
    given = chosen.sources.get(source.id)
    return bool(given and given.key(source.key_setting))


def finish(
    outcomes: Sequence[RunOutcome], code: int, passed_over: Mapping[str, str] | None = None, *, as_json: bool = False
) -> NoReturn:
    """
    Print what came of each source, and end the command with an exit code.

    As JSON with the reasons. Counts are of responses, `cells` of cells changed; `unchanged`: responses that said nothing new;
    `empty`: such as said that there is nothing in what was asked for; `later`: requests that wait for a limit or for data
    being prepared. `passedOver`: sources that were not asked, and what they lack.
    """
    if not as_json:
        summary(outcomes)
        sys.exit(code)
    reports = []
    for o in outcomes:
        reasons = {"failed": o.failed, "later": o.later, "quarantined": o.quarantined, "notRead": o.ignored}
        reports.append(
            {"source": o.source, "read": o.folded, "cells": o.vintages, "unchanged": o.known, **_counts(o)}
            | {"unmapped": dict(sorted(o.unmapped.items())), "unreadNames": sorted(o.unread)}
            | {
                "reasons": [
                    {"what": what, "url": url, "reason": reason}
                    for what, by_url in reasons.items()
                    for url, reason in by_url.items()
                ]
            }
        )
    passed = [{"source": source, "reason": reason} for source, reason in (passed_over or {}).items()]
    put_json({"exitCode": code, "sources": reports, "passedOver": passed})
    sys.exit(code)


def summary(outcomes: Sequence[RunOutcome]) -> None:
    """Print what came of each source, as a table."""
    rows = [
        {"source": o.source, "read": o.folded, "known": o.known, **_counts(o), "cellsChanged": o.vintages}
        | {"unmappedSeries": len(o.unmapped), "unreadNames": len(o.unread)}
        for o in outcomes
    ]
    if rows:
        table(rows, list(rows[0]))


def _counts(o: RunOutcome) -> dict[str, int]:
    return {
        "empty": len(o.empty),
        "notRead": o.ignored_responses,
        "quarantined": o.quarantined_responses,
        "failed": len(o.failed),
        "later": len(o.later),
    }
