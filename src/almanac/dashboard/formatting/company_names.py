"""
Names of companies as people write them: registers keep most in capitals, many with the state behind a slash.

A rule cannot know how a company writes itself; it reads `EXXON MOBIL CORP /NJ/` as `Exxon Mobil Corp`, and leaves alone
what has small letters. The name that was filed stays beside it, where a page tells who a company is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: Behind the last slash: a state, a country or `NEW`, with or without a closing slash; or nothing.
_PLACE: Final = re.compile(r"[/\\] ?([A-Z]{2,12})? ?[/\\]?", re.ASCII)
#: A longer word there is a place only behind what ends a company's name.
_LONG: Final = 5
_ENDS: Final = (".", " ", "INC", "CORP", "CO", "COMPANY", "LTD", "LIMITED", "LLC", "LP", "PLC")
#: Words that keep a form of their own.
_OWN: Final = {
    "PLC": "plc", "NVIDIA": "NVIDIA", "JPMORGAN": "JPMorgan", "PEPSICO": "PepsiCo", "EBAY": "eBay", "DUPONT": "DuPont",
    "NYSE": "NYSE", "NASDAQ": "Nasdaq", "CONOCOPHILLIPS": "ConocoPhillips", "EMCOR": "EMCOR", "UBS": "UBS", "ADR": "ADR",
}  # fmt: skip
#: Within a name in small letters.
_SMALL: Final = frozenset({"AND", "DE", "DES", "DO", "DU", "FOR", "IN", "LA", "OF", "ON", "THE", "TO"})
#: Words of two or three letters that are words; other short ones are initials.
_SHORT: Final = frozenset(
    {
        "ACE", "AGE", "AIR", "ALL", "AND", "ART", "BAY", "BIG", "BIO", "BOX", "CAP", "CAR", "CO", "COM", "COS", "CUT", "DAY", "DEL",
        "DOW", "DR", "EL", "FE", "FIT", "FOR", "FOX", "GAP", "GAS", "GEN", "HOT", "INC", "INN", "JOY", "KEY", "LAS", "LAW", "LEE",
        "LOS", "LTD", "MAE", "MAX", "MR", "NET", "NEW", "OAK", "OIL", "OLD", "ONE", "PAN", "PEP", "PET", "PRO", "RAY", "RED", "RIO",
        "SAN", "SEA", "SKY", "ST", "SUN", "TAX", "TEN", "THE", "TIM", "TOP", "TOY", "TWO", "VAN", "WAY", "WEB", "ZOO",
    }
)  # fmt: skip
_ROMAN: Final = frozenset({"II", "III", "IV", "VI", "VII", "VIII", "IX"})


@lru_cache(8192)
def company_name(filed: str) -> str:
    """
    Return a filed name as people write it.

    >>> company_name("EXXON MOBIL CORP /NJ/"), company_name("MCDONALDS CORP"), company_name("Apple Inc.")
    ('Exxon Mobil Corp', 'McDonalds Corp', 'Apple Inc.')
    """
    name = _without_place(filed)
    if any(letter.islower() for letter in name):
        return name
    words = name.split(" ")
    inner = range(1, len(words) - 1)
    return " ".join(_word(word, small=index in inner) for index, word in enumerate(words))


def _without_place(name: str) -> str:
    bare = name.strip()
    inner = bare.rstrip("/\\ ")
    # `/DE/` is in one piece: its first slash is the one before the letters.
    at = max(inner.rfind(mark) for mark in "/\\")
    at = len(inner) if at < 0 else at
    found = _PLACE.fullmatch(bare[at:])
    head = bare[:at].rstrip()
    if found is None or not head:
        return bare
    place = found[1] or ""
    return head if len(place) <= _LONG or bare[:at].endswith(_ENDS) else bare


def _word(word: str, *, small: bool) -> str:
    core = word.strip(".,()&'\"")
    if not core:
        return word
    before, _, after = word.partition(core)
    return before + _core(core, small=small) + after


def _core(core: str, *, small: bool) -> str:
    """Return a word without what stands around it; `small`: it is within a name."""
    if core in _OWN:
        return _OWN[core]
    if small and core in _SMALL:
        return core.lower()
    if core in _SHORT:
        return core.capitalize()
    for mark in ("-", "/"):
        if mark in core:
            return mark.join(_core(part, small=False) for part in core.split(mark))
    initials = len(core) <= 3 or not set(core) & set("AEIOUY")
    if initials or core in _ROMAN or "&" in core or "." in core or any(letter.isdigit() for letter in core):
        return core
    if core.startswith("MC") and len(core) > 4:
        return f"Mc{core[2:].capitalize()}"
    head, mark, tail = core.partition("'")
    return f"{head}'{tail.capitalize()}" if mark and len(head) == 1 else core.capitalize()
