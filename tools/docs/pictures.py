"""
The pictures of the documentation, `docs/images`: taken by a browser from a served simulated world.

    python -m tools.docs.pictures                 # loads the world first, some minutes
    python -m tools.docs.pictures --home FOLDER   # of a world loaded by `almanac sandbox` at the moment NOW

The world is always of one day, so that a picture taken again differs only where a page does.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from playwright.sync_api import Browser, Page, sync_playwright

from almanac.config import load
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.records import AccountError
from almanac.store.usage.counts import CountedUse, UsageFile
from tests.support.paths import ROOT
from tests.support.processes import command, environment
from tests.support.servers import free_port, serving

#: Now by the data's clock.
NOW = "2026-11-20T18:00:00Z"
IMAGES = ROOT / "docs" / "images"
#: A picture larger than this says too little for what it weighs.
MOST_BYTES = 225_000
EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
#: The first screen of a desk; as tall as the chart of a series with its slider; a phone.
_DESK, _TALL, _PHONE = (1440, 1000), (1280, 1112), (390, 844)
SERIES = "/series/sandbox-fred:country_usa:gdp_growth_qoq_annualized:Q"


class Shot(NamedTuple):
    """One picture: its name, the page, and how it is looked at."""

    name: str
    path: str
    size: tuple[int, int] = _DESK
    dark: bool = False
    #: What is brought to the top, a CSS selector.
    at: str = ""


SHOTS = (
    Shot("series", SERIES, _TALL),
    Shot("series-dark", SERIES, _TALL, dark=True),
    Shot("series-past", f"{SERIES}?as_of=2024-05-01", _TALL),
    Shot("series-phone", SERIES, _PHONE),
    Shot("revisions", SERIES, at="#revisions"),
    Shot("fan", f"{SERIES}/revisions"),
    Shot("compare", "/compare?indicator=gov_yield_10y&entities=usa,deu,gbr,jpn,aus&from=2025-01-01"),
    Shot(
        "compare-past",
        "/compare?indicator=real_gdp&entities=usa,usa,usa&known=2:2024-05-01,3:first&show=year&from=2018-01-01",
    ),
    Shot("indicator", "/indicators/cpi_inflation_yoy"),
    Shot("countries", "/countries"),
    Shot("search", "/search?q=inflation+germany&all=1"),
    Shot("country", "/countries/germany"),
    Shot("rates", "/rates/USA"),
    Shot("screener", "/screeners/equity?filter=piotroski_f:gte:8,return_on_equity:gte:0.1"),
    Shot("company", "/companies/boxwood-software-corp"),
    Shot("calendar", "/calendar"),
    Shot("keys", "/keys"),
    Shot("usage", "/usage"),
    Shot("overview", "/"),
)


def prepare(home: Path) -> None:
    """An account that has keys and used them; made once."""
    accounts = Accounts(home / "accounts.db")
    now = int(time.time())
    plans = load({"ALMANAC_HOME": str(home)}).plans
    with contextlib.closing(accounts):
        with contextlib.suppress(AccountError):
            one = accounts.create_account(EMAIL, "pro", plans, now=now - 80 * 86_400)
            used = []
            for name, days in (("Rates monitor", 70), ("Nightly notebook", 31), ("Spreadsheet", 4)):
                _, key = accounts.create_key(EMAIL, name=name, now=now - days * 86_400)
                used.append((key.prefix, days))
                with accounts.changing() as db:
                    db.execute("UPDATE api_key SET last_used = ? WHERE id = ?", (now - 60 * days, key.id))
            _use(home / "usage.db", one.id, used, now)
        Authentication(accounts).set_password(EMAIL, PASSWORD, now=now)


def _use(path: Path, account: str, keys: Sequence[tuple[str, int]], now: int) -> None:
    """Requests of thirty days: more on working days, a few refused."""
    chance, counted = random.Random(14), []
    endpoints = ("/observations", "/observations/latest", "/rates/{scope}", "/screener/macro", "/briefs/{country}")
    for back in range(30, -1, -1):
        day = now // 86_400 - back
        quiet = (day + 4) % 7 in {0, 6}
        for place, (prefix, age) in enumerate(keys):
            if back > age:
                continue
            for endpoint in endpoints[: 5 - place]:
                requests = chance.randrange(40, 90) // (1 + place) // (4 if quiet else 1)
                for status, number in (
                    (200, requests),
                    (404, requests // 60),
                    (429, requests // 80 if back == 9 else 0),
                ):
                    if number:
                        seconds = chance.uniform(0.002, 0.03)
                        figures = (number, int(seconds * 1e6 * number))
                        counted.append(CountedUse(min(day * 1_440 + 600, now // 60), account, prefix, endpoint, status, figures))  # fmt: skip
    file = UsageFile(path)
    file.add(counted)
    file.close()


@contextlib.contextmanager
def served(home: Path | None) -> Iterator[str]:
    """The dashboard of a world: its address. None: a world of its own, in a folder that is removed afterwards."""
    with contextlib.ExitStack() as stack:
        if home is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "home"
            subprocess.run(command("sandbox"), env=environment(home, NOW=NOW), check=True, stdout=subprocess.DEVNULL)
        prepare(home)
        port = free_port()
        more = {"NOW": NOW, "DASHBOARD": "true", "DASHBOARD_PORT": str(port)}
        # Requests are shown as of a service at its usual address.
        more |= {"BASE_URL": "http://127.0.0.1:8000", "DASHBOARD_URL": f"http://127.0.0.1:{port}"}
        stack.enter_context(serving(home, **more))
        for _ in range(600):
            with contextlib.suppress(httpx2.TransportError):
                httpx2.get(f"http://127.0.0.1:{port}/signin", timeout=30)
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def signed_in(
    browser: Browser, address: str, size: tuple[int, int], *, dark: bool = False, **more: Any
) -> Iterator[Page]:
    """A page of somebody signed in."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light", reduced_motion="reduce",
        **more,
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"{address}/signin")
    page.fill("input[name=email]", EMAIL)
    page.fill("input[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{address}/")
    yield page
    context.close()


def take(page: Page, address: str, shot: Shot, folder: Path, *, whole: bool = False) -> Path:
    """One picture into a folder; of the whole page where wanted."""
    page.goto(address + shot.path, wait_until="networkidle")
    page.evaluate("document.fonts.ready")
    if shot.at and not whole:
        page.locator(shot.at).evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 16)")
    path = folder / f"{shot.name}.png"
    page.screenshot(path=path, full_page=whole, animations="disabled", caret="hide")
    return path


def main(words: Sequence[str] | None = None) -> None:
    """Take them all."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs.pictures", description=__doc__)
    parser.add_argument("--home", type=Path, help="a world that is there, loaded at the moment NOW")
    parser.add_argument("--folder", type=Path, default=IMAGES)
    parser.add_argument("--whole", action="store_true", help="whole pages, to be looked at")
    parser.add_argument("names", nargs="*", help="pictures; nothing: all")
    chosen = parser.parse_args(words)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with served(chosen.home) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for shot in SHOTS:
            if not chosen.names or shot.name in chosen.names:
                with signed_in(browser, address, shot.size, dark=shot.dark) as page:
                    path = take(page, address, shot, chosen.folder, whole=chosen.whole)
                sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
        browser.close()


if __name__ == "__main__":
    main()
