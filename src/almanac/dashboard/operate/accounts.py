"""Accounts, as those who run the service see them: keys are counted only. Each deed is a form of its own, and is noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from almanac.dashboard.formatting.numbers import read_whole
from almanac.dashboard.visit import Answer, Html, NotFound, Page, Redirect, Visit
from almanac.reports.wording import sentence
from almanac.store.accounts.administration import Administration
from almanac.store.accounts.links import Invitations
from almanac.store.accounts.records import ROLES, AccountError, AccountInfo

_PAGE, _DEEDS = 100, 30
#: What `done` in an address stands for.
DONE = {
    "plan": "The plan is changed. It holds for the next request.",
    "disable": "The account is suspended. Its keys get 403, and nobody can sign in with it.",
    "enable": "The account is let in again.",
    "withdraw": "The invitation is withdrawn. Its link leads nowhere now.",
}


class AccountDeed(msgspec.Struct, frozen=True):
    """An operator's action on an account: words for its page, and the function that does it."""

    title: str
    text: str
    button: str
    do: Callable[[Visit, Administration, AccountInfo], Any]
    #: Not to oneself: nobody may be left to undo it.
    not_self: bool = False
    bad: bool = False


DEEDS = {
    "plan": AccountDeed("Change the plan of", "Limits and history follow the new plan from the next request on.", "Change plan", lambda visit, by, account: by.set_plan(account.email, visit.form.get("plan", ""), visit.settings.plans, now=visit.people.now())),
    "disable": AccountDeed(
        "Suspend", "Its keys get 403 and nobody can sign in with it, until it is let in again. Nothing is deleted.", "Suspend account",
        lambda visit, by, account: by.disable(account.email, now=visit.people.now()), not_self=True, bad=True,
    ),
    "enable": AccountDeed("Let in again", "Its keys and its people are let in as before.", "Let in again", lambda visit, by, account: by.enable(account.email, now=visit.people.now())),
    "reset": AccountDeed(
        "Make a reset link for", "You get a link that sets a new password, once, to hand over. Links on their way end.", "Make the link",
        lambda visit, by, account: f"{visit.settings.dashboard_address}/reset/{by.reset_link(account.email, now=visit.people.now())}",
    ),
}  # fmt: skip


def _by(visit: Visit) -> Administration:
    return Administration(visit.people.accounts, visit.who.email)


def accounts(visit: Visit, link: Any = None) -> Answer:
    """Show accounts, invitations that are open, and what was done lately."""
    by, now = _by(visit), visit.people.now()
    after = visit.query.get("after", "")
    place = read_whole(after, 17) or 0
    q = visit.query.get("email", "").strip()[:254]
    rows = by.page(_PAGE + 1, after=place, email=q, now=now)
    shown = rows[:_PAGE]
    values = {
        "rows": shown,
        "used": visit.people.used_by_accounts([row.account.id for row in shown]),
        "next": visit.here(after=str(shown[-1].n), done=None) if len(rows) > _PAGE else "",
        "first": visit.here(after=None, done=None) if place else "",
        "wanted": q,
        "invitations": Invitations(visit.people.accounts).open(now=now),
        "deeds": by.audit_log.latest(_DEEDS),
        "plans": visit.settings.plans,
        "done": DONE.get(visit.query.get("done", ""), ""),
        "link": link,
    }
    return Html("operate/accounts.html", values, secret=link is not None)


def _named(visit: Visit) -> tuple[str, AccountDeed, AccountInfo]:
    """Return the deed and the account of an address. Raises NotFound."""
    name = visit.values["deed"]
    deed = DEEDS.get(name)
    if deed is None:
        raise NotFound("There is no page at this address.")
    try:
        return name, deed, visit.people.accounts.account_of(visit.values["id"])
    except AccountError:
        raise NotFound("There is no such account.") from None


def confirm(visit: Visit) -> Answer:
    """Show what a deed does, and the one form that does it."""
    name, deed, one = _named(visit)
    return _confirm(visit, name, deed, one)


def _confirm(
    visit: Visit, name: str, deed: AccountDeed, one: AccountInfo, error: str = "", status: int = 200
) -> Answer:
    errors = [{"field": "plan" if name == "plan" else "", "message": error}] if error else []
    values = {"name": name, "deed": deed, "account": one, "plans": visit.settings.plans, "errors": errors}
    return Html("operate/deed.html", values, status)


def act(visit: Visit) -> Answer:
    """Do it, with its line in the list of deeds."""
    name, deed, one = _named(visit)
    if deed.not_self and one.id == visit.who.account:
        return _confirm(visit, name, deed, one, "You cannot do this to your own account: somebody else must.", 403)
    try:
        link = deed.do(visit, _by(visit), one)
    except AccountError as error:
        return _confirm(visit, name, deed, one, sentence(str(error)), 400)
    if name == "reset":
        return accounts(visit, link={"for": one.email, "address": link, "what": "sets a new password"})
    return Redirect(f"/operate/accounts?done={name}")


def invite_form(visit: Visit) -> Answer:
    """Whom to invite."""
    return _invite(visit, {"email": "", "plan": next(iter(visit.settings.plans)), "role": ROLES[0]})


def _invite(visit: Visit, typed: dict[str, str], errors: Any = (), status: int = 200) -> Answer:
    values = {"typed": typed, "plans": visit.settings.plans, "roles": ROLES, "errors": list(errors)}
    return Html("operate/invite.html", values, status)


def invite(visit: Visit) -> Answer:
    """Invite an address: the link is in this answer and nowhere else."""
    typed = {name: visit.form.get(name, "").strip() for name in ("email", "plan", "role")}
    try:
        token, made = _by(visit).invite(
            typed["email"], typed["plan"], visit.settings.plans, now=visit.people.now(), role=typed["role"]
        )
    except AccountError as error:
        culprit = (
            "plan" if typed["plan"] not in visit.settings.plans else "role" if typed["role"] not in ROLES else "email"
        )
        return _invite(visit, typed, [{"field": culprit, "message": sentence(str(error))}], 400)
    link = f"{visit.settings.dashboard_address}/signup/{token}"
    return accounts(visit, link={"for": made.email, "address": link, "what": "makes the account"})


def withdraw_form(visit: Visit) -> Answer:
    """Show what ending an invitation does."""
    for one in Invitations(visit.people.accounts).open(now=visit.people.now()):
        if one.id == visit.values["id"]:
            return Html("operate/withdraw.html", {"invitation": one})
    raise NotFound("There is no such invitation. It may have been used, or have run out.")


def withdraw(visit: Visit) -> Answer:
    """End an invitation."""
    try:
        _by(visit).withdraw(visit.values["id"], now=visit.people.now())
    except AccountError:
        raise NotFound("There is no such invitation. It may have been used, or have run out.") from None
    return Redirect("/operate/accounts?done=withdraw")


PAGES = (
    Page("/operate/accounts", accounts, who="operator"),
    Page("/operate/invitations", invite_form, invite, who="operator"),
    Page("/operate/invitations/{id}/withdraw", withdraw_form, withdraw, who="operator"),
    Page("/operate/accounts/{id}/{deed}", confirm, act, who="operator"),
)
