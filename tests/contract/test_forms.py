"""Lists in other forms: the same rows as JSON, under the same rules, and whole lists that say that they are complete."""

import asyncio
import base64
import csv
import json
import random
from urllib.parse import parse_qsl

import msgspec
import pyarrow as pa
import pytest
import zstandard

from almanac.api.formats import forms
from tests.support.forms import FORMS, TYPES, CutError, arrow_table, assert_same, csv_rows, ndjson_rows
from tests.support.withholding import WHY, withhold

from .declared import ENDPOINTS, LISTS, REQUIRED
from .test_every_endpoint import url
from .test_pages import arrive
from .test_rights import RAW, assert_nothing_leaks
from .test_rights import WHY as WITHHELD

every_list = pytest.mark.parametrize("path", LISTS)
every_form = pytest.mark.parametrize("form", FORMS)


def twin(service, path, form, key="pro", headers=None, /, **params):
    answer = service.get(f"{url(service, path)}.{form}", key, headers, **{**REQUIRED.get(path, {}), **params})
    assert answer.status_code == 200, answer.text
    return answer


def questions(path):
    """What a list is asked, in many ways: each order, sort, source and moment it has, in pages short and long."""
    names = ENDPOINTS[path].by_name
    asked = [{}, {"limit": 1}, {"limit": ENDPOINTS[path].max_limit}]
    for name in ("order", "sort", "sources", "kind", "frequency", "freshness", "status", "quality"):
        if name in names:
            asked += [{name: choice, "limit": 50} for choice in names[name].names]
    for name, value in (
        ("as_of", "2026-11-18"), ("country", "USA"), ("indicator", "gov_yield_10y"), ("period", "2026"), ("country", "Atlantis"),
        ("fields", "sector"), ("q", "e"),
    ):  # fmt: skip
        if name in names:
            asked += [{name: value, "limit": 50}]
    return asked


@every_list
def test_each_form_says_what_json_says(service, path):
    """Field by field, whatever is asked; with the same cursor behind the next page, the same version, and the same warnings."""
    for asked in questions(path):
        answer = service.get(url(service, path), "pro", None, **{**REQUIRED.get(path, {}), **asked})
        if answer.status_code != 200:
            refused = service.get(f"{url(service, path)}.csv", "pro", None, **{**REQUIRED.get(path, {}), **asked})
            assert refused.status_code == answer.status_code
            continue
        body = answer.json()
        page, warnings = body["meta"]["pagination"], body["meta"].get("warnings")
        for form in FORMS:
            told = twin(service, path, form, **asked)
            assert_same(form, told.content, body["data"])
            assert told.headers["content-type"].partition(";")[0] == TYPES[form]
            assert told.headers["x-data-version"] == answer.headers["x-data-version"]
            assert ("next" in told.links) == page["has_more"]
            assert ("x-warnings" in told.headers) == (warnings is not None)
            assert told.headers.get("x-total-count") == (str(page["total"]) if "total" in page else None)
            if asked == {"limit": 1}:
                accept = {"accept": TYPES[form]}
                named = service.get(url(service, path), "pro", accept, **REQUIRED.get(path, {}), **asked)
                assert named.content == told.content


@every_form
@every_list
def test_a_whole_list_is_all_of_its_pages(service, path, form):
    """`all=true` on a twin gives what a walk gives, with the mark that it is complete."""
    for asked in ({}, {"sources": "all"}, {"country": "Atlantis"}):
        if asked.keys() <= ENDPOINTS[path].by_name.keys():
            rows = service.walk(url(service, path), limit=ENDPOINTS[path].max_limit, **REQUIRED.get(path, {}), **asked)
            told = twin(service, path, form, all="true", **asked)
            assert_same(form, told.content, rows, whole=True)
            assert "content-length" not in told.headers
            assert not told.links


@pytest.fixture
def few(service):
    """Batches of seven rows."""
    twins = [found.endpoint for found in service.app._routes._literal.values() if found.form is not None]
    before = {id(endpoint): endpoint.batch for endpoint in twins}
    for endpoint in twins:
        object.__setattr__(endpoint, "batch", 7)
    yield
    for endpoint in twins:
        object.__setattr__(endpoint, "batch", before[id(endpoint)])


@every_form
@pytest.mark.parametrize("path", ["/observations/vintages", "/countries"])
def test_a_whole_list_comes_in_batches(service, few, form, path):
    """However many there are: each goes on where the one before ended."""
    assert_same(form, twin(service, path, form, all="true").content, service.walk(path, limit=500), whole=True)


def opened(form, body):
    """The rows of a whole list, as its readers read it."""
    if form == "csv":
        return csv_rows(body, whole=True)
    return ndjson_rows(body, whole=True) if form == "ndjson" else arrow_table(body, whole=True)


@every_form
@pytest.mark.parametrize("path", ["/observations/vintages", "/providers", "/companies"])
def test_a_list_that_was_cut_is_told(service, few, form, path):
    """Wherever it was cut: none of its beginnings passes for the whole, of an empty list neither."""
    few, empty = {
        "/observations/vintages": ({"indicator": "gov_yield_2y"}, {"entity": "atlantis"}),
        "/companies": ({}, {"sector": "nothing"}),
    }.get(path, ({}, {}))
    for asked in (few, empty):
        body = twin(service, path, form, all="true", **asked).content
        opened(form, body)
        drawn = random.Random(f"{form} {path}")
        # Without the mark of the end of an Arrow stream all rows are there, and readers do not ask for it.
        length = len(body) - (ARROW_END if form == "arrows" else 0)
        places = {*drawn.sample(range(length), min(60, length)), *range(length - 40, length), *boundaries(form, body)}
        for place in places:
            with pytest.raises(
                (CutError, pa.ArrowInvalid, OSError, csv.Error, json.JSONDecodeError, UnicodeDecodeError)
            ):
                opened(form, body[:place])


#: Bytes of the mark of the end of an Arrow stream, which follows the last row.
ARROW_END = 8


def boundaries(form, body):
    """Places behind whole lines, or whole messages of Arrow: where nothing else tells that something is missing."""
    if form != "arrows":
        return [place + 1 for place, byte in enumerate(body[:-1]) if byte == ord("\n")]
    reader, places = pa.BufferReader(body), []
    messages = pa.ipc.MessageReader.open_stream(reader)
    while True:
        places.append(reader.tell())
        try:
            messages.read_next_message()
        except StopIteration:
            return [place for place in places if place < len(body) - ARROW_END]


def test_only_twins_take_all(service):
    """Elsewhere it is a parameter that there is not, and the message says where it is; a page is not asked for beside it."""
    for path in ("/observations", "/countries"):
        error = service.error(path, 400, all="true")
        assert error["details"]["reason"] == "unknown"
        assert f"{path}.csv takes it" in error["message"]
        named = service.get(path, "pro", {"accept": "text/csv"}, all="true")
        assert (named.status_code, named.headers["content-type"]) == (400, "application/json")
        for name in ("limit", "cursor"):
            error = service.error(f"{path}.csv", 400, **{"all": "true", name: "7"})
            assert (error["details"]["parameter"], error["details"]["reason"]) == (name, "conflict")
        assert service.error(f"{path}.csv", 400, all="yes")["details"]["allowed"] == ["true", "false"]
        assert "all" in service.error(f"{path}.csv", 400, nothing="1")["details"]["allowed"]
        assert twin(service, path, "csv", all="false").content == twin(service, path, "csv").content


def test_a_parameter_for_the_form_is_told_of_the_twin(service):
    for value, form in (("csv", "csv"), ("CSV", "csv"), ("jsonl", "ndjson"), ("arrow", "arrows")):
        for name in ("format", "output"):
            error = service.error("/observations", 400, **{name: value})
            assert error["details"]["suggestion"] == f"/observations.{form}"
    assert "suggestion" not in service.error("/coverage", 400, format="csv")["details"]
    assert "suggestion" not in service.error("/observations", 400, format="xml")["details"]


ACCEPT = [
    ("text/csv", "csv"), ("TEXT/CSV", "csv"), ("text/csv; charset=utf-8", "csv"), ("text/csv, */*;q=0.1", "csv"),
    ("text/csv, */*", "csv"), ("*/*, text/csv", "csv"), ("text/csv;q=0.5, */*;q=0.8", None), ("text/csv;q=0", None),
    ("application/json, text/csv", None), ("text/csv, application/json", "csv"), ("application/x-ndjson;q=0.9, text/csv;q=0.3", "ndjson"),
    ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", None), ("text/*", None), ("application/*", None), ("", None),
    ("application/vnd.apache.arrow.stream", "arrows"), ("text/csv;q=2", None), ("text/csv;q=x", None), ("application/json;q=0", None),
    ("image/png", None), ("text/csv;header=present;q=0.2, application/json;q=0.1", "csv"),
]  # fmt: skip


@pytest.mark.parametrize(("accept", "form"), ACCEPT)
def test_what_a_client_accepts(service, accept, form):
    """Other types only when `Accept` names one that there is, by its q-values: never 406."""
    answer = service.get("/countries", "pro", {"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == (TYPES[form] if form else "application/json")
    assert "accept" in answer.headers["vary"].split(", ")
    # What has no rows is JSON whatever is asked for, and so is an error.
    assert service.get("/coverage", "pro", {"accept": accept}).headers["content-type"] == "application/json"
    assert service.get("/countries?nothing=1", "pro", {"accept": accept}).headers["content-type"] == "application/json"
    # A twin is of its form.
    assert service.get("/countries.csv", "pro", {"accept": accept}).headers["content-type"].startswith("text/csv")


@every_form
def test_pages_follow_their_links(service, form):
    """The link leads to the next page, of the same version, to the end."""
    rows, query = [], {"limit": 7, "sources": "all", "indicator": "gov_yield_2y"}
    while True:
        answer = service.get(f"/observations/vintages.{form}", "pro", None, **query)
        rows += [answer.content]
        if "next" not in answer.links:
            break
        query = dict(parse_qsl(answer.links["next"]["url"].removeprefix("?")))
        assert query.keys() == {"limit", "sources", "indicator", "cursor"}
    every = service.walk("/observations/vintages", limit=7, sources="all", indicator="gov_yield_2y")
    assert len(rows) > 3
    for place, body in enumerate(rows):
        assert_same(form, body, every[7 * place : 7 * place + 7])


@every_form
def test_conditions_and_heads(service, few, form):
    """Of pages and of whole lists: a 304 for who has it, a HEAD with the same headers; each form has its own ETag."""
    for target in (f"/countries.{form}", f"/countries.{form}?all=true", f"/observations/vintages.{form}?limit=3"):
        answer = service.get(target)
        again = service.get(target, "pro", {"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
        assert service.get(target, "pro", {"if-none-match": 'W/"other"'}).content == answer.content
        head = service.request("HEAD", target)
        assert (head.status_code, head.content) == (200, b"")
        for name in ("etag", "content-type", "content-disposition", "x-as-of", "x-data-version"):
            assert head.headers[name] == answer.headers[name]
    for target in ("/countries", "/observations?country=Atlantis"):
        tags = {service.get(target, "pro", {"accept": kind}).headers["etag"] for kind in (*TYPES.values(), "*/*")}
        assert len(tags) == len(TYPES) + 1


@every_form
@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_coded(service, few, form, coding):
    """Pages and whole lists, as `Accept-Encoding` says; the ETag is the same."""
    for target in (f"/observations/vintages.{form}", f"/observations/vintages.{form}?all=true"):
        plain, coded = service.get(target), service.get(target, "pro", {"accept-encoding": coding})
        assert coded.headers["content-encoding"] == coding
        body = coded.content
        if coding == "zstd":
            body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        assert body == plain.content
        assert coded.headers["etag"] == plain.headers["etag"]


def test_names_of_files(service):
    """Twins are files: of a sensible name, without what a path may hold."""
    for target, name in (
        ("/observations/vintages.csv", "observations-vintages.csv"),
        ("/companies/ACW/financials.csv", "companies-ACW-financials.csv"),
        ("/indicators/gov%5Fyield_10y/series.arrows", "indicators-gov_yield_10y-series.arrows"),
    ):
        assert service.get(target).headers["content-disposition"] == f'attachment; filename="{name}"'
    assert "content-disposition" not in service.get("/countries", "pro", {"accept": "text/csv"}).headers


def basic(text):
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def test_basic_on_twins_alone(service):
    """The key is the password, whoever the user is; elsewhere the scheme carries no key."""
    key = service.keys["pro"]
    for user in ("", "key", "ann@example.org"):
        assert service.get("/countries.csv", None, basic(f"{user}:{key}")).status_code == 200
    for path in ("/countries", "/coverage", "/nowhere", "/nowhere.csv", "/coverage.csv"):
        answer = service.get(path, None, basic(f":{key}"))
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    for wrong in ({}, basic(f"{key}:"), basic(key), basic(":x"), {"authorization": "Basic %%%"}):
        answer = service.get("/countries.csv", None, wrong)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer, Basic realm="almanac"'
    both = {**basic(f":{key}"), "x-api-key": service.keys["free"]}
    assert service.get("/countries.csv", None, both).status_code == 401
    assert service.get("/countries.csv", None, {**basic(f":{key}"), "x-api-key": key}).status_code == 200


def test_twins_stand_at_lists_alone(service):
    for path in (
        "/coverage.csv",
        "/indicators/gov_yield_10y.csv",
        "/companies/ACW/profile.csv",
        "/openapi.json.csv",
        "/observations.xlsx",
    ):
        assert service.get(path).status_code == 404
    assert service.error("/observation.csv", 404)["details"]["suggestion"] == "/observations.csv"


def test_the_order_of_checks_is_that_of_lists(service):
    """Key in the query, key, path, method, scope, parameters, window, resource: on twins too."""
    for form in FORMS:
        for target, method, key, status, said in (
            (f"/observations.{form}?api_key=x&limt=1", "POST", None, 400, "'api_key'"),
            (f"/observations.{form}?limt=1", "POST", None, 401, "no API key"),
            (f"/observation.{form}?limt=1", "POST", "events:read", 404, "there is nothing at this path"),
            (f"/observations.{form}?limt=1", "POST", "events:read", 405, "method_not_allowed"),
            (f"/observations.{form}?limt=1", "GET", "events:read", 403, "the key lacks the scope 'macro:read'"),
            (f"/observations.{form}?period=1990&all=true&cursor=x", "GET", "free", 400, "'cursor'"),
            (f"/observations.{form}?period=1990&all=true", "GET", "free", 403, "free"),
            (f"/observations.{form}?period=1990", "GET", "free", 403, "free"),
            (f"/companies/nobody/financials.{form}", "GET", "pro", 404, "nobody"),
            (f"/indicators/nothing/series.{form}?all=true", "GET", "pro", 404, "nothing"),
        ):
            answer = service.request(method, target, key)
            assert (answer.status_code, said in answer.text) == (status, True), (target, answer.text)
            assert answer.headers["content-type"] == "application/json"
            assert "content-disposition" not in answer.headers


def test_a_plan_clips_whole_lists_too(service):
    """What it reaches, and no day more; and it says from when on."""
    for asked in ({}, {"all": "true"}):
        answer = service.get("/observations/vintages.ndjson", "free", None, **asked)
        rows = ndjson_rows(answer.content, whole=bool(asked))
        first = answer.headers["x-history-from"]
        assert min(row["periodEnd"] for row in rows)[:10] >= first
    assert rows == service.walk("/observations/vintages", "free", limit=500)


@every_form
def test_statements_line_by_line(service, form):
    """What the statements of a company say, a line each, with how it was come by."""
    for key, asked in (
        ("pro", {}),
        ("free", {}),
        ("pro", {"frequency": "annual", "limit": "1"}),
        ("pro", {"as_of": "2020-01-01"}),
    ):
        company = service.ok("/companies/ACW/financials", key, **asked)
        expected = []
        for kind, name in (
            ("incomeStatements", "income"),
            ("balanceSheets", "balance"),
            ("cashFlowStatements", "cash_flow"),
        ):
            for statement in company[kind]:
                rest = {k: v for k, v in statement.items() if k not in {"items", "derivedItems", "quality"}}
                for item, value in statement["items"].items():
                    how = statement["derivedItems"].get(item, {"method": None, "derivedFrom": []})
                    about = {name: company[name] for name in ("entityId", "ticker", "cik")}
                    expected.append(
                        {**about, "statement": name, **rest, "quality": statement["quality"]["status"], "reason": None, "item": item,
                         "value": value, **how}
                    )  # fmt: skip
        answer = service.get(f"/companies/ACW/financials.{form}", key, None, **asked)
        assert_same(form, answer.content, expected)
        assert (
            service.error(f"/companies/ACW/financials.{form}", 400, key, all="true")["details"]["reason"] == "unknown"
        )


def test_statements_that_are_withheld(own):
    """A line for each, without a value, with the reason."""
    withhold(own, "sec")
    rows = ndjson_rows(own.get("/companies/ACW/financials.ndjson").content)
    assert rows
    assert {(row["item"], row["value"], row["quality"], row["reason"]) for row in rows} == {
        (None, None, "withheld", WHY)
    }


def test_withheld_values_are_empty_and_say_why(service):
    """The row keeps its place, and a column has the reason."""
    header, rows = csv_rows(twin(service, "/observations", "csv", indicator=RAW).content)
    assert rows
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        assert (cells["valueNumeric"], cells["valueText"], cells["rights.valueWithheld"]) == ("", "", "true")
        assert cells["rights.reason"] == WITHHELD


@every_list
def test_nothing_leaks_in_any_form(service, path):
    """What `test_rights` asks of JSON, of every form and whole lists."""
    for asked in ({}, {"all": "true"}):
        for form in ("csv", "ndjson"):
            assert_nothing_leaks(twin(service, path, form, **asked).text)
        for row in arrow_table(twin(service, path, "arrows", **asked).content).to_pylist():
            assert_nothing_leaks(json.dumps(row, default=str))


def test_without_pyarrow(service, monkeypatch):
    """A request for Arrow names the extra; it is no 406."""
    monkeypatch.setattr(forms, "find_spec", lambda _: None)
    error = service.error("/countries.arrows", 400)
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("path", "not_installed")
    assert "'arrow'" in error["message"]
    named = service.get("/countries", "pro", {"accept": TYPES["arrows"]})
    assert (named.status_code, named.json()["error"]["details"]["parameter"]) == (400, "accept")
    assert service.get("/countries.csv").status_code == 200


def streamed(service, target, after=None):
    """What the application sends of a list, message by message; `after` is done when the first part was sent."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(b"host", b"api.example"), (b"x-api-key", service.keys["pro"].encode())], "client": ("127.0.0.1", 5000),
        "http_version": "1.1",
    }  # fmt: skip
    sent = []

    async def receive():
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message)
        if after is not None and len(sent) == 2:
            await asyncio.to_thread(after)

    asyncio.run(service.app(scope, receive, send))
    return sent


def body_of(sent):
    return b"".join(message.get("body", b"") for message in sent)


@pytest.fixture
def few_of_own(own):
    """The same of a service that a test changes."""
    for found in own.app._routes._literal.values():
        if found.form is not None:
            object.__setattr__(found.endpoint, "batch", 7)
    return own


@every_form
def test_what_ends_too_early_has_no_proof(few_of_own, form, monkeypatch):
    """A revoked key, data that were replaced, a fault: the body is not ended, and nothing in it says that it is complete."""
    service, target = few_of_own, f"/observations/vintages.{form}?all=true"
    assert not streamed(service, target)[-1].get("more_body", False)

    def fault(_):
        raise RuntimeError("invented")

    def lost(whole):
        whole.walk = msgspec.structs.replace(whole.walk, epoch="another")
        return type(service.app._answers).next_batch(service.app._answers, whole)

    for name, owner, end in (
        ("next_batch", service.app._answers, fault), ("is_still_good", service.app._authentication, refuses),
        ("next_batch", service.app._answers, lost),
    ):  # fmt: skip
        with monkeypatch.context() as patched:
            sent = streamed(service, target, lambda: patched.setattr(owner, name, end))  # noqa: B023 - called in this turn
        assert sent[0]["status"] == 200
        assert sent[-1]["more_body"]
        with pytest.raises((CutError, pa.ArrowInvalid, OSError)):
            opened(form, body_of(sent))
    # Both places of a heavy request are free again.
    assert streamed(service, target)[0]["status"] == 200


async def refuses(*_):
    return False


@every_form
def test_a_revoked_key_ends_a_whole_list(few_of_own, form):
    key = few_of_own.keys["pro"]
    sent = streamed(
        few_of_own, f"/observations/vintages.{form}?all=true",
        lambda: few_of_own.accounts.revoke(key, now=int(few_of_own.real_now)),
    )  # fmt: skip
    assert sent[-1]["more_body"]
    with pytest.raises((CutError, pa.ArrowInvalid, OSError)):
        opened(form, body_of(sent))


@every_form
def test_what_arrives_meanwhile_is_not_in_it(few_of_own, form):
    """A whole list is of the data version at which it began."""
    service, target = few_of_own, f"/observations/vintages.{form}?all=true"
    rows = service.walk("/observations/vintages", limit=500)
    sent = streamed(service, target, lambda: arrive(service))
    assert_same(form, body_of(sent), rows, whole=True)
    assert service.get(target).content != body_of(sent)


@every_form
def test_an_account_has_so_many_whole_lists_at_a_time(service, few, form):
    """They count as heavy requests until they end, and a 429 is JSON."""
    account = service.accounts.account("pro@example.org").id
    told = []

    def others():
        told.append(service.get(f"/countries.{form}?all=true"))
        service.app._threads.begin_heavy(account, "/observations")
        told.append(service.get(f"/countries.{form}?all=true"))
        service.app._threads.end_heavy(account)

    assert streamed(service, f"/observations/vintages.{form}?all=true", others)[0]["status"] == 200
    assert [answer.status_code for answer in told] == [200, 429]
    assert told[1].json()["error"]["details"]["reason"] == "heavy_requests"
    assert service.app._threads._under_way == {}
    # Also where the client has gone before a second part is asked for.
    streamed(service, f"/observations/vintages.{form}?all=true", lambda: 1 / 0)
    assert service.app._threads._under_way == {}
