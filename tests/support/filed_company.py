"""A small invented company: what it filed in two years, one figure restated, in the regulator's formats."""

import functools
import json
from datetime import date

from almanac.domain.companies import company_id
from tests.support.sec_invented import amount, dataset, submission, submissions_body
from tests.support.treasury_home import Row

CIK = 9900007
ENTITY = f"company_{CIK:010d}"
NAME = "Invented Ploughs Inc."
FACTS_URL = f"https://data.sec.gov/api/xbrl/companyfacts/CIK{CIK:010d}.json"
INDEX_URL = f"https://data.sec.gov/submissions/CIK{CIK:010d}.json"

DATASET_URL = "https://www.sec.gov/files/dera/financial-statement-data-sets/2023q1.zip"

#: accession, form, filed, accepted (UTC), period of report, fiscal year, fiscal period
FILINGS = [
    ("0009900007-23-000001", "10-K", "2023-02-20", "2023-02-20T21:00:00.000Z", "2022-12-31", 2022, "FY"),
    ("0009900007-23-000002", "10-Q", "2023-05-01", "2023-05-01T20:30:00.000Z", "2023-03-31", 2023, "Q1"),
    ("0009900007-23-000003", "10-Q", "2023-08-01", "2023-08-01T20:30:00.000Z", "2023-06-30", 2023, "Q2"),
    ("0009900007-23-000004", "10-Q", "2023-11-01", "2023-11-01T20:30:00.000Z", "2023-09-30", 2023, "Q3"),
    ("0009900007-24-000001", "10-K", "2024-02-20", "2024-02-20T21:00:00.000Z", "2023-12-31", 2023, "FY"),
    # Restates the year before.
    ("0009900007-24-000002", "10-K/A", "2024-04-02", "2024-04-02T20:00:00.000Z", "2023-12-31", 2023, "FY"),
]
EVENTS = [("0009900007-24-000003", "8-K", "2024-04-10", "2024-04-10T12:00:00.000Z", "2024-04-09", "2.02,9.01")]
_QUARTERS = [("2023-01-01", "2023-03-31"), ("2023-04-01", "2023-06-30"), ("2023-07-01", "2023-09-30")]
REVENUE = [100.0, 110.0, 120.0]
INCOME = [10.0, 11.0, 12.0]


def facts(filings=6):
    """The body of companyfacts after so many filings."""
    tags = {}

    def row(tag, unit, number, end, value, start=None):
        if number > filings:
            return
        accession, form, filed, _, _, year, period = FILINGS[number - 1]
        line = {"end": end, "val": value, "accn": accession, "fy": year, "fp": period, "form": form, "filed": filed}
        units = tags.setdefault(tag, {"label": tag, "description": None, "units": {}})["units"]
        units.setdefault(unit, []).append({"start": start, **line} if start else line)

    for tag, quarters, year_before, year in (
        ("Revenues", REVENUE, 400.0, 470.0),
        ("NetIncomeLoss", INCOME, 40.0, 47.0),
    ):
        row(tag, "USD", 1, "2022-12-31", year_before, "2022-01-01")
        for place, (start, end) in enumerate(_QUARTERS):
            row(tag, "USD", 2 + place, end, quarters[place], start)
            if place:
                row(tag, "USD", 2 + place, end, sum(quarters[: place + 1]), "2023-01-01")
        row(tag, "USD", 5, "2023-12-31", year, "2023-01-01")
        row(tag, "USD", 5, "2022-12-31", year_before, "2022-01-01")
    row("NetIncomeLoss", "USD", 6, "2023-12-31", 44.0, "2023-01-01")
    for number, end, total in ((1, "2022-12-31", 900.0), (2, "2023-03-31", 910.0), (5, "2023-12-31", 1000.0)):
        row("Assets", "USD", number, end, total)
        row("Liabilities", "USD", number, end, total - 300)
        row("StockholdersEquity", "USD", number, end, 300.0)
    return json.dumps({"cik": CIK, "entityName": NAME, "facts": {"us-gaap": tags}}).encode()


#: Tags of net income, cash flow from operations, assets, liabilities with equity in both taxonomies.
LINES = {
    "us-gaap": ("NetIncomeLoss", "NetCashProvidedByUsedInOperatingActivities", "Assets", "LiabilitiesAndStockholdersEquity"),
    "ifrs-full": (
        "ProfitLossAttributableToOwnersOfParent", "CashFlowsFromUsedInOperatingActivities", "Assets", "EquityAndLiabilities",
    ),
}  # fmt: skip


def six_years(first, last):
    """Address and body of the facts of a filer of yearly reports, 2018 to 2023, without comparative figures."""
    taxonomies = {}
    for year in range(2018, 2024):
        standard, currency = first if year < 2021 else last
        income, cash, assets, both = LINES[standard]
        about = {"end": f"{year}-12-31", "accn": f"0009900007-{year - 1999}-000001", "fy": year, "fp": "FY",
                 "form": "20-F", "filed": f"{year + 1}-03-20"}  # fmt: skip
        for tag, value, over in (
            (income, 50 + year - 2018, True),
            (cash, 40, True),
            (assets, 900, False),
            (both, 900, False),
        ):
            units = taxonomies.setdefault(standard, {}).setdefault(
                tag, {"label": tag, "description": None, "units": {}}
            )
            row = {"start": f"{year}-01-01"} if over else {}
            units["units"].setdefault(currency, []).append({**row, **about, "val": value * 1_000_003})
    return json.dumps({"cik": CIK, "entityName": NAME, "facts": taxonomies}).encode()


def index(name=NAME):
    """The body of submissions."""
    every = [(*filing[:5], "") for filing in FILINGS] + EVENTS
    body = submissions_body()
    columns = {key: [column[0]] * len(every) for key, column in body["filings"]["recent"].items()}
    columns["accessionNumber"] = [line[0] for line in every]
    columns["form"] = columns["core_type"] = [line[1] for line in every]
    columns["filingDate"] = [line[2] for line in every]
    columns["acceptanceDateTime"] = [line[3] for line in every]
    columns["reportDate"] = [line[4] for line in every]
    columns["items"] = [line[5] for line in every]
    columns["primaryDocument"] = ["ploughs.htm" for _ in every]
    body |= {
        "cik": f"{CIK:010d}",
        "name": name,
        "sic": "3523",
        "tickers": ["PLOW"],
        "exchanges": ["NYSE"],
        "formerNames": [],
    }
    body["filings"] = {"recent": columns, "files": []}
    return json.dumps(body).encode()


def quarterly_dataset(of=FILINGS[0], rows=None):
    """
    The regulator's data set of the quarter of a filing, with some rows of `num.txt`.

    Without any those of the first one: the same year, its last day rounded to a month's end.
    """
    accession, form, filed, _, report, year, period = of
    filing = submission(
        adsh=accession, cik=str(CIK), name=NAME, form=form, filed=filed.replace("-", ""), period=report.replace("-", ""),
        fy=str(year), fp=period, accepted=f"{filed} 16:00:00.0",
    )  # fmt: skip
    about = {"adsh": accession, "version": "us-gaap/2022", "ddate": report.replace("-", ""), "qtrs": "4"}
    if rows is None:
        rows = [{"tag": "Revenues", "value": "400"}, {"tag": "NetIncomeLoss", "value": "40"}]
    return dataset([filing], [amount(**{**about, **row}) for row in rows])


def known(accepted):
    """The later of the two readings of an acceptance stamp, in unix seconds, for these winter and summer days."""
    moment = date.fromisoformat(accepted[:10])
    hours = (
        5 if moment.month in {1, 2, 12} else 4
    )  # none of these days lies between the first Sunday of November and December
    seconds = (moment.toordinal() - date(1970, 1, 1).toordinal()) * 86_400
    clock = int(accepted[11:13]) * 3600 + int(accepted[14:16]) * 60
    return seconds + clock + hours * 3600


# -- several small invented companies, alike but for their number, as rows of a mirror --------------------------------


NUMBERS = range(9_900_011, 9_900_019)
ENTITIES = [company_id(number) for number in NUMBERS]


def _of(number: int, text: str) -> str:
    """The same, said of another company: its number in addresses, accessions and as it is."""
    return text.replace(f"{CIK:010d}", f"{number:010d}").replace(str(CIK), str(number))


@functools.cache  # an archive bears the time of its making
def rows() -> list[Row]:
    """Per company facts as they were early, its index, and its facts; at last a data set and what nobody can read."""
    found: list[Row] = []
    for number in NUMBERS:
        found += [
            (_of(number, FACTS_URL), "2024-03-01T00:00:00Z", _of(number, facts(5).decode()).encode(), 200),
            (_of(number, INDEX_URL), "2024-06-01T00:00:01Z", _of(number, index().decode()).encode(), 200),
            (_of(number, FACTS_URL), "2024-06-01T00:00:02Z", _of(number, facts().decode()).encode(), 200),
        ]
    found.append((_of(9_900_099, FACTS_URL), "2024-06-01T00:00:03Z", b'{"cik": 9900099, "facts": 1}', 200))
    found.append((DATASET_URL, "2023-04-15T00:00:00Z", quarterly_dataset(), 200))
    return found
