"""The command `almanac-client`: a check of address and key, and series as CSV."""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from almanac_client._client import Almanac
from almanac_client._errors import AlmanacError
from almanac_client._transport import VERSION

_COLUMNS = ("period_end", "value", "unit", "observed_at", "revision_status", "source_id", "withheld_reason")

#: 128 plus the number of SIGPIPE, as in shells.
_READER_GONE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run one command. Returns the exit code: 0 done; 1 the service or the settings refused; 2 wrong command line; 141 the
    reader closed the pipe.
    """
    given = _parser().parse_args(arguments)
    warnings.showwarning = _print_warning
    try:
        with Almanac(url=given.url, profile=given.profile) as almanac:
            if given.command == "check":
                check(almanac, sys.stdout)
            else:
                series(almanac, given, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as `head` does. Redirect standard output, so that the interpreter doesn't fail at
        # its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE
    except AlmanacError as error:
        sys.stderr.write(f"almanac-client: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="almanac-client", description="Ask an Almanac. The key is never given here.")
    parser.add_argument("--version", action="version", version=f"almanac-client {VERSION}")
    parser.add_argument("--url", help="address of the service")
    parser.add_argument("--profile", help="profile of ~/.config/almanac/client.toml")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="say whether the address and the key are good")
    one = commands.add_parser("series", help="write one series as CSV")
    one.add_argument("indicator", help="slug, id or alias; or a publisher's code of one series")
    one.add_argument("place", nargs="?", help="country, region or company: id, slug, ISO code, ticker")
    one.add_argument("--frequency", help="daily, weekly, monthly, quarterly, semiannual or annual")
    one.add_argument("--start", help="first period: 2020, 2020-Q1, 2020-03 or 2020-03-31")
    one.add_argument("--end", help="last period, likewise")
    one.add_argument("--as-of", help="only what was known by this day or time")
    return parser


def check(almanac: Almanac, out: TextIO) -> None:
    """Make the cheapest request and print its result."""
    answer = almanac.raw.coverage()
    held, limit = answer.data, answer.headers.get("x-ratelimit-policy", "no limit")
    out.write(f"{almanac!r} answers: data version {held.data_version}, {held.series} series, {limit}\n")


def series(almanac: Almanac, given: argparse.Namespace, out: TextIO) -> None:
    """Write the values of one series as CSV, oldest first."""
    found = almanac.series(
        given.indicator, given.place, frequency=given.frequency, start=given.start, end=given.end, as_of=given.as_of
    ).table()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in found.to_records():
        row["observed_at"] = f"{row['observed_at']:%Y-%m-%dT%H:%M:%SZ}"
        writer.writerow([row[name] for name in _COLUMNS])


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"almanac-client: {message}\n")


if __name__ == "__main__":
    sys.exit(main())
