"""The generated modules of the Python client, which `make docs` writes. A test fails while one is out of step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

from . import client_methods, client_models
from .client_surface import methods

PACKAGE = ROOT / "clients/python/src/almanac_client"


def files() -> dict[Path, str]:
    """Each generated module and what belongs in it."""
    found = methods()
    return {
        PACKAGE / "_generated_models.py": formatted(client_models.written(found)),
        PACKAGE / "_generated_sync.py": formatted(client_methods.written(found, awaited=False)),
        PACKAGE / "_generated_async.py": formatted(client_methods.written(found, awaited=True)),
    }


def formatted(text: str) -> str:
    """The text as the formatter of the house writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PACKAGE / "generated.py"), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
