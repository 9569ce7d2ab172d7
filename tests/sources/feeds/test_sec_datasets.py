"""Financial Statement Data Sets. Every number is invented; the shapes are the publisher's."""

import tracemalloc
from datetime import UTC, date, datetime

import pytest

from almanac.domain.companies import CompanyRecord, Fact, Filing, FormerName
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.sec import datasets
from tests.support.sec_invented import NUM, SUB, amount, archive, dataset, submission, table

WANTED = frozenset(["us-gaap:NetIncomeLoss", "us-gaap:Assets", "ifrs-full:Revenue"])
CIK = 9900002
FIRST = "0009900002-09-000001"


def day(text):
    return date.fromisoformat(text).toordinal()


def utc(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def read(submissions=None, amounts=None, **more):
    body = dataset(submissions or [submission()], [amount()] if amounts is None else amounts, **more)
    return datasets.read(body, "2009q3.zip", WANTED)


def test_a_filing_its_company_and_a_fact():
    parsed = read([submission(former="OLD BANK", changed="20010402")])
    # 09:10 New York in summer is 13:10 UTC; the stamp is rounded, so half a minute later at most.
    assert parsed.filings == [
        (CIK, Filing(FIRST, "10-Q", day("2009-08-07"), utc("2009-08-07T13:10:30"), day("2009-06-30"), 2009, "Q2"))
    ]
    assert parsed.companies == [
        CompanyRecord(
            cik=CIK,
            part="datasets",
            name="INVENTED BANK CORP",
            sic="6021",
            fiscal_year_end="1231",
            former_names=(FormerName("OLD BANK", "2001-04-02"),),
            state_of_incorporation="DE",
            country="US",
            currency="USD",
        )
    ]
    (company,) = parsed.facts
    assert company.cik == CIK
    assert company.facts == (
        Fact(
            "us-gaap:NetIncomeLoss", "USD", day("2009-04-01"), day("2009-06-30"), 120.5,
            FIRST, "10-Q", day("2009-08-07"), 2009, "Q2",
        ),
    )  # fmt: skip
    assert parsed.unmapped == {}


@pytest.mark.parametrize(
    ("ddate", "qtrs", "start"),
    [
        ("20090630", "0", None),
        ("20090630", "1", "2009-04-01"),
        ("20090630", "2", "2009-01-01"),
        ("20080930", "3", "2008-01-01"),
        ("20090630", "4", "2008-07-01"),
        ("20080229", "1", "2007-12-01"),  # from the first of December to the end of a leap February
        ("20080531", "1", "2008-03-01"),
    ],
)
def test_a_period_begins_whole_months_before_its_end(ddate, qtrs, start):
    (fact,) = read(amounts=[amount(ddate=ddate, qtrs=qtrs)]).facts[0].facts
    assert fact.end == day(f"{ddate[:4]}-{ddate[4:6]}-{ddate[6:]}")
    assert fact.start == (None if start is None else day(start))


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        ({"version": FIRST}, "custom tags"),
        ({"coreg": "SubsidiaryCo"}, "rows of a co-registrant"),
        ({"segments": "ProductOrService=Loans;"}, "rows of a segment"),
        ({"tag": "NobodyWantsThis"}, "us-gaap (other tags)"),
        ({"ddate": "22030630"}, "rows of periods that end after they were filed"),
        ({"tag": "Assets", "version": "dei/2009"}, "dei (other tags)"),
        ({"value": ""}, "rows without a value"),
        ({"qtrs": "5"}, "rows of more than four quarters"),
    ],
)
def test_what_is_passed_over_is_counted_by_its_reason(fields, counted):
    parsed = read(amounts=[amount(), amount(**fields), amount(**fields)])
    assert parsed.unmapped == {counted: 2}
    assert len(parsed.facts[0].facts) == 1


def test_a_taxonomy_has_the_name_that_company_facts_give_it():
    (fact,) = read(amounts=[amount(tag="Revenue", version="ifrs/2021")]).facts[0].facts
    assert fact.tag == "ifrs-full:Revenue"


def test_an_edition_without_the_column_of_segments():
    names = [name for name in NUM if name != "segments"]
    assert len(read(num=names).facts[0].facts) == 1


def test_one_group_of_facts_for_each_company_and_its_latest_name():
    second, third = "0009900002-09-000002", "0009900003-09-000001"
    parsed = read(
        [
            submission(adsh=second, filed="20090901", name="RENAMED BANK CORP"),
            submission(),
            submission(adsh=third, cik="9900003", name="ANOTHER"),
        ],
        [amount(adsh=second), amount(), amount(adsh=third, uom="CAD"), amount(adsh=third, tag="Else", uom="CAD")],
    )
    assert [(one.cik, len(one.facts)) for one in parsed.facts] == [(CIK, 2), (9900003, 1)]
    assert {one.cik: (one.name, one.currency) for one in parsed.companies} == {
        CIK: ("RENAMED BANK CORP", "USD"),
        9900003: ("ANOTHER", "CAD"),
    }


@pytest.mark.parametrize(
    ("accepted", "filed", "known"),
    [
        ("2009-07-22 19:17:00.0", "20090723", "2009-07-23T10:00:00"),  # after hours
        ("2009-12-01 16:05:00", "20091201", "2009-12-01T21:05:30"),
        ("", "20090723", None),
    ],
)
def test_acceptance_is_new_yorks_clock(accepted, filed, known):
    ((_, filing),) = read([submission(accepted=accepted, filed=filed)]).filings
    assert filing.known_at == (None if known is None else utc(known))


WRONG = [
    (lambda: dataset([submission(cik="x")], []), "sub.txt, line 2: 'x' is not a CIK"),
    (lambda: dataset([submission(accepted="noon")], []), "sub.txt, line 2, accepted: 'noon' is not a time"),
    (lambda: dataset([submission()], [amount(), amount(value="1,000")]), f"num.txt, line 3, value of us-gaap:NetIncomeLoss in {FIRST}: '1,000' is not a number"),
    (lambda: dataset([submission()], [], num=[*NUM, "mood"]) , "num.txt has columns nobody reads: mood"),
    (lambda: archive({"sub.txt": table(SUB, [submission()]) + b"short\n", "num.txt": b""}), "sub.txt, line 3 has 1 cells, expected 36"),
    (lambda: b"not a zip", "is not a zip archive"),
]  # fmt: skip


def test_a_damaged_member_is_refused():
    body = bytearray(dataset([submission(adsh=f"0009900002-09-{n:06d}") for n in range(200)], [amount()]))
    body[60:90] = bytes(30)
    with pytest.raises(SourceChanged, match=r"sub\.txt is damaged"):
        datasets.read(bytes(body), "2009q3.zip", WANTED)


def test_rows_that_are_passed_over_are_never_held():
    rows = [amount(tag=f"Other{n}") for n in range(30_000)]
    body = dataset([submission()], rows)
    tracemalloc.start()
    try:
        parsed = datasets.read(body, "2009q3.zip", WANTED)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parsed.unmapped == {"us-gaap (other tags)": 30_000}
    assert peak < 1_000_000  # two megabytes of lines
