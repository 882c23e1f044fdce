"""The small database that all processes of a home share for their model calls.

SQLite, since it outlives a killed process without repair, and since a budget and a quota must
be looked at and used up in one step whoever else is at it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

_TABLES = """
CREATE TABLE IF NOT EXISTS calls (
  id INTEGER PRIMARY KEY, call TEXT, attempt INTEGER, started REAL, run TEXT, document TEXT, stage TEXT,
  unit TEXT, pages INTEGER, provider TEXT, model TEXT, prompt TEXT, outcome TEXT, detail TEXT DEFAULT '',
  verdict TEXT DEFAULT '', status INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0, cached_tokens INTEGER DEFAULT 0, latency REAL DEFAULT 0,
  cost REAL, reserved REAL DEFAULT 0, priced TEXT DEFAULT '', pid INTEGER, born TEXT,
  estimated INTEGER DEFAULT 0);
CREATE INDEX IF NOT EXISTS calls_run ON calls (run);
CREATE INDEX IF NOT EXISTS calls_started ON calls (started);
DROP TABLE IF EXISTS slots;
CREATE TABLE IF NOT EXISTS entrants (
  id INTEGER PRIMARY KEY, service TEXT, weight INTEGER, since REAL, inside INTEGER DEFAULT 0, pid INTEGER,
  born TEXT);
CREATE TABLE IF NOT EXISTS gate (
  service TEXT PRIMARY KEY, room REAL, failures INTEGER DEFAULT 0, open_until REAL DEFAULT 0,
  cut_at REAL DEFAULT 0, cut_room REAL DEFAULT 0);
"""


class Database:
    """One connection, used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        # a commit survives the death of the process; only a power cut can take the last ones
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        with self.change() as db:
            for statement in _TABLES.split(";"):
                if statement.strip():
                    db.execute(statement)
            known = {row["name"] for row in db.execute("PRAGMA table_info(calls)")}
            if "estimated" not in known:  # a home of before
                db.execute("ALTER TABLE calls ADD COLUMN estimated INTEGER DEFAULT 0")

    @contextlib.contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other process's change can come into."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, query: str, values: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()


def this_process() -> tuple[int, str]:
    """The number of this process and when it was born (numbers are used again)."""
    return os.getpid(), _born(os.getpid())


def is_alive(pid: int, born: str) -> bool:
    """Whether the process that wrote down (pid, born) still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _born(pid) == born


def _born(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):  # no /proc: the number alone has to do
        return ""
