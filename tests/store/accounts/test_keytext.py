"""The text of a key: its length, its alphabet, its checksum."""

import functools
import re
import zlib

from hypothesis import given
from hypothesis import strategies as st

from almanac.store.accounts.keytext import ALPHABET, checksum, new_key, well_formed


def test_a_key_is_40_characters_whose_last_six_are_their_crc_32():
    text = new_key()
    assert re.fullmatch(r"alm_[0-9A-Za-z]{40}", text)
    number = 0
    for character in text[-6:]:
        number = number * 62 + ALPHABET.index(character)
    assert number == zlib.crc32(text[4:-6].encode())


def test_the_checksum_is_the_published_check_value_of_crc_32_in_base62():
    # The catalogue of CRCs gives 0xCBF43926 for "123456789"; its base62 digits are 3 45 35 27 22 14.
    assert functools.reduce(lambda number, digit: number * 62 + digit, (3, 45, 35, 27, 22, 14)) == 0xCBF43926
    assert checksum("") == "000000"


@given(st.integers(4, 43), st.sampled_from(ALPHABET))
def test_one_wrong_character_makes_a_key_malformed(place, character):
    text = new_key()
    changed = text[:place] + character + text[place + 1 :]
    assert well_formed(changed) is (changed == text)


def test_a_line_end_after_a_key_is_not_part_of_it():
    assert not well_formed(new_key() + "\n")


def test_keys_are_random():
    assert len({new_key()[4:16] for _ in range(200)}) == 200
