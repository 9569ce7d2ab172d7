"""Names found by likeness: the same, in the same order, as by going through every name."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz, process

from almanac.domain.aliases import Alias
from almanac.domain.names import normal
from almanac.reports.names import Spellings, Subject, norms, resolve

DAY = 730_000

#: Words much alike, with letters that fold to others, to two, and to none of the alphabet.
WORDS = [
    "amber", "amberline", "timber", "timberline", "ember", "first", "frist", "bank", "banks", "bancorp", "savings", "group",
    "holdings", "steel", "steele", "stahl", "société", "societe", "straße", "strasse", "øresund", "Łódź", "三菱", "三井", "αθήνα",
    "3m", "3d", "21st", "a", "ab", "abc", "i", "inc", "corp", "the", "of", "de", "co", "&", "-", ".", "1",
]  # fmt: skip
names = st.lists(st.sampled_from(WORDS) | st.text("abeß é1", max_size=4), min_size=1, max_size=5).map(" ".join)
texts = names | st.text("ab é中\n", max_size=6) | st.text(max_size=8)


def plainly_close(spelled, norm):
    """The definition: the text is compared with every name; twenty of the most alike, and all that have its words."""
    found = {}

    def add(place, likeness):
        found[place] = max(found.get(place, 0.0), likeness)

    every = [one.norm for one in spelled]
    if len(norm) >= 4:
        for scorer, weight in ((fuzz.ratio, 1.0), (fuzz.token_sort_ratio, 0.97)):
            for _, likeness, place in process.extract(norm, every, scorer=scorer, score_cutoff=75 / weight, limit=20):
                add(place, likeness / 100 * weight)
    closed = norm.replace(" ", "")
    for place, name in enumerate(every):
        if f" {norm} " in f" {name} ":
            add(place, 0.85 if f"{name} ".startswith(f"{norm} ") else 0.8)
        elif len(closed) > 4 and any(
            name.replace(" ", "")[: len(closed)] == closed == name[:end].replace(" ", "")
            for end, letter in enumerate(name)
            if letter == " "
        ):
            add(place, 0.85)
    return [(spelled[place], likeness) for place, likeness in found.items()]


class PlainSpellings(Spellings):
    """The names, each looked at."""

    def __init__(self, spelled):
        super().__init__(spelled)
        self._spelled = spelled

    def close(self, norm):
        return plainly_close(self._spelled, norm)


@st.composite
def misspelt(draw, name):
    """A name with a slip, a word or a piece of it, in other letters, or with its words in another order; or as it is."""
    kind = draw(
        st.sampled_from(["drop", "swap", "change", "double", "piece", "words", "case", "marks", "closed", "same"])
    )
    at, other = draw(st.integers(0, max(0, len(name) - 1))), draw(st.integers(0, len(name)))
    if kind == "words":
        return " ".join(draw(st.permutations(name.split())))
    return {
        "drop": name[:at] + name[at + 1 :],
        "swap": name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
        "change": name[:at] + draw(st.sampled_from("aeß7 ")) + name[at + 1 :],
        "double": name[:at] + name[at : at + 1] + name[at:],
        "piece": name[min(at, other) : max(at, other)][: draw(st.sampled_from([1, 2, 50]))],
        "case": name.swapcase(),
        "marks": "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c)),
        "closed": name.replace(" ", ""),
        "same": name,
    }[kind]


def aliases(told):
    """Of each entity one name, sometimes a former one that ended; some entities have two."""
    return [
        Alias(
            f"e{number % 17}", name, "former_name" if number % 5 == 4 else "name", number % 5 != 4, None,
            DAY - 10 if number % 5 == 4 else None, "invented", normal(name),
        )
        for number, name in enumerate(told)
        if normal(name)
    ]  # fmt: skip


@given(st.lists(names, min_size=1, max_size=60), st.data())
def test_likeness_finds_what_comparing_every_name_finds(told, data):
    spelled = aliases(told)
    fast, plain = Spellings(spelled), PlainSpellings(spelled)
    subjects = {
        one.entity: Subject(one.entity, "company", one.alias, one.entity, one.entity < "e3")
        for one in reversed(spelled)
    }
    for _ in range(4):
        text = data.draw((st.sampled_from(told).flatmap(misspelt)) | texts)
        norm = normal(text)
        assert fast.close(norm) == plain.close(norm)
        equal = [one for one in spelled if one.norm in set(norms(text).values())]
        for found in (equal, []):
            for day in (DAY, DAY - 20):
                assert resolve(text, found, subjects, fast, day) == resolve(text, found, subjects, plain, day)


def test_of_many_names_alike_the_same_twenty_are_looked_at():
    """More than are looked at have the same likeness: those first in order count."""
    spelled = aliases([f"amberline steel {letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"])
    for norm in ("amberline steel", "amberlin steel ax", "steel amberline bb", "amberlinesteel"):
        found = Spellings(spelled).close(norm)
        assert found == plainly_close(spelled, norm)
        assert len(found) >= 20
