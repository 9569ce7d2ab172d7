"""The notebook runs from the first cell to the last over the complete simulated world, and its pictures are of it."""

import ast
import json
import os

import pytest

from almanac_client import _transport
from tests.support.paths import ROOT

from .served import Bridge

NOTEBOOK = ROOT / "docs/client/first-look.ipynb"
IMAGES = ROOT / "docs/images"
PICTURES = ["client-core-inflation.png", "client-panel.png", "client-scores.png"]
#: Set to take the pictures of the documents anew.
WRITE = "WRITE_PICTURES" in os.environ


def cells(kind):
    told = json.loads(NOTEBOOK.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == kind]


def run(code, names):
    """Run a cell, and give what its last line comes to."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NOTEBOOK.name, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)


def test_the_notebook_shows_its_pictures_and_keeps_no_output():
    shown = [picture for text in cells("markdown") for picture in PICTURES if f"(../images/{picture})" in text]
    assert shown == PICTURES
    assert [name for name in PICTURES if not (IMAGES / name).read_bytes().startswith(b"\x89PNG")] == []
    told = json.loads(NOTEBOOK.read_text("utf-8"))
    assert {json.dumps(cell.get("outputs", [])) for cell in told["cells"]} == {"[]"}
    assert len(cells("code")[0].splitlines()) == 5, "five lines from nothing to a picture"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::almanac_client.RevisionWarning", "ignore::almanac_client.WithheldWarning")
def test_the_notebook_runs(whole, monkeypatch, tmp_path):
    import matplotlib as mpl
    import pandas as pd

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setenv("ALMANAC_API_KEY", whole.keys["pro"])
    monkeypatch.delenv("ALMANAC_URL", raising=False)
    monkeypatch.setattr(_transport.Driver, "_client_options", lambda _: {"transport": Bridge(whole.app)})
    plt.close("all")
    names = {}
    results = [run(code, names) for code in cells("code")]
    figures = [plt.figure(number) for number in plt.get_fignums()]
    for figure, name in zip(figures, PICTURES, strict=True):
        figure.set_size_inches(8, 4.5)
        figure.savefig(
            (IMAGES if WRITE else tmp_path) / name, dpi=100, bbox_inches="tight", metadata={"Software": None}
        )
    plt.close("all")

    core = names["core"]
    first, latest = core.first(), core.latest()
    assert len(first) > 60
    assert [row.value_numeric for row in first] != [row.value_numeric for row in latest]
    assert results[1]["count"] > 48
    panel, wide = names["panel"], names["wide"]
    assert wide.shape == (23, 35)
    assert len(panel) == 23 * 35
    # The index is the days that were asked for; a reading was known by the end of its day.
    known = panel["observed_at"].dropna()
    assert (
        known.dt.tz_localize(None).to_numpy() < (pd.to_datetime(known.index) + pd.Timedelta(days=1)).to_numpy()
    ).all()
    assert wide.notna().mean().mean() > 0.9
    table = names["table"]
    assert table.shape == (5, 2)
    assert table.notna().all().all()
    assert names["margins"].groupby("then")["good"].sum().min() >= 1
    screened = {
        row.entity_id for row in names["almanac"].equities.screen(filter="piotroski_f:gte:8", as_of="2023-06-30")
    }
    for row in whole.walk("/equity-screener", filter="piotroski_f:gte:0", as_of="2023-06-30"):
        assert (row["entityId"] in screened) == (row["values"]["piotroski_f"] >= 8)
