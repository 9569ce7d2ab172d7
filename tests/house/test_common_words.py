"""
Statements of the store are written in words that both engines take: what one of them alone understands stands in none.

What is left to be said otherwise to PostgreSQL is told by `almanac.store.engine.postgres.statements`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from .files import ROOT, modules, name, text

STORE = ROOT / "src" / "almanac" / "store"
#: Each of these speaks to its own engine alone.
OWN = (STORE / "engine" / "postgres", STORE / "engine" / "sqlite.py")
#: What makes a text a statement or a part of one.
STATEMENT = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|AND|OR|CASE|VALUES|JOIN)\b|\w\(\w+\.\w+")
#: Words of one engine, and what is said instead.
WORDS = {
    r"\bIS (?!(?:NOT )?(?:NULL|DISTINCT FROM)\b)": "IS NOT DISTINCT FROM",
    r"\b(?:GLOB|REGEXP|MATCH|ILIKE)\b|::": "what both have",
    r"\b(?:iif|ifnull|nvl|instr|strpos|group_concat|total|printf|greatest|least|typeof)\(": "CASE, string_agg, `words`",
    r"\b(?:randomblob|zeroblob|hex|unhex|gen_random_uuid|unixepoch|strftime|julianday)\(|\bnow\(": "a value that is bound",
    r"\bx'|\b9e999\b|\bInfinity\b": "a value that is bound",
    r"\bjson_(?!each\(\?)\w*\(|->": "what is read in Python; of numbers that are bound `json_each(?)`",
    r"\bjson_each\(\?\d*\)(?! (?:AS )?\w)": "a name",
    r"\bINSERT OR\b|\bREPLACE INTO\b": "ON CONFLICT",
    r"\bON CONFLICT DO UPDATE\b": "ON CONFLICT with its columns",
    r"\bVALUES ?\(NULL\b": "`words.following`",
    r"\bIN ?\(\)": "`words.among`",
    r"\browid\b|\bLIMIT -": "a column of its own; no LIMIT",
}


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the store that is a statement or a part of one, and where it stands; `…` for what is filled in."""
    for path in modules():
        if not path.is_relative_to(STORE) or any(path.is_relative_to(own) for own in OWN):
            continue
        tree = ast.parse(text(path))
        told = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, _DOCUMENTED) and _is_told(node)}
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                found = "".join(one.value if isinstance(one, ast.Constant) else "…" for one in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told | parts:
                found = node.value
            else:
                continue
            if STATEMENT.search(found):
                yield f"{name(path)}:{node.lineno}", found


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def _is_told(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> bool:
    return bool(node.body) and isinstance(node.body[0], ast.Expr)


def closing(sql: str, at: int) -> int:
    """The place of the bracket that closes the one at a place; the end where it stands in another part."""
    depth = 0
    for place in range(at, len(sql)):
        depth += (sql[place] == "(") - (sql[place] == ")")
        if not depth:
            return place
    return len(sql)


def wrong(sql: str) -> Iterator[str]:
    """What one engine alone understands in a statement."""
    for word, instead in WORDS.items():
        if found := re.search(word, sql):
            yield f"{found[0]!r}: {instead}"
    if any("?" in one for one in re.findall(r"'[^']*'", sql)):
        yield "a mark in a text is taken for a value"
    for call in re.finditer(r"\b(?:max|min)\(", sql):
        inner = sql[call.end() : closing(sql, call.end() - 1)]
        while "(" in inner:
            inner = inner[: inner.index("(")] + inner[closing(inner, inner.index("(")) + 1 :]
        if "," in inner:
            yield f"{call[0]!r} of several values: `words.greater`, `words.lesser`"
    for begun in re.finditer(r"\b(?:FROM|JOIN) (\()(?:SELECT|WITH|VALUES)\b", sql):
        behind = sql[closing(sql, begun.start(1)) + 1 :]
        if not re.match(r" (?:AS )?(?!WHERE|JOIN|CROSS|LEFT|ON|USING|GROUP|ORDER|LIMIT|UNION)\w+", behind or " later"):
            yield "a subquery in FROM has no name"
    for joined in re.finditer(r"\bCROSS JOIN (?:\(|(\w+)(?: (?:AS )?(\w+))?(.{0,7}))", sql):
        if joined[1] and not {joined[2], *re.findall(r"\w+", joined[3])} & {"ON", "USING"} and joined[3].strip():
            yield "CROSS JOIN without a condition"


def test_statements_are_in_words_that_both_engines_take() -> None:
    every = list(texts())
    assert len(every) > 250
    assert [f"{place}: {one}" for place, sql in every for one in wrong(sql)] == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 WHERE a IS b",
        "SELECT 1 WHERE a IS NOT ?",
        "SELECT max(a, coalesce(b, 1))",
        "SELECT 1 FROM (SELECT 1) WHERE a",
        "SELECT 1 FROM t CROSS JOIN u WHERE a",
        "SELECT group_concat(a)",
        "INSERT OR REPLACE INTO t VALUES(1)",
        "INSERT INTO t VALUES(1) ON CONFLICT DO UPDATE SET a = 1",
        "INSERT INTO t VALUES(NULL, 1)",
        "SELECT json_extract(a, '$.b')",
        "SELECT value FROM json_each(a)",
        "SELECT 1 WHERE a IN (SELECT value FROM json_each(?))",
        "SELECT a::text",
        "SELECT 1 WHERE a IN ()",
        "SELECT 1 WHERE a = '?'",
        "UPDATE t SET a = x'00'",
    ],
)
def test_words_of_one_engine_are_met(sql: str) -> None:
    assert list(wrong(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 WHERE a IS NOT NULL AND b IS DISTINCT FROM ? AND c IS NOT DISTINCT FROM d AND e IS NULL",
        "SELECT max(coalesce(a, 1)), min(b), (SELECT max(c) FROM t)",
        "SELECT 1 FROM (SELECT 1) AS x JOIN (VALUES(1)) y ON TRUE",
        "SELECT 1 FROM t CROSS JOIN u ON u.a = t.a CROSS JOIN v p USING(b) CROSS JOIN w",
        "INSERT INTO t VALUES(?, NULL) ON CONFLICT(a) DO UPDATE SET a = excluded.a",
        "SELECT value FROM json_each(?1) n",
    ],
)
def test_words_of_both_are_let_pass(sql: str) -> None:
    assert list(wrong(sql)) == []
