"""
All components in all their states on one page, to be looked at.

`python -m tests.dashboard.templates.gallery FOLDER` writes the page and what it needs; open `index.html` by a file server.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

from .kit import LOOKS, NAVIGATION, SPARK, STATIC, Visit, chip, environment, figure

PAGE = """
{% extends "base.html" %}
{% from "parts/sign.html" import sign %}
{% from "parts/chip.html" import chip, chips %}
{% from "parts/value.html" import value, sparkline, share %}
{% from "parts/head.html" import page_head, anchors, segments, about, readings %}
{% from "parts/asof.html" import asof_bar, asof_form %}
{% from "parts/figure.html" import figure %}
{% from "parts/table.html" import data_table, pager %}
{% from "parts/code.html" import code_box, secret_box, same_by_api %}
{% from "parts/form.html" import field, select, choices, filter_row, csrf_field %}
{% from "parts/notice.html" import notice %}
{% from "parts/lineage.html" import lineage %}
{% from "parts/triangle.html" import triangle %}
{% block title %}All components{% endblock %}
{% block main %}
{% call page_head("Real GDP growth, year on year: Borealia", [("Countries", "/countries"), ("Borealia", "/countries/bor")], chips=badges, figures=numbers) -%}
Percent change of <a href="/indicators/gdp">real GDP</a> on the same quarter a year before. Quarterly, derived by Almanac from one input series.
{%- endcall %}
{{ asof_bar("1 Mar 2016", "/", "30 Apr 2016", "/?as_of=2016-04-30") }}
{{ anchors([("Chart", "chart"), ("Table", "table"), ("Revisions", "revisions"), ("Lineage", "lineage"), ("The same by API", "api")]) }}
{{ notice("done", "Signed out of two other browsers.") }}
{{ notice("warn", "Balance sheet differs from its parts by 3m in FY2023.") }}
{{ notice("bad", "E-mail or password is wrong.") }}
{{ notice(text="This key was shown once and cannot be shown again.") }}
<div class="columns">
<div>
{% call figure(chart, ranges=ranges) %}
{{ asof_form("/", "2024-04-30", {"from": "2016"}) }}
{% endcall %}
{{ figure(none_yet, ranges=ranges, next=("Show it", "/?as_of=2016-04-30")) }}
{{ figure(failed, failed="/") }}
{{ data_table("table", "Table", columns, rows, "None.", note="Percent, year on year. The same numbers as the chart, newest first.", tall=true) }}
{{ pager("1–50 of 1,204", next="/?cursor=x") }}
{{ data_table("bare", "Your keys", [{"title": "Name"}, {"title": "Status"}], [], "You have no keys yet. A key lets a program read data.", next=("Create a key", "/keys/new")) }}
{{ pager("", error="This list is older than 7 days.", again="/") }}
{{ triangle(releases, triangle_rows, "Quarter", all="/", foot=[{"term": "Mean revision", "text": "+0.1 points"}, {"term": "Revised up", "text": "62%"}]) }}
{{ triangle((), (), empty="This source publishes no vintages. We keep every change since 12 May 2026, the day we first fetched it.", id="revisions-none", title="Revision triangle of none") }}
{{ lineage("Lineage of 2026 Q3: 2.1%", steps, note="Every step opens, down to the bytes that were fetched.") }}
{{ lineage("Lineage of a value of old", (), id="lineage-none") }}
{{ same_by_api(visit.asked) }}
</div>
<div class="side">
{{ about("About this series", facts) }}
{{ readings("Nearby series", near) }}
</div>
</div>
{{ secret_box("Nightly notebook", "alm_" ~ "7Hq2vXc9TmB4kLpR0sWdZ8nYfJg1aEuK3oQi5hMx", visit.asked[0].curl, "/keys") }}
{{ data_table("keys", "Keys", key_columns, key_rows, "You have no keys yet.", cards=true) }}
<form class="panel form" action="/keys" method="post" novalidate>
<h2>Create a key</h2>
{{ csrf_field(visit) }}
{{ field("name", "Name", hint="So that you know later what uses it.") }}
{{ field("expires", "Ends on", "31.4.24", error="“31.4.24” is not a date. Write year, month, day: 2024-04-30", hint="For example 2027-02-18") }}
{{ field("password", "Password", type="password", hint="At least 12 characters.", attributes={"autocomplete": "new-password"}) }}
{{ field("notes", "Notes", "Some words", type="textarea") }}
{{ select("plan", "Plan", [{"value": "free", "label": "Free"}, {"value": "pro", "label": "Pro"}], "pro") }}
{{ choices("scope", "What may it read?", [{"value": "all", "label": "All data", "hint": "The default."}, {"value": "some", "label": "Only some of it"}], ["all"]) }}
{{ choices("scopes", "Only these", [{"value": "macro", "label": "Macro"}, {"value": "events", "label": "Events"}], ["macro"], type="checkbox", error="Tick at least one.") }}
<div class="buttons"><button class="primary" type="submit">Create key</button><button class="danger" type="submit">Revoke key</button><button type="submit" aria-disabled="true">Creating…</button><a href="/keys">Keep it</a></div>
</form>
<form class="panel" action="/" method="get"><h2>Filters</h2>
{% for row in filters %}{{ filter_row(row, fields, operators) }}{% endfor %}
</form>
<section class="panel"><h2>A value has eight looks</h2>
<ul class="prose">{% for name, look in looks.items() %}<li>{{ value(look, "/sources/x" if name == "withheld" else "") }} <span class="quiet">{{ name }}</span></li>{% endfor %}</ul>
<p>{{ sparkline(spark) }} {{ share(0.63) }} 63%</p>
{{ segments("View", ranges) }}
</section>
{% endblock %}
"""

BADGES = [
    chip("good", "disc", "Fresh"),
    chip("revised", "up", "37 quarters revised"),
    {"text": "125 vintages since 2016"},
    {"text": "Public, redistributable"},
    {"text": "simulated", "kind": "warn"},
    {"text": "failed", "kind": "bad"},
    {"text": "passed", "kind": "good", "sign": "tick"},
    {"text": "Read the licence", "kind": "withheld", "href": "/sources/x"},
    {"text": "first published", "kind": "accent"},
]
NUMBERS = [
    {"label": "2026 Q3", "text": "2.1%", "note": "known since 30 Oct 2026", "big": True},
    {"label": "Change on 2026 Q2", "look": LOOKS["revised"], "note": "percentage points"},
    {"label": "Left this minute", "text": "63 of 100", "note": "starts again at 13:42 UTC", "part": 0.63},
    {"label": "Next release", "text": "27 Nov", "note": "scheduled, 10:00 UTC", "error": "Could not be asked anew."},
    {"label": "Left out", "text": ""},
]
COLUMNS = [
    {"title": "Quarter"},
    {"title": "Value", "right": True, "sort": "/?sort=value", "sorted": "descending"},
    {"title": "First published", "right": True, "sort": "/?sort=first"},
    {"title": "Status"},
    {"title": "First known", "right": True},
    {"title": "Last changed", "right": True},
]
ROWS = [
    [
        f"{2026 - number // 4} Q{4 - number % 4}",
        {"look": look},
        "2.1",
        {"text": "initial", "note": name},
        "30 Apr 2024",
        "30 Apr 2024",
    ]
    for number, (name, look) in enumerate(LOOKS.items())
]
KEY_COLUMNS = [
    {"title": "Name"},
    {"title": "Status"},
    {"title": "Scopes"},
    {"title": "Requests, 30 days", "right": True},
    {"title": "", "aloud": "Deeds"},
]


def context(deeds):
    """All that the page shows. `deeds`: markup of two buttons."""
    state = [[None, "2.0", "2.4"], ["1.8", "2.3", "2.3"], ["2.5", "2.5", "2.4"]]
    kinds = [["none", "first", "changed"], ["first", "changed", "same"], ["first", "same", "changed"]]
    node = {
        "text": "512.48 billion",
        "what": "Real GDP",
        "href": "/series/x",
        "when": "2026 Q3, known since 30 Oct 2026",
    }
    return {
        "visit": Visit(as_of="2024-04-30", simulated=True),
        "navigation": NAVIGATION,
        "errors": [
            {"field": "expires", "message": "“31.4.24” is not a date. Write year, month, day: 2024-04-30"},
            {"field": "scopes", "message": "Tick at least one."},
        ],
        "badges": BADGES,
        "numbers": NUMBERS,
        "chart": figure(),
        "none_yet": figure(
            id="empty",
            title="Before the first release",
            svgs=(),
            empty="Nothing was known on 1 Mar 2016. The first release was on 30 Apr 2016.",
        ),
        "failed": figure(id="failed", title="A chart that failed"),
        "ranges": [
            {"title": "1Y", "href": "/?range=1", "aloud": "one year"},
            {"title": "5Y", "href": "/?range=5", "aloud": "five years"},
            {"title": "All", "href": "/", "current": True},
        ],
        "columns": COLUMNS,
        "rows": ROWS,
        "releases": ["28 Sep 2026", "29 Sep 2026", "30 Oct 2026"],
        "triangle_rows": [
            {
                "period": f"2026 Q{3 - number}",
                "cells": [
                    {"state": kind, "text": text, "direction": "up" if number == 1 else "down"}
                    for kind, text in zip(kinds[number], texts, strict=True)
                ],
            }
            for number, texts in enumerate(state)
        ],
        "steps": [
            {
                "title": "Raw payload",
                "nodes": [
                    {
                        "text": "na_quarterly.csv",
                        "what": "Open provenance",
                        "href": "/",
                        "when": "14,208 bytes, fetched 30 Oct 2026, 09:31",
                        "code": "9f3c27…a1e7",
                    }
                ],
            },
            {
                "title": "Inputs",
                "nodes": [node, node | {"text": "501.94 billion"}, {"look": LOOKS["withheld"], "what": "Deflator"}],
                "more": 31,
            },
            {"title": "Formula", "nodes": [{"text": "Year-on-year growth", "code": "100 × (x / x[−4] − 1)"}]},
            {
                "title": "Result",
                "nodes": [
                    {
                        "text": "2.1%, 2026 Q3",
                        "code": "obs_4kq7…m2xa",
                        "result": True,
                        "verdict": "initial, recomputed: equal",
                    },
                    {
                        "text": "2.2%, 2026 Q3",
                        "result": True,
                        "wrong": True,
                        "verdict": "Recomputed: not equal, 2.1 and 2.2",
                    },
                ],
            },
        ],
        "facts": [
            {"term": "Source", "text": "Sandbox statistics office", "href": "/sources/x"},
            {"term": "Licence", "text": "Simulated, not real data"},
            {"term": "Seasonal adj.", "text": "Adjusted"},
            {"term": "Series id", "text": "sandbox-statistics:country_bor:gdp_growth_yoy:Q", "code": True},
        ],
        "near": [
            {"title": name.capitalize(), "href": "/series/x", "look": look, "note": "Oct 2026 · monthly"}
            for name, look in list(LOOKS.items())[:8]
        ],
        "key_columns": KEY_COLUMNS,
        "key_rows": [
            [
                {"text": "Rates monitor", "note": "alm_Xa19… created 3 Sep 2026"},
                "live",
                "analytics:read",
                "41,208",
                {"text": deeds, "deeds": True},
            ],
            {
                "class": "over",
                "cells": [
                    {"text": "Intern laptop", "note": "alm_93Lk… created 2 Jun 2025"},
                    "revoked",
                    "macro:read",
                    "77",
                    "",
                ],
            },
        ],
        "filters": [
            {"number": 1, "field": "roe", "operator": "gte", "value": "0.15", "aside": "15%", "count": "1,204 pass"},
            {
                "number": 2,
                "field": "sector",
                "operator": "in",
                "value": "Tech",
                "error": "`retrun_on_equity` is not a field. Nearest: return_on_equity",
            },
            {"number": 3, "field": "", "operator": "gte", "value": ""},
        ],
        "fields": [
            {
                "title": "Returns",
                "options": [
                    {"value": "roe", "label": "Return on equity"},
                    {"value": "secret", "label": "Beta (withheld)", "disabled": True},
                ],
            },
            {"title": "What it is", "options": [{"value": "sector", "label": "Sector"}]},
        ],
        "operators": [{"value": "gte", "label": "at least"}, {"value": "in", "label": "is one of"}],
        "looks": LOOKS,
        "spark": SPARK,
    }


def page(static=lambda name: f"static/{name}", **changed):
    """The gallery as one HTML page. `changed`: of the visit."""
    made = environment(static)
    deeds = made.from_string(
        '<div class="buttons"><button class="small" type="submit">Rotate</button>'
        '<button class="small danger" type="submit">Revoke</button></div>'
    ).module
    values = context(deeds)
    values["visit"] = SimpleNamespace(**(vars(values["visit"]) | changed))
    return made.from_string(PAGE.lstrip()).render(values)


def write(folder: Path) -> None:
    """The page in three themes beside a copy of the static files."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(STATIC, folder / "static", dirs_exist_ok=True)
    for name, theme in (("index", "system"), ("light", "light"), ("dark", "dark")):
        (folder / f"{name}.html").write_text(page(theme=theme), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
