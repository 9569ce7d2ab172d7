"""What a page declares: where it is, who may see it, what answers a look and what answers a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from almanac.dashboard.visit import Answer, Visit

Handler = Callable[["Visit"], "Answer"]
#: Anyone; somebody signed in; somebody signed in who runs the service.
Who = Literal["anyone", "person", "operator"]


class Page(msgspec.Struct, frozen=True):
    """One address. `post` answers its form, once the token in it was found good; without it there is none."""

    path: str
    look: Handler | None = None
    post: Handler | None = None
    who: Who = "person"
