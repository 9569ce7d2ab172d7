"""Name the functions of Almanac that a warm request for a list passes: `python -m bench.journey HOME KEY [TARGET]`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import almanac
from bench.inside import Inside, Service

TARGET = "/derived-observations?country=USA&indicator=cpi_inflation_yoy"
_ROOT = str(Path(almanac.__file__).parent)
#: Requests before the one that is traced, so that only its own work is seen.
_WARM_UP = 3


def passed_by(client: Inside, target: str) -> list[CodeType]:
    """Return the functions of Almanac that one request passes, in order of their first call."""
    codes: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_ROOT):
            codes.setdefault(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        taken = client.ask(target)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if taken.status != 200:
        raise SystemExit(f"{target} was answered with {taken.status}")
    return list(codes)


def lines(codes: Iterable[CodeType]) -> list[str]:
    """Write functions as a list of modules, each with those of its functions that were called."""
    files: dict[str, list[str]] = {}
    for code in codes:
        files.setdefault(code.co_filename[len(_ROOT) + 1 :], []).append(code.co_qualname)
    total = sum(map(len, files.values()))
    listed = [f"{name}: {', '.join(functions)}" for name, functions in files.items()]
    return [*listed, f"{total} functions in {len(files)} files"]


def main(home: Path, key: str, target: str = TARGET) -> None:
    """Print what a fresh page of `target` passes once the process is warm."""
    # No page is kept, so that the whole way is seen.
    client = Service(home, key).client
    for _ in range(_WARM_UP):
        client.ask(target)
    print("\n".join(lines(passed_by(client, target))))
    client.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
