"""
The machine that the page for operators sets up, as a folder: every command of another program that the page shows is run
there, or looked at by a tool where it needs root, a running system or another machine.

A program that is not named in `Machine.PROGRAMS` fails the tests: no line of the page is passed over in silence.
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

from almanac.api.interface import endpoints
from tests.house.files import name, tracked

#: What the operations listener answers.
_PROBES = ("/healthz", "/readyz", "/metrics")
_UNITS = ("nginx.service", "caddy.service")


class Machine:
    """A folder that stands for `/`. `real`: packages are installed from the index, not only looked up."""

    def __init__(self, root: Path, *, real: bool) -> None:
        self.root = root
        self.real = real
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
        """Run or check a shown command, `sudo` taken off. Fails the test where it would fail; skips where a tool is not here."""
        program = words[0].rpartition("/")[2]
        assert program in self.PROGRAMS, f"no test runs or checks {words[0]}: name it in Machine.PROGRAMS"
        self.PROGRAMS[program](self, [self.here(word) for word in words])

    # -- run as they stand --------------------------------------------------------------------------------------------

    def _as_it_stands(self, words: list[str]) -> None:
        self._call(*words)

    def _install(self, words: list[str]) -> None:
        """Owners are left out: they are made by the machine's own user list."""
        text = re.sub(r" -[og] almanac\b", "", " ".join(words))
        self._call(*text.split())

    def _git(self, words: list[str]) -> None:
        self._call(*[str(self.origin) if word == "$ALMANAC_SOURCE" else word for word in words])

    def _python(self, words: list[str]) -> None:
        if self.real:
            self._call(*words)
        elif words[1:3] == ["-m", "venv"]:
            Path(words[3]).symlink_to(sys.prefix)
        else:
            assert words[1:4] == ["-m", "pip", "install"], words
            self._call(sys.executable, *words[1:4], "--dry-run", "--quiet", *words[4:])

    def _almanac(self, words: list[str]) -> None:
        self._call(*words)

    def _logrotate(self, words: list[str]) -> None:
        self._needs("logrotate")
        assert words[1] == "-d"
        # A user that is there; the state file would be the machine's.
        path = self.root / "logrotate"
        text = Path(words[2]).read_text("utf-8").replace("almanac almanac", "root root")
        path.write_text(self.here(text))
        told = self._call("logrotate", "-d", "-s", self.root / "state", path).stderr
        assert "error" not in told
        assert f"rotating pattern: {self.root}/var/log/almanac/*.log  weekly (8 rotations)" in told

    def _nginx(self, words: list[str]) -> None:
        self._needs("nginx")
        assert words == ["nginx", "-t"]
        self._call(
            "nginx",
            "-t",
            "-p",
            self.root,
            "-c",
            nginx(self, {"listen 80;": "listen 8080;", "listen 443 ": "listen 8443 "}),
        )

    def _caddy(self, words: list[str]) -> None:
        self._needs("caddy")
        path = Path(words[words.index("--config") + 1])
        path.write_text(self.here(path.read_text("utf-8")))
        self._call(*words, "--adapter", "caddyfile", XDG_DATA_HOME=str(self.root), XDG_CONFIG_HOME=str(self.root))

    # -- looked at: these need root, a running system or another machine ----------------------------------------------

    def _apt_get(self, words: list[str]) -> None:
        self._needs("apt-get")
        if words[1] == "update":
            assert re.search(r"(?m)^  update - ", self._call("apt-get", "--help").stdout)
            return
        lacking = [one for one in words[3:] if "Candidate: (none)" in self._call("apt-cache", "policy", one).stdout]
        if not self._call("apt-cache", "policy", "git").stdout or "git" in lacking:
            pytest.skip("apt-get has no lists of packages here: run `apt-get update`")
        assert lacking == []
        self._call("apt-get", "--simulate", *words[1:])

    def _sysusers(self, words: list[str]) -> None:
        self._needs("systemd-sysusers")
        self._call(words[0], "--dry-run", *words[1:])

    def _systemctl(self, words: list[str]) -> None:
        """`enable` is done in the folder; else the verb must be one of systemctl's, and the unit be there or Debian's."""
        self._needs("systemctl")
        verb, *rest = [word for word in words[1:] if word != "--now"]
        assert re.search(rf"(?m)^  {verb}\b", self._call("systemctl", "--help").stdout), verb
        for unit in rest:
            assert unit in _UNITS or (self.root / "etc/systemd/system" / unit).exists(), f"{unit} is not installed yet"
        if verb == "enable":
            self._call("systemctl", f"--root={self.root}", verb, *rest)

    def _journalctl(self, words: list[str]) -> None:
        self._needs("journalctl")
        told = self._call("journalctl", "--help").stdout
        assert all(option in told for option in words[1:] if option.startswith("--"))

    def _curl(self, words: list[str]) -> None:
        """Its options are curl's; its path is one of the interface's or of the operations listener's."""
        self._needs("curl")
        told = self._call("curl", "--help", "all").stdout
        options = [word for word in words[1:] if word.startswith("-")]
        assert [one for one in options if not re.search(rf"(?m)^\s*(-\w, )?{one}\b", told)] == []
        (address,) = [word for word in words[1:] if re.match(r"https?://", word)]
        path = re.sub(r"^https?://[^/]+", "", address).partition("?")[0]
        known = [re.sub(r"\{\w+\}", "[^/]+", one.path) for one in endpoints(None, None)]  # type: ignore[arg-type]  # nobody asks
        assert path in _PROBES or any(re.fullmatch(one, path) for one in known), path

    def _podman(self, words: list[str]) -> None:
        """The Containerfile has tests of its own; here, that the options are podman's."""
        self._needs("podman")
        told = self._call("podman", words[1], "--help").stdout
        assert [one for one in words[2:] if one.startswith("-") and not re.search(rf"{one}\b", told)] == []

    def _postgres_client(self, words: list[str]) -> None:
        """A server is another machine's; here, that the options are those of the program."""
        self._needs(words[0])
        told = self._call(words[0], "--help").stdout
        assert [one for one in words[1:] if one.startswith("-") and not re.search(rf"{one}\b", told)] == []

    # -----------------------------------------------------------------------------------------------------------------

    def _needs(self, program: str) -> None:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not here")

    def _call(self, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
        environ = {key: value for key, value in os.environ.items() if not key.startswith(("ALMANAC_", "GIT_"))}
        done = subprocess.run(
            [str(word) for word in words],
            env={**environ, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    PROGRAMS: ClassVar[dict[str, Callable[[Machine, list[str]], None]]] = {
        "almanac": _almanac,
        "apt-get": _apt_get,
        "caddy": _caddy,
        "curl": _curl,
        "git": _git,
        "install": _install,
        "journalctl": _journalctl,
        "logrotate": _logrotate,
        "nginx": _nginx,
        "openssl": _as_it_stands,
        "podman": _podman,
        "createuser": _postgres_client,
        "createdb": _postgres_client,
        "python": _python,
        "python3": _python,
        "systemctl": _systemctl,
        "systemd-sysusers": _sysusers,
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
