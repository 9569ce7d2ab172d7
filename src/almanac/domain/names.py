"""
Normalised names for look-ups, and slugs.

All spellings of a name share one normal form: case, accents, punctuation, state marks and a legal form at the end do
not count. Words that distinguish companies (`Holdings`, `Group`, `Trust`, `Class A`) stay.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

#: Letters that Unicode does not decompose into a base letter and an accent.
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
#: Signs inside words: `McDonald's` and `O'Reilly` are one word each.
_JOINED = re.compile(r"['’`´ʻ]")
_AND = re.compile(r"[&+]")
_OTHER = re.compile(r"[\W_]+")
#: The regulator marks companies of one name by their state, or as new: `/DE/`, `/ NEW/`. Apply it only to texts with
#: single blanks, because a run of blanks would take quadratic time.
_STATE_MARK = re.compile(r" ?[/\\] ?[A-Za-z]{2,4} ?[/\\](?= |$)")
#: The mark without its second slash, as in old names. Only known marks count, because a slash also separates names.
_OPEN_MARK = re.compile(r" ?[/\\] ?([A-Za-z]{2,4})$")
_MARKS = frozenset(
    re.findall(
        r"\w+",
        "al ak az ar ca co ct de dc fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri"
        " sc sd tn tx ut vt va wa wv wi wy pr adr ads can cn fa fi gb new old uk",
    )
)
#: Legal forms, which people leave out. `com` is the end of a web address.
_FORMS = frozenset(
    re.findall(
        r"\w+",
        "inc incorporated corp corporation co company companies cos ltd limited plc llc lp llp lllp sa sab ag nv bv se spa asa"
        " ab oyj kgaa gmbh kk bhd pte pty pjsc ojsc cv sarl sas aps as com",
    )
)
#: Words that join a legal form to the name (`Merck & Co`, `S.A. de C.V.`), meaningless at the end.
_LOOSE = frozenset(["and", "de", "the"])
_CIK = re.compile(r"(?:cik)?[\s:#]*0*([0-9]{1,10})", re.IGNORECASE)
_TICKER_SIGNS = re.compile(r"[\s./_-]+")


#: Number and length of cached texts. A cache takes some ten megabytes at most, because one letter may decompose into
#: eighteen.
_HELD, _LONGEST_HELD = 4_096, 64


def folded(text: str) -> str:
    """
    Return the words in lowercase letters without accents, separated by single spaces: `Nestlé S.A.` becomes `nestle
    sa`. No word is left out.
    """
    return _folded_before(text) if len(text) <= _LONGEST_HELD else _folded(text)


def _folded(text: str) -> str:
    # Casefold twice, because a letter in fancy type becomes plain only after it is decomposed.
    plain = _apart(_apart(_JOINED.sub("", text).casefold()).casefold()).translate(_LETTERS)
    if not plain.isascii():
        plain = "".join(c for c in plain if not unicodedata.combining(c))
    return " ".join(_initials(_OTHER.sub(" ", _AND.sub(" and ", plain)).split()))


_folded_before = lru_cache(_HELD)(_folded)


def _apart(text: str) -> str:
    """
    Separate letters from their accents, one character at a time. Normalising the whole text would sort long runs of
    accents in quadratic time.
    """
    return text if text.isascii() else "".join([unicodedata.normalize("NFKD", c) for c in text])


def _initials(words: list[str]) -> list[str]:
    """Join neighbouring single letters to one word: `u s a` becomes `usa`."""
    joined: list[str] = []
    for single, group in groupby(words, lambda word: len(word) == 1 and word.isalpha()):
        some = list(group)
        joined += ["".join(some)] if single else some
    return joined


def normal(text: str, scheme: str = "name") -> str:
    """
    Return the form of a name or code that look-ups compare.

    Tickers have one sign between stem and class (`BRK.B` and `brk/b` become `brk-b`), CIKs lose leading zeros, other
    codes and slugs are lowercase; anything else is normalised as a name. The result is empty for a text without letters
    and digits, and for a `cik` that is not a number.
    """
    return _normal_before(text, scheme) if len(text) <= _LONGEST_HELD else _normal(text, scheme)


def _normal(text: str, scheme: str) -> str:
    if scheme == "ticker":
        return _TICKER_SIGNS.sub("-", text.strip().casefold()).strip("-")
    if scheme == "cik":
        match = _CIK.fullmatch(text.strip())
        return match[1] if match is not None else ""
    if scheme in {"iso2", "iso3", "lei", "slug"}:
        return text.strip().casefold()
    return _name(text)


_normal_before = lru_cache(_HELD)(_normal)


def _name(text: str) -> str:
    words = folded(without_mark(text)).split()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    while len(words) > 1 and (words[-1] in _FORMS or words[-1] in _LOOSE):
        words.pop()
    return " ".join(words)


def without_mark(text: str) -> str:
    """Return a name without the state or `NEW` that the regulator's index appends: `MATTEL INC /DE/` becomes `MATTEL INC`."""
    found = _STATE_MARK.sub(" ", " ".join(text.split())).strip()
    match = _OPEN_MARK.search(found)
    if match is not None and match[1].casefold() in _MARKS and match.start() > 0:
        found = found[: match.start()]
    return found or text


def slugify(text: str) -> str:
    """
    Return lowercase letters and digits with `-` between words: `Apple Inc.` becomes `apple-inc`. The slug of a text
    without ASCII letters and digits is empty.
    """
    words = ("".join(c for c in word if c.isascii()) for word in folded(without_mark(text)).split())
    return "-".join(word for word in words if word)
