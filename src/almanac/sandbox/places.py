"""The entities of the simulated world and the long-run numbers their paths return to. All invented."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Land:
    """A country or the euro area as the simulation sees it."""

    code: str
    name: str
    #: Inflation and real growth in the long run, percent a year.
    inflation: float
    growth: float
    #: Interest level above the world's, percentage points.
    premium: float
    unemployment: float
    #: Local currency per US dollar.
    exchange: float
    #: Nominal GDP of 2010, billions of local currency.
    output: float
    #: Millions of people in 2010.
    people: float
    #: Whether it shares the euro, and so has no policy rate and no exchange rate of its own.
    euro: bool = field(default=False, kw_only=True)

    @property
    def entity(self) -> str:
        return "region_euro_area" if self.code == "EUR" else f"country_{self.code.lower()}"


#: code, name, inflation, growth, premium, unemployment, exchange, output, people, and `euro` for a member.
_TABLE = """
USA|United States|2.4|2.2|0.3|5.0|1|15000|309
EUR|Euro area|2.0|1.3|-0.6|8.0|0.85|9500|336
DEU|Germany|2.0|1.2|-0.9|4.5|0.85|2560|81|euro
FRA|France|2.0|1.1|-0.5|8.5|0.85|2000|65|euro
ITA|Italy|2.0|0.6|0.9|9.5|0.85|1610|59|euro
ESP|Spain|2.1|1.6|0.7|13.0|0.85|1070|47|euro
NLD|Netherlands|2.2|1.5|-0.7|5.0|0.85|640|17|euro
BEL|Belgium|2.2|1.3|-0.4|6.5|0.85|365|11|euro
AUT|Austria|2.3|1.2|-0.5|5.0|0.85|296|8.4|euro
IRL|Ireland|2.0|4.0|0.2|7.0|0.85|168|4.6|euro
PRT|Portugal|2.0|1.2|1.4|9.0|0.85|180|10.6|euro
FIN|Finland|2.0|1.0|-0.6|7.8|0.85|188|5.4|euro
GRC|Greece|2.0|0.7|3.0|15.0|0.85|224|11|euro
SWE|Sweden|2.0|1.9|-0.6|7.5|8.5|3570|9.4
DNK|Denmark|2.0|1.6|-0.7|5.5|6.3|1810|5.5
POL|Poland|3.0|3.6|2.0|6.0|3.7|1445|38
CZE|Czechia|2.8|2.4|1.0|4.5|22|4000|10.5
HUN|Hungary|4.2|2.6|3.0|5.5|290|27000|10
NOR|Norway|2.3|1.6|0.4|4.0|8.4|2590|4.9
CHE|Switzerland|2.0|1.7|-1.9|4.6|0.95|640|7.8
GBR|United Kingdom|2.5|1.5|0.2|5.0|0.74|1610|63
JPN|Japan|2.0|0.8|-2.0|3.3|115|505000|128
CAN|Canada|2.1|1.9|0.2|6.6|1.28|1660|34
AUS|Australia|2.5|2.4|0.9|5.3|1.36|1390|22
NZL|New Zealand|2.3|2.5|1.1|4.9|1.45|200|4.4
KOR|South Korea|2.1|2.7|0.6|3.5|1190|1320000|49.6
TUR|Türkiye|8.0|4.5|7.0|10.5|9|1170|73
MEX|Mexico|4.3|1.9|4.2|4.3|18|13400|113
CHL|Chile|3.4|2.5|2.2|7.5|750|111000|17
BRA|Brazil|5.6|1.6|7.0|9.5|4.2|3890|196
CHN|China|2.2|6.0|0.6|4.1|6.7|41000|1337
IND|India|5.5|6.0|4.0|5.5|72|76000|1240
IDN|Indonesia|4.2|4.8|3.8|5.4|13900|6860000|244
ZAF|South Africa|5.2|1.3|5.0|26.0|14|3055|52
SAU|Saudi Arabia|2.2|2.6|0.8|5.7|3.75|1980|29
ARG|Argentina|8.0|1.2|8.0|8.2|60|1660|41
"""


def _read(line: str) -> Land:
    code, name, *numbers = line.split("|")
    return Land(code, name, *map(float, numbers[:7]), euro=numbers[7:] == ["euro"])


#: By code, the euro area among them.
LANDS: dict[str, Land] = {land.code: land for land in map(_read, _TABLE.split("\n")[1:-1])}

#: The scopes of `/rates`.
SCOPES = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")
