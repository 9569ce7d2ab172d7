"""A clock that a rehearsal moves: sleeping and waiting take no time but its own."""

from datetime import UTC, datetime


class SimulatedClock:
    """Unix seconds. Whoever waits moves it on; it never goes back."""

    def __init__(self, start: str) -> None:
        self.now = datetime.fromisoformat(start).timestamp()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.now += max(0.0, seconds)

    @property
    def moment(self) -> datetime:
        """Now, in UTC."""
        return datetime.fromtimestamp(self.now, UTC)
