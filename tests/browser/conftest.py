"""What the walks share with the contract's tests."""

from __future__ import annotations

from tests.contract.conftest import worker_id

__all__ = ["worker_id"]
