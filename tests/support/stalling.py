"""A way to a server on loopback that a test may stop, cut and mend: so a database hangs, or is away, for those who come by it alone."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

_PIECE = 1 << 16


class Way:
    """It passes on what either side says. `stall`: nothing any more, and says nothing of it; `cut`: it is gone, until `mend`."""

    def __init__(self, host: str, port: int) -> None:
        self._to = host, port
        self._goes = threading.Event()
        self._goes.set()
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = self._listening(0)
        self.port: int = self._listener.getsockname()[1]

    def _listening(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it was closed
            while True:
                one, _ = listener.accept()
                threading.Thread(target=self._join, args=(one,), daemon=True).start()

    def _join(self, one: socket.socket) -> None:
        self._goes.wait()
        try:
            other = socket.create_connection(self._to)
        except OSError:
            one.close()
            return
        with self._lock:
            self._ends |= {one, other}
        threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()
        self._pass_on(other, one)

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):  # either was closed
            while piece := one.recv(_PIECE):
                self._goes.wait()
                other.sendall(piece)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._ends -= {one, other}
        one.close()

    def stall(self) -> None:
        """From now on nothing is passed on; connections are taken, and nobody answers."""
        self._goes.clear()

    def go_on(self) -> None:
        """Pass on again, what has come meanwhile first."""
        self._goes.set()

    def cut(self) -> None:
        """Nobody is there any more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Be there again."""
        self._listener = self._listening(self.port)


@contextlib.contextmanager
def way_to(url: str) -> Iterator[tuple[Way, str]]:
    """A way to the server of an address, and the address that leads by it."""
    parts = urlsplit(url)
    way = Way(parts.hostname or "127.0.0.1", parts.port or 5432)
    user = f"{parts.username}@" if parts.username else ""
    if parts.password:
        user = f"{parts.username}:{parts.password}@"
    try:
        yield way, urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{way.port}"))
    finally:
        way.go_on()
        with contextlib.suppress(OSError):
            way.cut()
