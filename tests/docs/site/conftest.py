"""The site, built once; a machine without a network for its builder; and the browser of the dashboard's tests."""

import subprocess

import pytest

from tools.docs.site.build import ZENSICAL, build


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    if not ZENSICAL.exists():
        pytest.skip("Zensical is not installed: `make site` does so")
    folder = tmp_path_factory.mktemp("site") / "site"
    build(folder)
    return folder


@pytest.fixture(scope="session")
def unplugged():
    """Words that run a command without any network. Skips where the machine does not let us."""
    words = ("unshare", "--map-root-user", "--net")
    try:
        done = subprocess.run([*words, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode:
        pytest.skip("this machine lets nobody be without a network")
    return words
