"""The dashboard over the invented world, in one process, and a browser without script."""

from __future__ import annotations

from tests.contract.conftest import built, own, service, worker_id

__all__ = ["built", "own", "service", "worker_id"]
