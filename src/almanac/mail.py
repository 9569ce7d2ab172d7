"""Letters to people: sent through the operator's mail server, or, where there is none, told to the operator."""

from __future__ import annotations

import functools
import smtplib
import ssl
from collections.abc import Callable
from email.message import EmailMessage
from ipaddress import ip_address

from almanac.config import Smtp

_SECONDS = 10.0


class MailError(Exception):
    """A letter that could not be sent. The message says why, without the password and without what was written."""


class Mail:
    """A sender of letters. `tell` writes those of an installation without a mail server to the log: its operator hands on the link."""

    def __init__(self, server: Smtp, tell: Callable[..., object], *, seconds: float = _SECONDS) -> None:
        self._server, self._tell, self._seconds = server, tell, seconds

    def send(self, to: str, subject: str, text: str) -> None:
        """Send a letter, within the time-out of each step. Raises MailError. Call it from a thread of its own."""
        server = self._server
        if server.host is None:
            self._tell("a letter has no mail server", setting="ALMANAC_SMTP__HOST", to=to, subject=subject, text=text)
            return
        if server.password is not None and server.security == "none" and not _is_here(server.host):
            raise MailError("a password is not sent in the clear: set ALMANAC_SMTP__SECURITY to starttls or tls")
        tls = ssl.create_default_context()
        try:
            letter = _letter(server.sender, to, subject, text)
            opened = functools.partial(smtplib.SMTP_SSL, context=tls) if server.security == "tls" else smtplib.SMTP
            with opened(server.host, server.port, timeout=self._seconds) as connection:
                if server.security == "starttls":
                    connection.starttls(context=tls)
                if server.user is not None:
                    connection.login(server.user, server.password or "")
                connection.send_message(letter, to_addrs=[to])
        except smtplib.SMTPResponseException as error:
            # The server's own words may repeat what it was told: the code says enough.
            raise MailError(f"{server.host}:{server.port} refused the letter with {error.smtp_code}") from None
        except (smtplib.SMTPException, OSError, ValueError) as error:
            raise MailError(f"{server.host}:{server.port}: {type(error).__name__}") from None


def _letter(sender: str, to: str, subject: str, text: str) -> EmailMessage:
    """Make a letter. Raises ValueError for what cannot be in its head: a text that reads as two mailboxes, or as another one, would go to strangers."""
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = sender, to, subject
    if [address.addr_spec for address in letter["To"].addresses if address.domain] != [to]:
        raise ValueError("not one address")
    letter.set_content(text)
    return letter


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
