"""Passwords that were refused, told to whoever runs the service: counted, and each that was looked at has a line in the log."""

from __future__ import annotations

import structlog

from almanac.api.use import metrics
from almanac.dashboard.visit import Visit
from almanac.store.accounts.authentication import NotSignedIn

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
    told = visit.settings.log_addresses
    log.warning(
        "a password was refused",
        reason=found.reason,
        account=visit.people.authentication.account_id(email),
        address=visit.address if told else None,
        page=visit.path,
        request_id=visit.request_id,
    )
