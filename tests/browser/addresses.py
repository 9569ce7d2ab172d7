"""
Every page of the dashboard with an address to look at it, and its other states: empty, refused, withheld, of a past day.

`ADDRESSES` has the paths of the application's own routing table as keys: a page that is added there and not here fails.
"""

from typing import NamedTuple

from almanac.domain.companies import company_id

from . import world

#: Monthly with revisions; daily, of thousands of points; its owner allows no redistribution.
PRICES = "sandbox-fred:country_deu:cpi_inflation_yoy:M"
YIELDS = "sandbox-us-treasury-par:country_usa:gov_yield_10y:D"
SHUT = "sandbox-licensed:country_usa:consumer_confidence:M"
COMPANY = f"/companies/{company_id(world.RESTATED.cik)}"
COMPARED = "/compare?indicator=cpi_inflation_yoy&entities=usa,deu,jpn"
PAST = "2026-08-31"
#: No such day, and one before anything was known.
NO_DAY, BEFORE = "2026-02-30", "1999-12-31"


class Look(NamedTuple):
    """One look at a page: who takes it (None: nobody signed in), and the status it is answered with."""

    path: str
    who: str | None = "pro"
    status: int = 200


def _of(who: str | None, *paths: str) -> list[Look]:
    return [Look(path, who) for path in paths]


#: Path of the routing table → looks at it. `{observation}`, `{key}`, `{account}`, `{invitation}`, `{payload}`, `{join}`
#: and `{reset}` are filled in by `filled`.
ADDRESSES: dict[str, list[Look]] = {
    "/signin": [*_of(None, "/signin", "/signin?next=/keys")],
    "/signup": _of(None, "/signup"),
    "/signup/{token}": [Look("/signup/{join}", None), Look("/signup/gone", None, 404)],
    "/forgot": _of(None, "/forgot"),
    "/reset/{token}": [Look("/reset/{reset}", None), Look("/reset/gone", None, 404)],
    "/": [*_of("pro", "/"), *_of("free", "/")],
    "/search": _of("pro", "/search", "/search?q=inflation+germany", "/search?q=inflation&all=1", "/search?q=inflatoin+japn",
        "/search?q=zzzz", "/search?q=software&type=companies"),
    "/search.json": _of("pro", "/search.json?q=inflation"),
    "/indicators": _of("pro", "/indicators", "/indicators?q=zzzz", "/indicators?kind=derived&page=2"),
    "/indicators/{slug}": [
        *_of("pro", "/indicators/cpi_inflation_yoy", "/indicators/cpi_inflation_yoy?sort=name", "/indicators/consumer_confidence", f"/indicators/policy_rate?as_of={PAST}",
             f"/indicators/policy_rate?as_of={BEFORE}"),
        Look("/indicators/no_such_thing", status=404), Look(f"/indicators/policy_rate?as_of={NO_DAY}", status=400),
    ],
    "/compare": [
        *_of("pro", "/compare", f"{COMPARED}&as_of={PAST}", f"{COMPARED},usa&known=4:{PAST}&show=index", f"/compare?series={SHUT},{PRICES}",
             "/compare?indicator=unemployment_rate,real_gdp&entities=usa&from=all", f"{COMPARED}&as_of={BEFORE}", f"{COMPARED}&off=1,2,3", f"{COMPARED}&events=own"),
        *_of("pro", "/compare?indicator=gov_yield_10y&entities=usa,jpn,gbr,can,aus,che,eur&from=2026-01-01"),
        *_of("free", f"{COMPARED}&show=year"),
        Look(f"{COMPARED}&as_of={NO_DAY}", status=400), Look("/compare?indicator=no_such_thing&entities=usa", status=400),
    ],
    "/embed/series/{id}": [
        *_of(None, f"/embed/series/{PRICES}", f"/embed/series/{PRICES}?as_of={PAST}&events=own", f"/embed/series/{SHUT}"), *_of("pro", f"/embed/series/{YIELDS}"),
        Look("/embed/series/sandbox-fred:country_deu:cpi_inflation_yo:M", None, 404),
    ],
    "/embed/compare": [*_of(None, COMPARED.replace("/", "/embed/", 1)), Look("/embed/compare?indicator=no_such_thing&entities=usa", None, 400)],
    "/compare.csv": _of("pro", COMPARED.replace("?", ".csv?")),
    "/compare.xlsx": _of("pro", COMPARED.replace("?", ".xlsx?")),
    "/compare.svg": _of("pro", COMPARED.replace("?", ".svg?")),
    "/series/{id}.csv": _of("pro", f"/series/{PRICES}.csv"),
    "/series/{id}/vintages.json": _of("pro", f"/series/{PRICES}/vintages.json"),
    "/series/{id}/points.json": _of("pro", f"/series/{YIELDS}/points.json?from=all"),
    "/series/{id}/part": _of("pro", f"/series/{PRICES}/part"),
    "/series/{id}/revisions": _of("pro", f"/series/{PRICES}/revisions", f"/series/{PRICES}/revisions?by=age", f"/series/{PRICES}/revisions?as_of={PAST}", f"/series/{SHUT}/revisions"),
    "/series/{id}": [
        *_of("pro", f"/series/{PRICES}", f"/series/{PRICES}?as_of={PAST}", f"/series/{PRICES}?as_of={BEFORE}",
             f"/series/{PRICES}?as_of={NO_DAY}", f"/series/{YIELDS}?from=all&sources=all", f"/series/{SHUT}", f"/series/{YIELDS}?events=all",
             f"/series/{PRICES}?events=own&as_of={PAST}"),
        *_of("free", f"/series/{PRICES}?as_of=2024-01-31"),
        Look("/series/sandbox-fred:country_deu:cpi_inflation_yo:M", status=404),
    ],
    "/observations/{id}": [*_of("pro", "/observations/{observation}", "/observations/{withheld}"), Look("/observations/obs_none", status=404)],
    "/countries": [
        *_of("pro", "/countries", f"/countries?as_of={PAST}&section=inflation&sort=cpi_inflation_yoy", f"/countries?as_of={BEFORE}"),
        Look(f"/countries?as_of={NO_DAY}", status=400),
    ],
    "/countries/{name}": [
        *_of("pro", "/countries/germany", f"/countries/japan?as_of={PAST}", f"/countries/japan?as_of={BEFORE}", "/countries/united-kingdom"),
        Look("/countries/nowhere", status=404), Look(f"/countries/germany?as_of={NO_DAY}", status=400),
    ],
    "/rates": _of("pro", "/rates", f"/rates?as_of={PAST}", f"/rates?as_of={NO_DAY}"),
    "/rates/{scope}": [
        *_of("pro", "/rates/USA", "/rates/EUR?with=USA,JPN,GBR,CAN", "/rates/JPN?as_of=2026-11-02", f"/rates/USA?as_of={BEFORE}"),
        Look("/rates/FRA", status=404),
    ],
    "/screeners": _of("pro", "/screeners"),
    "/screeners/macro": _of("pro", "/screeners/macro", "/screeners/macro?filter=cpi_inflation_yoy:gt:0",
        "/screeners/macro?filter=cpi_inflation_yoy:gt:90,policy_rate:gt:1", "/screeners/macro?filter=cpi_inflaton_yoy:gt:0",
        f"/screeners/macro?filter=policy_rate:gt:0&as_of={PAST}", "/screeners/macro?filter=consumer_confidence:gt:0"),
    "/screeners/macro.json": _of("pro", "/screeners/macro.json?filter=policy_rate:gt:0"),
    "/screeners/macro.csv": _of("pro", "/screeners/macro.csv?filter=policy_rate:gt:0"),
    "/screeners/macro/fields": _of("pro", "/screeners/macro/fields"),
    "/screeners/equity": _of("pro", "/screeners/equity", "/screeners/equity?filter=piotroski_f:gte:5", "/screeners/equity?filter=net_margin:gt:15",
        "/screeners/equity?filter=piotroski_f:gte:5,sector:in:Technology&sort=revenue_ttm&order=desc"),
    "/screeners/equity.json": _of("pro", "/screeners/equity.json?filter=piotroski_f:gte:5"),
    "/screeners/equity.csv": _of("pro", "/screeners/equity.csv?filter=piotroski_f:gte:5"),
    "/screeners/equity/fields": _of("pro", "/screeners/equity/fields"),
    "/calendar": [
        *_of("pro", "/calendar", "/calendar?from=2001-01-01", f"/calendar?as_of={PAST}", "/calendar?category=central_bank&country=JPN"),
        Look(f"/calendar?from={NO_DAY}", status=400),
    ],
    "/calendar.csv": [*_of("pro", "/calendar.csv?from=2026-11-01"), Look(f"/calendar.csv?from={NO_DAY}", status=400)],
    "/sources": _of("pro", "/sources"),
    "/sources/{id}": [*_of("pro", "/sources/sandbox-fred", "/sources/sandbox-licensed"), Look("/sources/none", status=404)],
    "/companies": _of("pro", "/companies", "/companies?q=zzzz", "/companies?sort=score&order=desc", "/companies?sector=Tecnology"),
    "/companies/{name}": [
        *_of("pro", COMPANY, f"{COMPANY}?statement=balance&frequency=quarterly", f"{COMPANY}?as_of=2015-01-31", f"{COMPANY}?as_of={PAST}",
             "/companies/company_0009900271"),
        Look("/companies/nobody", status=404),
    ],
    "/watchlist": [*_of("pro", "/watchlist"), *_of("free", "/watchlist")],
    "/watchlist.csv": _of("pro", "/watchlist.csv"),
    "/watchlist.json": _of("pro", "/watchlist.json"),
    "/openapi.json": _of("pro", "/openapi.json"),
    "/keys": [*_of("pro", "/keys", "/keys?revoked=all"), *_of("operator", "/keys")],
    "/keys/new": _of("pro", "/keys/new"),
    "/keys/{id}/used.json": [*_of("pro", "/keys/{key}/used.json"), Look("/keys/none/used.json", status=404)],
    "/keys/{id}/rotate": [*_of("pro", "/keys/{key}/rotate"), Look("/keys/none/rotate", status=404)],
    "/keys/{id}/revoke": _of("pro", "/keys/{key}/revoke"),
    "/usage": [*_of("pro", "/usage", "/usage?by=endpoint"), Look(f"/usage?from={NO_DAY}", status=400), *_of("operator", "/usage?by=key")],
    "/usage.csv": _of("pro", "/usage.csv"),
    "/account": _of("pro", "/account"),
    "/account/sessions": _of("pro", "/account/sessions"),
    "/account/delete": _of("pro", "/account/delete"),
    "/operate": [*_of("operator", "/operate"), Look("/operate", status=403)],
    "/operate/sources": _of("operator", "/operate/sources"),
    "/operate/runs": _of("operator", "/operate/runs", "/operate/runs?source=none"),
    "/operate/quarantine": _of("operator", "/operate/quarantine"),
    "/operate/quarantine/{number}": [*_of("operator", "/operate/quarantine/{payload}"), Look("/operate/quarantine/0", "operator", 404)],
    "/operate/plans": _of("operator", "/operate/plans"),
    "/operate/accounts": _of("operator", "/operate/accounts", "/operate/accounts?email=zzzz"),
    "/operate/invitations": _of("operator", "/operate/invitations"),
    "/operate/invitations/{id}/withdraw": _of("operator", "/operate/invitations/{invitation}/withdraw"),
    "/operate/accounts/{id}/{deed}": _of("operator", *(f"/operate/accounts/{{account}}/{deed}" for deed in ("plan", "disable", "enable", "reset"))),
}  # fmt: skip
#: No page at all, for somebody signed in and for nobody.
NOWHERE = [Look("/nowhere", status=404), Look("/nowhere", None, 404)]
#: Answered with a file, or with a part that script puts into a page.
FILES = {path for path in ADDRESSES if path.endswith((".csv", ".json", ".xlsx", ".svg"))}
PARTS = {"/series/{id}/part"}
#: The addresses that a browser shows as pages.
PAGES = {path: looks for path, looks in ADDRESSES.items() if path not in FILES | PARTS}
