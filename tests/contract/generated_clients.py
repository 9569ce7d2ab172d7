"""
Makes clients from a description with two generators that others wrote, and reads answers with them.

Run by `test_generators.py` in the environment of requirements/generators.txt, which has neither the service nor its
libraries: `generated_clients.py FOLDER`, where `openapi.json` and `answers.json` are in the folder. What was found is
written to standard output as JSON.
"""

import dataclasses
import importlib
import inspect
import json
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: What may be anything, by the interface's own words.
ANYTHING = {("ErrorDetails", "allowed")}


def attrs_client(folder: Path) -> Any:
    """Models of openapi-python-client."""
    run("openapi-python-client", "generate", "--path", folder / "openapi.json", "--meta", "none", "--output-path", folder / "attrs_client", "--overwrite")  # fmt: skip
    return importlib.import_module("attrs_client.models")


def pydantic_models(folder: Path) -> Any:
    """Models of datamodel-code-generator."""
    run(
        "datamodel-codegen", "--input", folder / "openapi.json", "--input-file-type", "openapi", "--output",
        folder / "pydantic_models.py", "--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11",
        "--formatters", "builtin",
    )  # fmt: skip
    return importlib.import_module("pydantic_models")


def run(command: str, *words: object) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name(command), *map(str, words)], capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    if done.returncode or "WARNING parsing" in said or "Unable to" in said:
        raise SystemExit(f"{command}: {said}")


def holds_any(hint: Any) -> bool:
    return hint is Any or any(holds_any(part) for part in typing.get_args(hint))


def untyped_attrs(models: Any) -> Iterator[tuple[str, str]]:
    """Fields of openapi-python-client's models that could hold anything."""
    for name, kind in vars(models).items():
        if not inspect.isclass(kind) or not hasattr(kind, "__attrs_attrs__"):
            continue
        # Names of records are imported for type checkers only: they are all in the package of models.
        known = {**vars(sys.modules[kind.__module__]), **vars(models)}
        for one in kind.__attrs_attrs__:
            hint = one.type
            if isinstance(hint, str):
                hint = eval(hint, {**vars(typing), **known})
            if one.name != "additional_properties" and holds_any(hint):
                yield name, one.name


def untyped_pydantic(models: Any) -> Iterator[tuple[str, str]]:
    """Fields of datamodel-code-generator's models that could hold anything."""
    for name, kind in vars(models).items():
        if inspect.isclass(kind) and hasattr(kind, "model_fields"):
            for field, one in kind.model_fields.items():
                if holds_any(one.annotation):
                    yield name, field


def unknown(value: Any, where: str = "") -> Iterator[str]:
    """Keys of an answer that openapi-python-client has no field for."""
    if isinstance(value, list):
        for one in value[:50]:
            yield from unknown(one, f"{where}[]")
    elif hasattr(value, "__attrs_attrs__"):
        names = [one.name for one in value.__attrs_attrs__]
        # A record without fields of its own is a mapping, and its keys are its content.
        if names != ["additional_properties"]:
            yield from (f"{where}.{key}" for key in getattr(value, "additional_properties", {}))
        for name in names:
            if name != "additional_properties":
                yield from unknown(getattr(value, name), f"{where}.{name}")


@dataclasses.dataclass
class Found:
    """What one generator's models made of the answers."""

    untyped: list[Any]
    read: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    unknown: set[str] = dataclasses.field(default_factory=set)


def main(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    answers = json.loads((folder / "answers.json").read_text("utf-8"))
    attrs, pydantic = attrs_client(folder), pydantic_models(folder)
    one = Found([pair for pair in untyped_attrs(attrs) if pair not in ANYTHING])
    other = Found([pair for pair in untyped_pydantic(pydantic) if pair not in ANYTHING])
    for asked, name, body in answers:
        try:
            made = getattr(attrs, name).from_dict(body)
            one.unknown |= set(unknown(made))
            if made.to_dict().keys() != body.keys():
                one.failed.append(f"{asked}: other keys")
            one.read += 1
        except Exception as error:
            one.failed.append(f"{asked}: {type(error).__name__}: {str(error)[:200]}")
        try:
            getattr(pydantic, name).model_validate(body)
            other.read += 1
        except Exception as error:
            other.failed.append(f"{asked}: {type(error).__name__}: {str(error)[:300]}")
    told = {
        key: {**dataclasses.asdict(found), "unknown": sorted(found.unknown)}
        for key, found in (("openapi-python-client", one), ("datamodel-code-generator", other))
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
