"""Plots of series and triangles, with matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from almanac_client import _generated_models as m
from almanac_client._errors import MissingExtra


class Line(Protocol):
    """The interface of a series for drawing."""

    @property
    def indicator(self) -> str: ...

    @property
    def entity_id(self) -> str: ...

    @property
    def unit(self) -> str | None: ...

    def __iter__(self) -> Iterator[m.Observation]: ...


class Vintages(Protocol):
    """The interface of a revision triangle for drawing."""

    @property
    def indicator(self) -> str: ...

    @property
    def entity_id(self) -> str: ...

    def first(self) -> Line: ...

    def latest(self) -> Line: ...


def series(one: Line, ax: Any, **options: Any) -> Any:
    """Plot values over the ends of their periods."""
    ax = _axes(ax)
    _line(ax, one, **{"label": f"{one.indicator}, {one.entity_id}", **options})
    return _finished(ax, one)


def triangle(one: Vintages, ax: Any, **options: Any) -> Any:
    """Plot the first publications and the values known now."""
    ax = _axes(ax)
    first, latest = one.first(), one.latest()
    _line(ax, first, **{"label": "as first published", "linestyle": "--", **options})
    _line(ax, latest, **{"label": "as known now", **options})
    ax.set_title(f"{one.indicator}, {one.entity_id}")
    return _finished(ax, latest)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    return plt.subplots()[1]


def _line(ax: Any, one: Line, **options: Any) -> None:
    # A missing value interrupts the line, so nothing is drawn where nothing may be shown.
    values = [float("nan") if row.value_numeric is None else row.value_numeric for row in one]
    ax.plot([row.period_end.date() for row in one], values, **options)


def _finished(ax: Any, one: Line) -> Any:
    ax.set_ylabel(one.unit or "")
    ax.legend()
    sources = ", ".join(dict.fromkeys(row.rights.attribution for row in one))
    ax.annotate(sources, (0, 0), (0, -28), "axes fraction", textcoords="offset points", va="top", fontsize="x-small")
    return ax
