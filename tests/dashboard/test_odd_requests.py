"""Every page with odd values for every name it reads: refused in words, or shown, never a fault of ours."""

import random
import re
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

import almanac.dashboard
from almanac.dashboard.site import pages
from tests.dashboard.account.conftest import House
from tests.support.service import Service, copy

SOURCES = Path(almanac.dashboard.__file__).parent
#: Names of a query that any page reads, wherever it does.
NAMES = sorted(
    {
        name
        for file in [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.html")]
        for name in re.findall(r'query(?:\.get\(|\[)"(\w+)"|"(\w+)" in visit\.query', file.read_text("utf-8"))
        for name in name
        if name
    }
    | {"category", "kind", "q", "sector", "industry", "country", "freshness", "with", "field1", "operator1", "value1"}
)
#: What people and programs write where nothing good stands: days no calendar has and its two ends, numbers too large or
#: of other scripts, texts too long, of one sign only, or that a terminal would obey.
DAYS = ("2026-02-30", "9999-12-31", "0001-01-01", "9999-12-30", "0000-00-00", "2026-02-29T25:61:61Z", "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+23:59", "2026-1-1", "-0001-01-01", "10000-01-01", "2026-W53", "today")  # fmt: skip
NUMBERS = ("0", "-1", "1e999", "1e12", "9" * 400, "٣", "²", "NaN", "1_000", " 1", "+1", "0x10", "1.5")
TEXTS = ("", " ", "\0", "\x1b[2J", "\u202eabc", "\ud800", "é" * 300, "a" * 9_000, " " * 9_000, "'", '"', "<b>", "%", "//evil.example", "{{7*7}}",
         "ﷺ" * 100, "İ", "ß", "..", "../../etc/passwd", "__class__", "all", "M", "desc", "true")  # fmt: skip
FILTERS = (
    "accounts_payable:gte:1e12", "net_margin:gt:15", "net_margin:gt:-1e300", "sector:eq:x", "sector:in:" + "|".join("abcdefgh"),
    "cpi_inflation_yoy:gt:1e12", "cpi_inflation_yoy:in:1|2|x", "::", "a:b", ",,,", '"', 'sector:eq:"', "revenue_ttm:eq:0e0",
    "net_margin:gte:1e-400", "score:lt:-0", "score:gt:" + "9" * 190, "," * 9_000, "currency:eq:usd,revenue_ttm:gt:1e400",
)  # fmt: skip
ODD = (*DAYS, *NUMBERS, *TEXTS)
#: Sent to each page: every name with every odd value alone would be more than anybody waits for.
ALONE, TOGETHER = 7, 3


@pytest.fixture(scope="module")
def browser(built, tmp_path_factory):
    """An operator's, over all pages."""
    service = Service(copy(built, tmp_path_factory.mktemp("odd") / "home"))
    service.accounts.set_role("pro@example.org", "operator")
    yield House(service).browser()
    service.close()


def query(pairs):
    return urlencode({name: value.encode("utf-8", "surrogatepass") for name, value in pairs.items()})


def path_of(page, chance):
    good = {"scope": "USA", "slug": "gov_yield_10y", "name": "united-states"}

    def part(match):
        if chance.random() < 0.6 and match[1] in good:
            return good[match[1]]
        return quote(chance.choice([one for one in ODD if one]).encode("utf-8", "surrogatepass"), safe="")

    return re.sub(r"{(\w+)}", part, page.path)


def targets(page):
    chance = random.Random(page.path)
    for _ in range(ALONE):
        name = chance.choice(NAMES)
        yield f"{path_of(page, chance)}?{query({name: chance.choice(ODD)})}"
    for _ in range(TOGETHER):
        some = {name: chance.choice(ODD) for name in chance.sample(NAMES, chance.randint(2, 5))}
        yield f"{path_of(page, chance)}?{query(some)}"
    for name in ("as_of", "from", "to"):
        for value in DAYS[:3]:
            yield f"{path_of(page, chance)}?{query({name: value})}"
    if "screeners" in page.path:
        for text in FILTERS:
            yield f"{page.path}?{query({'filter': text})}"


@pytest.mark.parametrize("page", [one for one in pages() if one.look is not None], ids=lambda one: one.path)
def test_no_request_is_a_fault_of_ours(browser, page):
    faults = {}
    for target in targets(page):
        status = browser.get(target).status_code
        if status >= 500:
            faults[target[:200]] = status
    assert faults == {}


@pytest.mark.parametrize(
    ("target", "status", "said"),
    [
        ("/screeners/equity?filter=accounts_payable:gte:1e12", 200, ""),
        ("/calendar?as_of=2026-02-30", 400, "as_of"),
        ("/calendar?from=9999-12-31", 200, "9999"),
        ("/calendar?from=0001-01-01", 200, ""),
        ("/usage?to=0001-01-01", 400, ""),
        ("/usage.csv?to=0001-01-01", 400, ""),
    ],
)
def test_what_was_one(browser, target, status, said):
    answer = browser.get(target)
    assert answer.status_code == status
    assert said in answer.text
