"""What the pages show: requests with their answers, and commands."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.docs.render import ROOT, pages

_FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
#: Stands for whatever was left out of an answer or of a list.
ANYTHING = "…"


@dataclass(frozen=True)
class Shown:
    """A request of a page; `answer` is None where none is shown."""

    page: str
    target: str
    answer: Any


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page in their order, as (language, text)."""
    return _FENCE.findall(page.read_text("utf-8"))


def requests() -> list[Shown]:
    """Every `http` block is one or more GETs; a `json` block right after it is the answer to the last."""
    found: list[Shown] = []
    for page in pages():
        found_here = blocks(page)
        for index, (language, body) in enumerate(found_here):
            if language != "http":
                continue
            targets = [line.removeprefix("GET ") for line in body.splitlines()]
            after = found_here[index + 1] if index + 1 < len(found_here) else ("", "")
            answer = json.loads(after[1]) if after[0] == "json" else None
            name = page.relative_to(ROOT).as_posix()
            found += [Shown(name, target, None) for target in targets[:-1]]
            found.append(Shown(name, targets[-1], answer))
    return found


def commands() -> list[tuple[str, list[str]]]:
    """Every command line of the `sh` blocks, as (page, words); settings before the command are words too."""
    found = []
    for page in pages():
        for language, body in blocks(page):
            if language == "sh":
                for line in body.replace("\\\n", " ").splitlines():
                    words = shlex.split(line, comments=True)
                    if words:
                        found.append((page.relative_to(ROOT).as_posix(), words))
    return found


def differences(shown: Any, given: Any, where: str = "") -> Iterator[str]:
    """Where an answer is not what the page shows. Fields and rows that the page leaves out do not count."""
    if shown == ANYTHING:
        return
    if isinstance(shown, dict) and isinstance(given, dict):
        for key, value in shown.items():
            if key in given:
                yield from differences(value, given[key], f"{where}.{key}")
            else:
                yield f"{where}.{key}: is not in the answer"
    elif isinstance(shown, list) and isinstance(given, list):
        whole = shown[-1:] != [ANYTHING]
        rows = shown if whole else shown[:-1]
        if len(rows) > len(given) or (whole and len(rows) != len(given)):
            yield f"{where}: {len(rows)} rows are shown, {len(given)} are given"
        for index, (one, other) in enumerate(zip(rows, given, strict=False)):
            yield from differences(one, other, f"{where}[{index}]")
    elif shown != given:
        yield f"{where}: {shown!r} is shown, {given!r} is given"
