"""The publishers' own files beside the repository: where they are, and what skips a module where they are not."""

import csv

import pytest

from tests.support.paths import REAL_DATA

FOLDER = REAL_DATA
REAL = [
    pytest.mark.real,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the publishers' own files are not beside the repository"),
]


def mirror() -> list[dict[str, str]]:
    """Rows of the listing of all files (url, file, fetched_at, media_type, status); none where there are no files."""
    if not FOLDER.is_dir():
        return []
    with (FOLDER / "mirror.csv").open(newline="") as file:
        return list(csv.DictReader(file))
