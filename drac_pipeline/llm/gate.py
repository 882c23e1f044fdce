"""How much may be asked of a service at once: a quota that is found, and a breaker.

Pages in flight are counted for each service over all processes of a home. When the service
throttles, the room shrinks by a quarter, or to what else is in flight where that is less. It
grows fast to somewhat below where it was cut last and slowly from there, so that it settles at
the quota instead of hammering it. After too many failures in a row the service is left alone
for a while; then the first call is a probe.

Who waits stands in a queue, large calls first: small ones fill the gaps and the end.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterator

from drac_pipeline.counted import counted
from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database, is_alive, this_process
from drac_pipeline.llm.protocol import ModelUnavailable

SHRINK = 0.75
_SHRINK_EVERY = 1.0  # seconds: a burst of throttled calls is one message, not many
_SHRINK_MOST = 0.4
_GROWTH, _SLOW_GROWTH = 5.0, 0.3  # pages more for each round of the room
_NEAR = 0.85  # of the room at the last cut, from where it grows slowly
_POLL = 0.05
_NEXT = 3  # so many in front of the queue look often
_PATIENCE = 60.0  # seconds from which nobody goes before who waits


class Gate:
    """The entrance to one service (a provider and model); `ceiling` is the most pages in flight."""

    def __init__(
        self,
        database: Database,
        service: str,
        ceiling: int,
        clock: Clock,
        *,
        failures: int = 12,
        rest: float = 60.0,
    ) -> None:
        self._db = database
        self._service = service
        self._ceiling = ceiling
        self._clock = clock
        self._failures = failures
        self._rest = rest
        with database.change() as db:
            db.execute("INSERT OR IGNORE INTO gate (service, room) VALUES (?, ?)", (service, ceiling))

    @property
    def room(self) -> float:
        """Pages that may be in flight now."""
        return min(self._ceiling, self._state()["room"])

    @contextlib.contextmanager
    def entered(self, weight: int) -> Iterator[None]:
        """Wait for room for `weight` pages and hold it. Raises ModelUnavailable while the breaker is open."""
        number = self.stand(weight)
        try:
            self._await(number)
            yield
        finally:
            self.leave(number)

    def stand(self, weight: int) -> int:
        """Stand in the queue; gives the number of who stands there for this process."""
        pid, born = this_process()
        with self._db.change() as db:
            done = db.execute(
                "INSERT INTO entrants (service, weight, since, pid, born) VALUES (?, ?, ?, ?, ?)",
                (self._service, weight, self._clock.now(), pid, born),
            )
            number = done.lastrowid
        assert number is not None
        return number

    def leave(self, number: int) -> None:
        """Leave, from the queue or from inside."""
        with self._db.change() as db:
            db.execute("DELETE FROM entrants WHERE id = ?", (number,))

    def admit(self, numbers: Collection[int]) -> list[int]:
        """Let those of `numbers` in whose turn it is, in one look at the queue; gives them.

        Raises ModelUnavailable while the breaker is open.
        """
        self._refuse_while_open()
        with self._db.change() as db:
            rows = db.execute(*self._queue()).fetchall()
            room, now = self.room, self._clock.now()
            used = sum(r["weight"] for r in rows if r["inside"])
            waiting = self._in_turn(rows, now)
            let_in: list[int] = []
            while waiting:
                fits = [not used or r["weight"] <= room - used for r in waiting]
                patient = [now - r["since"] >= _PATIENCE for r in waiting]
                first = next((k for k in range(len(waiting)) if fits[k] or patient[k]), None)
                if first is None or not fits[first] or waiting[first]["id"] not in numbers:
                    break
                row = waiting.pop(first)
                db.execute("UPDATE entrants SET inside = 1 WHERE id = ?", (row["id"],))
                used += row["weight"]
                let_in.append(row["id"])
        return let_in

    def _await(self, number: int) -> None:
        """Come in as soon as it is this entrant's turn."""
        looks = 0
        while True:
            self._refuse_while_open()
            if looks % 40 == 0:
                self.forget_the_dead()
            looks += 1
            ahead = self._ahead(number)
            if ahead == 0:
                with self._db.change() as db:
                    if self._ahead(number) == 0:
                        db.execute("UPDATE entrants SET inside = 1 WHERE id = ?", (number,))
                        return
            # who stands far back need not look so often
            pause = _POLL if ahead <= _NEXT else 4 * _POLL
            self._clock.sleep(pause / 2 + self._clock.jitter(pause))

    def _refuse_while_open(self) -> None:
        state = self._state()
        if state["open_until"] > self._clock.now():
            raise ModelUnavailable(
                f"the model service failed {counted(state['failures'], 'time')} in a row and is"
                " left alone for now",
                remedy="Run again when it is back; nothing that was finished is paid again.",
            )

    def _ahead(self, number: int) -> int:
        """How many wait before this one; 0 where it may come in.

        Large calls go first, so that the small ones fill the gaps and the end; one that fits goes
        before a larger one that does not, unless that has waited long.
        """
        rows = self._db.rows(*self._queue())
        used = sum(r["weight"] for r in rows if r["inside"])
        free = self.room - used
        now = self._clock.now()
        waiting = self._in_turn(rows, now)
        for place, r in enumerate(waiting):
            fits = not used or r["weight"] <= free
            if r["id"] == number:
                return 0 if fits else place + 1
            if fits or now - r["since"] >= _PATIENCE:
                return 1 + next((k for k, w in enumerate(waiting[place:]) if w["id"] == number), 0)
        return 1

    def _queue(self) -> tuple[str, tuple[str]]:
        return "SELECT id, weight, since, inside FROM entrants WHERE service = ?", (self._service,)

    @staticmethod
    def _in_turn(rows: list[sqlite3.Row], now: float) -> list[sqlite3.Row]:
        waiting = [r for r in rows if not r["inside"]]
        return sorted(waiting, key=lambda r: (now - r["since"] < _PATIENCE, -r["weight"], r["id"]))

    def succeeded(self, weight: int) -> None:
        """A call came back."""
        with self._db.change() as db:
            db.execute(
                "UPDATE gate SET failures = 0, open_until = 0, room = MIN(?, room + ? / MAX(room, 1.0)"
                " * CASE WHEN cut_room > 0 AND room >= cut_room * ? THEN ? ELSE ? END) WHERE service = ?",
                (self._ceiling, weight, _NEAR, _SLOW_GROWTH, _GROWTH, self._service),
            )

    def throttled(self, weight: int) -> None:
        """The service asked for less when a call of `weight` came: it is there, so this is no failure.

        The first of a burst shrinks the room; the others only to what is in flight without them.
        """
        now = self._clock.now()
        with self._db.change() as db:
            state = db.execute(*self._query("*")).fetchone()
            others = self._used(db) - weight
            room = min(self._ceiling, state["room"])
            first = state["cut_at"] <= now - _SHRINK_EVERY
            before = room if first else state["cut_room"]
            new = min(room * SHRINK if first else room, others if others > 0 else room)
            db.execute(
                "UPDATE gate SET room = ?, cut_room = ?, cut_at = ?, failures = 0 WHERE service = ?",
                (
                    *(max(1.0, before * _SHRINK_MOST, new), before),
                    *(now if first else state["cut_at"], self._service),
                ),
            )

    def failed(self) -> None:
        """A call failed for no fault of its own."""
        with self._db.change() as db:
            db.execute("UPDATE gate SET failures = failures + 1 WHERE service = ?", (self._service,))
            db.execute(
                "UPDATE gate SET open_until = ? WHERE service = ? AND failures >= ?",
                (self._clock.now() + self._rest, self._service, self._failures),
            )

    def _query(self, what: str) -> tuple[str, tuple[str]]:
        return f"SELECT {what} FROM gate WHERE service = ?", (self._service,)

    def _state(self):
        return self._db.rows(*self._query("*"))[0]

    def _used(self, db: sqlite3.Connection) -> int:
        query = "SELECT COALESCE(SUM(weight), 0) FROM entrants WHERE service = ? AND inside"
        return db.execute(query, (self._service,)).fetchone()[0]

    def forget_the_dead(self) -> None:
        """Those whose process of this machine has ended leave."""
        for row in self._db.rows("SELECT DISTINCT pid, born FROM entrants"):
            if not is_alive(row["pid"], row["born"]):
                with self._db.change() as db:
                    db.execute("DELETE FROM entrants WHERE pid = ? AND born = ?", (row["pid"], row["born"]))
