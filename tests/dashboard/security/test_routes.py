"""
What holds for every address of the routing table, whatever is sent to it.

One account never sees another's things; a plain account gets no operator's page and does no deed of theirs; a form without
its token does nothing; every answer carries the policy; and nobody is sent away from here.
"""

import random
import re
from html import unescape
from urllib.parse import quote, urlencode, urljoin, urlsplit

import httpx2
import pytest

from almanac.dashboard.visit import Page
from tests.support.browser import Browser

from .conftest import ADA, BEA, OPERATOR, PAGES, THEIRS, Two, address

POSTS = [page for page in PAGES if page.post is not None]
OPERATED = [page for page in PAGES if page.who == "operator"]
FORM = {"content-type": "application/x-www-form-urlencoded"}
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')

#: What a form or a query may hold, beside what belongs to Bea.
WORDS = ["", "0", "1", "all", "others", "never", "24h", "day", "dark", "zz", "2026-11-01", "31.4.24", "pro", "user", "gov_yield_10y:gt:1", "watch", "unwatch", "drop", "keep", "macro", "indicator", "policy_rate", "filter=gov_yield_10y:gt:0",
         "-1", "9" * 20, "a\r\nb: c", "<b>", "'", "ü", "//evil.example", "/\\evil.example", "https://evil.example"]  # fmt: skip
FIELDS = [
    "session",
    "email",
    "name",
    "grace",
    "theme",
    "plan",
    "role",
    "may",
    "scope",
    "ends",
    "on",
    "number",
    "new",
    "password",
    "deed",
    "kind",
    "what",
    "to",
    "id",
]
QUERY = ["q", "all", "as_of", "from", "to", "by", "email", "after", "before", "source", "done", "revoked", "account", "key", "filter",
         "cursor", "next", "page", "id", "session", "type", "country", "category"]  # fmt: skip
NAMES = {
    "id": ["us-treasury-par:country_usa:gov_yield_10y:D", "fred:country_usa:cpi_index_nsa:M", "fred"],
    "name": ["japan", "united-states", "acme-widgets-inc"], "slug": ["cpi_index_nsa"], "scope": ["USA"], "token": ["x"],
    "deed": ["plan", "disable", "enable", "reset"], "number": ["1"],
}  # fmt: skip


def wander(two: Two, chance: random.Random, page: Page) -> str:
    """Some address of a page: names filled with what is there, with Bea's, or with anything; and some query."""
    bea = [one for ids in two.ids.values() for one in ids]
    values = {name: chance.choice([*some, *WORDS[3:8]]) for name, some in NAMES.items()}
    if chance.random() < 0.6:
        values["id"] = chance.choice(bea)
    path = address(page, **{name: quote(value, safe=":") for name, value in values.items()})
    query = {chance.choice(QUERY): chance.choice([*WORDS, *bea]) for _ in range(chance.randrange(3))}
    return f"{path}?{urlencode(query)}" if query else path


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_one_account_never_sees_anothers_things_nor_touches_them(two: Two, seed: int) -> None:
    chance = random.Random(seed)
    before = two.state()
    order = [page for page in PAGES if page.path != "/signout"] * 2
    chance.shuffle(order)
    bea = [one for ids in two.ids.values() for one in ids]
    answered = set()
    for page in order:
        ada = two.browser(ADA)
        if page.post is not None and chance.random() < 0.6:
            fields = {chance.choice(FIELDS): chance.choice([*WORDS, *bea]) for _ in range(chance.randrange(5))}
            answer = ada.post(wander(two, chance, page), fields, token=token_of(ada, "/account"))
        else:
            answer = ada.get(wander(two, chance, page))
        told = answer.text + repr(answer.headers)
        # What she typed herself comes back to her; none of it is a secret.
        assert [one for one in two.secrets if one in told and one not in bea] == [], answer.url
        assert answer.status_code != 500, answer.url
        answered.add((page.path, answer.status_code))
    assert len({path for path, _ in answered}) == len(PAGES) - 1
    assert sum(status == 200 for _, status in answered) > 15
    assert two.state() == before


def test_no_form_of_one_account_reaches_anothers_things(two: Two) -> None:
    ada, before = two.browser(ADA), two.state()
    for page in POSTS:
        if page.path == "/signout":
            continue
        for one in (one for ids in two.ids.values() for one in ids):
            fields = dict.fromkeys(FIELDS, one) | {"plan": "free", "grace": "0", "role": "operator"}
            answer = ada.post(address(page, id=one, deed="disable", token=one), fields, token=token_of(ada, "/account"))
            assert answer.status_code in {200, 303, 400, 403, 404}, page.path
            assert [secret for secret in two.secrets if secret in answer.text and secret != one] == [], page.path
    assert two.state() == before


def test_the_secrets_are_there_to_be_seen(two: Two) -> None:
    """By their owner: a page that shows nothing to anybody would pass the test above."""
    bea = two.browser(BEA)
    told = "".join(bea.get(path).text for path in ("/keys", "/account", "/usage?by=key", "/usage.csv"))
    whole_key, session, cookie = two.secrets[2], two.secrets[7], two.secrets[8]
    assert [one for one in two.secrets if one not in told] == [whole_key, cookie]
    assert session in told
    # The operator sees that she is there, how many keys she has and how much they asked in all: not which, nor what.
    told = two.browser(OPERATOR).get("/operate/accounts").text
    assert BEA in told
    assert [one for one in two.secrets[1:] if one in told] == [f"{THEIRS:,}"]


def test_a_plain_account_gets_no_page_of_operators_and_does_no_deed(two: Two) -> None:
    ada, nobody, before = two.browser(ADA), two.browser(None), two.state()
    assert len(OPERATED) > 5
    for page, deed in [(page, deed) for page in OPERATED for deed in NAMES["deed"]]:
        path = address(page, id=two.ids["account"][0], deed=deed)
        answers = [ada.get(path)]
        if page.post is not None:
            fields = {"plan": "free", "email": "guest@example.org", "role": "operator"}
            answers.append(ada.post(path, fields, token=token_of(ada, "/account")))
        assert {one.status_code for one in answers} == {403}, path
        assert all("This page is for those who run the service." in one.text for one in answers)
        assert nobody.get(path).headers["location"].startswith("/signin")
    assert two.state() == before


def test_a_form_without_its_token_does_nothing(two: Two) -> None:
    before = two.state()
    stolen = token_of(two.browser(ADA), "/account")
    fields = {"session": two.ids["session"][0], "password": "correct horse battery", "new": "another long password", "theme": "dark",
              "email": BEA, "plan": "free", "role": "user", "grace": "0", "name": "Made by others", "may": "all", "ends": "never"}  # fmt: skip
    body = urlencode(fields).encode()
    browsers = {"anyone": two.browser(None), "person": two.browser(BEA), "operator": two.browser(OPERATOR)}
    before = two.state()
    assert len(POSTS) > 10
    for page in POSTS:
        ours = browsers[page.who]
        own = token_of(ours, "/signin" if page.who == "anyone" else "/account")
        number, _, seal = own.partition(".")
        ids = {"id": two.ids["key"][0] if page.path.startswith("/keys") else two.ids["account"][0], "deed": "disable"}
        path = address(page, **ids)
        for token in ("", "x", ".", own[:-1], own + "0", f"{number}.{seal[::-1]}", f".{seal}", stolen, "ü"):
            answer = ours.post(path, fields, token=token)
            assert answer.status_code == 403, (path, token)
            assert "Nothing was changed" in answer.text
        for headers in (
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"content-type": "text/plain"},
        ):
            assert ours.post(path, fields, token=own, **headers).status_code == 403, (path, headers)
        # In the address, where it would be kept in logs, it counts for nothing.
        answer = ours.send("POST", f"{path}?{urlencode({'csrf': own})}", headers=FORM, content=body)
        assert answer.status_code == 403, path
    assert two.state() == before
    assert [key.name for key in two.house.service.accounts.list_keys(BEA)] == ["Zanzibar monitor"]


def token_of(browser: Browser, path: str) -> str:
    """What a form of this browser must carry, from a page that has one."""
    return _TOKEN.search(browser.get(path).text)[1]


def answers_of(browser: Browser, page: Page, path: str) -> list:
    found = [
        browser.get(path),
        browser.send("HEAD", path),
        browser.send("PUT", path),
        browser.post(path, {"x": "1"}, token="x"),
    ]
    return [*found, browser.get(f"{path}?as_of=31.4.24")]


@pytest.mark.parametrize("who", [None, pytest.param(ADA, marks=pytest.mark.slow), OPERATOR])
def test_every_answer_carries_the_policy(two: Two, who: str | None) -> None:
    browser, statuses = two.browser(who), set()
    static = re.search(r'href="(/static/[^"]+)"', browser.get("/signin" if who is None else "/").text)[1]
    answers = [one for page in PAGES for one in answers_of(browser, page, address(page))]
    answers += [
        browser.get(path)
        for path in (static, static + "x", "/nowhere", "/..", "//evil.example", "/%00", "/operate/../keys")
    ]
    for answer in answers:
        headers = answer.headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'", answer.url
        assert (policy["script-src"], policy["style-src"], policy["base-uri"]) == ("'self'", "'self'", "'none'")
        assert (policy["form-action"], policy["frame-ancestors"]) == ("'self'", "'none'")
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        # Nothing of an account, and no page that was refused, stays with anybody on the way.
        if not answer.url.path.startswith("/static/") or answer.status_code != 200:
            assert headers["cache-control"] in {"no-store", "private, no-cache"}, answer.url
        statuses.add(answer.status_code)
    assert statuses >= ({200, 303, 403, 404, 405} if who is None else {200, 403, 404, 405})


ELSEWHERE = ["//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "https:evil.example", "/\t/evil.example",
             "///evil.example", "/%2f/evil.example", "@evil.example", "/\r\nlocation: https://evil.example", "javascript:alert(1)",
             ".evil.example", "/%5cevil.example"]  # fmt: skip


_LINK = re.compile(r'\s(?:href|action|formaction|src)="([^"]*)"')


def links(answer: httpx2.Response) -> list[str]:
    """Where the links and forms of a page lead, as a browser reads them."""
    html = answer.headers.get("content-type", "").startswith("text/html")
    return [urljoin(str(answer.url), unescape(to)) for to in _LINK.findall(answer.text)] if html else []


@pytest.mark.parametrize("who", [None, pytest.param(ADA, marks=pytest.mark.slow), OPERATOR])
def test_nobody_is_sent_away_from_here(two: Two, who: str | None) -> None:
    chance, redirects = random.Random(14), 0
    browser = two.browser(who)
    for page in PAGES:
        for to in chance.sample(ELSEWHERE, 1):
            query = urlencode(dict.fromkeys(("next", chance.choice(QUERY), "as_of"), to))
            filled = address(page, **dict.fromkeys(NAMES, quote(to, safe="")))
            raw = f"{to if to.startswith('/') else '/' + to}{page.path}".replace("\r\n", "").replace("\t", "")
            raw = quote(raw, safe="/%\\@:")
            # A past day has a link back to today, to wherever the request went.
            for path in (f"{address(page)}?{query}", f"{filled}?{query}", raw, f"{raw}?as_of=2024-04-30"):
                answer = browser.get(path)
                assert answer.status_code != 500, path
                assert [link for link in links(answer) if "evil.example" in urlsplit(link).netloc] == [], path
                if "location" in answer.headers:
                    redirects += 1
                    assert here(answer.headers["location"]), (path, answer.headers["location"])
    assert redirects > (10 if who is None else 0)
    if who is None:  # and once somebody has signed in, from wherever they wanted to go
        for to in ELSEWHERE:
            one = two.browser(None)
            one.get("/signin", next=to)
            answer = one.post("/signin", {"email": ADA, "password": "correct horse battery", "next": to})
            assert answer.status_code == 303
            assert here(answer.headers["location"]), to


def here(location: str) -> bool:
    """Whether a browser stays: it reads a backslash as a slash, and leaves tabs and line ends out."""
    return bool(re.fullmatch(r"/(?![/\\])[\x21-\x7e]*", location))
