"""Every regular expression of the packages, as it is compiled, with what each is asked; and texts that are hard on it."""

import ast
import importlib
import itertools
import pkgutil
import re
import re._constants as c
import re._parser as parser
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import almanac
import almanac_client
import almanac_mcp

PACKAGES = (almanac, almanac_client, almanac_mcp)
METHODS = ("fullmatch", "match", "search", "sub", "findall", "finditer", "split")
#: Called rather than imported.
_SCRIPTS = {"almanac.__main__", "almanac_mcp.__main__"}
_CLASSES = {c.CATEGORY_DIGIT: "0", c.CATEGORY_SPACE: " ", c.CATEGORY_WORD: "a", c.CATEGORY_NOT_DIGIT: "-",
            c.CATEGORY_NOT_SPACE: "-", c.CATEGORY_NOT_WORD: "-"}  # fmt: skip
#: What a text may hold beside what the expression names.
_OTHERS = " a0-"
_MOST_LETTERS = 12


class Pattern(NamedTuple):
    """Where it stands, and the expression."""

    place: str
    compiled: re.Pattern[Any]


def modules() -> Iterator[ModuleType]:
    """Every module of the packages, imported."""
    for package in PACKAGES:
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name not in _SCRIPTS:
                yield importlib.import_module(found.name)


def held() -> list[Pattern]:
    """Those that modules hold, in whatever they hold them; each once, however many import it."""
    found: dict[int, Pattern] = {}
    for module in modules():
        for name, value in vars(module).items():
            for one in _inside(value):
                found.setdefault(id(one), Pattern(f"{module.__name__}:{name}", one))
    return list(found.values())


def _inside(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _inside(one)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from _inside(one)


def used(module: ModuleType) -> dict[str, set[str]]:
    """Name of an expression → what is asked of it in the source of a module."""
    asked: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            asked.setdefault(ast.unparse(node.func.value), set()).add(node.func.attr)
    return asked


def letters(pattern: re.Pattern[Any]) -> str:
    """One letter of each kind that an expression names, and some that it does not."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    found = dict.fromkeys(_letters(parser.parse(text, pattern.flags & ~re.UNICODE)))
    return "".join(itertools.islice(dict.fromkeys([*found, *_OTHERS]), _MOST_LETTERS))


def _letters(parsed: Any) -> Iterator[str]:
    if not isinstance(parsed, (tuple, list, parser.SubPattern)):
        return
    what, value = (*parsed, None, None)[:2]
    if what is c.LITERAL or what is c.NOT_LITERAL:
        yield chr(value)
    elif what is c.RANGE:
        yield chr(value[0])
    elif what is c.CATEGORY:
        yield _CLASSES[value]
    else:
        for one in parsed:
            yield from _letters(one)


def literal(pattern: re.Pattern[Any]) -> str:
    """What an expression spells out at its beginning, as far as it does: a text that never gets there shows nothing."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    first = ""
    for what, value in parser.parse(text, pattern.flags & ~re.UNICODE):
        if what is not c.LITERAL:
            break
        first += chr(value)
    return first


def hard(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Beginnings, what is repeated, and ends, of texts that such an expression may go through again and again."""
    own = letters(pattern)
    begin = literal(pattern)
    units = [*own, *(a + b for a, b in itertools.permutations(own[:7], 2))]
    if len(begin) > 1:
        units.append(begin)
    for start in dict.fromkeys(("", begin)):
        for unit in units:
            for end in ("\0", "!"):
                yield start, unit, end
