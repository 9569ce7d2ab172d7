"""The raw store: what is kept comes back byte for byte, or somebody is told. All payloads here are invented."""

import errno
import hashlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac.store.folder import Folder
from almanac.store.raw import Capture, Corrupt, Problem, RawStore, capture_id

URL = "https://data.example/series?id=1"
BODY = b"invented,1\n" * 50
SHA = hashlib.sha256(BODY).hexdigest()
OBJECT = f"objects/{SHA[:2]}/{SHA}.zst"


def keep(store, body=BODY, source="sandbox-one", url=URL, fetched_at=1_000, clock=2_000, **more):
    return store.keep(source, url, body, "text/csv", fetched_at, clock, **more)


@pytest.fixture
def store(tmp_path):
    return RawStore(Folder(tmp_path))


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


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
    assert list(store.verify()) == []


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
    newer = keep(store, b"invented newer", fetched_at=20)
    keep(store, b"invented older", fetched_at=10)
    assert store.latest("sandbox-one", URL) == newer
    assert store.latest("sandbox-one", URL + "0") is None
    assert store.latest("sandbox-two", URL) is None
    # Another process keeps one more.
    newest = keep(RawStore(Folder(tmp_path)), b"invented newest", fetched_at=30)
    assert store.latest("sandbox-one", URL) == newest


def test_latest_reads_each_index_file_once(tmp_path):
    class Counting(Folder):
        reads = 0

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
    assert blobs.reads == 5


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
    (problem,) = store.verify()
    assert problem.name == OBJECT
    assert problem.reason.startswith(reason)
    assert store.read(other) == b"invented, in good order"
    assert keep(store, clock=1) == kept
    assert store.read(kept) == BODY
    assert list(store.verify()) == []


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
    (problem,) = store.verify()
    assert problem.name == f"index/sandbox-one/{kept.id}.json"
    assert reason in problem.reason
    assert not problem.reason.startswith("index/")
    assert path.read_bytes() == spoiled


def test_an_index_file_that_names_another_size_is_a_problem_of_its_own(store, tmp_path):
    keep(store)
    kept = keep(store, fetched_at=1_500)
    path = tmp_path / f"index/sandbox-one/{kept.id}.json"
    path.write_bytes(path.read_bytes().replace(b'"bytes": 550', b'"bytes": 549'))
    assert list(store.verify()) == [Problem(OBJECT, f"has 550 bytes, 549 by index/sandbox-one/{kept.id}.json")]


class Died(BaseException):
    """Stands for a kill: no `except Exception` may swallow it."""


def failing(real, at, error):
    """`real`, but for call number `at`, which raises."""
    calls = iter(range(1, 1_000))

    def call(*args, **kwargs):
        if next(calls) == at:
            raise error
        return real(*args, **kwargs)

    return call


#: Every call by which `keep` changes the disk on an empty folder, with how often it happens.
STEPS = [("fsync", 8), ("replace", 1), ("link", 1), ("open", 6)]


def test_the_steps_are_all_the_steps(store, monkeypatch):
    counted = dict.fromkeys((name for name, _ in STEPS), 0)

    def counting(name, real):
        def call(*args, **kwargs):
            counted[name] += 1
            return real(*args, **kwargs)

        return call

    for name in counted:
        monkeypatch.setattr(os, name, counting(name, getattr(os, name)))
    keep(store)
    assert list(counted.items()) == STEPS


@pytest.mark.parametrize("error", [Died(), OSError(errno.ENOSPC, "no space left on device")], ids=["killed", "full"])
@pytest.mark.parametrize(("step", "at"), [(step, at + 1) for step, times in STEPS for at in range(times)])
def test_killed_at_any_step_nothing_is_half_there_and_the_next_run_completes(
    store, tmp_path, monkeypatch, step, at, error
):
    with monkeypatch.context() as patch:
        patch.setattr(os, step, failing(getattr(os, step), at, error))
        with pytest.raises(type(error)):
            keep(store, clock=500)
    after = RawStore(Folder(tmp_path))
    # An index file may only be there if its object is, whole.
    assert list(after.verify()) == []
    seen = list(after.captures())
    for capture in seen:
        assert after.read(capture) == BODY
    kept = keep(after, clock=600)
    # If the first run had got as far as the index file, its word stays.
    assert kept.ingested_at == (500 if seen else 600)
    assert after.read(kept) == BODY
    assert list(after.captures()) == [kept]
    assert files(tmp_path) == [f"index/sandbox-one/{kept.id}.json", OBJECT]


def test_a_kill_that_leaves_no_time_to_clean_up_leaves_only_temporary_names(store, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", failing(Path.unlink, 1, Died()))
        patch.setattr(os, "replace", failing(os.replace, 1, Died()))
        with pytest.raises(Died):
            keep(store)
    left = files(tmp_path)
    assert [name.split("/")[-1][:12] for name in left] == [".unfinished-"]
    assert list(store.captures()) == []
    assert list(store.verify()) == []
    assert store.tidy() == 1
    assert files(tmp_path) == []
    kept = keep(store)
    assert store.tidy() == 0
    assert store.read(kept) == BODY


def test_a_writer_whose_temporary_file_is_tidied_away_writes_it_again(store, tmp_path, monkeypatch):
    tidied = []
    for name, real in {"replace": os.replace, "link": os.link}.items():

        def tidied_once(src, dst, name=name, real=real):
            if name not in tidied:
                tidied.append(name)
                assert store.tidy() == 1
            real(src, dst)

        monkeypatch.setattr(os, name, tidied_once)
    kept = keep(store)
    assert tidied == ["replace", "link"]
    assert RawStore(Folder(tmp_path)).read(kept) == BODY


def test_a_writer_that_is_always_tidied_away_gives_up_with_an_error(store, tmp_path, monkeypatch):
    def gone(src, dst):
        Path(src).unlink()
        raise FileNotFoundError(src)

    monkeypatch.setattr(os, "replace", gone)
    with pytest.raises(FileNotFoundError):
        keep(store)
    assert files(tmp_path) == []


def test_of_many_threads_the_first_word_stays(tmp_path):
    stores = [RawStore(Folder(tmp_path)) for _ in range(8)]
    barrier = threading.Barrier(8)

    def run(number):
        barrier.wait()
        return [keep(stores[number], f"invented {n}".encode(), fetched_at=9_000, clock=number) for n in range(20)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, range(8)))
    # All were told the same ingestion, that of whoever came first, and it is the one on disk.
    assert all(result == results[0] for result in results)
    assert sorted(results[0], key=lambda capture: capture.order) == list(stores[0].captures())
    assert list(stores[0].verify()) == []
    assert len(files(tmp_path)) == 40


KEEPER = """
import sys
from pathlib import Path
from almanac.store.folder import Folder
from almanac.store.raw import RawStore

store = RawStore(Folder(Path(sys.argv[1])))
print("ready", flush=True)
sys.stdin.readline()
for n in range(50):
    kept = store.keep("sandbox-one", f"https://data.example/{n}", b"invented", "text/csv", 9_000, int(sys.argv[2]))
    print(kept.id, kept.ingested_at)
"""


def test_of_many_processes_the_first_word_stays(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", KEEPER, tmp_path, str(clock)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for clock in (100, 200, 300)
    ]
    with ExitStack() as stack:
        for process in running:
            stack.enter_context(process)
            assert process.stdout.readline() == "ready\n"
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        told = [process.stdout.read().splitlines() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    # Each process was told the same of each capture, and that is what is on disk.
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 50
    store = RawStore(Folder(tmp_path))
    assert sorted(f"{kept.id} {kept.ingested_at}" for kept in store.captures()) == sorted(told[0])
    assert list(store.verify()) == []
    assert len(files(tmp_path)) == 51


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
