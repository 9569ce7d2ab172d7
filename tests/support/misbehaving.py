"""A publisher on this machine that does everything wrong, one scripted act per connection. All content is invented."""

import contextlib
import selectors
import socket
import ssl
import struct
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    target: str
    headers: dict[str, str]

    @property
    def path(self):
        return urlsplit(self.target).path


def answer(status=200, body=b"invented", **headers):
    """A plain answer; header names with `_` for `-`. `content_length` may lie, None leaves it out."""
    named = {"content-length": len(body), "connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Invented", *(f"{name}: {value}" for name, value in named.items() if value is not None)]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def raw(content):
    return lambda connection: connection.sendall(content)


def silence(connection):
    """Say nothing until the client goes."""
    connection.recv(1)


def reset(connection):
    """Close with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drip(head, piece):
    """`head`, then `piece` again and again, about one a millisecond, until the client goes."""

    def act(connection):
        connection.sendall(head)
        with selectors.DefaultSelector() as answered:
            answered.register(connection, selectors.EVENT_READ)
            while not answered.select(0.001):
                connection.sendall(piece)

    return act


def endless(head, piece=bytes(65_536)):
    """`head`, then `piece` again and again, as fast and as long as the client takes it."""

    def act(connection):
        connection.sendall(head)
        while True:
            connection.sendall(piece)

    return act


class Server:
    """Listens on a free port of 127.0.0.1. `acts[path]` are done in turn, the last one for ever."""

    def __init__(self, certificate=None):
        self.acts = {}
        self.asked = []
        self.connections = 0
        self._context = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._listen, daemon=True)]

    @property
    def port(self):
        return self._listener.getsockname()[1]

    @property
    def url(self):
        return f"{'https' if self._context else 'http'}://127.0.0.1:{self.port}"

    def paths(self):
        return [asked.path for asked in self.asked]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive()

    def _listen(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                thread = threading.Thread(target=self._serve, args=[connection], daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    if not (piece := connection.recv(65_536)):
                        return
                    head += piece
                first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
                asked = Asked(
                    first.split(" ")[1], {n.lower(): v.strip() for n, _, v in (x.partition(":") for x in lines)}
                )
                self.asked.append(asked)
                acts = self.acts[asked.path]
                (acts.pop(0) if len(acts) > 1 else acts[0])(connection)
