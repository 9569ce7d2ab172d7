"""What must never be in a tracked file: addresses of package indices, paths of somebody's machine, unfinished work."""

import re

import pytest

from .files import name, text, tracked

#: Put together from pieces, so that this file does not hold what it forbids.
INDEX = re.compile(
    "|".join(
        (
            "--(extra-)?index" + "-url",
            "--find" + "-links",
            "files.python" + "hosted",
            "pypi.org/" + "simple",
            "registry.npmjs" + ".org",
            '"resolved"' + r"\s*:",
            r"https?://[^\s\"']*/simple" + "/",
        )
    )
)
MACHINE = re.compile(r"(?<![\w.~/:{}$-])/(work|root|tmp|home/[a-z]\w*|Users/\w+|var/folders)" + r"/\w")
UNFINISHED = re.compile(r"(#|//|<!--|--|\*)\s*(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")


#: What others wrote lies there byte for byte, held by hashes: no word of ours is in it.
VENDORED = "src/almanac/dashboard/static/vendor/"


def found(pattern):
    return [
        f"{name(path)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if not name(path).startswith(VENDORED) or path.suffix == ".toml"
        for number, line in enumerate(text(path).splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(
    ("pattern", "bad", "good"),
    [
        (INDEX, "--index" + "-url https://x.example", "an index file"),
        (INDEX, "https://mirror.example/pypi/simple" + "/apsw", "as simple as this"),
        (MACHINE, "see /ro" + "ot/data.db", "GET /observations, s3://bucket/tmp" + "/x, $HOME/work" + "/x"),
        (UNFINISHED, "# TO" + "DO: later", "a todo list"),
    ],
)
def test_the_patterns_find_what_they_should(pattern, bad, good):
    assert pattern.search(bad)
    assert not pattern.search(good)


def test_no_tracked_file_names_a_package_index():
    assert found(INDEX) == []


def test_no_tracked_file_names_a_path_of_somebodys_machine():
    assert found(MACHINE) == []


def test_no_tracked_file_holds_unfinished_work():
    assert found(UNFINISHED) == []
