"""A page followed from top to bottom, as a reader would: its `bash` blocks are requests with curl, its `python` blocks code, its
`js` blocks one program for Node.js.

A `json` block after requests is compared with the answer to the last, fields and rows that it leaves out aside; a `text`
block after code with what that printed. `…` stands for anything."""

import base64
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from almanac_client import Almanac
from tools.docs.render import ROOT, pages
from tools.docs.served import Service

BASE = "http://127.0.0.1:8000"
#: None: it is not here, and pages with `js` blocks cannot be followed.
NODE = shutil.which("node")
_HERE = "\N{FORM FEED}"


class Session:
    """What a reader has at a point of a page: the last answer, what was printed last, and the names of the code so far."""

    def __init__(self, service: Service, address: str, environment: Mapping[str, str]) -> None:
        self._service = service
        self._address = address
        self._environment = environment
        self._names: dict[str, Any] = {"__name__": "page"}
        self._answer: Any = None
        self._printed = ""
        self._scripts: list[str] = []
        #: How many blocks were run, and how many compared.
        self.run, self.compared = 0, 0

    def follow(self, language: str, text: str) -> None:
        """Run a block or compare with it; others are passed over. Raises AssertionError where it is not as shown."""
        if language == "bash":
            for line in text.replace("\\\n", " ").splitlines():
                self._curl(shlex.split(line))
        elif language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text.replace(BASE, self._address), "page", "exec"), self._names)
            self._printed = printed.getvalue()
        elif language == "js":
            self._node(text.replace(BASE, self._address))
        elif language == "json":
            found = list(differences(json.loads(text), self._answer))
            assert not found, "\n".join(found)
        elif language == "text":
            # Frames are padded with blanks at the ends of lines, which pages do not have.
            printed = "\n".join(line.rstrip() for line in self._printed.rstrip().splitlines())
            assert re.fullmatch(pattern(text.rstrip()), printed), f"printed was:\n{self._printed}"
        self.run += language in {"bash", "python", "js"}
        self.compared += language in {"json", "text"}

    def close(self) -> None:
        """Close the clients that the page has made."""
        for one in self._names.values():
            if isinstance(one, Almanac):
                one.close()

    def _node(self, text: str) -> None:
        """Run the program so far, and keep what its last block prints."""
        assert NODE is not None, "there is no node here"
        program = "\n".join([*self._scripts, f"console.log({json.dumps(_HERE)});", text])
        ran = subprocess.run(
            [NODE, "--input-type=module"], input=program, capture_output=True, text=True, timeout=120, check=False,
            env={"PATH": os.environ["PATH"], **self._environment},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert not ran.stderr, ran.stderr
        self._printed = ran.stdout.partition(f"{_HERE}\n")[2]
        self._scripts.append(text)

    def _curl(self, words: list[str]) -> None:
        assert words[0] == "curl", f"{words[0]} is not run: requests are shown with curl"
        headers, targets, at = {}, [], 1
        while at < len(words):
            if words[at] == "-H":
                name, _, value = words[at + 1].partition(": ")
                headers[name] = re.sub(r"\$(\w+)", lambda match: self._environment[match[1]], value)
                at += 1
            elif words[at] == "-u":
                password = re.sub(r"\$(\w+)", lambda match: self._environment[match[1]], words[at + 1])
                headers["authorization"] = f"Basic {base64.b64encode(password.encode()).decode()}"
                at += 1
            else:
                targets.append(words[at])
            at += 1
        (target,) = targets
        assert target.startswith(f"{BASE}/")
        given = self._service.ask("GET", target.removeprefix(BASE), headers=headers)
        self._answer = given.json() if given.headers["content-type"] == "application/json" else given.text
        self._printed = given.text


def pattern(text: str) -> str:
    """What a text with `…` for anything matches; runs of spaces may be longer or shorter."""
    # Of several blanks one stands for all: a row of quantifiers would try every way to share them.
    parts = [r"[ ]+".join(re.escape(word) for word in re.split(" +", part)) for part in text.split(ANYTHING)]
    return "(?s:.*?)".join(parts)


# -- what the pages show: requests with their answers, and commands ---------------------------------------------------


_FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
#: Stands for whatever was left out of an answer or of a list.
ANYTHING = "…"


@dataclass(frozen=True)
class Shown:
    """A request of a page; `answer` is None where none is shown."""

    page: str
    target: str
    answer: Any


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page in their order, as (language, text)."""
    return _FENCE.findall(page.read_text("utf-8"))


def requests() -> list[Shown]:
    """Every `http` block is one or more GETs; a `json` block right after it is the answer to the last."""
    found: list[Shown] = []
    for page in pages():
        found_here = blocks(page)
        for index, (language, body) in enumerate(found_here):
            if language != "http":
                continue
            targets = [line.removeprefix("GET ") for line in body.splitlines()]
            after = found_here[index + 1] if index + 1 < len(found_here) else ("", "")
            answer = json.loads(after[1]) if after[0] == "json" else None
            name = page.relative_to(ROOT).as_posix()
            found += [Shown(name, target, None) for target in targets[:-1]]
            found.append(Shown(name, targets[-1], answer))
    return found


def commands() -> list[tuple[str, list[str]]]:
    """Every command line of the `sh` blocks, as (page, words); settings before the command are words too."""
    found = []
    for page in pages():
        for language, body in blocks(page):
            if language == "sh":
                for line in body.replace("\\\n", " ").splitlines():
                    words = shlex.split(line, comments=True)
                    if words:
                        found.append((page.relative_to(ROOT).as_posix(), words))
    return found


def differences(shown: Any, given: Any, where: str = "") -> Iterator[str]:
    """Where an answer is not what the page shows. Fields and rows that the page leaves out do not count."""
    if shown == ANYTHING:
        return
    if isinstance(shown, dict) and isinstance(given, dict):
        for key, value in shown.items():
            if key in given:
                yield from differences(value, given[key], f"{where}.{key}")
            else:
                yield f"{where}.{key}: is not in the answer"
    elif isinstance(shown, list) and isinstance(given, list):
        whole = shown[-1:] != [ANYTHING]
        rows = shown if whole else shown[:-1]
        if len(rows) > len(given) or (whole and len(rows) != len(given)):
            yield f"{where}: {len(rows)} rows are shown, {len(given)} are given"
        for index, (one, other) in enumerate(zip(rows, given, strict=False)):
            yield from differences(one, other, f"{where}[{index}]")
    elif shown != given:
        yield f"{where}: {shown!r} is shown, {given!r} is given"


# The small world behind a real address on loopback, for code of the pages that opens connections of its own.


#: Headers that are of a connection, not of an answer.
_OF_THE_WAY = {"content-length", "content-encoding", "transfer-encoding", "connection", "date", "server"}


@contextlib.contextmanager
def listening(service: Service) -> Iterator[str]:
    """The address at which the service answers until the end of the block, one request after another."""
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with turn:
                answer = service.ask("GET", self.path, headers=dict(self.headers.items()))
            self.send_response(answer.status_code)
            for name, value in answer.headers.multi_items():
                if name not in _OF_THE_WAY:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_request(self, code: object = "", size: object = "") -> None:
            """Nothing is told of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
