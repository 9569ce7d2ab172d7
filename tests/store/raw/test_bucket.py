"""Raw payloads in a bucket: the same as in a folder, of many writers the first; and what is wrong is said in a sentence."""

import contextlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from almanac.config import load
from almanac.store.raw.blobs import Folder, blobs_at
from almanac.store.raw.captures import Corrupt, RawStore
from tests.store.raw.invented import flaws
from tests.support.bucket import BUCKET, KEY, SECRET, bucket
from tests.support.paths import ROOT
from tests.support.servers import free_port

from .invented import BODY, OBJECT, files, keep

PLACE = f"s3://{BUCKET}/some/prefix"
SHOWN = re.compile(r"## Raw payloads in a bucket\n.*?```ini\n(.*?)```", re.DOTALL)
MOTO = ROOT / ".venv-s3/bin/moto_server"


def told(monkeypatch, environment):
    """Nothing of another AWS from outside."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def held(monkeypatch):
    with bucket() as one:
        told(monkeypatch, one.environment)
        yield one


@contextlib.contextmanager
def moto():
    """A server of S3 that others wrote."""
    if not MOTO.exists():
        pytest.skip("moto is not installed: `make bucket` does so")
    endpoint = f"http://127.0.0.1:{(port := free_port())}"
    with subprocess.Popen(
        [MOTO, "-H", "127.0.0.1", "-p", str(port)],
        env={"S3_IGNORE_SUBDOMAIN_BUCKETNAME": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            for _ in range(600):
                with contextlib.suppress(URLError):
                    urlopen(Request(f"{endpoint}/{BUCKET}", method="PUT")).close()
                    break
                time.sleep(0.05)
            yield endpoint
        finally:
            process.kill()


@pytest.fixture(params=["ours", pytest.param("moto", marks=pytest.mark.slow)])
def place(request, monkeypatch):
    """A bucket of each server."""
    if request.param == "ours":
        request.getfixturevalue("held")
        yield PLACE
        return
    with moto() as endpoint:
        told(monkeypatch, {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET})
        yield PLACE


def everything(blobs):
    return {name: blobs.get(name) for name in [*blobs.names("index"), *blobs.names("objects")]}


def test_a_bucket_does_what_a_folder_does(place, tmp_path):
    for blobs in (found := [Folder(tmp_path), blobs_at(place)]):
        blobs.check()
        assert blobs.get("index/a/1") is None
        assert [blobs.create("index/a/1", b"first"), blobs.create("index/a/1", b"second")] == [True, False]
        assert blobs.get("index/a/1") == b"first"
        blobs.put("objects/ab/x", b"one")
        blobs.put("objects/ab/x", b"two\0")
        assert blobs.get("objects/ab/x") == b"two\0"
        for name in ("a-b/1", "a/2", "a0/1", "ab/1", "b/1"):
            assert blobs.create(f"index/{name}", b"")
        assert blobs.tidy() == 0
    # In byte order: a hyphen sorts before the slash that ends a shorter name.
    expected = [f"index/{name}" for name in ("a-b/1", "a/1", "a/2", "a0/1", "ab/1", "b/1")]
    for blobs in found:
        assert list(blobs.names("index")) == expected == sorted(expected)
        assert list(blobs.names("index/a")) == ["index/a/1", "index/a/2"]
        assert list(blobs.names("nothing")) == []
        assert (blobs.size("index"), blobs.size("objects"), blobs.size("nothing")) == (5, 4, 0)
    assert everything(found[0]) == everything(found[1])


def test_a_raw_store_is_the_same_in_either(place, tmp_path):
    stores = [RawStore(Folder(tmp_path)), RawStore.at(place)]
    for store in stores:
        for source in ("fred", "fred-two"):
            for time_ in (3, 1, 2):
                keep(store, BODY + bytes([time_]), source=source, fetched_at=time_)
        keep(store, source="fred", clock=1)
        keep(store, source="fred", clock=9_999)
    folder, bucketful = stores
    assert everything(folder.blobs) == everything(bucketful.blobs)
    assert [*folder.captures()] == [*bucketful.captures()]
    assert len([*bucketful.captures("fred")]) == 4
    assert bucketful.latest("fred", next(bucketful.captures()).url) == folder.latest(
        "fred", next(folder.captures()).url
    )
    assert bucketful.any_source() == folder.any_source()
    assert flaws(bucketful) == []
    bucketful.blobs.put(OBJECT, b"rot")
    assert [flaw.name for flaw in flaws(bucketful)] == [OBJECT]
    with pytest.raises(Corrupt, match=OBJECT):
        bucketful.read(next(one for one in bucketful.captures() if one.sha256 in OBJECT))


def test_of_many_writers_exactly_one_is_first(held):
    """On our server alone: that of others looks first and writes then, so now and then two win."""
    stores = [blobs_at(PLACE) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            name = f"index/one/{number}"
            won = list(pool.map(lambda n, name=name: stores[n].create(name, b"%d" % n), range(8)))
            assert won.count(True) == 1
            assert stores[0].get(name) == b"%d" % won.index(True)


def test_names_come_in_order_whatever_the_server_does(held):
    held.backwards = True
    blobs = blobs_at(PLACE)
    for number in range(10):
        blobs.put(f"index/a/{number}", b"x")
    assert list(blobs.names("index")) == [f"index/a/{number}" for number in range(10)]


def test_an_answer_that_was_lost_costs_nothing(held):
    """What was written and not answered is there: asking again says so, and the payload is kept once, with its first word."""
    store = RawStore.at(PLACE)
    for clock in (500, 600):
        held.unanswered = 1
        with contextlib.suppress(ConnectionError):
            keep(store, clock=clock)
    assert held.unanswered == 0 or len(held.objects) == 2
    assert keep(store, clock=700).ingested_at == 500
    assert flaws(store) == []
    assert len(held.objects) == 2


def test_a_server_that_overwrites_what_it_is_asked_to_create_is_refused(held):
    held.conditional = False
    with pytest.raises(OSError, match=f"ALMANAC_RAW_URL: {PLACE}: this server overwrites .* allowed: a server with"):
        blobs_at(PLACE).check()
    assert list(held.objects) == ["some/prefix/conditional-put"]


def test_a_good_server_is_tried_with_one_object_that_is_no_payload(held, tmp_path):
    store = RawStore.at(PLACE)
    for _ in range(3):
        store.blobs.check()
    assert held.objects == {"some/prefix/conditional-put": b""}
    assert (store.any_source(), list(store.captures()), flaws(store)) == (None, [], [])


def test_the_variables_that_the_page_for_operators_shows_are_those_that_are_read(held, monkeypatch):
    (shown,) = SHOWN.findall((ROOT / "docs/operations.md").read_text("utf-8"))
    given = {name: value.strip("'") for name, _, value in (line.partition("=") for line in shown.splitlines())}
    for name in held.environment:
        monkeypatch.delenv(name)
    for name in given.keys() & held.environment.keys():
        monkeypatch.setenv(name, held.environment[name])
    url = given["ALMANAC_RAW_URL"].replace("my-bucket", BUCKET)
    assert [load({"ALMANAC_RAW_URL": each}).raw_url for each in (url, given["ALMANAC_RAW_URL"])] == [
        url,
        given["ALMANAC_RAW_URL"],
    ]
    kept = keep(RawStore.at(url))
    assert held.objects.keys() == {f"almanac/{OBJECT}", f"almanac/index/sandbox-one/{kept.id}.json"}


ASKED = [
    ("check", lambda blobs: blobs.check()),
    ("get", lambda blobs: blobs.get("index/x")),
    ("names", lambda blobs: next(blobs.names("index"), None)),
]


@pytest.mark.parametrize("ask", [ask for _, ask in ASKED], ids=[name for name, _ in ASKED])
@pytest.mark.parametrize(
    ("change", "place", "kind", "words"),
    [
        ({}, "s3://no-such-bucket/x", FileNotFoundError, "there is no such bucket; make it"),
        ({"AWS_ACCESS_KEY_ID": "stranger"}, PLACE, PermissionError, "InvalidAccessKeyId, The key is not known."),
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, PLACE, PermissionError, "allowed: AWS_ACCESS_KEY_ID and"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:{port}"}, PLACE, ConnectionError, "cannot be reached, or"),
    ],
    ids=["no bucket", "stranger", "nobody", "nowhere"],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_that_names_the_setting(held, monkeypatch, ask, change, place, kind, words):
    for name, value in change.items():
        if value:
            monkeypatch.setenv(name, value.format(port=free_port()))
        else:
            monkeypatch.delenv(name)
    with pytest.raises(kind) as caught:
        ask(blobs_at(place))
    text = str(caught.value)
    assert text.startswith(f"ALMANAC_RAW_URL: {place}: ")
    assert words in text
    assert "\n" not in text
    assert SECRET not in text
    assert held.objects == {}


def test_without_the_library_its_name_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "almanac.store.raw.s3", raising=False)
    with pytest.raises(OSError, match=r"pip install '\.\[s3\]'"):
        blobs_at(PLACE)


def test_a_folder_needs_no_library_and_no_variable(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "almanac.store.raw.s3", raising=False)
    keep(RawStore.at(str(tmp_path)))
    assert len(files(tmp_path)) == 2
