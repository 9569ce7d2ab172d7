"""The one reader of the catalogue's TOML files: every line is decoded to a strict record, and every mistake is named."""

from __future__ import annotations

import functools
import re
import tomllib
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import EnumType
from importlib.resources import files
from typing import Any, TypeVar

import msgspec

from almanac.catalog.records import CatalogError
from almanac.domain.rights import Exposure, Rights

Record = TypeVar("Record")
#: Makes a value of a type that TOML does not have, as `msgspec.convert` takes it.
Hook = Callable[[type, Any], Any]

#: Fields of `Rights` as the files spell them → as the record is decoded.
_RIGHTS = dict(zip(Rights.__struct_fields__, Rights.__struct_encode_fields__, strict=True))
#: Fields by which people know a line of a table, the first that it has.
_NAMES = ("id", "slug", "key", "type", "name", "item", "source")


class Problems(list[str]):
    """Problems of the catalogue, one line each: the file if it is known, the record at fault, and what is allowed."""

    def __init__(self, file: str = "") -> None:
        super().__init__()
        #: The file that is read.
        self.file = file
        #: Record (`source fred`) → the file it is from, of all that were read.
        self.files: dict[str, str] = {}

    def add(self, where: str, what: str) -> None:
        """Add one problem of a record."""
        # Series are known by their source: `series fred GDP`.
        file = self.file or self.files.get(where) or self.files.get(" ".join(where.split()[:2]))
        self.append(": ".join(filter(None, (file, where, what))))

    def check(self, found: Iterable[tuple[str, str]]) -> None:
        """Add the problems that a check yields, each as the record and what is wrong with it. Raise all, if there are any."""
        for where, what in found:
            self.add(where, what)
        if self:
            raise CatalogError("\n".join(dict.fromkeys(self)))


def packaged(name: str) -> dict[str, Any]:
    """Return a parsed file of the package's `data` folder. Raise CatalogError if it is not TOML."""
    try:
        return tomllib.loads(files(__package__).joinpath("data", name).read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{name}: {error}") from None


def convert(value: Any, kind: type[Record], hook: Hook | None = None) -> Record:
    """
    Decode a value, most often a line of a table; exposures are written by name, rights in either spelling.

    Raise msgspec.ValidationError saying what is wrong, where, and what is allowed.
    """
    if isinstance(value, dict):
        value, known = _with_exposures(value), _fields(typing.cast("type", kind))
        unknown = sorted(value.keys() - known.keys()) if known else []
        if unknown:
            raise msgspec.ValidationError(f"unknown field {', '.join(unknown)}, allowed are {', '.join(known)}")
        if isinstance(rights := value.get("rights"), dict):
            value["rights"] = {_RIGHTS.get(key, key): one for key, one in _with_exposures(rights).items()}
    try:
        return msgspec.convert(value, kind, dec_hook=hook)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(_explain(str(error), kind)) from None


def decode(data: Mapping[str, Any], kind: type[Record], problems: Problems, hook: Hook | None = None) -> Record:
    """
    Decode a whole file to `kind`, a struct with one field for each table: tables of records line by line.

    What is wrong with a line is added to the problems, the other lines are read. Raise CatalogError if a field is missing.
    """
    fields = _fields(typing.cast("type", kind))
    read: dict[str, Any] = {}
    for table, value in data.items():
        if table not in fields:
            problems.add("", f"unknown table [[{table}]], allowed are {', '.join(fields)}")
            continue
        item = next(iter(typing.get_args(fields[table].type)), None)
        try:
            if isinstance(value, list) and isinstance(item, type) and issubclass(item, msgspec.Struct):
                read[table] = tuple(_lines(value, table, item, problems, hook))
            else:
                read[table] = convert(value, fields[table].type, hook)
        except msgspec.ValidationError as error:
            problems.add("", f"{table}: {error}")
    missing = [name for name, field in fields.items() if field.required and name not in read]
    if missing:
        problems.check(("", f"{name} is missing") for name in missing if name not in data)
        problems.check([])
    return kind(**read)


def read(
    file: str,
    kind: type[Record],
    check: Callable[[Record], Iterable[tuple[str, str]]] = lambda _: (),
    hook: Hook | None = None,
) -> Record:
    """Decode a file of the package that is a table of its own, and check it. Raise CatalogError with one line per problem."""
    problems = Problems(file)
    record = decode(packaged(file), kind, problems, hook)
    problems.check(check(record))
    return record


def _lines(
    lines: Iterable[Any], table: str, kind: type[Record], problems: Problems, hook: Hook | None
) -> Iterator[Record]:
    for line in lines:
        name = next((line[key] for key in _NAMES if key in line), None) if isinstance(line, dict) else line
        problems.files.setdefault(f"{table} {name}", problems.file)
        try:
            yield convert(line, kind, hook)
        except msgspec.ValidationError as error:
            problems.add(f"{table} {name}", str(error))


@functools.cache
def _fields(kind: Any) -> dict[str, msgspec.structs.FieldInfo]:
    """Return the fields of a struct by the names that files give them; none of another type."""
    is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return {field.encode_name: field for field in msgspec.structs.fields(kind)} if is_struct else {}


def _with_exposures(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a line with the names of exposures replaced by the members they name."""
    ready = dict(line)
    for field in ("exposure", "channel"):
        if isinstance(name := ready.get(field), str):
            if name not in Exposure.__members__:
                raise msgspec.ValidationError(f"unknown {field} {name}, allowed are {', '.join(Exposure.__members__)}")
            ready[field] = Exposure[name]
    return ready


def _explain(message: str, kind: Any) -> str:
    """Add to msgspec's message of a wrong value what is allowed in its place."""
    what, _, path = message.replace("`", "").partition(" - at $")
    for step in re.findall(r"\.(\w+)|\[", path):
        inner = [part for part in typing.get_args(kind) if part not in {type(None), Ellipsis}]
        kind = _fields(kind)[step].type if step in _fields(kind) else inner[-1] if inner else None
        kind = getattr(kind, "__origin__", kind) if typing.get_origin(kind) is typing.Annotated else kind
    kinds = [kind, *typing.get_args(kind)]
    kinds += [inner for part in kinds[1:] for inner in typing.get_args(part)]
    if "unknown field" in what:
        what = what.replace("Object contains ", "")
        allowed = [field.name for part in kinds for field in _fields(part).values()]
    else:
        enums: list[Any] = [part for part in kinds if isinstance(part, EnumType)]
        allowed = [part for part in kinds if isinstance(part, str)]
        allowed += [str(one.value) for enum in enums for one in enum]
    place = f" at {path.removeprefix('.')}" if path else ""
    return f"{what}{place}, allowed are {', '.join(allowed)}" if allowed else what + place
