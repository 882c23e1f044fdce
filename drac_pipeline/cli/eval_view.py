"""What `drac eval` shows: progress on stderr, tables on stdout."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from rich import box
from rich.markup import escape
from rich.progress import TaskID
from rich.table import Table

from drac_pipeline.cli.console import err, out, progress_bar
from drac_pipeline.evaluate.job import Done
from drac_pipeline.evaluate.metrics import METRICS, SHORT
from drac_pipeline.evaluate.report.verdicts import verdicts
from drac_pipeline.evaluate.summary import failed_sets

WHOLE_WIDTH = 96  # columns of a terminal that the whole table needs; with fewer, those at 3 are left out


class EvaluationProgress(AbstractContextManager["EvaluationProgress"]):
    """A bar for each phase; where stderr is no terminal, a line."""

    def __init__(self) -> None:
        self._bar = progress_bar()
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> EvaluationProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, phase: str, total: int, note: str) -> None:
        """One step of a phase is done; its begin where `note` is empty."""
        if not note:
            if phase not in self._tasks:
                self._tasks[phase] = self._bar.add_task(phase, total=total, note="")
                if not err.is_terminal:
                    err.print(phase)
            return
        if phase in self._tasks:
            self._bar.update(self._tasks[phase], advance=1, note=note[-50:])


def print_evaluation(done: Done) -> None:
    """The tables of an evaluation, what failed, and where the report is."""
    for c in done.summary["comparisons"]:
        if c["confined_by"]:
            who = escape(" and ".join(c["confined_by"]))
            documents = _several(len(c["documents"]), "document")
            out.print(f"\n[bold]{documents} that {who} can chunk[/] · {_several(c['questions'], 'question')}")
        else:
            out.print(f"\n[bold]{_several(c['questions'], 'question')}[/]")
        for ranker in [c["main_ranker"]] if c["confined_by"] else c["rankers"]:
            out.print(_table(c, ranker))
        for line in verdicts(c):
            out.print(f"  {escape(line)}")
    for name, why in done.summary["without_chunks"].items():
        out.print(f"[yellow]not judged[/] {escape(name)}: {escape(why)}")
    for s in failed_sets(done.summary):
        for key, why in list(s["failed"].items())[:5]:
            out.print(f"[yellow]{escape(s['name'])}[/] failed on {escape(key)}: {escape(why)}")
        if len(s["failed"]) > 5:
            out.print(f"[yellow]{escape(s['name'])}[/] failed on {len(s['failed']) - 5} more (in the report)")
    for note in done.summary["questions"]["notes"]:
        out.print(f"note: {escape(note)}")
    out.print(f"report {escape(str(done.page))}", soft_wrap=True)


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _table(c: dict[str, Any], ranker: str) -> Table:
    table = Table(title=ranker, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown = METRICS if out.width >= WHOLE_WIDTH else tuple(m for m in METRICS if not m.endswith("@3"))
    table.add_column("set", overflow="fold", min_width=18)
    for name in ("chunks", "chars", *(SHORT[m] for m in shown)):
        table.add_column(name, justify="right", no_wrap=True)
    rows = [(s, s["rankers"][ranker]["overall"]) for s in c["sets"]]
    best = {m: max(row[m] for _, row in rows) for m in shown}
    for s, row in rows:
        cells = [
            f"[bold]{row[m]:.3f}[/]" if len(rows) > 1 and row[m] == best[m] else f"{row[m]:.3f}"
            for m in shown
        ]
        table.add_row(escape(s["name"]), f"{s['chunks']:,}", f"{s['mean_chars']:,.0f}", *cells)
    return table
