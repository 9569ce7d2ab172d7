"""The builder needs no network. A module of its own: a machine that cannot take the network away lacks nothing of the site."""

import pytest

from tools.docs.site.build import build

from .test_site import digests

pytestmark = pytest.mark.slow


def test_it_comes_out_the_same_without_a_network(site, tmp_path, unplugged):
    build(tmp_path / "again", before=unplugged)
    assert digests(tmp_path / "again") == digests(site)
