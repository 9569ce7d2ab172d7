"""
Names: the entity that a name means, and candidates for a name that nothing has.

A name is looked up exactly, or else without regard to spelling, or else by similarity, and nothing is guessed if two
fit equally. Names that compare equal come first: those valid on the asked day before others, then exact ones before
those that differ in punctuation, accents or legal form. Similarity is used only if nothing compares equal.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from almanac.domain.aliases import Alias, of_place
from almanac.domain.names import folded, normal, without_mark
from almanac.domain.reference import Entity

#: Confidence by kind of match. It is lowered if the name was not valid on the day, or if only having statements
#: decided.
_EXACT, _NORMALIZED, _FUZZY = 1.0, 0.95, 0.9
_NOT_THEN, _DECIDED = 0.9, 0.95
#: Lengths from which a text may contain one slip, or two.
_ONE_SLIP, _TWO_SLIPS = 4, 10
#: Legal forms long enough to be recognised with a slip.
_LONG_FORMS = ("incorporated", "corporation", "companies", "company", "limited")
#: The form of a ticker (with an optional class) or of a CIK.
_CODE = re.compile(r"[a-z0-9]{1,5}([./-][a-z0-9]{1,3}| [a-z0-9]{1,2})?|(cik)?[\s:#]*[0-9]{1,10}", re.IGNORECASE)
#: Similarity (0 to 1) of a name that begins with the asked words or contains them, and from which a name is close.
_BEGINS, _HOLDS, _CLOSE = 0.85, 0.8, 0.75
#: Factor for names with the same words in another order.
_REORDERED = 0.97
#: Shorter names resemble too many others.
_SHORTEST = 4
#: Number of most similar names that are examined.
_LOOKED_AT = 20
#: Score (0 to 100) of common words from which one name suggests another.
_SAME_WORDS = 90
#: A longer text is cut, because no name is as long.
_LONGEST = 200

#: Languages beside English in which countries are found, by CLDR code.
_LANGUAGES = (
    "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "tr", "ar", "hi", "zh_Hans", "zh_Hant", "ja", "ko",
)  # fmt: skip
#: CLDR codes of regions without an ISO 3166-1 code.
_REGIONS = {"region_euro_area": "EZ", "region_european_union": "EU", "region_world": "001"}
#: Some languages use these names for just one of two places, but they are ambiguous.
_AMBIGUOUS = frozenset({"congo", "kongo"})


class Subject(NamedTuple):
    """An entity that a name may mean. `type` is country, region or company; `reports` is true if it has statements."""

    entity: str
    type: str
    name: str
    slug: str
    reports: bool


class Match(NamedTuple):
    """An entity with the name that matched."""

    subject: Subject
    alias: Alias
    #: exact, normalized, fuzzy
    kind: str
    confidence: float


class Resolution(NamedTuple):
    """
    The meaning of a name. `best` is None if several fit equally or none fits well enough; `match` and `confidence`
    describe the first candidate.
    """

    best: Match | None
    match: str
    confidence: float
    candidates: list[Match]


class Spellings:
    """Names of entities, searchable by similarity. Build it once for many look-ups."""

    def __init__(self, names: Iterable[Alias]) -> None:
        self._names = [name for name in names if name.scheme in {"name", "former_name", "other"} and name.norm]
        self._norms = [name.norm for name in self._names]
        self._in_order = [_in_order(norm) for norm in self._norms]
        self._padded = [f" {norm} " for norm in self._norms]
        self._closed = [norm.replace(" ", "") for norm in self._norms]

    def beginning(self, norm: str) -> list[Alias]:
        """Return names that are these words, or begin with them and continue with others."""
        words = f" {norm} "
        return [self._names[place] for place, padded in enumerate(self._padded) if padded.startswith(words)]

    def close(self, norm: str) -> list[tuple[Alias, float]]:
        """
        Return similar names with their similarity (0 to 1): similar letters, the same words in another order, or a name
        that contains this one.
        """
        found: dict[int, float] = {}

        def add(place: int, likeness: float) -> None:
            found[place] = max(found.get(place, 0.0), likeness)

        if len(norm) >= _SHORTEST:
            for text, spelled, weight in ((norm, self._norms, 1.0), (_in_order(norm), self._in_order, _REORDERED)):
                cutoff = 100 * _CLOSE / weight
                for _, likeness, place in process.extract(
                    text, spelled, scorer=fuzz.ratio, score_cutoff=cutoff, limit=_LOOKED_AT
                ):
                    add(place, likeness / 100 * weight)
        words, closed = f" {norm} ", norm.replace(" ", "")
        run_together = len(closed) > _SHORTEST
        for place, padded in enumerate(self._padded):
            if words in padded:
                add(place, _BEGINS if padded.startswith(words) else _HOLDS)
            elif run_together and self._closed[place].startswith(closed) and _ends_word(padded, len(closed)):
                add(place, _BEGINS)
        return [(self._names[place], likeness) for place, likeness in found.items()]


def _in_order(norm: str) -> str:
    """Return the words of a name in alphabetical order."""
    return " ".join(sorted(norm.split()))


def _ends_word(norm: str, letters: int) -> bool:
    """Return whether the first `letters` letters and digits of a name end at the end of a word, and more words follow."""
    for character in norm.strip():
        if not letters:
            return character == " "
        letters -= character != " "
    return False


class Suggestions:
    """Suggestions for names that don't exist. Build it once for many questions; one question takes some milliseconds."""

    def __init__(self, names: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Index `names`: pairs of the name to suggest and its other spellings."""
        spelled = [(folded(text), name) for name, others in names for text in (name, *others)]
        self._spellings, self._names = [text for text, _ in spelled], [name for _, name in spelled]

    def nearest(self, text: str) -> str | None:
        """
        Return the nearest name: one within a few slips, or else one that begins with the text or has the same words;
        None if none is near.

        Similar letters alone are not enough: `pe_ratio` is spelled like `current_ratio` but isn't meant.
        """
        asked = folded(text[:_LONGEST])
        if not asked:
            return None
        digits = _digits(asked)
        slips = process.extract(asked, self._spellings, scorer=OSA.distance, score_cutoff=_slips(len(asked)), limit=5)
        near = [place for spelling, _, place in slips if _digits(spelling) == digits]
        if not near and len(asked) >= _SHORTEST:
            near = [place for place, spelling in enumerate(self._spellings) if spelling.startswith(asked)]
        if not near:
            words = process.extract(
                asked, self._spellings, scorer=fuzz.token_set_ratio, score_cutoff=_SAME_WORDS, limit=_LOOKED_AT
            )
            words.sort(key=lambda word: (-word[1], len(word[0])))
            near = [place for spelling, _, place in words if not digits or _digits(spelling) == digits]
        return self._names[near[0]] if near else None


def _slips(letters: int) -> int:
    """Return how many slips are tolerated in a text with this many letters."""
    return 2 if letters >= _TWO_SLIPS else 1 if letters >= _ONE_SLIP else 0


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit())


def norms(text: str) -> dict[str, str]:
    """Return the normal forms of a text by scheme, without schemes it cannot belong to."""
    name = normal(text)
    by_scheme = {scheme: normal(text, scheme) for scheme in ("iso2", "iso3", "ticker", "cik", "lei", "slug")}
    return {k: v for k, v in {**by_scheme, "name": name, "former_name": name, "other": name}.items() if v}


def resolve(
    text: str,
    found: Sequence[Alias],
    subjects: Mapping[str, Subject],
    spellings: Spellings,
    day: int,
    schemes: frozenset[str] | None = None,
) -> Resolution | None:
    """
    Return the entity that a text means on a day (an ordinal), or None if nothing is close.

    `found` are the names that compare equal to it. `subjects` maps ids to the entities that may be meant; names of
    others are ignored. `schemes` limits similar names to these schemes.
    """
    matches = _equal(text, found, subjects, day)
    if matches:
        also = _words(text, matches[0], subjects, spellings.beginning, day) if schemes is None else []
        return _equals(matches, also)
    close = [
        (name, likeness)
        for name, likeness in spellings.close(_without_form(text))
        if name.entity in subjects and (schemes is None or name.scheme in schemes)
    ]
    return _likes(text, close, subjects, day)


def _without_form(text: str) -> str:
    """Return the normal name of a text, without a misspelt legal form at the end (`Corporatin`)."""
    norm = normal(text)
    name, _, last = norm.rpartition(" ")
    return name if name and any(OSA.distance(last, form) == 1 for form in _LONG_FORMS) else norm


def exactly(
    text: str,
    found: Sequence[Alias],
    subjects: Mapping[str, Subject],
    beginning: Callable[[str], Iterable[Alias]],
    day: int,
) -> Subject | None:
    """
    Return the entity that `resolve` would find as an exact and unambiguous match, without comparing similarity; None if
    there is none.

    `beginning` returns the names that are the given words, or begin with them and continue with others.
    """
    matches = _equal(text, found, subjects, day)
    if not matches or matches[0].kind != "exact":
        return None
    best = _equals(matches, _words(text, matches[0], subjects, beginning, day)).best
    return None if best is None else best.subject


def _equal(text: str, found: Sequence[Alias], subjects: Mapping[str, Subject], day: int) -> list[Match]:
    """Return the best matching name of each entity among names that compare equal, best first."""
    wanted, plain = norms(text), text.strip().casefold()
    best: dict[str, tuple[tuple[bool, int, bool], Match]] = {}
    for alias in _tenures(found):
        subject = subjects.get(alias.entity)
        if subject is None or wanted.get(alias.scheme) != alias.norm:
            continue
        exact = alias.alias.casefold() == plain or alias.scheme == "cik"
        then = alias.valid(day)
        confidence = (_EXACT if exact else _NORMALIZED) * (1.0 if then else _NOT_THEN)
        rank = (not then, 0 if exact else 1, not alias.primary)
        match = Match(subject, alias, "exact" if exact else "normalized", round(confidence, 2))
        if alias.entity not in best or rank < best[alias.entity][0]:
            best[alias.entity] = (rank, match)
    ordered = sorted(best.values(), key=lambda one: (one[0][:2], _order(one[1].subject)))
    return [match for _, match in ordered]


def _tenures(found: Sequence[Alias]) -> list[Alias]:
    """
    Give each ticker one holder at a time: its present holder has had it since the day after another was last seen with
    it.
    """
    last: dict[str, int] = {}
    for alias in found:
        if alias.scheme == "ticker" and alias.valid_to is not None:
            last[alias.norm] = max(last.get(alias.norm, 0), alias.valid_to)
    return [
        alias._replace(valid_from=last[alias.norm] + 1)
        if alias.scheme == "ticker" and alias.valid_to is None and alias.valid_from is None and alias.norm in last
        else alias
        for alias in found
    ]


def _last(subject: Subject) -> int:
    """Return the rank of a subject's kind: places first, then companies with statements, then others."""
    return 0 if subject.type != "company" else 1 if subject.reports else 2


def _order(subject: Subject) -> tuple[int, str, str]:
    """Return the sort key for equally good matches: places, companies with statements, others; then by name and id."""
    return (_last(subject), subject.name, subject.entity)


def _words(
    text: str, first: Match, subjects: Mapping[str, Subject], beginning: Callable[[str], Iterable[Alias]], day: int
) -> list[Match]:
    """
    Return companies that a word taken for a ticker may also mean.

    A ticker that isn't written in capitals may be a word: `Ford` is not `FORD`. The name is ambiguous if another
    company has exactly that name, or if another's name begins with it while the ticker holder's does not.
    """
    norm = normal(text)
    if first.alias.scheme != "ticker" or text.strip().isupper():
        return []
    own = f"{normal(first.subject.name)} ".startswith(f"{norm} ")
    others = {
        name.entity: Match(subjects[name.entity], name, "fuzzy", round(_FUZZY * _BEGINS, 2))
        for name in beginning(norm)
        if name.entity in subjects
        and name.entity != first.subject.entity
        and name.valid(day)
        and (not own or name.norm == norm)
    }
    return sorted(others.values(), key=lambda one: (_last(one.subject), len(one.alias.norm), _order(one.subject)))


def _equals(matches: list[Match], also: list[Match]) -> Resolution:
    """Return the resolution for names that compare equal."""
    first = matches[0]
    ties = [one for one in matches if (one.kind, one.confidence) == (first.kind, first.confidence)]
    listed = {one.subject.entity: one for one in (*ties, *also, *matches)}
    candidates = list(listed.values())[:5]
    if also:
        return Resolution(None, first.kind, round(first.confidence / 2, 2), candidates)
    if len(ties) == 1:
        return Resolution(first, first.kind, first.confidence, candidates)
    reporting = [one for one in ties if one.subject.reports]
    if len(reporting) == 1 and all(one.subject.type == "company" for one in ties):
        confidence = round(first.confidence * _DECIDED, 2)
        best = reporting[0]._replace(confidence=confidence)
        return Resolution(
            best, best.kind, confidence, [best, *(one for one in candidates if one.subject != best.subject)]
        )
    return Resolution(None, first.kind, round(first.confidence / len(ties), 2), candidates)


def _likes(
    text: str, close: Sequence[tuple[Alias, float]], subjects: Mapping[str, Subject], day: int
) -> Resolution | None:
    """
    Return the resolution by similarity. It has a best match only if just the first candidate may answer and the text
    doesn't look like a code.
    """
    best: dict[str, tuple[float, Alias]] = {}
    for alias, likeness in close:
        weighed = likeness * (1.0 if alias.valid(day) else _NOT_THEN)
        if weighed > best.get(alias.entity, (0.0, alias))[0]:
            best[alias.entity] = (weighed, alias)
    if not best:
        return None

    def rank(one: tuple[float, Alias]) -> tuple[float, int, int, str, str]:
        weighed, alias = one
        last, name, entity = _order(subjects[alias.entity])
        return (-round(weighed, 3), last, len(alias.norm), name, entity)

    candidates = [
        Match(subjects[alias.entity], alias, "fuzzy", round(_FUZZY * likeness, 2))
        for likeness, alias in nsmallest(5, best.values(), key=rank)
    ]
    first = candidates[0]
    meant = [one for one in candidates if _may_answer(text, one)]
    alone = meant == [first] and _CODE.fullmatch(text.strip()) is None
    return Resolution(first if alone else None, "fuzzy", first.confidence, candidates)


def _may_answer(text: str, like: Match) -> bool:
    """
    Return whether a similar name is close enough to be taken for the one meant, if it is the only one.

    Either the two differ only by a slip: other spaces, another order of words, or, apart from common words at both
    ends, one letter in four (two in ten), never the first letter and never a digit. Or the name is longer and begins
    with the text, and the text is at least half of it and has no legal form, which would end a complete name. Countries
    never have a legal form.
    """
    asked, norm = _without_form(text), like.alias.norm
    whole = folded(without_mark(text)).removeprefix("the ") == asked
    closed = asked.replace(" ", "")
    if closed == norm.replace(" ", "") or sorted(asked.split()) == sorted(norm.split()):
        return True
    if norm.replace(" ", "").startswith(closed) and _ends_word(norm, len(closed)):
        return whole and 2 * len(asked) >= len(norm)
    ours, theirs = asked.split(), norm.split()
    while ours and theirs and ours[0] == theirs[0]:
        ours, theirs = ours[1:], theirs[1:]
    while ours and theirs and ours[-1] == theirs[-1]:
        ours, theirs = ours[:-1], theirs[:-1]
    mine, other = " ".join(ours), " ".join(theirs)
    letters = min(len(mine), len(other))
    if not letters or mine[0] != other[0] or (like.subject.type != "company" and not whole):
        return False
    if any(c.isdigit() for c in mine + other):
        return False
    return 0 < OSA.distance(mine, other) <= _slips(letters)


def foreign_names(places: Iterable[Entity]) -> list[Alias]:
    """
    Return names of countries and regions in other languages. They are for comparison only and are not listed as
    aliases.

    A name that compares equal to one of another place is left out.
    """
    names, owners = [], defaultdict(set)
    for place in places:
        for alias in of_place(place):
            owners[alias.norm].add(place.id)
        code = _REGIONS.get(place.id, place.iso2)
        for name in _territories().get(code, ()) if code is not None else ():
            alias = Alias(place.id, name, "name", False, None, None, None, normal(name))
            owners[alias.norm].add(place.id)
            names.append(alias)
    return [alias for alias in names if len(owners[alias.norm]) == 1 and alias.norm not in {"", *_AMBIGUOUS}]


@functools.cache
def _territories() -> Mapping[str, tuple[str, ...]]:
    """Return each territory's names by its code. They are read on first use, because that takes a tenth of a second."""
    from babel import Locale  # noqa: PLC0415  # most commands look up no place by name

    names: dict[str, dict[str, None]] = defaultdict(dict)
    for language in _LANGUAGES:
        for code, name in Locale.parse(language).territories.items():
            names[code][name] = None
    return {code: tuple(found) for code, found in names.items()}
