"""What the simulated companies are called: invented names, tickers, identifiers, addresses."""

from __future__ import annotations

import re

from almanac.sandbox.noise import uniforms

#: First words: few enough that two trades share them, so that some names are much alike.
_FIRST = """
Abernath Aldervale Amberline Anchorage Arbormont Ashgrove Aspenfield Atherwood Auburnhill Avonlea Barrowgate
Bayhollow Beaconridge Beechwick Bellhaven Birchmere Blackfell Bluecrest Boxwood Braemoor Briarstone Bridgeford
Brightwater Brookmont Buckthorn Burlcross Caldera Cambermere Candlewick Canyonview Cedarholm Chalkfield Chesterbrook
Cinderford Clearspring Cobblestone Coldharbor Copperline Cornerbrook Cranmoor Crestavon Cypresswood Dalebrook
Darrowby Deerpath Dovecote Driftmark Dunmere Eastmoor Eldergate Ellsbury Elmhurstley Emberton Evenlode Fairhollow
Falconmere Farrowdale Fennimore Fernbank Flintridge Foxmoor Frostvale Galebrook Garnetfield Gladebury Glenorchard
Goldenfern Granitehill Greymarsh Grovewell Halcyonridge Hampscott Harborpoint Harrowfield Hartsmere Hazelcombe
Heatherloch Highcairn Hollowbrook Honeylocust Hopefield Ironbark Ivorygate Jasperhill Junewater Juniperline
Kestrelmoor Kingsfold Lakemarch Larchmontane Lavenderhill Lindenfield Lockhaven Longmeadow Lowerfalls Maplecross
Marblehead Meadowlark Merrowstone Millrace Mistwood Moorcroft Mossbank Northwick Nutbrook Oakhollow Oldbridge
Orchardgate Osprey Oxbow Palewater Parsonage Pebblemoor Pinecrest Plumfield Quarryhill Quillbrook Ravensworth
Redfern Ridgemont Riverbend Rockhaven Rosemere Rowanhall Saddlebrook Sandhollow Seabright Shadowmere Silverbirch
Slatepoint Snowfield Sparrowhawk Springvale Stillwater Stonemarch Summerlin Swallowtail Sycamore Tallgrass Tamarack
Thistledown Thornbury Timberline Tollgate Tradewind Turnstone Umberfield Valewood Verdant Vinehill Wakefieldon
Walnutgrove Watersford Waymark Westmarch Wheatley Whitcombe Wildrose Willowmere Windrush Winterbourne Wolverley
Woodhaven Wrenfield Yarrowby Yellowstoneham Zephyrdale
"""
FIRST = tuple(_FIRST.split())

#: How a name ends, by how often.
_ENDINGS = ("Inc", "Corp", "Inc.", "Co", "Holdings, Inc.", "Group Inc", "Corporation", "INC /DE/")

#: State, city, postal code, area code.
_PLACES = (
    ("CA", "SAN RAMON", "94583", "925"),
    ("TX", "PLANO", "75024", "972"),
    ("NY", "ALBANY", "12207", "518"),
    ("IL", "PEORIA", "61602", "309"),
    ("OH", "DAYTON", "45402", "937"),
    ("GA", "MACON", "31201", "478"),
    ("WA", "TACOMA", "98402", "253"),
    ("MA", "WORCESTER", "01608", "508"),
    ("PA", "READING", "19601", "610"),
    ("CO", "BOULDER", "80302", "303"),
    ("MN", "DULUTH", "55802", "218"),
    ("NC", "DURHAM", "27701", "919"),
)
_STATES = ("DE", "DE", "DE", "NV", "MD", "")


def name_of(number: int, word: str, chance: float) -> str:
    """The name of the n-th company, whose trade brings the second word."""
    first = FIRST[(number * 37) % len(FIRST)]
    return f"{first} {word} {_ENDINGS[int(chance * len(_ENDINGS))]}"


def tickers(names: list[str], numbers: list[int]) -> list[str]:
    """A ticker for each name, of three to five letters; the first of two that would be equal keeps the short one."""
    taken: set[str] = set()
    found = []
    for name, number in zip(names, numbers, strict=True):
        letters = re.sub(r"[^A-Z]", "", name.upper())
        words = [re.sub(r"[^A-Z]", "", word.upper()) for word in name.split()]
        second = words[1][:1] if len(words) > 1 else "X"
        tries = [letters[:3] + second, letters[0] + letters[2:4] + second, letters[:4]]
        tries += [letters[:2] + letters[4:5] + second + chr(65 + (number + step) % 26) for step in range(26)]
        ticker = next(one for one in tries if one not in taken)
        taken.add(ticker)
        found.append(ticker)
    return found


def place(number: int) -> tuple[str, str, str, str]:
    """State, city, postal code and area code of the offices of a company in the United States."""
    return _PLACES[number % len(_PLACES)]


def incorporated(number: int, state: str) -> str:
    """The state whose law a company of the United States is under; often not that of its offices."""
    return _STATES[number % len(_STATES)] or state


def lei(cik: int) -> str:
    """A legal entity identifier with true check digits (ISO 17442), under a prefix that no issuer has."""
    body = f"9999{cik:014d}"
    digits = "".join(str(int(letter, 36)) for letter in f"{body}00")
    return f"{body}{98 - int(digits) % 97:02d}"


def telephone(cik: int, area: str) -> str:
    """A number of the range that is kept free for fiction."""
    return f"({area}) 555-{int(100 + 100 * float(uniforms(f'{cik}/telephone', 1)[0])):04d}"
