"""Signing in and out, signing up, and other passwords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog

from almanac.api.use import metrics
from almanac.dashboard.cookies import SESSION
from almanac.dashboard.visit import Answer, Cookie, FieldProblem, Html, Page, Redirect, Visit, leads_here
from almanac.reports.wording import sentence
from almanac.store.accounts.authentication import NotSignedIn, SignedIn
from almanac.store.accounts.links import Invitation
from almanac.store.accounts.passwords import SHORTEST
from almanac.store.accounts.records import AccountError, AccountInfo, checked_email
from almanac.store.accounts.web_sessions import LONGEST_SECONDS

log = structlog.get_logger("almanac.dashboard")


def note(visit: Visit, found: NotSignedIn, email: str) -> None:
    """
    Take note of a refusal. `email` as it was typed is in no line: people type passwords there. The account's id is, where it is
    one's.

    Who has to wait is counted alone: whoever does not wait would write the log full.
    """
    metrics.PASSWORD_REFUSALS.labels(found.reason).inc()
    if found.reason == "wait":
        return
    told, account = visit.settings.log_addresses, visit.people.accounts.of_email(email)
    log.warning(
        "a password was refused",
        reason=found.reason,
        account=None if account is None else account.id,
        address=visit.address if told else None,
        page=visit.path,
        request_id=visit.request_id,
    )


_USED = "This link has been used or has run out."


def sign_up_form(visit: Visit, email: str = "", errors: Any = (), sent: str = "", status: int = 200) -> Answer:
    """Show who may have an account, and a form if anybody may."""
    values = {"how": visit.settings.signup, "email": email, "errors": list(errors), "sent": sent}
    return Html("account/sign_up.html", values, status)


def sign_up(visit: Visit) -> Answer:
    """Send a link to join, where anybody may."""
    if visit.settings.signup != "open":
        return sign_up_form(visit, status=403)
    email = visit.form.get("email", "").strip()
    try:
        checked_email(email)
    except AccountError:
        return sign_up_form(visit, email, [FieldProblem("email", _not_an_address(email))], status=400)
    settings = visit.settings
    visit.people.write_later(
        lambda now: visit.people.authentication.ask_to_join(email, settings.signup_plan, settings.plans, now=now),
        visit.address,
    )
    return sign_up_form(visit, sent=email)


def join_form(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    """Show what an invitation is for."""
    found = visit.people.authentication.invitations.find(visit.values["token"], now=visit.people.now())
    return _behind_link(visit, found, "account/join.html", "/signup", errors, status)


def _behind_link(
    visit: Visit, found: Invitation | AccountInfo | None, template: str, again: str, errors: Any, status: int
) -> Answer:
    """Show the form for a password behind a link; of one that leads nowhere any more, where to ask for another."""
    if found is None:
        return Html("account/used.html", {"text": _USED, "again": again}, 404, secret=True)
    values = {"email": found.email, "token": visit.values["token"], "shortest": SHORTEST, "errors": list(errors)}
    return Html(template, values, status, secret=True)


def _through(visit: Visit, open_door: Callable[..., SignedIn | NotSignedIn], refused: Callable[..., Answer]) -> Answer:
    """Use the link with the password of the form, and sign in. The form again where that is refused."""
    try:
        found = open_door(
            visit.values["token"], visit.form.get("password", ""), address=visit.address, agent=visit.user_agent,
            now=visit.people.now(), before=visit.session_token,
        )  # fmt: skip
    except AccountError as error:
        return refused(visit, [FieldProblem("password", sentence(str(error)))], 400)
    if isinstance(found, NotSignedIn):
        return Html("account/used.html", {"text": DISABLED, "again": "/signin"}, 403, secret=True)
    return let_in(visit, found)


def join(visit: Visit) -> Answer:
    """Make the account and sign in."""
    return _through(visit, visit.people.authentication.join, join_form)


def forgot_form(_: Visit, email: str = "", errors: Any = (), sent: str = "", status: int = 200) -> Answer:
    """Ask for a link that sets another password."""
    return Html("account/forgot.html", {"email": email, "errors": list(errors), "sent": sent}, status)


def forgot(visit: Visit) -> Answer:
    """Send the link, if there is an account. The answer is the same, and as fast, if there is none."""
    email = visit.form.get("email", "").strip()
    try:
        checked_email(email)
    except AccountError:
        return forgot_form(visit, email, [FieldProblem("email", _not_an_address(email))], status=400)
    visit.people.write_later(lambda now: visit.people.authentication.ask_reset(email, now=now), visit.address)
    return forgot_form(visit, sent=email)


def reset_form(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    """Show a form for another password, behind a link."""
    found = visit.people.authentication.resets.find(visit.values["token"], now=visit.people.now())
    return _behind_link(visit, found, "account/reset.html", "/forgot", errors, status)


def reset(visit: Visit) -> Answer:
    """Set the password, end all other sessions, and sign in."""
    return _through(visit, visit.people.authentication.reset, reset_form)


def _not_an_address(text: str) -> str:
    return f"“{text[:60]}” is not an e-mail address. Write one like ada@example.org"


#: One sentence for a wrong address and a wrong password.
WRONG = "E-mail or password is wrong."
DISABLED = "This account is suspended. Ask whoever runs this service."


def form(visit: Visit) -> Answer:
    """Show the form; somebody signed in already goes on."""
    if visit.person is not None:
        return Redirect(onward(visit.query.get("next", "")))
    return _form(visit, visit.query.get("next", ""))


def _form(visit: Visit, to: str, email: str = "", error: str = "", wait: int = 0, status: int = 200) -> Answer:
    errors = [{"field": "", "message": error}] if error else []
    values = {"next": onward(to), "email": email, "errors": errors, "wait": wait}
    return Html("account/sign_in.html", values, status)


def sign_in(visit: Visit) -> Answer:
    """Check the password. What was planted or left in the browser before ends."""
    email, to = visit.form.get("email", "").strip(), visit.form.get("next", "")
    found = visit.people.authentication.sign_in(
        email, visit.form.get("password", ""), address=visit.address, agent=visit.user_agent, now=visit.people.now(),
        before=visit.session_token,
    )  # fmt: skip
    if isinstance(found, NotSignedIn):
        note(visit, found, email)
        said = {"wrong": WRONG, "disabled": DISABLED, "wait": ""}[found.reason]
        return _form(visit, to, email, said, found.wait, 429 if found.wait else 403)
    return let_in(visit, found, onward(to))


def let_in(visit: Visit, found: SignedIn, to: str = "/") -> Answer:
    """Give the browser its session, and go on."""
    visit.set_cookies.append(Cookie(SESSION, found.token, LONGEST_SECONDS))
    return Redirect(to)


def sign_out(visit: Visit) -> Answer:
    """End this session here and in the browser."""
    if visit.session_token:
        visit.people.authentication.sessions.sign_out(visit.session_token)
    visit.set_cookies.append(Cookie(SESSION, "", 0))
    return Redirect("/signin")


def onward(to: str) -> str:
    """Return the address to open after signing in: `to` if it belongs to this dashboard, else the first page."""
    return to if leads_here(to) else "/"


PAGES = (
    Page("/signup", sign_up_form, sign_up, who="anyone"),
    Page("/signup/{token}", join_form, join, who="anyone", hashes=True),
    Page("/forgot", forgot_form, forgot, who="anyone"),
    Page("/reset/{token}", reset_form, reset, who="anyone", hashes=True),
    Page("/signin", form, sign_in, who="anyone", hashes=True),
    Page("/signout", None, sign_out, who="anyone"),
)
