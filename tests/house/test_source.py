"""What no tool of `make check` enforces: who reads the clock, who prints, and who speaks SQL."""

import ast
import re

from .files import ROOT, modules, name, nodes

#: Parts of the package that get the clock and the settings as arguments.
PURE = ("domain", "catalog", "sources", "derived", "store", "reports")
#: Names of the clock and of the environment, by module. Monotonic time (pace, timeouts) is no clock of the data.
FORBIDDEN = {
    "time": {"time", "time_ns", "localtime", "gmtime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "os": {"environ", "getenv", "environb"},
}


def test_nothing_below_the_composition_reads_the_clock_or_the_environment():
    found = [
        f"{name(path)}:{node.lineno}: {node.value.id}.{node.attr}"
        for path in modules()
        if path.relative_to(ROOT / "src/almanac").parts[0] in PURE
        for node in nodes(path)
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
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "click.echo", "sys.stdout.write"}
    ]
    assert calls != []  # the command line speaks, so the search finds something
    assert {path for path, _ in calls} == {"src/almanac/commands/shared.py"}
    assert {call for _, call in calls} == {"click.echo"}


SQL = re.compile(
    r"\b(?:SELECT\b[\s\S]*\bFROM|INSERT (?:OR \w+ )?INTO|REPLACE INTO|DELETE FROM|UPDATE \w+ SET|(?:CREATE|DROP|ALTER) (?:TABLE|INDEX|VIEW))\b"
)


def test_only_the_store_talks_to_a_database():
    found, spoken = [], 0
    for path in modules():
        room = path.relative_to(ROOT / "src/almanac").parts[0]
        for node in nodes(path):
            sql = isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
            spoken += bool(sql and room == "store")
            asked = isinstance(node, ast.Attribute) and node.attr in {"execute", "executemany", "db"}
            if (sql and room != "store") or (asked and room == "api"):
                found.append(f"{name(path)}:{node.lineno}")
    assert found == []
    assert spoken > 15
