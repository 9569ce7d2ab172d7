"""What the templates get, without a server: an environment as the dashboard's, a visit, looks, a figure."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tests.support.paths import ROOT

DASHBOARD = ROOT / "src/almanac/dashboard"
TEMPLATES = DASHBOARD / "templates"
STATIC = DASHBOARD / "static"
#: An account, a name, a caption and the like that somebody may have written to do harm.
EVIL = "<script>alert(1)</script><b onmouseover='x()'>\"'&"


class Look(NamedTuple):
    """Attributes of `formatting.values.FormattedValue`, as far as a template reads them."""

    state: str
    text: str
    spoken: str
    full: str | None = None
    chip: object = None
    change: str | None = None
    direction: str | None = None
    note: str | None = None


def chip(kind, sign, text):
    return SimpleNamespace(kind=kind, sign=sign, text=text)


LOOKS = {
    "plain": Look("plain", "2.1", "2.1", "2.1034"),
    "revised": Look("revised", "2.4", "2.4, revised up by 0.4", "2.4", change="+0.4", direction="up"),
    "revised down": Look("revised", "−0.9", "−0.9, revised down by 0.2", "-0.9", change="−0.2", direction="down"),
    "revised, unknown by how much": Look("revised", "2.4", "2.4, revised", "2.4"),
    "stale": Look("stale", "1.4", "1.4, stale", "1.4", chip("warn", "half", "stale, 324 days")),
    "discontinued": Look("discontinued", "1.4", "1.4, ended 2024 Q4", "1.4", chip("plain", "disc", "ended 2024 Q4")),
    "withheld": Look(
        "withheld",
        "Withheld",
        "withheld, licence forbids redistribution",
        chip=chip("withheld", "crossed", "licence forbids redistribution"),
    ),
    "outside_plan": Look("outside_plan", "Not in plan", "Not in plan"),
    "none": Look("none", "No data", "No data"),
    "withdrawn": Look("withdrawn", "5.1", "5.1, withdrawn", "5.1", note="withdrawn 3 May 2025"),
    "withdrawn, unknown from what": Look("withdrawn", "", "withdrawn 3 May 2025", note="withdrawn 3 May 2025"),
}


class Visit(SimpleNamespace):
    """What a page is told of the visit. Without arguments: somebody signed in who looks at today."""

    def __init__(self, **changed):
        person = SimpleNamespace(email="ada@example.org", role="operator", plan="free")
        told = {
            "person": person,
            "csrf": "c5rf-t0ken",
            "path": "/series/x:y",
            "as_of": None,
            "simulated": False,
            "theme": "system",
            "asked": [asked()],
            "request_id": "req_01HZX",
            "data_version": 4812,
        }
        told |= changed
        super().__init__(**{"known_on": told["as_of"], **told})


def asked(path="/coverage?country=BOR&as_of=2024-04-30"):
    return SimpleNamespace(
        path_and_query=path, curl=f'curl -H "x-api-key: $ALMANAC_API_KEY" \\\n  "http://127.0.0.1:8000{path}"'
    )


NAVIGATION = [
    SimpleNamespace(title=title, path=path, current=path == "/countries")
    for title, path in (
        ("Overview", "/"),
        ("Countries", "/countries"),
        ("Rates", "/rates"),
        ("Screeners", "/screeners"),
        ("Companies", "/companies"),
        ("Calendar", "/calendar"),
        ("Keys", "/keys"),
        ("Usage", "/usage"),
        ("Operate", "/operate"),
    )
]


#: Days of the three points, as ordinals.
DAYS = (739000, 739090, 739180)


def drawing(name, width, height):
    """A plain drawing of two lines over `DAYS`, as `drawing.svg` writes it."""
    left, right, middle, low = 40, width - 80, (width - 40) / 2, height - 30
    return Markup(
        '<svg class="chart {0}" viewBox="0 0 {1} {2}" width="{1}" height="{2}" aria-hidden="true" focusable="false">'
        '<g class="plot" data-x="{3} {4} {5} {6}" data-y="-4 8 {7} 14"><path class="grid" d="M{5},14H{6}"/>'
        '<path class="axis" d="M{5},{8}H{6}"/><text class="tick" x="32" y="{8}" text-anchor="end">0</text>'
        '<path class="line c1" d="M{5},{8}L{9},20L{6},60"/><path class="line dash c2" d="M{5},90L{9},70L{6},100"/>'
        '<path class="line ghost" d="M{9},30L{6},80"/><path class="withheld" d="M{9},{7}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0"/>'
        '<path class="stem" d="M{9},20V44"/><circle class="first" cx="{9}" cy="44" r="3"/>'
        '<circle class="newest c1" cx="{6}" cy="60" r="4"/><text class="end" x="{6}" y="50">2.1%</text></g></svg>'
    ).format(name, width, height, DAYS[0], DAYS[2], left, right, low, height * 2 // 3, middle)


SPARK = Markup(
    '<svg class="spark" viewBox="0 0 72 20" width="72" height="20" aria-hidden="true" focusable="false">'
    '<path class="line c1" d="M3,15L30,4L69,9"/><circle class="newest" cx="69" cy="9" r="2"/></svg>'
)
READOUT = json.dumps(
    {
        "year": 2,
        "lines": [
            {
                "name": "Known today",
                "class": "c1",
                "points": [[d, v, f"Q{n}: {v}%"] for n, (d, v) in enumerate(zip(DAYS, (0, 7.4, 3), strict=True), 1)],
            },
            {
                "name": "Norland",
                "class": "c2",
                "points": [
                    [DAYS[0], 1, "Norland, Q1: 1%"],
                    [DAYS[1], None, "Norland, Q2: withheld"],
                    [DAYS[2], 0.5, "Norland, Q3: 0.5%"],
                ],
            },
        ],
    }
)


def figure(**changed):
    """Attributes of `drawing.Figure`."""
    told = {
        "id": "chart",
        "unit": "Percent",
        "title": "Percent, year on year",
        "caption": "Real GDP of Borealia grew 2.1% in the year to 2026 Q3, 0.3 percentage points less than in 2026 Q2.",
        "legend": [
            SimpleNamespace(
                name=f"The kind {kind}", kind=kind, colour=0 if kind in {"ghost", "first", "withheld"} else 2
            )
            for kind in ("line", "dash", "ghost", "first", "forecast", "withheld", "column", "hatch")
        ],
        "svgs": (drawing("wide", 880, 316), drawing("middle", 640, 280), drawing("narrow", 358, 250)),
        "readout": READOUT,
        "empty": "There is nothing to draw.",
        "label": "Percent, year on year. Left and Right go from point to point.",
    }
    return SimpleNamespace(**(told | changed))


def environment(static=lambda name: f"/static/0123456789abcdef/{name}"):
    """As the dashboard's own: escaped, every name must be there."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["day"] = lambda text: "30 Apr 2024" if text == "2024-04-30" else text
    made.globals.update(static=static, api_url="http://127.0.0.1:8000", dashboard_url="http://127.0.0.1:8001")
    return made


def macro(call, room, /, **values):
    """What a macro of a part writes. `call` as a template has it: `chip(text)`; or a call block's body after it: `notice() | body`."""
    name = call.partition("(")[0]
    call, _, body = call.partition(" | ")
    used = f"{{% call {call} %}}{body}{{% endcall %}}" if body else f"{{{{ {call} }}}}"
    source = f'{{% from "parts/{room}.html" import {name} %}}{used}'
    return environment().from_string(source).render(values).strip()
