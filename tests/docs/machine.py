"""
The machine that the page for operators sets up, as a folder: what the page shows of other programs is run there, but for what
needs root, a running system or another machine.

A program that is named neither in `Machine.PROGRAMS` nor in `ELSEWHERE` fails the tests: no line of the page is passed over in
silence.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from tests.house.files import name, tracked

#: What needs root, a running system or another machine. The proxies run in tests of their own, as do units and the image.
ELSEWHERE = {
    "apt-get", "caddy", "createdb", "createuser", "curl", "journalctl", "nginx", "podman", "systemctl", "systemd-sysusers",
}  # fmt: skip


class Machine:
    """A folder that stands for `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.origin = root / "origin"
        for folder in ("opt", "etc/nginx/conf.d", "etc/caddy", "etc/logrotate.d", "etc/systemd/system", "var/lib"):
            (root / folder).mkdir(parents=True)

    def publish(self) -> None:
        """The repository as it stands, committed or not, for the page's `git clone`."""
        for path in tracked():
            target = self.origin / name(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        self._call("git", "init", "--quiet", "--initial-branch=main", self.origin)
        self.commit("The repository as it stands")

    def commit(self, message: str) -> None:
        """One version more at the origin."""
        self._call("git", "-C", self.origin, "add", "--all")
        who = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false")
        self._call("git", "-C", self.origin, *who, "commit", "--quiet", "--message", message)

    def here(self, text: str) -> str:
        """A text whose absolute paths lead into this folder."""
        return re.sub(r"(?<![\w./:])/(?=(opt|etc|var|usr/local)/)", f"{self.root}/", text)

    def run(self, words: Sequence[str]) -> None:
        """Run a shown command, `sudo` taken off. Fails the test where it would fail; skips where a tool is not here."""
        program = words[0].rpartition("/")[2]
        if program in ELSEWHERE:
            return
        assert program in self.PROGRAMS, f"no test runs {words[0]}: name it in Machine.PROGRAMS"
        self.PROGRAMS[program](self, [self.here(word) for word in words])

    def _as_it_stands(self, words: list[str]) -> None:
        self._call(*words)

    def _install(self, words: list[str]) -> None:
        """Owners are left out: they are made by the machine's own user list."""
        text = re.sub(r" -[og] almanac\b", "", " ".join(words))
        self._call(*text.split())

    def _git(self, words: list[str]) -> None:
        self._call(*[str(self.origin) if word == "$ALMANAC_SOURCE" else word for word in words])

    def _python(self, words: list[str]) -> None:
        """Packages are those of this very environment, looked up against the lock files."""
        if words[1:3] == ["-m", "venv"]:
            Path(words[3]).symlink_to(sys.prefix)
        else:
            assert words[1:4] == ["-m", "pip", "install"], words
            self._call(sys.executable, *words[1:4], "--dry-run", "--quiet", *words[4:])

    def _logrotate(self, words: list[str]) -> None:
        if shutil.which("logrotate") is None:
            pytest.skip("logrotate is not here")
        assert words[1] == "-d"
        # A user that is there; the state file would be the machine's.
        path = self.root / "logrotate"
        text = Path(words[2]).read_text("utf-8").replace("almanac almanac", "root root")
        path.write_text(self.here(text))
        told = self._call("logrotate", "-d", "-s", self.root / "state", path).stderr
        assert "error" not in told
        assert f"rotating pattern: {self.root}/var/log/almanac/*.log  weekly (8 rotations)" in told

    def _call(self, *words: object) -> subprocess.CompletedProcess[str]:
        environ = {key: value for key, value in os.environ.items() if not key.startswith(("ALMANAC_", "GIT_"))}
        done = subprocess.run(
            [str(word) for word in words],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    PROGRAMS: ClassVar[dict[str, Callable[[Machine, list[str]], None]]] = {
        "almanac": _as_it_stands,
        "git": _git,
        "install": _install,
        "logrotate": _logrotate,
        "openssl": _as_it_stands,
        "python": _python,
        "python3": _python,
    }


def nginx(machine: Machine, changes: dict[str, str]) -> Path:
    """A main configuration around the site's, whose paths lead into the machine, with more changes of the site's text."""
    site = machine.root / "etc/nginx/conf.d/almanac.conf"
    text = machine.here(site.read_text("utf-8"))
    # An unprivileged user may open these; the tests give others where something is to listen.
    every = {"listen [::]:80;": "", "listen [::]:443 ssl http2;": "", **changes}
    for old, new in every.items():
        assert old in text, old
        text = text.replace(old, new)
    (machine.root / "var/log/nginx").mkdir(parents=True, exist_ok=True)
    site.with_name("tried.conf").write_text(text)
    temporary = "".join(f"  {kind}_temp_path {machine.root}/{kind};\n" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))  # fmt: skip
    main = machine.root / "nginx.conf"
    main.write_text(
        f"pid {machine.root}/nginx.pid;\nerror_log {machine.root}/error.log;\nevents {{}}\nhttp {{\n{temporary}"
        f"  access_log off;\n  include {site.with_name('tried.conf')};\n}}\n"
    )
    return main
