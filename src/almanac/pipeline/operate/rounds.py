"""Rounds of the verification in the background, and the file in which they are noted: all that others know of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from almanac.config import Settings

Stage = Literal["raw", "payloads", "tables", "topics"]


class StoreRound(msgspec.Struct):
    """One round. Times in unix seconds. `places` are names of files, tables, series and periods: never a value."""

    started: int
    completed: int | None = None
    problems: int = 0
    places: list[str] = msgspec.field(default_factory=list)
    #: Where it is: what was looked at last.
    stage: Stage = "raw"
    after: str = ""


class Rounds(msgspec.Struct):
    """The round that is going on, and the last one that was completed."""

    present: StoreRound | None = None
    last: StoreRound | None = None

    @property
    def problems(self) -> int:
        """Of the last whole round, or of the present one where it has found more already."""
        return max((one.problems for one in (self.present, self.last) if one is not None), default=0)


def path_of(settings: Settings) -> Path:
    """The file in which rounds are noted."""
    return settings.home / "run" / "verify.json"


def read(path: Path) -> Rounds:
    """What was noted; nothing where there is no such file, or none that can be read: then a round begins anew."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Rounds)
    except (OSError, msgspec.MsgspecError):
        return Rounds()
