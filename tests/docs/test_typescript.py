"""The typed program of the tutorial for JavaScript, with the libraries that `make generators` installs."""

import os
import re
import subprocess

import pytest

from tests.support.paths import ROOT

from .session import BASE, NODE, blocks, listening, pattern

PAGE = ROOT / "docs/tutorials/javascript.md"
LIBRARIES = ROOT / ".venv-generators/typescript/node_modules"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="no node is here"),
    pytest.mark.skipif(
        not LIBRARIES.is_dir(), reason="`make generators` installs openapi-fetch and openapi-typescript"
    ),
]


def run(folder, key, *command):
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={"PATH": os.environ["PATH"], "ALMANAC_API_KEY": key},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_typed_program_is_compiled_and_prints_what_is_shown(service, tmp_path):
    shown = dict(blocks(PAGE))
    (tmp_path / "node_modules").symlink_to(LIBRARIES)
    (tmp_path / "openapi.json").write_bytes(service.get("/openapi.json").content)
    made, program = tmp_path / "almanac.d.ts", tmp_path / "report.mts"
    commands = re.findall(r"(?m)^npx (.+?)(?: && node report.mjs)?$", PAGE.read_text("utf-8"))
    assert [command.split()[0] for command in commands] == ["openapi-typescript", "tsc"]
    with listening(service) as address:
        program.write_text(shown["ts"].replace(BASE, address), "utf-8")
        for command in commands:
            tool, *rest = command.split()
            code, told = run(tmp_path, service.key, str(LIBRARIES / ".bin" / tool), *rest)
            assert code == 0, told
        assert "export interface paths" in made.read_text("utf-8")
        code, told = run(tmp_path, service.key, NODE, "report.mjs")
        assert code == 0, told
    assert re.fullmatch(pattern(shown["output"].rstrip()), told.rstrip()), told
    # The mark that expects an error is needed: without it the same program is refused.
    program.write_text(shown["ts"].replace("// @ts-expect-error", "//"), "utf-8")
    code, told = run(tmp_path, service.key, str(LIBRARIES / ".bin/tsc"), *commands[1].split()[1:])
    assert code != 0
    assert "'contry' does not exist in type" in told
