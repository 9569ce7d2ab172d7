"""Words of the code: a docstring is understood where it stands, and a function is called by what it does."""

from __future__ import annotations

import ast
import re

import pytest

from .files import ROOT, name, text, tracked

#: Openings that say what a thing is by another thing, which the reader of one docstring does not see.
LEANS = re.compile(r"The same\b|As `|As [a-z]")
#: Participles that say neither what is done nor to what.
NO_VERBS = {"told", "held", "asked", "beside"}


def code():
    """The modules that are shipped, and those that measure them."""
    return [
        path for path in tracked() if path.suffix == ".py" and re.match(r"src/|clients/\w+/src/|bench/", name(path))
    ]


def documented(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, ast.get_docstring(node)


def leaning(source):
    """Docstrings that open by leaning on another thing, each with its line."""
    return [
        f"{getattr(node, 'lineno', 1)}: {words.partition('.')[0]}"
        for node, words in documented(ast.parse(source))
        if words is not None and LEANS.match(words)
    ]


def verbless(source):
    """Functions, methods and properties that are not, which a participle is the whole name of, each with its line."""
    return [
        f"{node.lineno}: {node.name}"
        for node, _ in documented(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.strip("_") in NO_VERBS
        and not any(ast.unparse(one) == "property" for one in node.decorator_list)
    ]


def test_the_code_is_found():
    assert len(code()) > 500
    assert ROOT / "clients/python/src/almanac_client/_client.py" in code()


@pytest.mark.parametrize("words", ["The same of a period.", "As `verify`, later.", "As it is told."])
def test_a_leaning_docstring_is_found(words):
    assert leaning(f'def one():\n    """{words}"""\n') == [f"1: {words.partition('.')[0]}"]


def test_no_docstring_opens_by_leaning_on_another():
    found = {name(path): some for path in code() if (some := leaning(text(path)))}
    assert found == {}, "say what the thing is, so that the docstring can be read alone"


@pytest.mark.parametrize("source", ["def told(): ...", "class A:\n    async def _held(self): ..."])
def test_a_participle_is_found(source):
    assert len(verbless(source)) == 1
    assert verbless("class A:\n    @property\n    def told(self): ...") == []


def test_no_function_is_called_by_a_participle_alone():
    found = {name(path): some for path in code() if (some := verbless(text(path)))}
    assert found == {}, "call a function by a verb that says what it does"
