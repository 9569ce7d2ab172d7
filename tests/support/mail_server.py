"""A mail server on loopback that takes what it is sent, in thirty lines; it knows no TLS."""

import contextlib
import socketserver
import threading


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.say("220 here")
        for line in self.rfile:
            self.server.lines.append(line.decode("utf-8", "replace").rstrip("\r\n"))
            verb = line.split()[0].upper() if line.split() else b""
            if verb == b"EHLO":
                self.say(self.server.greeting)
            elif verb == b"AUTH":
                self.say(self.server.auth)
            elif verb == b"DATA":
                self.say("354 go on")
                text = []
                while (part := self.rfile.readline()) not in {b".\r\n", b""}:
                    text.append(part)
                self.server.letters.append(b"".join(text))
                self.say("250 taken")
            elif verb == b"QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 yes")

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")


@contextlib.contextmanager
def mail_server(*, auth="235 welcome", greeting="250-here\r\n250 AUTH PLAIN"):
    """A running server with `port`, `letters` and the `lines` it was sent."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        server.letters, server.lines, server.auth, server.greeting = [], [], auth, greeting
        server.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
