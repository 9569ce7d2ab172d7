"""Name and version of this installation, and how to install its extras. Nothing here imports another part."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

#: The name it is installed under. It is on no index: what stands there as `almanac` is another project's.
NAME = "almanac-service"
#: The number of the version that is worked on. A commit follows it, but for one that has a tag.
NUMBER = "0.1.0"
#: Where its checkout is, if this runs in one.
_ROOT = Path(__file__).parents[2]
#: What Git says of a commit: the last tag before it, if there is any, with the commits since; and whether files differ from it.
_DESCRIBED = re.compile(
    r"(?:v(?P<number>\d[0-9a-z.]*)-(?P<since>\d+)-g)?(?P<commit>[0-9a-f]{7,40})(?P<changed>-dirty)?"
)
_GIT_SECONDS = 5.0


@cache
def version() -> str:
    """Return the version of this installation: of a checkout its present state, else that of the built package."""
    return _of_checkout(_ROOT) or metadata.version(NAME)


def built() -> str:
    """
    Return the version of what is built here: that of the checkout, or without Git's folder, as in an image, that of the
    commit that SOURCE_COMMIT names. An archive of the sources brings its version with it.
    """
    commit = os.environ.get("SOURCE_COMMIT", "")
    return _of_checkout(_ROOT) or (NUMBER if _DESCRIBED.fullmatch(commit) is None else f"{NUMBER}+g{commit[:12]}")


def _of_checkout(root: Path) -> str | None:
    """
    Return the version of a checkout, None where Git cannot tell it: `0.2.0` of a commit tagged `v0.2.0`, `0.2.0+3.gabc` of a
    later one, `0.1.0+gabc` where there is no tag.
    """
    if not (root / ".git").exists():
        return None
    command = ["git", "describe", "--tags", "--match=v[0-9]*", "--long", "--always", "--dirty", "--abbrev=12"]
    try:
        git = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=_GIT_SECONDS, check=True)  # noqa: S603  (our own words)
    except (OSError, subprocess.SubprocessError):  # no Git, or a folder of somebody else's
        return None
    described = _DESCRIBED.fullmatch(git.stdout.strip())
    if described is None:
        return None
    number, since, commit, changed = described.groups()
    local = [] if since == "0" else [part for part in (since, f"g{commit}") if part]
    if changed:
        local.append("changed")
    return (number or NUMBER) + ("+" + ".".join(local) if local else "")


def how_to_install(extra: str) -> str:
    """Say how an extra of it is installed, to go on a sentence that says what needs it."""
    return (
        f"install the extra {extra} of Almanac, which is on no index. In its checkout: pip install '.[{extra}]'; "
        f"from its wheel file: pip install './{NAME.replace('-', '_')}-….whl[{extra}]'"
    )
