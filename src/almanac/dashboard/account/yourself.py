"""One's own account: password, web sessions, theme, deletion."""

from __future__ import annotations

from typing import Any

from almanac.dashboard.cookies import SESSION, THEME
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Cookie, Html, NotFound, Redirect, Visit
from almanac.store.accounts.accounts import AccountError
from almanac.store.accounts.passwords import SHORTEST
from almanac.store.accounts.people import NotSignedIn

_YEAR = 365 * 86_400
THEMES = (("system", "As the system has it"), ("light", "Light"), ("dark", "Dark"))
_WRONG = "This is not your password."
#: What `done` in an address stands for.
DONE = {
    "password": "Your password is changed. Your other sessions have ended.",
    "session": "The session is ended.",
    "others": "All your other sessions have ended.",
    "theme": "The theme is kept in this browser.",
}


def account(visit: Visit) -> Answer:
    """The account."""
    return _page(visit)


def _page(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    books, who = visit.books, visit.who
    values = {
        "info": books.accounts.account_of(who.account),
        "sessions": books.people.sessions.of(who.account, now=books.now()),
        "themes": THEMES,
        "shortest": SHORTEST,
        "errors": list(errors),
        "done": DONE.get(visit.query.get("done", ""), ""),
        "plan": visit.desk.plan(who.plan),
    }
    return Html("account/account.html", values, status)


def _refused(found: NotSignedIn | None) -> list[dict[str, str]]:
    """What to say of a password that was asked for before a deed."""
    if found is None:
        return []
    said = f"Too many tries. Wait {found.wait} seconds." if found.wait else _WRONG
    return [{"field": "password", "message": said}]


def change_password(visit: Visit) -> Answer:
    """Set another password, knowing the old one."""
    books, who = visit.books, visit.who
    info = books.accounts.account_of(who.account)
    try:
        found = books.people.change_password(
            info, who.session, visit.form.get("password", ""), visit.form.get("new", ""), address=visit.address,
            now=books.now(),
        )  # fmt: skip
    except AccountError as error:
        return _page(visit, [{"field": "new", "message": f"{str(error).capitalize()}."}], 400)
    errors = _refused(found)
    return _page(visit, errors, 403) if errors else Redirect("/account?done=password")


def end_session(visit: Visit) -> Answer:
    """End one session of one's own, or all but this."""
    books, who = visit.books, visit.who
    wanted = visit.form.get("session", "")
    if wanted == "others":
        books.people.sessions.end_all(who.account, but=who.session)
        return Redirect("/account?done=others")
    if not books.people.sessions.end(who.account, wanted):
        raise NotFound("You have no such session.")
    if wanted == who.session:
        visit.set_cookies.append(Cookie(SESSION, "", 0))
        return Redirect("/signin")
    return Redirect("/account?done=session")


def choose_theme(visit: Visit) -> Answer:
    """Keep a theme in this browser."""
    chosen = visit.form.get("theme", "")
    if chosen not in {name for name, _ in THEMES}:
        return _page(visit, [{"field": "theme", "message": "Choose one of the three"}], 400)
    visit.set_cookies.append(Cookie(THEME, chosen, 0 if chosen == "system" else _YEAR))
    return Redirect("/account?done=theme")


def delete_form(visit: Visit) -> Answer:
    """What deletion does."""
    return _delete(visit)


def _delete(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    keys = visit.books.accounts.list_keys(visit.who.email)
    live = sum(key.revoked is None for key in keys)
    return Html("account/delete.html", {"keys": live, "errors": list(errors)}, status)


def delete(visit: Visit) -> Answer:
    """Delete the account: its keys are refused at once, and nothing of it is kept but counts."""
    books, who = visit.books, visit.who
    info = books.accounts.account_of(who.account)
    errors = _refused(books.people.check(info, visit.form.get("password", ""), address=visit.address, now=books.now()))
    if errors:
        return _delete(visit, errors, 403)
    books.accounts.delete(info.email)
    visit.set_cookies.append(Cookie(SESSION, "", 0))
    return Redirect("/signin")


PAGES = (
    Page("/account", account),
    Page("/account/password", None, change_password),
    Page("/account/sessions", account, end_session),
    Page("/account/theme", None, choose_theme),
    Page("/account/delete", delete_form, delete),
)
