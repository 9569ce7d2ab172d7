"""Letters: sent, or told to the operator; and the password of the mail server told to nobody."""

import base64
import email
import socket

import pytest

from almanac.config import Smtp, load
from almanac.mail import Mail, MailError
from tests.support.mail_server import mail_server

ADA = "ada@example.org"
LINK = "https://data.example.org/reset/token"


def mail(server, lines=None, **more):
    chosen = {"host": "127.0.0.1", "port": server.port, "security": "none", "sender": "almanac@example.org", **more}
    return Mail(Smtp(**chosen), (lines if lines is not None else []).append)


def test_a_letter_arrives_as_it_was_written():
    with mail_server() as server:
        lines = []
        mail(server, lines).send(ADA, "A new password – for you", f"Grüße.\n\n{LINK}\n")
        (letter,) = map(email.message_from_bytes, server.letters)
        assert lines == []
    assert (letter["To"], letter["From"]) == (ADA, "almanac@example.org")
    assert email.header.make_header(email.header.decode_header(letter["Subject"])) == "A new password – for you"
    assert letter.get_payload(decode=True).decode().replace("\r\n", "\n") == f"Grüße.\n\n{LINK}\n"


def test_a_login_is_made_where_a_user_is_set():
    with mail_server() as server:
        mail(server, user="almanac", password="hush").send(ADA, "x", "y")
        said = next(line for line in server.lines if line.startswith("AUTH PLAIN"))
        assert base64.b64decode(said.split()[2]) == b"\0almanac\0hush"


@pytest.mark.parametrize("auth", ["535 hush is wrong", "535 almanac:hush"])
def test_a_refused_login_does_not_tell_the_password(auth):
    with mail_server(auth=auth) as server, pytest.raises(MailError) as caught:
        mail(server, user="almanac", password="hush").send(ADA, "x", LINK)
    assert str(caught.value) == f"127.0.0.1:{server.port} refused the letter with 535"
    assert caught.value.__suppress_context__


def test_nothing_is_sent_in_the_clear_that_was_to_be_sent_under_tls():
    with mail_server() as server:
        with pytest.raises(MailError, match="SMTPNotSupportedError"):
            mail(server, security="starttls", user="almanac", password="hush").send(ADA, "x", LINK)
        assert not any(line.startswith(("AUTH", "MAIL")) for line in server.lines)
    with pytest.raises(MailError, match="not sent in the clear"):
        Mail(Smtp(host="mail.example.org", user="a", password="hush", security="none"), print).send(ADA, "x", "y")


@pytest.mark.parametrize(("to", "subject"), [(f"{ADA}\nBcc: eve@example.org", "x"), (ADA, "x\r\nBcc: eve@example.org")])
def test_no_header_is_slipped_in(to, subject):
    with mail_server() as server:
        with pytest.raises(MailError, match="ValueError"):
            mail(server).send(to, subject, "y")
        assert server.letters == []


@pytest.mark.parametrize(
    "to",
    [
        "a,b2@evil.example",
        "root2<x@evil.example>",
        "victim@corp.example,x",
        "ada@example.org (x)",
        "g: a@b.c;",
        "x",
        "",
    ],
)
def test_what_reads_as_another_address_gets_no_letter(to):
    with mail_server() as server:
        with pytest.raises(MailError, match="ValueError"):
            mail(server).send(to, "x", "y")
        assert not any(line.upper().startswith("RCPT") for line in server.lines)


def test_a_letter_goes_to_the_one_address_it_was_for():
    with mail_server() as server:
        mail(server).send("a'b+c@example.org", "x", "y")
        assert [line[5:] for line in server.lines if line.upper().startswith("RCPT")] == ["TO:<a'b+c@example.org>"]


def test_a_server_that_is_not_there_is_named():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(MailError, match=rf"127\.0\.0\.1:{port}: ConnectionRefusedError"):
        Mail(Smtp(host="127.0.0.1", port=port), print).send(ADA, "x", "y")


def test_without_a_server_the_operator_is_told_the_link():
    events = []

    def log(event, **fields):
        events.append((event, fields))

    Mail(Smtp(password="hush"), log).send(ADA, "A new password", LINK)
    letter = {"setting": "ALMANAC_SMTP__HOST", "to": ADA, "subject": "A new password", "text": LINK}
    assert events == [("a letter has no mail server", letter)]


def test_settings_of_mail_and_sign_up():
    given = {"ALMANAC_SMTP__HOST": "mail.example.org", "ALMANAC_SMTP__PORT": "465", "ALMANAC_SMTP__SECURITY": "tls"}
    smtp = load(given).smtp
    assert (smtp.host, smtp.port, smtp.security) == ("mail.example.org", 465, "tls")
    assert (load({}).signup, load({}).signup_plan, load({}).smtp.host) == ("invite", "free", None)
