"""Rules for the package that no tool of `make check` enforces."""

import ast
import re
import subprocess
import sys
import zipfile

import pytest

from .files import ROOT, modules, name, text

MOST_LINES = 400
#: Modules that may be longer, each with its reason.
LONGER: dict[str, str] = {}

#: Parts of the package that get the clock and the settings as arguments.
PURE = ("domain", "catalog", "sources", "derived", "store", "reports")
#: Names of the clock and of the environment, by module. Monotonic time (pace, timeouts) is no clock of the data.
FORBIDDEN = {
    "time": {"time", "time_ns", "localtime", "gmtime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "os": {"environ", "getenv", "environb"},
}


def test_no_module_is_too_long():
    lengths = {name(path): len(text(path).splitlines()) for path in modules()}
    assert {path: n for path, n in lengths.items() if n > MOST_LINES and path not in LONGER} == {}
    assert [path for path in LONGER if lengths.get(path, 0) <= MOST_LINES] == [], "no longer needs an exception"


def test_nothing_below_the_composition_reads_the_clock_or_the_environment():
    found = [
        f"{name(path)}:{node.lineno}: {node.value.id}.{node.attr}"
        for path in modules()
        if path.relative_to(ROOT / "src/almanac").parts[0] in PURE
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in FORBIDDEN.get(node.value.id, ())
    ]
    assert found == []


def test_nothing_in_the_package_prints():
    # Standard output is data: it goes through the command line's own functions, which let no text of others be obeyed by a terminal.
    calls = [
        (name(path), ast.unparse(node.func))
        for path in modules()
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "click.echo", "sys.stdout.write"}
    ]
    assert calls != []  # the command line speaks, so the search finds something
    assert {path for path, _ in calls} == {"src/almanac/commands/shared.py"}
    assert {call for _, call in calls} == {"click.echo"}


def test_what_silences_a_tool_has_its_reason_on_the_line():
    marks = re.compile(r"#\s*(?:ruff: )?(noqa|type: ignore)\b(?P<rest>.*)")
    reasoned = re.compile(r": [A-Z0-9, ]+(?:  \(.+\)| - .+)$|\[[a-z-]+(?:, ?[a-z-]+)*\]  # .+$")
    found = [
        (f"{name(path)}:{number}", match["rest"])
        for path in [*modules(), *(path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_source.py")]
        for number, line in enumerate(text(path).splitlines(), 1)
        if (match := marks.search(line))
    ]
    assert found != []
    assert [place for place, rest in found if not reasoned.fullmatch(rest)] == []


def test_every_module_says_what_it_is():
    assert [name(path) for path in modules() if not ast.get_docstring(ast.parse(text(path)))] == []


def test_the_layers_hold():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.slow
def test_a_built_wheel_holds_catalogue_schema_and_licence(tmp_path):
    # A copy, so that building leaves nothing in the checkout.
    source = tmp_path / "source"
    source.mkdir()
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        (source / part).write_bytes((ROOT / part).read_bytes())
    for path in (ROOT / "src" / "almanac").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            copy = source / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "-w",
            tmp_path,
            source,
        ],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        inside = set(opened.namelist())
    package = ROOT / "src" / "almanac"
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {path for path in wanted if path.endswith((".toml", ".sql"))} != set()
    assert wanted - inside == set()
    assert [path for path in inside if path.endswith("licenses/LICENSE")] != []
