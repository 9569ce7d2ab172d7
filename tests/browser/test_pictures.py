"""The pictures of the documents: those that the command takes, none too heavy, and each shown somewhere."""

from __future__ import annotations

import re
import struct

import pytest

from tests.support.paths import ROOT

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from tools.docs.pictures import IMAGES, MOST_BYTES, SHOTS


def test_every_picture_is_taken_by_the_command_and_shown() -> None:
    shown = set(re.findall(r"docs/images/([\w-]+)\.png", (ROOT / "README.md").read_text("utf-8")))
    # Those of the Python client are drawn by its notebook, whose own test holds them.
    ours = {path.stem for path in IMAGES.iterdir() if not path.stem.startswith("client-")}
    assert ours == {shot.name for shot in SHOTS} == shown


@pytest.mark.parametrize("shot", SHOTS, ids=lambda shot: shot.name)
def test_a_picture_has_its_size_and_is_light(shot) -> None:
    content = (IMAGES / f"{shot.name}.png").read_bytes()
    assert len(content) <= MOST_BYTES
    assert struct.unpack(">II", content[16:24]) == shot.size
