"""Settings: what may be set, how it is given, and the clock of the data."""

from __future__ import annotations

from almanac.config.reading import exposed, list_settings, load
from almanac.config.settings import PLANS, Http, Plan, SettingError, Settings, Smtp, SourceSettings, real_time

__all__ = [
    "PLANS",
    "Http",
    "Plan",
    "SettingError",
    "Settings",
    "Smtp",
    "SourceSettings",
    "exposed",
    "list_settings",
    "load",
    "real_time",
]
