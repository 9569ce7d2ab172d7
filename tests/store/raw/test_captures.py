"""The raw store: what is kept comes back byte for byte, or somebody is told."""

import hashlib
import threading
import tracemalloc

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import Capture, Corrupt, RawStore, capture_id
from tests.store.raw.invented import flaws

from .invented import BODY, OBJECT, SHA, URL, files, keep


@pytest.fixture
def store(tmp_path):
    return RawStore(Folder(tmp_path))


def test_a_capture_states_all_that_is_known_of_the_response(store, tmp_path):
    kept = keep(store, etag='"v1"', last_modified="Mon, 14 Sep 2026 00:00:00 GMT", status=203)
    # The id is part of the stored data for ever: computed here by hand from the documented list.
    expected = hashlib.sha256(f'["sandbox-one","{URL}",1000,"{SHA}"]'.encode()).hexdigest()[:32]
    assert kept == Capture(
        expected, "sandbox-one", URL, SHA, 1_000, 1_000, "text/csv", 550, 203, '"v1"', "Mon, 14 Sep 2026 00:00:00 GMT"
    )
    assert files(tmp_path) == [f"index/sandbox-one/{expected}.json", OBJECT]
    assert msgspec.json.decode((tmp_path / f"index/sandbox-one/{expected}.json").read_bytes()) == {
        "id": expected,
        "source": "sandbox-one",
        "url": URL,
        "sha256": SHA,
        "fetchedAt": 1_000,
        "ingestedAt": 1_000,
        "mediaType": "text/csv",
        "bytes": 550,
        "status": 203,
        "etag": '"v1"',
        "lastModified": "Mon, 14 Sep 2026 00:00:00 GMT",
    }
    assert zstandard.decompress((tmp_path / OBJECT).read_bytes()) == BODY
    assert store.read(kept) == BODY
    assert flaws(store) == []


def test_the_hash_of_the_parts_is_unambiguous():
    assert capture_id("a", "b,c", 1, "d") != capture_id("a,b", "c", 1, "d")
    assert capture_id("a", "b", 1, "d") != capture_id("a", "b", 11, "d")


def test_ingestion_is_never_later_than_the_clock_and_the_first_word_stays(store, tmp_path):
    first = keep(store, fetched_at=5_000, clock=4_000)
    assert (first.fetched_at, first.ingested_at) == (5_000, 4_000)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in files(tmp_path)}
    again = keep(store, fetched_at=5_000, clock=9_000, etag='"later"')
    assert again == first
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in files(tmp_path)} == before
    assert list(RawStore(Folder(tmp_path)).captures()) == [first]


def test_one_object_serves_all_captures_of_the_same_bytes(store, tmp_path):
    kept = [keep(store, fetched_at=time, source=source) for time in (1, 2) for source in ("one", "two")]
    assert len({capture.id for capture in kept}) == 4
    assert [name for name in files(tmp_path) if name.startswith("objects")] == [OBJECT]


def test_captures_come_in_the_order_of_folding(store):
    bodies = [b"invented a", b"invented b", b"invented c"]
    kept = [
        keep(store, body, source, fetched_at=time) for time in (30, 10, 20) for body in bodies for source in ("y", "x")
    ]
    found = list(store.captures())
    assert found == sorted(kept, key=lambda capture: (capture.fetched_at, capture.sha256, capture.id))
    assert [capture.fetched_at for capture in found] == [10] * 6 + [20] * 6 + [30] * 6
    assert list(store.captures("x")) == [capture for capture in found if capture.source == "x"]
    assert list(store.captures("nobody")) == []


def test_a_source_name_is_never_a_prefix_of_another(store):
    short, long = keep(store, source="fred"), keep(store, source="fred-two")
    assert list(store.captures("fred")) == [short]
    assert list(store.captures("fred-two")) == [long]


def test_latest_is_the_last_in_the_order_of_folding_whoever_kept_it(store, tmp_path):
    assert store.latest("sandbox-one", URL) is None
    kept = [keep(store, f"invented {n}".encode(), fetched_at=20 - n // 4) for n in range(40)]
    last = max(kept, key=lambda capture: (capture.fetched_at, capture.sha256))
    assert last.fetched_at == 20
    assert last.id not in {min(capture.id for capture in kept), max(capture.id for capture in kept), kept[-1].id}
    assert store.latest("sandbox-one", URL) == last
    assert store.latest("sandbox-one", URL + "0") is None
    assert store.latest("sandbox-two", URL) is None
    # What it keeps itself is known at once; what another process keeps, once it looks again.
    newer = keep(store, b"invented newer", fetched_at=25)
    assert store.latest("sandbox-one", URL) == newer
    newest = keep(RawStore(Folder(tmp_path)), b"invented newest", fetched_at=30)
    store.look_again("sandbox-one")
    assert store.latest("sandbox-one", URL) == newest


def test_where_storage_is_far_away_index_files_are_read_side_by_side(tmp_path):
    barrier = threading.Barrier(4)

    class Far(Folder):
        at_once = 4

        def get(self, name):
            barrier.wait(timeout=20)  # one after the other, none comes back
            return super().get(name)

    kept = [keep(RawStore(Folder(tmp_path)), fetched_at=time) for time in range(8)]
    far = RawStore(Far(tmp_path))
    assert list(far.captures()) == kept
    assert far.latest("sandbox-one", URL) == kept[-1]


def test_latest_goes_through_the_index_once_and_reads_each_of_its_files_once(tmp_path):
    class Counting(Folder):
        reads = 0
        lists = 0

        def names(self, prefix):
            self.lists += 1
            return super().names(prefix)

        def get(self, name):
            self.reads += name.startswith("index")
            return super().get(name)

    blobs = Counting(tmp_path)
    store = RawStore(blobs)
    for time in range(5):
        keep(store, fetched_at=time, url=f"https://data.example/{time}")
    for time in range(5):
        found = store.latest("sandbox-one", f"https://data.example/{time}")
        assert found is not None
        assert found.fetched_at == time
        keep(store, b"invented newer", fetched_at=10 + time, url=f"https://data.example/{time}")
    assert (blobs.reads, blobs.lists) == (5, 1)


@pytest.mark.parametrize("source", ["", "..", "a/b", "../a", "Fred", "a_b", "-a", "a-", "a b", "a\n", ".unfinished-a"])
def test_a_source_that_is_no_slug_is_refused(store, tmp_path, source):
    for call in (
        lambda: keep(store, source=source),
        lambda: list(store.captures(source)),
        lambda: store.latest(source, URL),
    ):
        with pytest.raises(ValueError, match="is not lower-case letters and digits joined by hyphens"):
            call()
    assert files(tmp_path) == []


def damage(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_bytes(b""), "does not have the hash"),
        (lambda path: path.write_bytes(b"invented rubbish"), "cannot be decompressed"),
        (lambda path: path.write_bytes(path.read_bytes()[:-4]), "does not have the hash"),
        (lambda path: path.write_bytes(zstandard.compress(damage(BODY))), "does not have the hash"),
        (lambda path: path.write_bytes(zstandard.compress(BODY + BODY)), "does not have the hash"),
        (lambda path: path.write_bytes(zstandard.compress(bytes(50_000_000))), "does not have the hash"),
    ],
)
def test_a_corrupt_object_is_named_and_healed_by_keeping_it_again(store, tmp_path, spoil, reason):
    kept = keep(store)
    other = keep(store, b"invented, in good order", url="https://data.example/other")
    spoil(tmp_path / OBJECT)
    with pytest.raises(Corrupt, match=rf"{OBJECT}: {reason}"):
        store.read(kept)
    (problem,) = flaws(store)
    assert problem.name == OBJECT
    assert problem.reason.startswith(reason)
    assert store.read(other) == b"invented, in good order"
    assert keep(store, clock=1) == kept
    assert store.read(kept) == BODY
    assert flaws(store) == []


def test_a_swollen_object_is_not_unpacked_into_memory(store, tmp_path):
    kept = keep(store)
    (tmp_path / OBJECT).write_bytes(zstandard.compress(bytes(100_000_000)))
    tracemalloc.start()
    try:
        with pytest.raises(Corrupt, match="does not have the hash"):
            store.read(kept)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda text: text[:40], "truncated"),
        (lambda text: text[:0], "truncated"),
        (
            lambda text: text.replace(b'"fetchedAt": 1000', b'"fetchedAt": 1001'),
            "its content belongs to index/sandbox-one/",
        ),
        (lambda text: text.replace(b'"sandbox-one"', b'"sandbox-two"'), "its content belongs to index/sandbox-two/"),
        (lambda text: text.replace(b'"bytes"', b'"octets"'), "unknown field `octets`"),
        (lambda text: text.replace(b"1000", b'"soon"', 1), "Expected `int`, got `str`"),
        (lambda text: b"\xff" + text, "malformed"),
    ],
)
def test_a_corrupt_index_file_is_named_and_never_written_over(store, tmp_path, spoil, reason):
    kept = keep(store)
    path = tmp_path / f"index/sandbox-one/{kept.id}.json"
    spoiled = spoil(path.read_bytes())
    path.write_bytes(spoiled)
    for call in (lambda: list(store.captures()), lambda: keep(store), lambda: store.latest("sandbox-one", URL)):
        with pytest.raises(Corrupt, match=rf"index/sandbox-one/{kept.id}\.json: .*{reason}"):
            call()
    (problem,) = flaws(store)
    assert problem.name == f"index/sandbox-one/{kept.id}.json"
    assert reason in problem.reason
    assert not problem.reason.startswith("index/")
    assert path.read_bytes() == spoiled


def test_an_index_file_that_names_another_size_is_a_problem_of_its_own(store, tmp_path):
    keep(store)
    kept = keep(store, fetched_at=1_500)
    path = tmp_path / f"index/sandbox-one/{kept.id}.json"
    path.write_bytes(path.read_bytes().replace(b'"bytes": 550', b'"bytes": 549'))
    assert list(map(str, flaws(store))) == [f"{OBJECT}: has 550 bytes, 549 by index/sandbox-one/{kept.id}.json"]


@given(
    body=st.binary(max_size=400) | st.binary(min_size=1, max_size=3).map(lambda part: part * 5_000),
    url=st.text(min_size=1, max_size=40),
    fetched_at=st.integers(-(2**40), 2**40),
    clock=st.integers(0, 2**40),
    etag=st.none() | st.text(max_size=10),
)
def test_everything_comes_back_as_it_was_kept(tmp_path, body, url, fetched_at, clock, etag):
    kept = keep(RawStore(Folder(tmp_path)), body, url=url, fetched_at=fetched_at, clock=clock, etag=etag)
    fresh = RawStore(Folder(tmp_path))
    assert fresh.read(kept) == body
    assert (kept.url, kept.bytes) == (url, len(body))
    assert kept.ingested_at <= fetched_at
    assert kept in list(fresh.captures("sandbox-one"))


@pytest.mark.parametrize(("count", "told"), [(1, BODY[:1]), (4, BODY[:4]), (10_000, BODY)])
def test_a_head_is_the_first_bytes(store, count, told):
    assert store.head(keep(store).sha256, count) == told


def test_a_head_that_cannot_be_read_says_so(store, tmp_path):
    sha256 = keep(store).sha256
    for path in tmp_path.rglob("*.zst"):
        path.write_bytes(b"rot")
    with pytest.raises(Corrupt, match="cannot be decompressed"):
        store.head(sha256, 4)
    with pytest.raises(Corrupt, match="is missing"):
        store.head("0" * 64, 4)
