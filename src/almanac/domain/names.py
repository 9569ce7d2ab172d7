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

#: Letters that are no base letter with an accent, and so come apart from neither.
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
#: Signs that join: what they stand between is one word (`McDonald's`, `O'Reilly`).
_JOINED = re.compile(r"['’`´ʻ]")
_AND = re.compile(r"[&+]")
_OTHER = re.compile(r"[\W_]+")
#: The regulator tells companies of one name apart by the state they are from, or that they are new: `/DE/`, `/ NEW/`.
#: Of texts with single blanks: a run of them would be gone through again from each of them.
_STATE_MARK = re.compile(r" ?[/\\] ?[A-Za-z]{2,4} ?[/\\](?= |$)")
#: The same without the second stroke, as old names have it; only words that mark, for a stroke also parts names.
_OPEN_MARK = re.compile(r" ?[/\\] ?([A-Za-z]{2,4})$")
_MARKS = frozenset(
    re.findall(
        r"\w+",
        "al ak az ar ca co ct de dc fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri"
        " sc sd tn tx ut vt va wa wv wi wy pr adr ads can cn fa fi gb new old uk",
    )
)
#: Legal forms, which people leave out. `com` is the end of a company's address on the web.
_FORMS = frozenset(
    re.findall(
        r"\w+",
        "inc incorporated corp corporation co company companies cos ltd limited plc llc lp llp lllp sa sab ag nv bv se spa asa"
        " ab oyj kgaa gmbh kk bhd pte pty pjsc ojsc cv sarl sas aps as com",
    )
)
#: Words that join a legal form to the name (`Merck & Co`, `S.A. de C.V.`); left over at the end, they mean nothing.
_LOOSE = frozenset(["and", "de", "the"])
_CIK = re.compile(r"(?:cik)?[\s:#]*0*([0-9]{1,10})", re.IGNORECASE)
_TICKER_SIGNS = re.compile(r"[\s./_-]+")


#: Texts that are remembered, and the longest of them: each memory takes some ten megabytes at the very most, for a
#: letter may come apart into eighteen.
_HELD, _LONGEST_HELD = 4_096, 64


def folded(text: str) -> str:
    """
    Return the words in lowercase letters without accents, separated by single spaces: `Nestlé S.A.` becomes `nestle
    sa`. No word is left out.
    """
    return _folded_before(text) if len(text) <= _LONGEST_HELD else _folded(text)


def _folded(text: str) -> str:
    # Twice in small letters: a letter in fancy type is plain only after it is taken apart.
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
