"""Getting in for the first time, or again: asking for an account, joining by a link, and setting another password.

What somebody learns here is the same whether an address has an account or not: the letter says the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from almanac.dashboard.account.sign_in import DISABLED, let_in
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, Visit
from almanac.store.accounts.accounts import AccountError
from almanac.store.accounts.authentication import NotSignedIn, SignedIn
from almanac.store.accounts.invitations import Invitation
from almanac.store.accounts.passwords import SHORTEST
from almanac.store.accounts.records import AccountInfo, checked_email

_USED = "This link has been used or has run out."


def sign_up_form(visit: Visit) -> Answer:
    """Who may have an account here, and a form where anybody may."""
    return _sign_up(visit)


def _sign_up(visit: Visit, email: str = "", errors: Any = (), sent: str = "", status: int = 200) -> Answer:
    values = {"how": visit.settings.signup, "email": email, "errors": list(errors), "sent": sent}
    return Html("account/sign_up.html", values, status)


def sign_up(visit: Visit) -> Answer:
    """Send a link to join, where anybody may."""
    if visit.settings.signup != "open":
        return _sign_up(visit, status=403)
    email = visit.form.get("email", "").strip()
    try:
        checked_email(email)
    except AccountError:
        return _sign_up(visit, email, [_error("email", _not_an_address(email))], status=400)
    settings = visit.settings
    visit.people.write_later(
        lambda now: visit.people.authentication.ask_to_join(email, settings.signup_plan, settings.plans, now=now),
        visit.address,
    )
    return _sign_up(visit, sent=email)


def join_form(visit: Visit) -> Answer:
    """What a link to join is for."""
    return _join(visit)


def _join(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    found = visit.people.authentication.invitation(visit.values["token"], now=visit.people.now())
    return _behind_link(visit, found, "account/join.html", "/signup", errors, status)


def _behind_link(
    visit: Visit, found: Invitation | AccountInfo | None, template: str, again: str, errors: Any, status: int
) -> Answer:
    """The form for a password behind a link; of one that leads nowhere any more, where to ask for another."""
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
        return refused(visit, [_error("password", _sentence(error))], 400)
    if isinstance(found, NotSignedIn):
        return Html("account/used.html", {"text": DISABLED, "again": "/signin"}, 403, secret=True)
    return let_in(visit, found)


def join(visit: Visit) -> Answer:
    """Make the account and sign in."""
    return _through(visit, visit.people.authentication.join, _join)


def forgot_form(visit: Visit) -> Answer:
    """Ask for a link that sets another password."""
    return _forgot()


def _forgot(email: str = "", errors: Any = (), sent: str = "", status: int = 200) -> Answer:
    return Html("account/forgot.html", {"email": email, "errors": list(errors), "sent": sent}, status)


def forgot(visit: Visit) -> Answer:
    """Send the link, if there is an account. The answer is the same, and as fast, if there is none."""
    email = visit.form.get("email", "").strip()
    try:
        checked_email(email)
    except AccountError:
        return _forgot(email, [_error("email", _not_an_address(email))], status=400)
    visit.people.write_later(lambda now: visit.people.authentication.ask_reset(email, now=now), visit.address)
    return _forgot(sent=email)


def reset_form(visit: Visit) -> Answer:
    """A form for another password, behind a link."""
    return _reset(visit)


def _reset(visit: Visit, errors: Any = (), status: int = 200) -> Answer:
    found = visit.people.authentication.resets.find(visit.values["token"], now=visit.people.now())
    return _behind_link(visit, found, "account/reset.html", "/forgot", errors, status)


def reset(visit: Visit) -> Answer:
    """Set the password, end all other sessions, and sign in."""
    return _through(visit, visit.people.authentication.reset, _reset)


def _error(field: str, message: str) -> dict[str, str]:
    return {"field": field, "message": message}


def _sentence(error: AccountError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _not_an_address(text: str) -> str:
    return f"“{text[:60]}” is not an e-mail address. Write one like ada@example.org"


PAGES = (
    Page("/signup", sign_up_form, sign_up, who="anyone"),
    Page("/signup/{token}", join_form, join, who="anyone"),
    Page("/forgot", forgot_form, forgot, who="anyone"),
    Page("/reset/{token}", reset_form, reset, who="anyone"),
)
