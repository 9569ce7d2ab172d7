"""A figure: a chart with all that makes it readable without seeing it. It is not made without a caption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from almanac.dashboard.drawing.svg import Drawing
from almanac.dashboard.words.captions import NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """A name and its sign: `kind` line, dash, ghost, past, first, forecast, withheld, event, column or hatch; `colour` 1 to 12, 0 for none."""

    name: str
    kind: str = "line"
    colour: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartFigure:
    """
    What the template shows of a chart. `empty` is the sentence instead of a drawing, where there is nothing to draw.

    `readout` is the data block of `almanac.dashboard.drawing.readout`. Raises ValueError without id, title or caption.
    """

    id: str
    title: str
    caption: str
    #: What its values are in, beside the title.
    unit: str = ""
    drawing: Drawing | None = None
    legend: Sequence[LegendEntry] = ()
    readout: Markup = field(default_factory=Markup)
    empty: str = NOTHING
    #: Whether events are read as a line of their own.
    events: bool = False

    def __post_init__(self) -> None:
        for name in ("id", "title", "caption", "empty"):
            if not getattr(self, name).strip():
                raise ValueError(f"figure {self.id or self.title!r} has no {name}")

    @property
    def svgs(self) -> tuple[Markup, ...]:
        """The drawing at its three widths, of which media queries show one; none where there is nothing to draw."""
        return () if self.drawing is None else self.drawing.svgs

    @property
    def label(self) -> str:
        """What the plot is called for readers, with the keys that read it."""
        lanes = " Up and Down change between the values and the events." if self.events else ""
        return f"{self.title}. Left and Right go from point to point, Page Up and Page Down by a year, Home and End to the ends.{lanes}"
