"""Every model call that was made, failed and retried ones too, and what it cost.

A call is written down with the most it can cost before it is sent, and with what it did cost
when it is back. So the budget holds for calls in flight, whoever sent them, and a killed
process leaves a line: it may have been billed, and counts with its reserve. So does a call that
timed out or whose connection was lost after it was sent; such lines are marked as estimated.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database, is_alive, this_process
from drac_pipeline.llm.protocol import BudgetExceeded, Reply

STARTED = "started"
INTERRUPTED = "interrupted"
REUSED = "reused"
KILLED = "its process was killed"
EXPORT_ROWS_PER_SECOND = 200
_TEXTS = ("call", "run", "document", "stage", "unit", "provider", "model", "prompt")
_TEXTS += ("outcome", "detail", "verdict", "priced")
_COUNTS = ("id", "attempt", "pages", "status", "input_tokens", "output_tokens", "cached_tokens", "estimated")
_AMOUNTS = ("latency_seconds", "cost_usd", "reserved_usd")


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a call is for: document, stage, pages or section, version of the prompt."""

    document: str
    stage: str
    unit: str
    prompt: str
    pages: int = 0


class Ledger:
    """The calls of a home. Budgets are in USD, 0 for none; a day is a UTC day."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        run: str = "",
        per_run: float = 0.0,
        per_day: float = 0.0,
        parquet: Path | None = None,
    ) -> None:
        self._parquet = parquet
        self._db = database
        self._clock = clock
        self.run = run
        self._per_run = per_run
        self._per_day = per_day
        self._close_the_dead()

    def begin(
        self, purpose: Purpose, provider: str, model: str, call: str, attempt: int, reserve: float
    ) -> int:
        """Write a call down and give its number. Raises BudgetExceeded where it could cost too much."""
        pid, born = this_process()
        now = self._clock.now()
        with self._db.change() as db:
            for name, budget, where, value in (
                ("per run", self._per_run, "run = ?", self.run),
                ("per day", self._per_day, "started >= ?", now - now % 86400),
            ):
                if budget:
                    query = f"SELECT COALESCE(SUM(COALESCE(cost, reserved)), 0) FROM calls WHERE {where}"
                    spent = db.execute(query, (value,)).fetchone()[0]
                    if spent + reserve > budget:
                        raise BudgetExceeded(
                            f"${spent:.4f} of the ${budget:.4f} {name} are spent or in flight, and the next"
                            f" call may cost ${reserve:.4f}",
                            remedy="Raise [model] budget_per_run or budget_per_day and run again;"
                            " what was finished is not paid again.",
                        )
            done = db.execute(
                "INSERT INTO calls (call, attempt, started, run, document, stage, unit, pages, provider,"
                " model, prompt, outcome, reserved, pid, born) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    *(call, attempt, now, self.run, purpose.document, purpose.stage, purpose.unit),
                    *(purpose.pages, provider, model, purpose.prompt, STARTED, reserve, pid, born),
                ),
            )
            assert done.lastrowid is not None
            return done.lastrowid

    def end(
        self,
        number: int,
        outcome: str,
        *,
        cost: float = 0.0,
        priced: str = "",
        reply: Reply | None = None,
        detail: str = "",
        status: int = 0,
        sent_tokens: int = 0,
    ) -> None:
        """How the call went. A failed one costs nothing, unless `sent_tokens` says that the service may
        have worked on them all the same: then it counts with the most it can cost."""
        with self._db.change() as db:
            db.execute(
                "UPDATE calls SET outcome=?, cost=CASE WHEN ? THEN reserved ELSE ? END, estimated=?,"
                " priced=?, detail=?, status=?, latency=MAX(0, ?-started),"
                " input_tokens=?, output_tokens=?, cached_tokens=? WHERE id=?",
                (
                    *(outcome, sent_tokens, cost, int(bool(sent_tokens)), priced),
                    *(detail[:500], status, self._clock.now()),
                    reply.input_tokens if reply else sent_tokens,
                    reply.output_tokens if reply else 0,
                    reply.cached_tokens if reply else 0,
                    number,
                ),
            )

    def judge(self, number: int, verdict: str) -> None:
        """What the checks said of a reply: `accepted`, or why not."""
        with self._db.change() as db:
            db.execute("UPDATE calls SET verdict = ? WHERE id = ?", (verdict[:500], number))

    def reused(self, purpose: Purpose, provider: str, model: str) -> int:
        """A result that was paid for before served again; gives the number of its line."""
        number = self.begin(purpose, provider, model, uuid.uuid4().hex[:12], 0, 0.0)
        self.end(number, REUSED)
        return number

    def spent(self, document: str, stage: str) -> dict[str, float]:
        """Calls, tokens and money of a stage of a document in this run."""
        row = self._db.rows(
            "SELECT COUNT(*), COALESCE(SUM(input_tokens),0), COALESCE(SUM(output_tokens),0),"
            " COALESCE(SUM(COALESCE(cost, reserved)),0) FROM calls"
            " WHERE run = ? AND document = ? AND stage = ? AND outcome != ?",
            (self.run, document, stage, REUSED),
        )[0]
        names = ("model_calls", "input_tokens", "output_tokens", "cost_usd")
        return {n: round(v, 6) for n, v in zip(names, row, strict=True)}

    def size(self) -> int:
        """How many calls there are."""
        return self._db.rows("SELECT COUNT(*) FROM calls")[0][0]

    def records(self) -> list[dict[str, Any]]:
        """All calls as plain rows, oldest first."""
        return [_record(dict(r)) for r in self._db.rows("SELECT * FROM calls ORDER BY id")]

    def export(self, *, now: bool = False) -> None:
        """Write all calls as Parquet. A long ledger takes time to write, so it is left for later where that
        was done a moment ago, unless it must be `now`; `drac costs` always writes it."""
        if self._parquet is None:
            return
        if not now and self._parquet.exists():
            age = time.time() - self._parquet.stat().st_mtime
            if age < self.size() / EXPORT_ROWS_PER_SECOND:
                return
        write_parquet(self.records(), self._parquet)

    def interrupt(self, numbers: Iterable[int], why: str = KILLED) -> None:
        """Calls whose process is gone count with the most that they can cost."""
        for number in numbers:
            with self._db.change() as db:
                db.execute(
                    "UPDATE calls SET outcome = ?, cost = reserved, estimated = 1, detail = ?"
                    " WHERE outcome = ? AND id = ?",
                    (INTERRUPTED, why, STARTED, number),
                )

    def _close_the_dead(self) -> None:
        for row in self._db.rows("SELECT DISTINCT pid, born FROM calls WHERE outcome = ?", (STARTED,)):
            if not is_alive(row["pid"], row["born"]):
                with self._db.change() as db:
                    db.execute(
                        "UPDATE calls SET outcome = ?, cost = reserved, estimated = 1,"
                        " detail = ? WHERE outcome = ? AND pid = ? AND born = ?",
                        (INTERRUPTED, KILLED, STARTED, row["pid"], row["born"]),
                    )


def _record(row: dict[str, Any]) -> dict[str, Any]:
    del row["pid"], row["born"]
    cost, started = row.pop("cost"), row.pop("started")
    row["cost_usd"] = row["reserved"] if cost is None else cost
    row["reserved_usd"] = row.pop("reserved")
    row["latency_seconds"] = row.pop("latency")
    row["started"] = datetime.fromtimestamp(started, UTC)
    return row


def write_parquet(records: list[dict[str, Any]], target: Path) -> None:
    """The records as a Parquet file, which replaces the one before in one step."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [(n, pa.string()) for n in _TEXTS]
        + [(n, pa.int64()) for n in _COUNTS]
        + [(n, pa.float64()) for n in _AMOUNTS]
        + [("started", pa.timestamp("us", "UTC"))],
        metadata={"drac_schema": "model_calls/2"},
    )
    temporary = target.with_name(f".{target.name}-{uuid.uuid4().hex[:8]}")
    try:
        pq.write_table(pa.Table.from_pylist(records, schema=schema), temporary)
        os.replace(temporary, target)  # noqa: PTH105
    finally:
        temporary.unlink(missing_ok=True)
