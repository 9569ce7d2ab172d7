"""The units, the timer and the cron line: their commands exist, their times are times, systemd takes them, and none has more than it needs."""

import configparser
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from almanac import serving
from almanac.__main__ import main
from almanac.domain.cadence import Cadence
from almanac.store.engine import opening
from almanac.store.engine.data_schema import set_meta
from almanac.store.engine.errors import SchemaError
from tests.support.paths import ROOT
from tests.support.processes import command, environment, run
from tests.support.servers import free_port

pytestmark = pytest.mark.slow

FOLDER = ROOT / "deploy/systemd"
SERVICES = sorted(FOLDER.glob("*.service"))
#: Under the rule of `MemoryDenyWriteExecute=`, which is a seccomp filter there and the kernel's own here.
NO_WRITABLE_CODE = "import ctypes; assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0\n"


def read(path):
    """Sections of a unit; a name that is given several times has all its values, on lines."""
    unit = {}
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = unit.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            section[name] = f"{section[name]}\n{value}" if name in section else value
    return unit


def well_formed(words):
    """The command of the words after the program's path, with its options checked."""
    assert words[0].endswith("/bin/almanac")
    found = main.get_command(click.Context(main), words[1])
    return found, found.make_context(words[1], list(words[2:])).params


def service(name):
    return read(FOLDER / f"{name}.service")["Service"]


def installed(tmp_path):
    """The units where they would be, with programs that are there: systemd looks for them."""
    for path in FOLDER.iterdir():
        text = re.sub(r"(?m)^(ExecStart=)/opt/\S+", rf"\1{shutil.which('true')}", path.read_text("utf-8"))
        (tmp_path / path.name).write_text(text)
    return tmp_path


@pytest.fixture
def analyze():
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")

    def call(*words):
        return subprocess.run(["systemd-analyze", *map(str, words)], capture_output=True, text=True, check=False)

    return call


def test_systemd_finds_no_fault(analyze, tmp_path):
    installed(tmp_path)
    for path in (*SERVICES, FOLDER / "almanac-backup.timer"):
        done = analyze("verify", "--man=no", tmp_path / path.name)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_unit_of_the_service_waits_for_its_workers():
    found = service("almanac")
    started, given = well_formed(shlex.split(found["ExecStart"]))
    assert (started.name, set(given.values()) - {None, False}) == ("serve", set())
    assert int(found["TimeoutStopSec"]) > 2 * serving._KILL_AFTER_SECONDS


@pytest.mark.parametrize("name", ["almanac", "almanac-worker"])
def test_a_store_of_another_schema_is_not_met_again_and_again(name, tmp_path):
    """The unit leaves a program alone that ends so; all else is tried again."""
    home = tmp_path / "home"
    home.mkdir()
    with contextlib.closing(opening.create(home / "data.db")) as db:
        set_meta(db, "schema", "1")
    words = shlex.split(service(name)["ExecStart"])[1:]
    given = environment(
        home, DATABASE_URL=f"sqlite:///{home}/data.db", PORT=str(free_port()), OPS_PORT=str(free_port())
    )
    done = subprocess.run(command(*words), env=given, capture_output=True, text=True, check=False, timeout=120)
    assert "run `almanac rebuild`" in done.stderr
    assert done.returncode == SchemaError.exit_code == int(service(name)["RestartPreventExitStatus"])
    assert service(name)["Restart"] == "on-failure"


def test_the_backup_writes_where_it_may():
    found = service("almanac-backup")
    program, folder, days = shlex.split(found["ExecStart"])
    assert (ROOT / "deploy" / program.rpartition("/")[2]).stat().st_mode & 0o111
    assert (found["ReadWritePaths"], int(days) > 0) == (folder, True)


@pytest.mark.skipif(sys.platform != "linux", reason="a rule of Linux")
def test_the_program_runs_where_no_memory_may_be_written_and_run(tmp_path):
    """What the interpreter and its libraries do under `MemoryDenyWriteExecute=`: formulas, numpy, databases."""
    probe = [sys.executable, "-c", NO_WRITABLE_CODE + "import mmap; mmap.mmap(-1, 4096, prot=7)"]
    if subprocess.run(probe, capture_output=True, check=False).stderr.count(b"PermissionError") != 1:
        pytest.skip("this kernel knows no such rule (it came with 6.3)")
    for words in (("status",), ("derive",), ("verify",), ("backup", tmp_path / "b")):
        done = subprocess.run(
            command(*words, before=NO_WRITABLE_CODE),
            env=environment(tmp_path / "home"),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_the_settings_of_the_example_are_settings(tmp_path, monkeypatch):
    """As systemd reads the file, and as the shell does in the operators' command."""
    text = (ROOT / "deploy/environment").read_text("utf-8")
    lines = [line.lstrip("#") for line in text.splitlines() if re.match(r"#?ALMANAC_", line)]
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read_string("[all]\n" + "\n".join(lines))
    given = {name: value.strip("'") or "x" for name, value in parser["all"].items()}
    assert len(given) == 6
    assert all(value[0] == value[-1] == "'" for value in parser["all"].values())
    from almanac.catalog.load import source_ids
    from almanac.config import load

    load({**given, "ALMANAC_HOME": str(tmp_path)}, sources=source_ids)


@pytest.fixture
def operators(tmp_path):
    """The operators' command over a file of settings; the program behind it prints its environment."""
    (tmp_path / "etc").mkdir()
    text = (ROOT / "deploy/almanac.sh").read_text("utf-8")
    text = text.replace("/etc/almanac/", f"{tmp_path}/etc/").replace("/var/lib/almanac", f"{tmp_path}/home")
    text = text.replace("/opt/almanac/venv/bin/almanac", "/usr/bin/env")
    (tmp_path / "almanac").write_text(text)
    bare = {name: value for name, value in os.environ.items() if not name.startswith("ALMANAC_")}

    def call(written, expect=0, **more):
        (tmp_path / "etc/environment").write_text(written)
        words = ["/bin/sh", tmp_path / "almanac"]
        done = subprocess.run(words, env=bare | more, capture_output=True, text=True, check=False)
        assert done.returncode == expect, done.stderr
        told = dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("ALMANAC_"))
        told.pop("ALMANAC_HOME", None)
        return told, done.stderr

    return call


def test_the_operators_command_reads_the_file(operators, tmp_path):
    told, _ = operators(
        '# note\n\nALMANAC_WORKERS=2\nALMANAC_SOURCES__SEC__CONTACT="Jane Doe jane@example.org"\n'
        "ALMANAC_DATABASE_URL='postgresql://a:$b\\c@127.0.0.1/d?connect_timeout=2&application_name=e'\n"
    )
    assert told == {
        "ALMANAC_WORKERS": "2",
        "ALMANAC_SOURCES__SEC__CONTACT": "Jane Doe jane@example.org",
        "ALMANAC_DATABASE_URL": "postgresql://a:$b\\c@127.0.0.1/d?connect_timeout=2&application_name=e",
    }


def test_the_operators_command_reads_the_file_that_is_shipped(operators):
    told, _ = operators((ROOT / "deploy/environment").read_text("utf-8"))
    assert told == {"ALMANAC_TRUSTED_PROXIES": "127.0.0.1"}


@pytest.mark.parametrize(
    "line",
    [
        "ALMANAC_DATABASE_URL=postgresql://a:hush@127.0.0.1/d?connect_timeout=2&application_name=e",
        "ALMANAC_SECRET=hush$word",
        'ALMANAC_SECRET="hush$word"',
        'ALMANAC_SECRET="hush`word`"',
        "ALMANAC_SECRET=hush;word",
        "ALMANAC_SECRET=hush word",
        "ALMANAC_SECRET='hush'word'",
        "ALMANAC_SECRET='hush",
        "ALMANAC_HOME=~hush",
        "export ALMANAC_SECRET=hush",
    ],
)
def test_a_line_that_the_shell_reads_otherwise_than_systemd_is_refused(operators, line):
    told, said = operators(f"# note\nALMANAC_WORKERS='2'\n{line}\n", expect=1)
    assert told == {}
    assert "environment, line 3: put the value in single quotes" in said
    assert "hush" not in said


def test_the_operators_command_runs_another_program(operators, tmp_path):
    """A new version, with the settings of the service, before it is installed."""
    (tmp_path / "next").write_text("#!/bin/sh\necho ALMANAC_NEXT=$ALMANAC_WORKERS\n")
    (tmp_path / "next").chmod(0o755)
    told, _ = operators("ALMANAC_WORKERS='3'\n", ALMANAC_PROGRAM=str(tmp_path / "next"))
    assert told == {"ALMANAC_NEXT": "3"}


def test_the_cron_line_does_what_is_due():
    page = (ROOT / "docs/operations.md").read_text("utf-8")
    (block,) = re.findall(r"(?ms)^```text\n(\*/15.*?)^```$", page)
    fields, words = re.fullmatch(r"((?:\S+ ){5}) *(.*)\n", block).groups()
    assert Cadence(fields.strip()).next(0) == 900
    words = shlex.split(words)
    assert [words.pop(), words.pop()] == ["2>&1", ">>/var/log/almanac/ingest.log"]
    found, given = well_formed(words)
    assert (found.name, given["due"], given["names"], given["every"]) == ("ingest", True, (), False)
    assert "/var/log/almanac/*.log {" in (ROOT / "deploy/logrotate/almanac").read_text("utf-8")


# -- the nightly backup's script: written, tried out, and old ones removed only after a good one ----------------------


SCRIPT = ROOT / "deploy/backup.sh"


@pytest.fixture
def folder(tmp_path):
    """A folder of backups with one that is old, one of yesterday, and one that is somebody else's."""
    made = tmp_path / "backups"
    made.mkdir()
    for name, days in (("almanac-20200101T000000Z.backup", 40), ("almanac-20200201T000000Z.backup", 1), ("other", 90)):
        (made / name).write_text("x")
        at = time.time() - days * 86_400
        os.utime(made / name, (at, at))
    return made


def script(home, *words, program=None):
    given = environment(home)
    given["PATH"] = f"{program or Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run([SCRIPT, *map(str, words)], env=given, capture_output=True, text=True, check=False)


def test_a_good_backup_takes_the_place_of_old_ones(tmp_path, folder):
    home = tmp_path / "home"
    run(home, "accounts", "create", "ada@example.org", "--plan", "free")
    done = script(home, folder, 14)
    assert done.returncode == 0, done.stderr
    (new,) = [path for path in folder.glob("almanac-*.backup") if not path.name.startswith("almanac-2020")]
    assert {path.name for path in folder.iterdir()} == {new.name, "almanac-20200201T000000Z.backup", "other"}
    assert new.stat().st_mode & 0o777 == 0o600
    run(tmp_path / "again", "restore", new)
    assert "ada@example.org" in run(tmp_path / "again", "accounts", "list").stdout


def test_a_backup_that_is_not_to_be_relied_upon_leaves_the_old_ones(tmp_path, folder):
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin/almanac"
    broken.write_text('#!/bin/sh\n[ "$2" = --verify ] && { echo "accounts.db: is damaged"; exit 1; }\necho x > "$2"\n')
    broken.chmod(0o755)
    done = script(tmp_path / "home", folder, 14, program=tmp_path / "bin")
    assert (done.returncode, done.stdout) == (1, "accounts.db: is damaged\n")
    assert (folder / "almanac-20200101T000000Z.backup").exists()
    assert len(list(folder.glob("*.backup.bad"))) == 1


def test_a_backup_that_cannot_be_written_leaves_the_old_ones(tmp_path, folder):
    done = script(tmp_path / "nothing", folder, 14)
    assert done.returncode == 1
    assert "there is nothing to back up" in done.stderr
    assert (folder / "almanac-20200101T000000Z.backup").exists()


@pytest.mark.parametrize("words", [(), ("somewhere",), ("somewhere", "two weeks"), ("somewhere", "-1")])
def test_a_wrong_call_says_what_is_wanted(tmp_path, words):
    done = script(tmp_path / "home", *words)
    assert done.returncode != 0
    assert "folder for backups" in done.stderr or "days" in done.stderr
