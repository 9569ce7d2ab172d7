"""What each page weighs on the wire, how often it asks, whom, and whether it fits: as a browser counts, nothing kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .addresses import NOWHERE, PAGES
from .conftest import WIDTHS, Served, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

#: Bytes over the wire, and requests, of a page that nobody has looked at before. Data that a chart fetches are apart.
MOST_BYTES, MOST_REQUESTS = 110_000, 15
#: Of every day of all sources on one chart.
MOST_BYTES_WHOLE = 120_000
#: Bytes of script of our own, and how far what is shown may move while a page is made (the browser's measure).
MOST_SCRIPT, MOST_SHIFT = 25_000, 0.05
SHIFT = """() => new Promise(give => {
  let sum = 0;
  const observer = new PerformanceObserver(list => { for (const one of list.getEntries()) sum += one.value; });
  observer.observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => give(sum), 0));
})"""
CHART_DATA = ("/points.json", "/vintages.json")


class Wire:
    """Requests of a page and their sizes, from the browser's own tool for developers."""

    def __init__(self, page: Any) -> None:
        self.bytes: dict[str, float] = {}
        self._names: dict[str, str] = {}
        self._page, self._open = page, set[str]()
        told = page.context.new_cdp_session(page)
        told.send("Network.enable")
        told.send("Network.setCacheDisabled", {"cacheDisabled": True})
        told.on("Network.requestWillBeSent", self._begun)
        told.on("Network.loadingFailed", lambda event: self._open.discard(event["requestId"]))
        told.on("Network.loadingFinished", self._finished)

    def _begun(self, event: dict[str, Any]) -> None:
        self._names[event["requestId"]] = event["request"]["url"]
        self._open.add(event["requestId"])

    def _finished(self, event: dict[str, Any]) -> None:
        self._open.discard(event["requestId"])
        address = self._names.get(event["requestId"], "")
        if not address.startswith("data:"):
            self.bytes[event["requestId"] + " " + address] = event["encodedDataLength"]

    def quiet(self) -> None:
        """Wait until script has begun nothing more for three looks, a little apart."""
        looks = 0
        while looks < 3:
            self._page.wait_for_timeout(25)
            looks = 0 if self._open else looks + 1

    def counted(self) -> dict[str, float]:
        """Bytes by request since the last time, data of charts left out."""
        found = {one: size for one, size in self.bytes.items() if not one.partition("?")[0].endswith(CHART_DATA)}
        self.bytes.clear()
        return found


def test_every_page_is_light_fits_and_stays_here(served: Served, visitor: Callable[..., Visitor]) -> None:
    seen = {who: visitor(who) for who in ("pro", "free", "operator", None)}
    wires = {who: Wire(one.page) for who, one in seen.items()}
    wrong = []
    for looks in {**PAGES, "nowhere": NOWHERE}.values():
        for look in looks:
            one, wire = seen[look.who], wires[look.who]
            wire.counted()
            one.go(look.path.format(**served.names), look.status)
            wire.quiet()
            counted = wire.counted()
            size = sum(counted.values())
            most = MOST_BYTES_WHOLE if "from=all&sources=all" in look.path else MOST_BYTES
            if size > most:
                wrong.append(
                    f"{look.path}: {size:,.0f} bytes, {sorted(counted.items(), key=lambda pair: -pair[1])[:4]}"
                )
            if not 1 <= len(counted) <= MOST_REQUESTS:
                wrong.append(f"{look.path}: {len(counted)} requests")
            script = sum(
                size
                for name, size in counted.items()
                if name.partition("?")[0].endswith(".js") and "/vendor/" not in name
            )
            if script > MOST_SCRIPT:
                wrong.append(f"{look.path}: {script:,.0f} bytes of script")
            shift = one.page.evaluate(SHIFT)
            if shift > MOST_SHIFT:
                wrong.append(f"{look.path}: moves by {shift:.3f} while it is made")
            for width in WIDTHS:
                one.page.set_viewport_size({"width": width, "height": 900})
                over = one.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if over > 0:
                    wrong.append(f"{look.path}: {over} pixels wider than a screen of {width}")
            titles = one.page.locator("h1").count()
            if titles != 1:
                wrong.append(f"{look.path}: {titles} titles")
    assert not wrong, "\n".join(wrong)
