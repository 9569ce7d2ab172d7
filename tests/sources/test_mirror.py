"""Reading a mirror folder. All files here are invented."""

import gzip
from pathlib import Path

import pytest

from almanac.sources.mirror import MirrorError, MirrorRow, rows
from tests.support.paths import REAL_DATA

HEADER = "url,file,fetched_at,media_type,status"
URL = "https://data.example/a"
REAL = REAL_DATA


def mirror(folder: Path, *lines: str, header: str = HEADER) -> Path:
    (folder / "a.json").write_bytes(b'{"invented": true}')
    (folder / "mirror.csv").write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return folder


def test_a_row_is_read_with_all_its_fields(tmp_path):
    found = rows(mirror(tmp_path, f"{URL},a.json,2026-09-14T08:30:00Z,application/json,429"))
    assert found == [MirrorRow(URL, tmp_path.resolve() / "a.json", 1_789_374_600, "application/json", 429)]
    assert found[0].read(100) == b'{"invented": true}'


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-09-14T00:00:00Z", 1_789_430_399),  # a date: its last second
        ("2026-09-14", None),  # no zone: refused below
        ("2026-09-14T00:00:01Z", 1_789_344_001),
        ("2026-09-14T02:00:00+02:00", 1_789_430_399),  # midnight UTC in another zone's words
        ("2026-09-14T00:00:00+02:00", 1_789_336_800),  # midnight elsewhere is an instant
        ("2026-09-13T23:59:59.5Z", 1_789_430_399),  # rounded up to whole seconds first
        ("1970-01-01T00:00:00Z", 86_399),
    ],
)
def test_midnight_is_the_end_of_the_day(tmp_path, text, seconds):
    folder = mirror(tmp_path, f"{URL},a.json,{text},application/json,200")
    if seconds is None:
        with pytest.raises(MirrorError, match="column 'fetched_at'"):
            rows(folder)
    else:
        assert rows(folder)[0].fetched_at == seconds


def test_rows_come_by_time_with_now_last_and_otherwise_as_listed(tmp_path):
    folder = mirror(
        tmp_path,
        "https://data.example/now-1,a.json,,application/json,200",
        "https://data.example/b,a.json,2026-01-02T03:00:00Z,application/json,200",
        "https://data.example/a,a.json,2026-01-02T03:00:00Z,application/json,200",
        "https://data.example/epoch,a.json,1969-12-31T01:00:00Z,application/json,200",
        "https://data.example/now-0,a.json,,application/json,200",
        "https://data.example/a,a.json,2025-01-02T03:00:00Z,application/json,200",
    )
    found = [row.url.rsplit("/", 1)[1] for row in rows(folder)]
    assert found == ["epoch", "a", "b", "a", "now-1", "now-0"]


def test_columns_may_stand_in_any_order_behind_a_byte_order_mark(tmp_path):
    mirror(tmp_path)
    (tmp_path / "mirror.csv").write_text(
        f'status,media_type,url,file,fetched_at\n200,text/csv,"{URL}?codes=A,B",a.json,\n', "utf-8-sig"
    )
    (row,) = rows(tmp_path)
    assert (row.url, row.status, row.fetched_at) == (f"{URL}?codes=A,B", 200, None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ftp://data.example/a,a.json,,text/csv,200", r"line 2, column 'url': 'ftp://data.example/a' is not a whole"),
        ("https://[a,a.json,,text/csv,200", r"line 2, column 'url': 'https://\[a' is not a URL"),
        (f"{URL},.,,text/csv,200", r"line 2, column 'file': '\.' is not a file inside"),
        (f"{URL},link.txt,,text/csv,200", r"line 2, column 'file': 'link\.txt' is not a file inside"),
        (f"{URL},a.json,2026-09-14T08:30:00,text/csv,200", r"line 2, column 'fetched_at': .* not a time with a zone"),
        (f"{URL},a.json,,,200", r"line 2, column 'media_type': is empty"),
        (f"{URL},a.json,,text/csv,600", r"line 2, column 'status'"),
        (f"{URL},a.json,,text/csv", r"line 2: has 4 fields, expected 5"),
    ],
)
def test_a_bad_row_is_named_by_line_and_column(tmp_path, line, message):
    folder = tmp_path / "mirror"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("invented")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(MirrorError, match=message):
        rows(mirror(folder, line))


def test_a_link_within_the_mirror_is_a_file_of_it(tmp_path):
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    (found,) = rows(mirror(tmp_path, f"{URL},b.json,,text/csv,200"))
    assert found.read(100) == b'{"invented": true}'


@pytest.mark.parametrize("when", ["", "2026-09-14T08:30:00Z"])
def test_the_same_capture_twice_is_refused(tmp_path, when):
    line = f"{URL},a.json,{when},application/json,200"
    with pytest.raises(MirrorError, match=r"line 4, column 'url': https://data\.example/a .* is on line 2 already"):
        rows(mirror(tmp_path, line, f"{URL}b,a.json,{when},text/csv,200", line))


@pytest.mark.parametrize(
    "header", ["url,file,fetched_at,status", HEADER + ",size", "url,url,file,fetched_at,status", ""]
)
def test_other_columns_are_refused_with_those_expected(tmp_path, header):
    with pytest.raises(MirrorError, match=f"line 1: columns are .*, expected {HEADER}"):
        rows(mirror(tmp_path, header=header))


def test_a_folder_without_a_listing_says_what_is_needed(tmp_path):
    with pytest.raises(MirrorError, match=rf"mirror\.csv: there is no such file; .* columns {HEADER}"):
        rows(tmp_path)


def test_a_listing_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "mirror.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MirrorError, match=r"mirror\.csv: cannot be read"):
        rows(tmp_path)


def packed(folder: Path, content: bytes) -> MirrorRow:
    path = folder / "a.csv.gz"
    path.write_bytes(content)
    return MirrorRow(URL, path, None, "text/csv", 200)


def test_gzip_is_unpacked_even_in_several_members(tmp_path):
    row = packed(tmp_path, gzip.compress(b"invented,1\n") + gzip.compress(b"invented,2\n"))
    assert row.read(22) == b"invented,1\ninvented,2\n"


def test_the_size_limit_counts_plain_bytes(tmp_path):
    bomb = packed(tmp_path, gzip.compress(bytes(10_000_000)))
    with pytest.raises(MirrorError, match=r"a\.csv\.gz: is larger than the 9999999 bytes allowed"):
        bomb.read(9_999_999)
    assert len(bomb.read(10_000_000)) == 10_000_000


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(b"invented" * 100)[:-5],
        gzip.compress(b"invented" * 100)[:-8] + b"12345678",
        gzip.compress(b"invented" * 100)[:10] + b"\xff" * 20,
        b"not gzip at all",
    ],
    ids=["cut", "checksum", "content", "other"],
)
def test_a_broken_gzip_file_is_named(tmp_path, content):
    with pytest.raises(MirrorError, match=r"a\.csv\.gz: cannot be read"):
        packed(tmp_path, content).read(10_000)


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the publishers' own files are not beside this repository")
def test_the_publishers_own_files_are_a_mirror():
    found = rows(REAL)
    assert len(found) == len((REAL / "mirror.csv").read_text("utf-8").splitlines()) - 1
    assert all(row.read(1 << 30) for row in found)
    times = [row.fetched_at for row in found if row.fetched_at is not None]
    assert times == sorted(times)
    # Two of these captures are timed, the others dated.
    assert sum(time % 86_400 != 86_399 for time in times) == 2
