"""
The command `almanac-service-mcp`, over standard input and output or over HTTP. Standard output carries the protocol, so
nothing else is written there.
"""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
from collections.abc import Sequence

from almanac_client import AlmanacError, AsyncAlmanac

from . import __version__

#: Seconds and retries. Clients of the protocol give up after 30 or 60 seconds, so errors must arrive before that.
TIMEOUT, MOST_WAIT, RETRIES = 20.0, 5.0, 2
#: Longest request head in bytes. It contains a key and the client's description of itself.
MOST_HEAD = 64 * 1024
#: Seconds that a connection may idle between two requests.
IDLE = 10
#: Exit code if the reader has gone: 128 plus the number of SIGPIPE, as in shells.
_READER_GONE = 141
#: Placeholder for the key that a client needs. No request is made with it.
_NOBODY = "none"


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="almanac-service-mcp",
        description="Almanac for language models, over the Model Context Protocol. Over standard input and output the key is "
        "that of ALMANAC_API_KEY, ALMANAC_API_KEY_FILE, ~/.config/almanac/client.toml or the keyring; over HTTP each "
        "request brings its own.",
    )
    made.add_argument("--url", help="address of the Almanac (default: ALMANAC_URL, else http://127.0.0.1:8000)")
    made.add_argument("--profile", help="profile of client.toml")
    made.add_argument("--http", metavar="HOST:PORT", type=_listener, help="serve over HTTP, at /mcp")
    made.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="with --http: a name under which it is asked, beside those of this machine; may be given again",
    )  # fmt: skip
    made.add_argument(
        "--allow-origin", metavar="ORIGIN", action="append", default=[],
        help="with --http: pages from there may ask, https://app.example; may be given again",
    )  # fmt: skip
    made.add_argument("--insecure", action="store_true", help="ask another machine's Almanac over plain HTTP")
    made.add_argument("--version", action="version", version=__version__)
    return made


def _listener(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, like 127.0.0.1:8002 or [::1]:8002")
    return (host.strip("[]"), int(port))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run until the client disconnects or the process is told to end."""
    made = parser()
    given = made.parse_args(arguments)
    if given.http is None and (given.allow_host or given.allow_origin):
        made.error("--allow-host and --allow-origin go with --http")
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(message)s")
    try:
        (_http if given.http else _stdio)(given)
    except AlmanacError as error:
        made.exit(2, f"almanac-service-mcp: {error}\n")
    except KeyboardInterrupt:
        made.exit(130)


def _client(given: argparse.Namespace, api_key: str | None = None) -> AsyncAlmanac:
    return AsyncAlmanac(
        url=given.url, api_key=api_key, profile=given.profile, insecure=given.insecure, timeout=TIMEOUT,
        max_retries=RETRIES, max_retry_wait=MOST_WAIT, pace=False,
    )  # fmt: skip


def _stdio(given: argparse.Namespace) -> None:
    client = _client(given)
    # The SDK takes a while to load, so invalid settings are reported first.
    from .caller import Callers  # noqa: PLC0415  (as said)
    from .server import AlmanacServer  # noqa: PLC0415  (as said)

    gone = False
    try:
        AlmanacServer(Callers(lambda: client, own_key=True)).run("stdio")
    except* BrokenPipeError:
        gone = True
    if gone:
        # The client has gone before the answer. Redirect standard output, so that the interpreter doesn't fail at its
        # end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_READER_GONE)


def _http(given: argparse.Namespace) -> None:
    client = _client(given, _NOBODY)
    import uvicorn  # noqa: PLC0415  (as above)

    from .caller import Callers  # noqa: PLC0415  (as above)
    from .server import AlmanacServer  # noqa: PLC0415  (as above)
    from .transport import app  # noqa: PLC0415  (as above)

    server = AlmanacServer(Callers(lambda: client, own_key=False))
    host, port = given.http
    try:
        listener = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1_024
        )
    except OSError as error:
        raise AlmanacError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    config = uvicorn.Config(
        app(server, given.allow_host, given.allow_origin), http="h11", ws="none", lifespan="on", log_config=None,
        access_log=False, h11_max_incomplete_event_size=MOST_HEAD, timeout_keep_alive=IDLE, timeout_graceful_shutdown=10,
    )  # fmt: skip
    with listener:
        uvicorn.Server(config).run(sockets=[listener])
