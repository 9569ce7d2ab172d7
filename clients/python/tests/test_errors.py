"""Errors: one class each, what the service says in them, and nothing of the key."""

import json
import logging
import pickle
import traceback

import httpx2
import pytest

import almanac_client as a
from almanac_client._errors import from_answer, seconds

from .served import BASE, asked, client

KEY = "alm_live_0123456789abcdefghijklmnopqrstuv"


def over(handler, **options):
    http = httpx2.Client(transport=httpx2.MockTransport(handler))
    return a.Almanac(url=BASE, api_key=KEY, insecure=True, http_client=http, max_retries=0, **options)


def test_a_bad_request_names_parameter_reason_allowed_and_suggestion(almanac):
    with pytest.raises(a.BadRequest) as caught:
        almanac.observations.list(frequency="anual").all()
    error = caught.value
    assert (error.status, error.code, error.parameter, error.reason) == (400, "bad_request", "frequency", "choice")
    assert error.suggestion == "annual"
    assert "monthly" in error.allowed
    assert str(error).endswith(f"; did you mean 'annual'? (request {error.request_id})")


def test_a_suggestion_that_the_message_lacks_is_added():
    body = {"error": {"code": "bad_request", "message": "no such thing", "request_id": "req_1",
                      "details": {"parameter": "contry", "reason": "unknown", "suggestion": "country"}}}  # fmt: skip
    error = from_answer(400, {}, body, 0.0)
    assert str(error) == "no such thing; did you mean 'country'? (request req_1)"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.details) == (a.BadRequest, str(error), error.details)


def test_the_other_refusals(service, almanac):
    with pytest.raises(a.NotFound) as missing:
        almanac.indicators.get("gov_yeild_10y")
    assert missing.value.suggestion == "gov_yield_10y"
    free = client(service, "free")
    with pytest.raises(a.Forbidden) as early:
        free.observations.list(indicator="gov_yield_10y", period_end="2020-01-01").all()
    assert early.value.history_from == "2024-11-20"
    with pytest.raises(a.Unauthorized, match="request req_"):
        almanac.with_options(api_key=KEY).coverage()
    with pytest.raises(a.BadRequest) as forged:
        almanac.observations.list(cursor="abc").all()
    assert (type(forged.value), forged.value.reason) == (a.BadRequest, "forged")


def test_an_expired_cursor_is_an_error_of_its_own(own):
    almanac = client(own)
    pages = almanac.observations.list(indicator="gov_yield_10y", page_size=2).pages()
    next(pages)
    own.real_now += 400 * 86_400
    with pytest.raises(a.CursorExpired) as caught:
        next(pages)
    assert caught.value.reason == "expired"


@pytest.mark.parametrize(("status", "kind"), [(500, a.ServerFault), (502, a.ServerFault), (503, a.Unavailable), (405, a.ApiError), (302, a.ApiError)])  # fmt: skip
def test_answers_that_are_none_of_this_interface(status, kind):
    with pytest.raises(a.ApiError) as caught:
        over(lambda _: httpx2.Response(status, text="<html>", headers={"location": "https://evil.example"})).coverage()
    assert type(caught.value) is kind
    assert caught.value.code == f"http_{status}"
    assert ("redirects" if status == 302 else "is it Almanac") in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"<html>", b"[]", b'{"data": {}, "requestId": "r"}', b'{"data": {"countries": "x"}}']
)
def test_an_answer_that_cannot_be_read_says_so(content):
    with pytest.raises(a.Unreadable, match="/coverage"):
        over(lambda _: httpx2.Response(200, content=content)).coverage()


def test_new_fields_and_new_words_do_not_stop_a_program(service):
    record = service.ok("/observations", indicator="gov_yield_10y", limit=1)[0]
    record |= {"new": {"x": 1}, "freshnessStatus": "lukewarm"}
    record["rights"]["exposure"] = "whispered"
    body = {"data": [record], "meta": {"pagination": {"has_more": False}}, "requestId": "r"}
    (row,) = over(lambda _: httpx2.Response(200, json=body)).observations.list()
    assert (row.freshness_status, row.rights.exposure) == ("lukewarm", "whispered")


def test_connection_and_time_out_have_their_own():
    def broken(request):
        raise httpx2.ConnectError("refused", request=request)

    def slow(request):
        raise httpx2.ReadTimeout("slow", request=request)

    with pytest.raises(a.ConnectionFailed, match=r"http://api\.example cannot be reached: refused"):
        over(broken).coverage()
    with pytest.raises(a.TimedOut, match="did not answer within 2 seconds"):
        over(slow, timeout=2).coverage()


@pytest.mark.parametrize(("text", "expected"), [(None, None), ("60", 60.0), ("-1", 0.0), ("soon", None),
                                                ("Thu, 01 Jan 1970 00:01:40 GMT", 70.0)])  # fmt: skip
def test_retry_after_may_be_seconds_or_a_date(text, expected):
    assert seconds(text, 30.0) == expected


def test_the_key_is_in_no_repr_log_or_traceback(caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    # Whatever else runs in this process may have silenced the library.
    monkeypatch.setattr(logging.getLogger("httpx2"), "filters", [])
    said, requests = [], []

    def refuse(request):
        requests.append(request)
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in str(request.url)
        said.append(repr(request) + repr(request.headers))
        if len(requests) == 1:
            raise httpx2.ConnectError("refused", request=request)
        if len(requests) == 2:
            return httpx2.Response(401, content=json.dumps({"error": {"message": "revoked", "code": "unauthorized"}}))
        return httpx2.Response(200, content=b"?")

    almanac = over(refuse)
    for kind in (a.ConnectionFailed, a.Unauthorized, a.Unreadable):
        with pytest.raises(kind) as caught:
            almanac.at("2026-01-01").briefs.get("USA")
        told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        said += ["".join(told.format()), repr(caught.value), str(caught.value)]
    with pytest.raises(TypeError, match="pickled") as caught:
        pickle.dumps(almanac._core.options.key)
    said += [
        repr(almanac),
        repr(almanac._core.options),
        repr(almanac.observations.list()),
        str(caught.value),
        caplog.text,
    ]
    assert [text for text in said if KEY in text or KEY[10:] in text] == []
    assert "briefs" in caplog.text


def test_signs_that_no_address_may_hold_are_sent_by_their_codes(almanac):
    """As they are, the server beneath would refuse them without a word: see the interface's page."""
    for ask in (almanac.equities.screen, almanac.screener.screen):
        with pytest.raises(a.BadRequest, match="field:operator:value") as refused:
            ask(filter='net_margin>0.1,sector:eq:"A <B>"').all()
        assert refused.value.details["parameter"] == "filter"
        assert asked(almanac)[-1].url.query.startswith(b"filter=net_margin%3E0.1%2Csector%3Aeq%3A%22A%20%3CB%3E%22")
