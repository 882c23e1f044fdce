"""Who lets the model calls of this process in, and writes them down.

In a run on one machine all processes share the database of the home. A node of a cluster cannot:
SQLite needs a file system of its own machine, and who is alive can only be told there. Then the
ledger and the gate are kept where the run was started, and what stands here passes calls on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database
from drac_pipeline.llm.gate import Gate
from drac_pipeline.llm.ledger import Ledger

DATABASE_FILE = "calls.sqlite"
LEDGER_FILE = "calls.parquet"


@dataclass(frozen=True, slots=True)
class Account:
    """Whose calls: of a run, to a service. Budgets in USD; `ceiling` is the most pages in flight."""

    run: str
    service: str
    ceiling: int
    failures: int
    rest: float
    per_run: float
    per_day: float


@dataclass(frozen=True, slots=True)
class Books:
    """Ledger and gate of an account. `close` lets go of what they are kept in."""

    ledger: Ledger
    gate: Gate
    close: Callable[[], None]


Opener = Callable[[Account], Books]
_opener: Opener | None = None


@contextlib.contextmanager
def kept_by(opener: Opener) -> Iterator[None]:
    """Books opened inside the block are opened by `opener`."""
    global _opener
    before, _opener = _opener, opener
    try:
        yield
    finally:
        _opener = before


def open_books(account: Account, state: Path, clock: Clock) -> Books:
    """The books of an account; here they are in `state`."""
    if _opener:
        return _opener(account)
    database = Database(state / DATABASE_FILE)
    return Books(*open_here(account, database, state, clock), database.close)


def open_here(account: Account, database: Database, state: Path, clock: Clock) -> tuple[Ledger, Gate]:
    """Ledger and gate in a database of this machine."""
    ledger = Ledger(database, clock, account.run, account.per_run, account.per_day, state / LEDGER_FILE)
    gate = Gate(
        database, account.service, account.ceiling, clock, failures=account.failures, rest=account.rest
    )
    return ledger, gate
