"""What the companies of the simulated world do: the habits of each trade, in the units its books are kept in."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trade:
    """One line of business. Shares are of revenue, days are days of revenue (or of its cost), rates are per year."""

    name: str
    #: `goods` (also services and property), `finance`, `fund` or `shell`: which books it keeps.
    books: str
    #: Codes of the regulator's list of industries with their titles, used in turn.
    sics: tuple[tuple[str, str], ...]
    #: Second words of the names of its companies, used in turn.
    words: tuple[str, ...]
    count: int
    cost: float = 0.6
    research: float = 0.0
    selling: float = 0.15
    capital: float = 0.05
    #: Property, plant and equipment per yearly revenue, at the start.
    plant: float = 0.3
    receivable_days: float = 50.0
    inventory_days: float = 0.0
    growth: float = 0.06
    swing: float = 0.05
    #: Size of the seasons: how far the best quarter is above the mean.
    season: float = 0.03
    debt: float = 0.25
    tax: float = 0.23


#: Name, books, companies and habits of a trade; the words of their names; their industries. In this order the companies of the
#: United States are numbered.
_TABLE = """
software goods 18 cost=0.28 research=0.19 selling=0.31 capital=0.04 plant=0.12 receivable_days=58 growth=0.12 debt=0.12
  Software, Systems, Labs, Cloudworks, Data
  7372 Services-Prepackaged Software; 7371 Services-Computer Programming Services;
  7373 Services-Computer Integrated Systems Design; 7370 Services-Computer Programming, Data Processing, Etc.
hardware goods 18 cost=0.55 research=0.14 selling=0.12 capital=0.07 inventory_days=85 growth=0.08 swing=0.12
  Semiconductor, Devices, Circuits, Microsystems
  3674 Semiconductors & Related Devices; 3571 Electronic Computers; 3576 Computer Communications Equipment;
  3672 Printed Circuit Boards
medicines goods 14 cost=0.27 research=0.24 selling=0.27 capital=0.04 plant=0.25 inventory_days=150 growth=0.09 swing=0.09
  Pharmaceuticals, Therapeutics, Biosciences
  2834 Pharmaceutical Preparations; 2836 Biological Products, (No Diagnostic Substances);
  8731 Services-Commercial Physical & Biological Research
devices goods 14 cost=0.42 research=0.09 selling=0.3 plant=0.22 receivable_days=56 inventory_days=110 growth=0.08
  Medical, Diagnostics, Surgical
  3841 Surgical & Medical Instruments & Apparatus; 3845 Electromedical & Electrotherapeutic Apparatus;
  8071 Services-Medical Laboratories
goods goods 20 cost=0.61 research=0.015 selling=0.22 plant=0.25 receivable_days=38 inventory_days=75 growth=0.03 season=0.08
  Foods, Brands, Home, Beverage
  2000 Food and Kindred Products; 2080 Beverages; 2844 Perfumes, Cosmetics & Other Toilet Preparations;
  3942 Dolls & Stuffed Toys; 2510 Household Furniture
shops goods 16 cost=0.68 selling=0.235 plant=0.22 receivable_days=6 inventory_days=55 growth=0.04 season=0.22
  Stores, Markets, Outfitters, Kitchens
  5331 Retail-Variety Stores; 5411 Retail-Grocery Stores; 5651 Retail-Family Clothing Stores;
  5812 Retail-Eating  Places; 5961 Retail-Catalog & Mail-Order Houses
machines goods 26 cost=0.69 research=0.025 selling=0.14 plant=0.24 receivable_days=62 inventory_days=90 growth=0.04 swing=0.08
  Industries, Manufacturing, Machine Works, Dynamics, Engineering
  3559 Special Industry Machinery, NEC; 3531 Construction Machinery & Equip;
  3711 Motor Vehicles & Passenger Car Bodies; 3612 Power, Distribution & Specialty Transformers;
  1531 Operative Builders; 3728 Aircraft Parts & Auxiliary Equipment, NEC
energy goods 12 cost=0.68 selling=0.06 capital=0.13 plant=1.1 receivable_days=36 inventory_days=28 growth=0.03 swing=0.2
  Energy, Petroleum, Resources
  1311 Crude Petroleum & Natural Gas; 2911 Petroleum Refining; 1381 Drilling Oil & Gas Wells
utilities goods 10 cost=0.58 selling=0.1 capital=0.2 plant=2.4 receivable_days=40 inventory_days=30 growth=0.03 swing=0.02 season=0.12 debt=0.9
  Power, Electric, Gas & Light
  4911 Electric Services; 4931 Electric & Other Services Combined; 4924 Natural Gas Distribution
materials goods 16 cost=0.73 research=0.012 selling=0.09 capital=0.07 plant=0.6 inventory_days=65 growth=0.025 swing=0.12
  Materials, Steel, Mining, Paper
  2820 Plastic Material, Synth Resin/Rubber Cellulos (No Glass); 3312 Steel Works, Blast Furnaces & Rolling Mills;
  1040 Gold and Silver Ores; 2621 Paper Mills
media goods 12 cost=0.5 selling=0.25 capital=0.11 plant=0.7 receivable_days=44 growth=0.02 debt=0.6
  Communications, Media, Broadcasting
  4813 Telephone Communications (No Radiotelephone); 4841 Cable & Other Pay Television Services;
  2711 Newspapers: Publishing or Publishing & Printing; 7812 Services-Motion Picture & Video Tape Production
transport goods 8 cost=0.76 selling=0.1 capital=0.09 plant=0.8 receivable_days=34 growth=0.04 swing=0.08 season=0.06
  Lines, Freight, Logistics
  4213 Trucking (No Local); 4011 Railroads, Line-Haul Operating; 4512 Air Transportation, Scheduled
banks finance 62 growth=0.05 swing=0.03 season=0 tax=0.21
  Bancorp, Financial, Bankshares, Savings
  6022 State Commercial Banks; 6021 National Commercial Banks; 6035 Savings Institution, Federally Chartered;
  6141 Personal Credit Institutions
insurers finance 46 growth=0.05 swing=0.04 season=0 tax=0.2
  Insurance, Assurance, Casualty, Life
  6331 Fire, Marine & Casualty Insurance; 6311 Life Insurance; 6321 Accident & Health Insurance;
  6351 Surety Insurance
property goods 10 cost=0.4 selling=0.12 capital=0.14 plant=5.5 receivable_days=18 growth=0.05 swing=0.03 season=0.01 debt=3 tax=0.02
  Realty, Properties, Land Trust
  6798 Real Estate Investment Trusts
commodities fund 4
  Metal Trust, Oil Fund
  6221 Commodity Contracts Brokers & Dealers
shells shell 2
  Acquisition
  6770 Blank Checks
"""


def _read(block: str) -> Trade:
    head, words, *industries = block.splitlines()
    name, books, count, *habits = head.split()
    pairs = [industry.strip().split(" ", 1) for industry in " ".join(industries).split(";")]
    rates = {habit: float(rate) for habit, rate in (text.split("=") for text in habits)}
    second = tuple(word.strip() for word in words.split(","))
    return Trade(name, books, tuple((code, title) for code, title in pairs), second, int(count), **rates)


TRADES: tuple[Trade, ...] = tuple(map(_read, re.split(r"\n(?! )", _TABLE.strip())))

#: Whose trades the filers from abroad take, in turn.
ABROAD = ("software", "hardware", "medicines", "goods", "machines", "energy", "materials", "media")
