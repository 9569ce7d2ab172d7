"""Handlers hand a state of the store to functions of the store; they ask it nothing in SQL themselves."""

from __future__ import annotations

import ast

from .files import ROOT, modules, name, text

API = ROOT / "src" / "almanac" / "api"


def test_no_module_of_the_interface_runs_a_statement():
    found = [
        f"{name(path)}:{node.lineno}"
        for path in modules()
        if path.is_relative_to(API)
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.Attribute) and node.attr in {"execute", "executemany", "db"}
    ]
    assert found == []
