"""The site, built once."""

import pytest

from tools.docs.site.build import ZENSICAL, build


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    if not ZENSICAL.exists():
        pytest.skip("Zensical is not installed: `make site` does so")
    folder = tmp_path_factory.mktemp("site") / "site"
    build(folder)
    return folder
