"""Signing in and out."""

from __future__ import annotations

from almanac.dashboard.account import refusals
from almanac.dashboard.cookies import SESSION
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Cookie, Html, Redirect, Visit, leads_here
from almanac.store.accounts.authentication import NotSignedIn, SignedIn
from almanac.store.accounts.web_sessions import LONGEST_SECONDS

#: One sentence for a wrong address and a wrong password.
WRONG = "E-mail or password is wrong."
DISABLED = "This account is suspended. Ask whoever runs this service."


def form(visit: Visit) -> Answer:
    """The form; somebody signed in already goes on."""
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
        refusals.note(visit, found, email)
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
    """Where to go after signing in: an address of this dashboard, else its first page."""
    return to if leads_here(to) else "/"


PAGES = (
    Page("/signin", form, sign_in, who="anyone"),
    Page("/signout", None, sign_out, who="anyone"),
)
