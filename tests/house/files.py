"""The files of this repository, and what is left of them when Git does not track it."""

import ast
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that is tracked, or would be if all were added. Skips where this is no Git checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no Git checkout: nobody knows which files are tracked")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return tuple(path for name in listed if name and (path := ROOT / name).is_file())


@cache
def text(path: Path) -> str:
    """Content of a file; bytes that are not UTF-8 are replaced."""
    return path.read_text("utf-8", errors="replace")


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of the syntax tree of a module."""
    return tuple(ast.walk(ast.parse(text(path))))


def modules() -> list[Path]:
    """The Python modules of the package."""
    return sorted((ROOT / "src").rglob("*.py"))


def name(path: Path) -> str:
    """Name of a file inside the repository."""
    return path.relative_to(ROOT).as_posix()
