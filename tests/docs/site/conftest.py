"""The browser of the dashboard's tests, for the site too."""

from tests.browser.conftest import chromium

__all__ = ["chromium"]
