"""The dashboard over the invented world, in one process, and a browser without script."""

import functools
from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from almanac.dashboard import site
from almanac.store.accounts import passwords
from tests.contract.conftest import built, own, service, worker_id

__all__ = ["built", "own", "service", "worker_id"]


class _Compiled(BytecodeCache):
    """Templates that this process has compiled."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


@pytest.fixture(scope="module", autouse=True)
def _cheap() -> Iterator[None]:
    """Hash passwords cheaply, and compile templates once: each test makes a dashboard of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "PasswordHasher", functools.partial(PasswordHasher, 1, 8, 1))
        patch.setattr(site, "Environment", functools.partial(Environment, bytecode_cache=_COMPILED))
        yield
