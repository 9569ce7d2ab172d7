"""Responses of the SEC as tests want them. Companies and numbers are invented; the shapes are the publisher's."""

import copy
import io
import json
import zipfile

CIK = 9900001
NAME = "Invented Widgets Inc."
FIRST, SECOND = "0009900001-24-000007", "0009900001-24-000031"


def row(value, end, start=None, accn=FIRST, form="10-K", filed="2024-02-20", fy=2023, fp="FY", **more):
    made = {"end": end, "val": value, "accn": accn, "fy": fy, "fp": fp, "form": form, "filed": filed, **more}
    return made if start is None else {"start": start, **made}


def tag(unit_rows, label="Invented"):
    return {"label": label, "description": None, "units": unit_rows}


def facts_body():
    """Three filings: an annual report, a quarterly one that restates, a prospectus without fiscal focus."""
    return {
        "cik": CIK,
        "entityName": NAME,
        "facts": {
            "dei": {"EntityPublicFloat": tag({"USD": [row(5e9, "2023-06-30")]})},
            "us-gaap": {
                "NetIncomeLoss": tag(
                    {
                        "USD": [
                            row(120, "2023-12-31", "2023-01-01", frame="CY2023"),
                            row(118, "2023-12-31", "2023-01-01", SECOND, "10-Q", "2024-05-02", 2024, "Q1"),
                            row(-7.5, "2024-03-31", "2024-01-01", SECOND, "10-Q", "2024-05-02", 2024, "Q1"),
                        ]
                    }
                ),
                "Assets": tag({"USD": [row(1000, "2023-12-31")], "EUR": [row(900, "2023-12-31")]}),
                "EarningsPerShareDiluted": tag(
                    {"USD/shares": [row(1.25, "2023-12-31", "2023-01-01", "0009900001-24-000050", "424B5", "2024-06-01", None, None)]}
                ),
                "NobodyWantsThis": tag({"USD": [row(1, "2023-12-31"), row(2, "2022-12-31")], "pure": [row(0.5, "2023-12-31")]}),
            },
        },
    }  # fmt: skip


WANTED = frozenset(["us-gaap:NetIncomeLoss", "us-gaap:Assets", "us-gaap:EarningsPerShareDiluted"])

_COLUMNS = {
    "accessionNumber": ["0009900001-24-000031", "0009900001-24-000020", "0009900001-02-000003"],
    "filingDate": ["2024-05-02", "2024-04-11", "2002-03-01"],
    "reportDate": ["2024-03-31", "2024-04-10", ""],
    "acceptanceDateTime": ["2024-05-02T20:15:30.000Z", "2024-04-10T22:01:00.000Z", "2002-03-01T05:00:00.000Z"],
    "act": ["34", "34", ""],
    "form": ["10-Q", "8-K/A", "NO ACT"],
    "fileNumber": ["001-99999", "001-99999", ""],
    "filmNumber": ["24000001", "24000002", ""],
    "items": ["", "2.02,9.01", "2010-02-19"],
    "core_type": ["XBRL", "8-K/A", None],
    "size": [1234567, 2345, 0],
    "isXBRL": [1, 0, 0],
    "isInlineXBRL": [1, 0, 0],
    "isXBRLNumeric": [1, None, None],
    "primaryDocument": ["q1.htm", "results.htm", ""],
    "primaryDocDescription": ["10-Q", "", ""],
}


def columns():
    return copy.deepcopy(_COLUMNS)


def address(place):
    return {
        "street1": "1 INVENTED ROAD",
        "street2": None,
        "city": "NOWHERE",
        "stateOrCountry": place,
        "zipCode": "00000",
        "stateOrCountryDescription": place,
        "isForeignLocation": None,
        "foreignStateTerritory": None,
        "country": None,
        "countryCode": None,
    }


def submissions_body():
    return {
        "cik": f"{CIK:010d}",
        "entityType": "operating",
        "sic": "3571",
        "sicDescription": "Electronic  Computers",
        "ownerOrg": "06 Technology",
        "insiderTransactionForOwnerExists": 0,
        "insiderTransactionForIssuerExists": 1,
        "name": NAME,
        "tickers": ["WDGT", "WDGT-B"],
        "exchanges": ["Nasdaq", None],
        "ein": "000000000",
        "lei": None,
        "description": "",
        "website": "",
        "investorWebsite": "",
        "category": "Large accelerated filer",
        "fiscalYearEnd": "0926",
        "stateOfIncorporation": "F5",
        "stateOfIncorporationDescription": "Taiwan",
        "addresses": {"mailing": address("CA"), "business": address("F5")},
        "phone": "000",
        "flags": "",
        "formerNames": [
            {"name": "OLD WIDGETS INC", "from": "2007-01-10T05:00:00.000Z", "to": "2019-08-05T04:00:00.000Z"},
            {"name": "FIRST WIDGETS", "from": None, "to": "2007-01-04T05:00:00.000Z"},
        ],
        "filings": {
            "recent": columns(),
            "files": [
                {
                    "name": f"CIK{CIK:010d}-submissions-001.json",
                    "filingCount": 3,
                    "filingFrom": "1999-01-01",
                    "filingTo": "2001-12-31",
                }
            ],
        },
    }


def encoded(body):
    return json.dumps(body).encode()


SUB = """
adsh cik name sic countryba stprba cityba zipba bas1 bas2 baph countryma stprma cityma zipma mas1 mas2 countryinc
stprinc ein former changed afs wksi fye form period fy fp filed accepted prevrpt detail instance nciks aciks
""".split()  # noqa: SIM905  (read faster than forty quoted words)
NUM = ["adsh", "tag", "version", "ddate", "qtrs", "uom", "segments", "coreg", "value", "footnote"]


def submission(**fields):
    made = dict.fromkeys(SUB, "")
    made |= {
        "adsh": "0009900002-09-000001",
        "cik": "9900002",
        "name": "INVENTED BANK CORP",
        "sic": "6021",
        "countryba": "US",
        "countryinc": "US",
        "stprinc": "DE",
        "fye": "1231",
        "form": "10-Q",
        "period": "20090630",
        "fy": "2009",
        "fp": "Q2",
        "filed": "20090807",
        "accepted": "2009-08-07 09:10:00.0",
    }
    return made | fields


def amount(**fields):
    made = dict.fromkeys(NUM, "")
    made |= {
        "adsh": "0009900002-09-000001",
        "tag": "NetIncomeLoss",
        "version": "us-gaap/2009",
        "ddate": "20090630",
        "qtrs": "1",
        "uom": "USD",
        "value": "120.5000",
    }
    return made | fields


def table(names, rows):
    lines = ["\t".join(names), *("\t".join(line[name] for name in names) for line in rows)]
    return "\n".join(lines).encode() + b"\n"


def archive(members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return made.getvalue()


def dataset(submissions, amounts, num=NUM):
    return archive({"sub.txt": table(SUB, submissions), "num.txt": table(num, amounts), "pre.txt": b"", "tag.txt": b""})
