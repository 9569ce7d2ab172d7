"""almanac_company: the profile of a company, or its statements as known on a day."""

from __future__ import annotations

from collections.abc import Sequence

from almanac_mcp import names
from almanac_mcp.asking import Api, Item, Record, together
from almanac_mcp.notes import history
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table
from almanac_mcp.text.refusals import RefusalError

#: The views that are statements, with the field they are in.
STATEMENTS = {"income": "incomeStatements", "balance": "balanceSheets", "cash_flow": "cashFlowStatements"}
_FILINGS, _PEERS = 5, 8
#: Shown instead of a figure based on a statement that fails a grave check.
_FAILED = "failed"


async def company(
    api: Api,
    company: str,
    view: str = "profile",
    frequency: str = "annual",
    periods: int = 4,
    as_of: str | None = None,
) -> Answer:
    """Answer with the profile, or one kind of statement: one line per item, one column per period, the newest first."""
    api = api.saying(idOrLookup="company", alias="company", limit="periods")
    entity = await names.entity(api, company, ("company",))
    if view == "profile":
        if as_of is not None:
            raise RefusalError(
                "'as_of' cannot be asked of a profile, which is of today",
                allowed=["view=income", "view=balance", "view=cash_flow"],
            )
        return await _profile(api, entity)
    told, cited = await together(
        [
            api.item("companies.financials", entity["entityId"], frequency=frequency, limit=periods, as_of=as_of),
            _one_row(api, entity, as_of),
        ]
    )
    return _statements(entity, view, told, cited.record, periods, as_of)


async def _one_row(api: Api, entity: Record, as_of: str | None) -> Item:
    """Return one row of the company, to cite the source of its numbers, or an empty record if there is none."""
    page = await api.page("observations.latest", entity_id=entity["entityId"], as_of=as_of, limit=1)
    return Item(page.rows[0] if page.rows else {}, page.version)


def _statements(entity: Record, view: str, told: Item, cited: Record, periods: int, as_of: str | None) -> Answer:
    found: list[Record] = told.record[STATEMENTS[view]][:periods]
    answer = Answer(
        [words.known(as_of, told.version), _who(entity, told.record)], hint=lambda _: "ask for fewer periods"
    )
    if not found:
        answer.notes.append(f"no {view} statements were known" + (f" on {as_of}" if as_of else ""))
        return answer
    number = f" [{answer.citations.row(cited)}]" if cited else ""
    columns = ["item", *(_label(one) for one in found)]
    keys = list(dict.fromkeys(key for one in found for key in one["items"]))
    lines = [[key, *(_item(one, key) for one in found)] for key in keys]
    currencies = "/".join(dict.fromkeys(one["currency"] for one in found))
    title = f"{view}, as filed, in {currencies}, per-share lines in it per share{number}"
    table = Table(title, columns, list(lines), keep="first")
    if any(key in one["derivedItems"] for one in found for key in keys):
        table.notes.append("d: not stated by the filing but computed from what is")
    if any(one["quality"]["status"] == "withheld" for one in found):
        table.notes.append(f"{rows.WITHHELD}: its source does not allow redistribution; {rows.DO_NOT_ESTIMATE}")
    answer.notes += _relatives(told.record)
    answer.tables += [table, Table("filings (each the one that last changed a line)", (), [], _filings(found))]
    answer.notes += history([told])
    return answer


def _item(statement: Record, key: str) -> str:
    if statement["quality"]["status"] == "withheld":
        return rows.WITHHELD
    value = words.number(statement["items"].get(key))
    return f"{value} d" if key in statement["derivedItems"] and value else value


def _label(statement: Record) -> str:
    year, part = statement["fiscalYear"], statement["fiscalPeriod"]
    name = statement["frequency"] if not year or not part else f"FY{year}" if part == "FY" else f"FY{year}-{part}"
    return f"{name} to {words.day(statement['periodEnd'])}"


def _filings(found: Sequence[Record]) -> list[str]:
    lines = []
    for one in found:
        failed = [
            f"{check['name']} failed" + (f" ({words.plain(check['detail'])})" if check["detail"] else "")
            for check in one["quality"]["checks"]
            if check["status"] == "failed"
        ]
        parts = [
            f"{one['form']} filed {words.day(one['filedAt'])}",
            f"known {words.instant(one['observedAt'])}",
            f"accession {one['accession']}",
            one["revisionStatus"],
            *([one["sourceUrl"]] if one["sourceUrl"] else []),
            *failed[:3],
            *(f"absent: {words.plain(reason)}" for reason in _absent(one)),
        ]
        lines.append(f"{_label(one)}: {', '.join(parts)}")
    return lines


def _absent(statement: Record) -> list[str]:
    """Return the reasons why lines are absent although something of them was filed."""
    checks = statement["quality"]["checks"]
    return [one["detail"] for one in checks if one["name"] == "absent_with_reason" and one.get("detail")]


def _who(entity: Record, record: Record) -> str:
    marks = [words.ticker(record["ticker"])] if record.get("ticker") else []
    marks = [one if ":" in one else f"ticker {one}" for one in marks]
    marks += [f"cik {record['cik']}"] if record.get("cik") else []
    return f"{entity['name']} ({entity['entityId']}{', ' if marks else ''}{', '.join(marks)})"


async def _profile(api: Api, entity: Record) -> Answer:
    told, cited = await together([api.item("companies.profile", entity["entityId"]), _one_row(api, entity, None)])
    record = told.record
    answer = Answer([words.known(None, told.version), _who(entity, record)])
    number = f" [{answer.citations.row(cited.record)}]" if cited.record else ""
    facts = [
        f"{label}: {words.plain(record[key])}"
        for key, label in (
            ("legalName", "legal name"), ("sector", "sector"), ("industry", "industry"), ("country", "country"),
            ("exchange", "exchange"), ("fiscalYearEnd", "fiscal year ends"), ("lei", "LEI"), ("website", "website"),
        )
        if record.get(key)
    ]  # fmt: skip
    if record["formerNames"]:
        facts.append("former names: " + "; ".join(_former(one) for one in record["formerNames"][:5]))
    answer.tables.append(Table("", (), [], facts))
    figures = [(name, one) for name, one in record["keyFigures"].items() if one is not None]
    answer.tables.append(
        Table(
            f"figures over twelve months, margins as fractions{number}",
            ("figure", "value", "unit", "to", "observed"),
            [
                (
                    name,
                    _figure(one),
                    rows.unit(one),
                    words.day(one["periodEnd"]),
                    words.day(one["observedAt"]),
                )
                for name, one in figures
            ],
            _left_out([one for _, one in figures]),
        )
    )
    scores = [("score", record["score"], "0 to 100 among its sector")]
    scores += [(name, value, "0 to 100 among its sector") for name, value in record["scores"].items()]
    scores += [("piotroski_f", record["piotroskiF"], "0 to 9"), ("altman_z2", record["altmanZ2"], "above 2.6 safe")]
    shown = [(name, words.number(value), scale) for name, value, scale in scores if value is not None]
    answer.tables.append(Table(f"scores, model {record['scoreModel']}", ("score", "value", "scale"), list(shown)))
    filings = [
        f"{one['form']} filed {words.day(one['filedAt'])}"
        + (f" for {words.day(one['periodEnd'])}" if one["periodEnd"] else "")
        for one in record["latestFilings"][:_FILINGS]
    ]
    peers = [f"{one['name']} ({one['entityId']})" for one in record["peers"][:_PEERS]]
    answer.notes += [f"newest filings: {'; '.join(filings)}"] if filings else []
    answer.notes += [f"peers: {'; '.join(peers)}"] if peers else []
    answer.notes += _relatives(record)
    answer.notes += history([told])
    return answer


def _relatives(record: Record) -> list[str]:
    """Return notes on other registrants of the same enterprise."""
    told = []
    for name, said in (("successorOf", "continues the accounts of"), ("predecessorOf", "goes on as")):
        other = record.get(name)
        if other:
            told.append(f"{said} {words.plain(other['name'])} ({other['entityId']}) since {words.day(other['since'])}")
    return told


def _figure(one: Record) -> str:
    if one["value"] is not None:
        return words.number(one["value"])
    return _FAILED if one["quality"] == "failed" else rows.WITHHELD


def _left_out(figures: Sequence[Record]) -> list[str]:
    """Return the meanings of the words that stand for missing numbers."""
    shown = {_figure(one) for one in figures if one["value"] is None}
    meanings = {
        rows.WITHHELD: "its source does not allow redistribution",
        _FAILED: "a check of the statements behind it does not hold; the views income, balance and cash_flow say which",
    }
    return [f"{word}: {why}; {rows.DO_NOT_ESTIMATE}" for word, why in meanings.items() if word in shown]


def _former(one: Record) -> str:
    until = f" until {words.day(one['to'])}" if one.get("to") else ""
    return f"{words.plain(one['name'])}{until}"
