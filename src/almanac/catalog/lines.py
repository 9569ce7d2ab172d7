"""One line of a catalogue file, made ready for its record: exposures are written by name, rights like every other field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from almanac.domain.rights import Exposure, Rights

#: Fields of `Rights` as a catalogue file may write them → as the record reads them.
_RIGHTS = dict(zip(Rights.__struct_fields__, Rights.__struct_encode_fields__, strict=True)) | {
    name: name for name in Rights.__struct_encode_fields__
}


def plain(line: Mapping[str, Any]) -> dict[str, Any]:
    """The line with its exposures as numbers and its `rights` spelt as the record spells them.

    Raises msgspec.ValidationError for an unknown exposure or an unknown field of `rights`: read silently, a misspelt
    `derivatives_allowed` would change who may see a value.
    """
    ready = dict(line)
    if "exposure" in ready:
        ready["exposure"] = _exposure(ready["exposure"])
    if isinstance(ready.get("rights"), Mapping):
        unknown = sorted(set(ready["rights"]) - set(_RIGHTS))
        if unknown:
            raise msgspec.ValidationError(f"unknown field {', '.join('rights.' + name for name in unknown)}")
        ready["rights"] = {
            _RIGHTS[name]: _exposure(value) if name in {"exposure", "channel"} else value
            for name, value in ready["rights"].items()
        }
    return ready


def _exposure(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value not in Exposure.__members__:
        raise msgspec.ValidationError(f"unknown exposure {value}, allowed are {', '.join(Exposure.__members__)}")
    return Exposure[value]
