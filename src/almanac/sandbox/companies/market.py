"""Further companies, for load tests: as many more of the same trades as are asked for, each with its own chance."""

from __future__ import annotations

import dataclasses

from almanac.sandbox.companies.cast import Filer, cast
from almanac.sandbox.companies.names import name_of
from almanac.sandbox.noise import uniforms

#: As many as keep their numbers: those of filings have six digits, of which a company has twenty.
MOST = 40_000


def filer(number: int) -> Filer:
    """The company of a number: one of the world's own, or a further one."""
    return cast()[number] if number < len(cast()) else _further(number)


def _further(number: int) -> Filer:
    """
    One that does what an ordinary company of the United States in the world's own cast does, and that the same befalls; its books,
    name and ticker are its own.
    """
    own = [one for one in cast() if one.seat is None and not one.kind]
    model = own[number % len(own)]
    luck = uniforms(f"company/{number}", 40)
    words = model.trade.words
    name = name_of(number, words[number // len(own) % len(words)], float(luck[1]))
    return dataclasses.replace(model, number=number, name=name, ticker=_ticker(name, number), former=None, luck=luck)


def _ticker(name: str, number: int) -> str:
    """Five letters, the last four of which no other has; the world's own come first."""
    taken = {one.ticker for one in cast()}
    digits, rest = "", number
    for _ in range(4):
        rest, digit = divmod(rest, 26)
        digits = chr(65 + digit) + digits
    return next(one for letter in name[0] + "XYZQ" if (one := letter.upper() + digits) not in taken)
