"""What the templates get, without a server: an environment as the dashboard's, a visit, looks."""

from types import SimpleNamespace
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tests.support.paths import ROOT

DASHBOARD = ROOT / "src/almanac/dashboard"
TEMPLATES = DASHBOARD / "templates"
STATIC = DASHBOARD / "static"


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
            "shown_requests": [asked()],
            "request_id": "req_01HZX",
            "data_version": 4812,
        }
        told |= changed
        super().__init__(**{"known_on": told["as_of"], **told})


def asked(path="/coverage?country=BOR&as_of=2024-04-30"):
    return SimpleNamespace(
        path_and_query=path, curl=lambda url: f'curl -H "x-api-key: $ALMANAC_API_KEY" \\\n  "{url}{path}"'
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
