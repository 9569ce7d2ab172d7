"""One's own account: password, web sessions, theme, deletion."""

from __future__ import annotations

from typing import Any

from almanac.dashboard.account.sign_in import note
from almanac.dashboard.cookies import SESSION, THEME
from almanac.dashboard.visit import Answer, Cookie, Html, NotFound, Page, Redirect, Visit
from almanac.store.accounts.authentication import NotSignedIn
from almanac.store.accounts.passwords import SHORTEST
from almanac.store.accounts.records import AccountError

_YEAR = 365 * 86_400
THEMES = (("system", "Same as system"), ("light", "Light"), ("dark", "Dark"))
_WRONG = "This is not your password."
#: What `done` in an address stands for.
DONE = {
    "password": "Your password is changed. Your other sessions have ended.",
    "session": "The session is ended.",
    "others": "All your other sessions have ended.",
    "theme": "The theme is kept in this browser.",
}


def account(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    """Show the account."""
    people, who = visit.people, visit.who
    values = {
        "info": people.accounts.account_of(who.account),
        "sessions": people.authentication.sessions.of(who.account, now=people.now()),
        "themes": THEMES,
        "shortest": SHORTEST,
        "errors": list(errors),
        "done": DONE.get(visit.query.get("done", ""), ""),
        "plan": visit.api.plan(who.plan),
    }
    return Html("account/account.html", values, status)


def _refused(visit: Visit, found: NotSignedIn | None) -> list[dict[str, str]]:
    """Return what to say of a password that was asked for before a deed."""
    if found is None:
        return []
    note(visit, found, visit.who.email)
    said = f"Too many tries. Wait {found.wait} seconds." if found.wait else _WRONG
    return [{"field": "password", "message": said}]


def change_password(visit: Visit) -> Answer:
    """Set another password, knowing the old one."""
    people, who = visit.people, visit.who
    info = people.accounts.account_of(who.account)
    try:
        found = people.authentication.change_password(
            info, who.session, visit.form.get("password", ""), visit.form.get("new", ""), address=visit.address,
            now=people.now(),
        )  # fmt: skip
    except AccountError as error:
        return account(visit, [{"field": "new", "message": f"{str(error).capitalize()}."}], 400)
    errors = _refused(visit, found)
    return account(visit, errors, 403) if errors else Redirect("/account?done=password")


def end_session(visit: Visit) -> Answer:
    """End one session of one's own, or all but this."""
    people, who = visit.people, visit.who
    wanted = visit.form.get("session", "")
    if wanted == "others":
        people.authentication.sessions.end_all(who.account, but=who.session)
        return Redirect("/account?done=others")
    if not people.authentication.sessions.end(who.account, wanted):
        raise NotFound("You have no such session.")
    if wanted == who.session:
        visit.set_cookies.append(Cookie(SESSION, "", 0))
        return Redirect("/signin")
    return Redirect("/account?done=session")


def choose_theme(visit: Visit) -> Answer:
    """Keep a theme in this browser."""
    chosen = visit.form.get("theme", "")
    if chosen not in {name for name, _ in THEMES}:
        return account(visit, [{"field": "theme", "message": "Choose one of the three"}], 400)
    visit.set_cookies.append(Cookie(THEME, chosen, 0 if chosen == "system" else _YEAR))
    return Redirect("/account?done=theme")


def delete_form(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    """Say what deletion does."""
    keys = visit.people.accounts.list_keys(visit.who.email)
    live = sum(key.revoked is None for key in keys)
    return Html("account/delete.html", {"keys": live, "errors": list(errors)}, status)


def delete(visit: Visit) -> Answer:
    """Delete the account: its keys are refused at once, and nothing of it is kept but counts."""
    people, who = visit.people, visit.who
    info = people.accounts.account_of(who.account)
    errors = _refused(
        visit,
        people.authentication.check(info, visit.form.get("password", ""), address=visit.address, now=people.now()),
    )
    if errors:
        return delete_form(visit, errors, 403)
    people.accounts.delete(info.email)
    visit.set_cookies.append(Cookie(SESSION, "", 0))
    return Redirect("/signin")


PAGES = (
    Page("/account", account),
    Page("/account/password", None, change_password, hashes=True),
    Page("/account/sessions", account, end_session),
    Page("/account/theme", None, choose_theme),
    Page("/account/delete", delete_form, delete, hashes=True),
)
