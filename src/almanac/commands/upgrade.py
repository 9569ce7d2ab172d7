"""`almanac upgrade`: what this version needs of the store, and having it done."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from almanac.commands.shared import put, put_json, say, settings

if TYPE_CHECKING:
    from almanac.pipeline.operate.upgrading import Duration, UpgradePlan


@click.command()
@click.option("--plan", "as_plan", is_flag=True, help="Only say what it would do, and about how long that takes.")
@click.option("--json", "as_json", is_flag=True, help="With --plan: print one JSON object.")
def upgrade(as_plan: bool, as_json: bool) -> None:
    """
    Bring store and accounts to what this version needs, where that can be done in place; else say what is to be done.

    --plan only looks, beside a service that answers, and may be asked of a new version before it is installed.
    """
    from almanac.pipeline.operate.upgrading import plan

    if as_json and not as_plan:
        raise click.UsageError("--json goes with --plan")
    chosen = settings(home=False)
    found = plan(chosen)
    if as_json:
        put_json(found)
    elif as_plan:
        for line in describe_plan(found):
            put(line)
    else:
        _upgrade(found)


def _upgrade(found: UpgradePlan) -> None:
    from almanac.commands.accounts import opened
    from almanac.pipeline.workplace import Workplace
    from almanac.store.engine.errors import SchemaError
    from almanac.store.engine.opening import place
    from almanac.store.usage.counts import UsageFile

    if found.needs in {"rebuild", "another_version"}:
        raise SchemaError("\n  ".join(describe_plan(found)))
    chosen = settings()
    with opened(chosen):
        pass
    UsageFile(place(chosen.usage_place)).close()
    with Workplace(chosen, tell=say):
        pass
    put(f"the store is as Almanac {found.almanac} needs it")


def describe_plan(found: UpgradePlan) -> list[str]:
    """A plan in lines, for people."""
    held = "" if found.vintages is None else f", {found.vintages:,} vintages"
    size = "" if found.bytes is None else f", {_size(found.bytes)}"
    store = "there are no data yet" if found.found is None else f"the data have schema {found.found}{held}{size}"
    lines = [f"Almanac {found.almanac} needs schema {found.known}; {store}"]
    lines += list(found.steps) + list(found.accounts)
    if found.catalogue:
        lines.append("the catalogue, consents or orders of sources are others: what follows from them is derived anew")
    about = "" if found.takes is None else f", about {_long(found.takes)}"
    if found.needs == "nothing":
        lines.append("nothing is to be done: start it")
    elif found.needs == "start":
        lines.append(
            f"`almanac upgrade` does it in place{about}, and so does the first start; a server of the version before has to be restarted then"
        )
    elif found.needs == "rebuild":
        room = "" if found.bytes is None else f", and {_size(2 * found.bytes)} of disk meanwhile"
        lines.append(str(found.reason))
        lines.append(
            f"`almanac rebuild`{about}{room}: stop the workers, run it with this version, and start this version then."
            " A service started before that ends with exit code 78"
        )
    else:
        lines.append(str(found.reason))
    return lines


def _long(span: Duration) -> str:
    if span.most < 90:
        return f"{span.least} to {span.most} s"
    if span.most < 90 * 60:
        return f"{max(1, span.least // 60)} to {-(-span.most // 60)} min"
    return f"{span.least / 3600:.1f} to {span.most / 3600:.1f} h"


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"
