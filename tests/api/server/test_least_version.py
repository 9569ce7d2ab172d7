"""With replicas the store is opened at a version as new as the client's last answer and its cursor."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from almanac.store.observations.reading.reader import View
from tests.contract.conftest import built, worker_id  # noqa: F401  (fixtures)
from tests.support.service import Service, copy


def test_each_account_is_answered_from_what_it_saw_or_later(built: Path, tmp_path: Path) -> None:  # noqa: F811  (the fixture)
    home = copy(built, tmp_path / "home")
    # Nothing answers there: what is opened is the file.
    none = "postgresql://127.0.0.1:1/none"
    service = Service(home, {"DATABASE_URL": none, "DATABASE_READ_URLS": none})
    file = Service(home)
    least: list[int] = []

    def opened(at_least: int) -> AbstractContextManager[View]:
        least.append(at_least)
        return file.reader.view()

    service.app._answers._open_view = opened
    page = "/observations?country=USA&limit=1"
    first: Any = service.get(page)
    version = int(first.headers["x-data-version"])
    assert version > 1
    cursor = first.json()["meta"]["pagination"]["next_cursor"]
    service.get(page)
    service.get(page, "free")
    service.get(f"{page}&cursor={cursor}", "enterprise")
    service.get(f"{page}&cursor={cursor[:-2]}", "enterprise")
    # The first of each account knows of nothing; a cursor does, where it is one.
    assert least == [0, version, 0, version, version]
    assert service.app._answers._signer.version(cursor) == version
    assert service.app._answers._signer.version(cursor[:-2]) == 0
    service.close()
    file.close()
