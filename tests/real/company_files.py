"""The regulator's own company files beside the repository, read with the json module alone: facts, filings, times."""

import gzip
import json
from collections import Counter
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from almanac.catalog.companies import wanted_tags
from almanac.derived.companies.derivation import derive
from almanac.domain.companies import Fact, Filing, is_periodic
from tests.support.filer import assemble

from . import files

FOLDER = files.FOLDER / "sec"
NEW_YORK = ZoneInfo("America/New_York")
#: Files that hold a part of what the regulator has.
TRIMMED = {19617, 789019}


def whole_companies():
    """CIKs of the companies whose facts are here whole."""
    if not FOLDER.is_dir():
        return []
    found = {int(path.name[3:13]) for path in (FOLDER / "companyfacts").iterdir()}
    return sorted(found - TRIMMED)


def _json(folder, stem):
    for name in (f"{stem}.json", f"{stem}.json.gz", f"{stem}.trimmed.json"):
        path = FOLDER / folder / name
        if path.exists():
            data = path.read_bytes()
            return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    return None


@lru_cache(maxsize=4)
def facts_of(cik, taxonomies=("us-gaap", "ifrs-full", "dei")):
    """Every row of a companyfacts file as domain facts."""
    body = _json("companyfacts", f"CIK{cik:010d}")
    return [
        Fact(
            f"{taxonomy}:{tag}",
            unit,
            date.fromisoformat(row["start"]).toordinal() if "start" in row else None,
            date.fromisoformat(row["end"]).toordinal(),
            float(row["val"]),
            row["accn"],
            row["form"],
            date.fromisoformat(row["filed"]).toordinal(),
            row["fy"],
            row["fp"],
        )
        for taxonomy, tags in body["facts"].items()
        if taxonomy in taxonomies
        for tag, about in tags.items()
        for unit, rows in about["units"].items()
        for row in rows
    ]


@lru_cache(maxsize=4)
def _index(cik):
    """Accession → (acceptance stamp, report date, form, document) of a company's submissions, where they are here."""
    found = {}
    main = _json("submissions", f"CIK{cik:010d}")
    if main is None:
        return found
    pages = [main["filings"]["recent"]]
    for older in main["filings"].get("files", ()):
        page = _json("submissions", older["name"].removesuffix(".json"))
        if page is not None:
            pages.append(page)
    for page in pages:
        for accession, accepted, report, form, document in zip(
            page["accessionNumber"], page["acceptanceDateTime"], page["reportDate"], page["form"],
            page["primaryDocument"], strict=True,
        ):  # fmt: skip
            found[accession] = (accepted, report, form, document)
    return found


def _seconds(moment):
    whole = int(moment.timestamp())
    return whole + (moment.microsecond > 0)


def known_at(filed, accepted=None):
    """The later of the two readings of an acceptance stamp, not before 6:00 of a later filing day; else the day's end."""
    if accepted is None:
        return _seconds(datetime.combine(date.fromordinal(filed), time(23, 59, 59), NEW_YORK))
    clock = datetime.fromisoformat(accepted.removesuffix("Z")).replace(microsecond=0)
    known = max(_seconds(clock.replace(tzinfo=ZoneInfo("UTC"))), _seconds(clock.replace(tzinfo=NEW_YORK)))
    if filed > clock.date().toordinal():
        known = max(known, _seconds(datetime.combine(date.fromordinal(filed), time(6), NEW_YORK)))
    return known


@lru_cache(maxsize=4)
def filings_of(cik):
    """The filings that facts name, with the time each was known and what its own index says of it."""
    index = _index(cik)
    found = {}
    for fact in facts_of(cik):
        if fact.accession in found:
            continue
        accepted, report, _, document = index.get(fact.accession, (None, "", None, None))
        found[fact.accession] = Filing(
            accession=fact.accession,
            form=fact.form,
            filed=fact.filed,
            known_at=known_at(fact.filed, accepted),
            report_date=date.fromisoformat(report).toordinal() if report else None,
            fiscal_year=fact.fiscal_year,
            fiscal_period=fact.fiscal_period,
            document=document or None,
        )
    return found


def indexed_filings(cik):
    """These and all other periodic reports in the regulator's index, untagged ones back to the first."""
    found = dict(filings_of(cik))
    for accession, (accepted, report, form, document) in _index(cik).items():
        if accession not in found and is_periodic(form):
            filed = day(accepted[:10])
            found[accession] = Filing(
                accession, form, filed, known_at(filed, accepted), day(report) if report else None, document=document
            )
    return found


TEMPLATES = {19617: "bank"}


@lru_cache(maxsize=2)
def company(cik):
    """What the derivation gets of a company: settled states of its facts, in its main currency and in shares."""
    facts, filings, wanted = facts_of(cik), filings_of(cik), wanted_tags()
    currency = Counter(f.unit for f in facts if len(f.unit) == 3 and f.unit.isupper()).most_common(1)[0][0]
    return assemble(
        [fact for fact in facts if fact.tag in wanted],
        filings,
        template=TEMPLATES.get(cik, "industrial"),
        currency=currency,
        entity=f"company_{cik:010d}",
    )


@lru_cache(maxsize=2)
def swept(cik):
    """All vintages of a company."""
    return derive(company(cik))


def day(text):
    return date.fromisoformat(text).toordinal()


def end_of(day_, days=2):
    """Two days after a filing, in seconds: by then it is known under any reading of its stamp."""
    return int((datetime.combine(date.fromordinal(day_), time(), ZoneInfo("UTC")) + timedelta(days=days)).timestamp())
