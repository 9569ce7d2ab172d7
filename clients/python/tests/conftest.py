"""The invented world of the service's own tests, and clients of it."""

from __future__ import annotations

import pytest

from almanac_client import Almanac, AsyncAlmanac
from tests.contract.conftest import built, built_whole, own, sandbox, service, whole, worker_id

from .served import async_client, client

__all__ = ["built", "built_whole", "own", "sandbox", "service", "whole", "worker_id"]


@pytest.fixture
def almanac(service) -> Almanac:
    return client(service)


@pytest.fixture
def awaited(service) -> AsyncAlmanac:
    return async_client(service)
