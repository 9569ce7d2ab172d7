"""Rooms of the package: folders of a size one can look over, imports without circles, SQL in one of them only."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

from .files import ROOT, modules, name, text

#: Modules a folder may hold, its own first sentence aside.
MOST_MODULES = 20
PACKAGE = ROOT / "src"

#: What a statement in SQL begins with, and a word that follows: prose does not have both.
SQL = re.compile(
    r"\b(SELECT\b[\s\S]*\bFROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (UNIQUE )?(TABLE|INDEX)|DROP TABLE"
    r"|PRAGMA \w+|BEGIN IMMEDIATE|ORDER BY \w+\.?\w* (ASC|DESC))\b"
)


#: Folders that packages of ours are in: the service, its client, the server for language models.
PACKAGES = (PACKAGE, *sorted(ROOT.glob("clients/*/src")))


def dotted(path, package=PACKAGE):
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(package=PACKAGE):
    """Module → the modules of its package it imports anywhere: inside functions, and for types only, too."""
    every = {dotted(path, package): path for path in sorted(package.rglob("*.py"))}
    found = {}
    for module, path in every.items():
        inside = module if path.name == "__init__.py" else module.rpartition(".")[0]
        named = set()
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.ImportFrom):
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), inside)
                named.update(inner if (inner := f"{base}.{one.name}") in every else base for one in node.names)
            elif isinstance(node, ast.Import):
                named.update(one.name for one in node.names)
        found[module] = {one for one in named if one in every and one != module}
    return found


def circles(graph):
    """Groups of nodes that reach one another (Tarjan's strongly connected components), those of one node aside."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize(
    ("package", "least"),
    [(one, 1_000 if one == PACKAGE else 50) for one in PACKAGES],
    ids=lambda one: one.parent.name if isinstance(one, Path) else "",
)
def test_no_module_imports_itself_by_way_of_others(package, least):
    graph = imports(package)
    assert sum(map(len, graph.values())) > least  # the search finds something
    assert circles(graph) == []


def test_imports_for_types_only_and_relative_ones_count(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/__init__.py").write_text("")
    (tmp_path / "own/one.py").write_text("if TYPE_CHECKING:\n    from own.other import Other\n")
    (tmp_path / "own/other.py").write_text("def late():\n    from . import one\n")
    assert circles(imports(tmp_path)) == [["own.one", "own.other"]]


def test_no_two_folders_import_each_other():
    # A package composes the rooms inside it and lends them what they share, so only neighbours count.
    folders = {}
    for module, others in imports().items():
        here = folder(module)
        folders.setdefault(here, set()).update(
            there for other in others if not (there := folder(other)).startswith(here) and not here.startswith(there)
        )
    assert circles(folders) == []


def folder(module):
    """The folder a module is in, with a dot behind; a module of the package's own top stands for itself."""
    path = PACKAGE / module.replace(".", "/")
    place = module if path.is_dir() else module.rpartition(".")[0]
    return f"{module}." if place == "almanac" else f"{place}."


def test_no_folder_holds_more_than_one_can_look_over():
    sizes = Counter(name(path.parent) for path in modules() if path.name != "__init__.py")
    assert {place: size for place, size in sizes.items() if size > MOST_MODULES} == {}


def test_sql_stands_in_the_store_alone():
    found = [
        f"{name(path)}:{node.lineno}"
        for path in modules()
        if path.relative_to(PACKAGE).parts[1] != "store"
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
    ]
    assert found == []


def test_the_search_for_sql_finds_it_in_the_store():
    spoken = [path for path in modules() if path.relative_to(PACKAGE).parts[1] == "store" and SQL.search(text(path))]
    assert len(spoken) > 15


def test_one_name_is_one_thing():
    # A name with an underscore is seen in its own module only.
    places = {}
    for path in modules():
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name(path))
    assert {found: where for found, where in places.items() if len(where) > 1} == {}
