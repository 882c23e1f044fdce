"""Time, as something that tests can put another in place of."""

from __future__ import annotations

import random
import time


class Clock:
    """The real one."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def jitter(self, most: float) -> float:
        """A number between 0 and `most`."""
        return random.uniform(0.0, most)


def backoff(clock: Clock, attempt: int, base: float, cap: float, retry_after: float = 0.0) -> float:
    """Seconds to wait after try `attempt` (from 1) failed: full jitter, never less than the service
    asked for, and then a little more, so that not all come back at once."""
    spread = clock.jitter(min(cap, base * 2 ** min(attempt, 20)))
    return retry_after + (clock.jitter(min(base, 1.0)) if retry_after else spread)
