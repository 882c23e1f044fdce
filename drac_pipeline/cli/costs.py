"""`drac costs`: what model calls have cost."""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from drac_pipeline.cli.console import HomeOption, existing_home, out
from drac_pipeline.counted import counted
from drac_pipeline.llm.books import DATABASE_FILE, LEDGER_FILE
from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database
from drac_pipeline.llm.ledger import REUSED, Ledger, write_parquet
from drac_pipeline.llm.open import STATE_FOLDER
from drac_pipeline.llm.prices import UNPRICED


class By(StrEnum):
    """What calls can be grouped by."""

    STAGE = "stage"
    DOCUMENT = "document"
    MODEL = "model"
    DAY = "day"
    RUN = "run"
    OUTCOME = "outcome"


def _key(record: dict[str, Any], by: By) -> str:
    return record["started"].date().isoformat() if by is By.DAY else record[by]


def costs(
    home: HomeOption,
    by: Annotated[
        list[By] | None,
        typer.Option(help="Group by this; may be given more than once. Default: stage, model and day."),
    ] = None,
) -> None:
    """Report every model call: tokens, failures, money, by stage, document, model, day, run or outcome.

    Failed and retried calls are counted, and calls whose process was killed count with the most they can
    have cost. The calls themselves are in HOME/model/calls.parquet, written anew by this command.

    Examples:

      drac costs --home ~/drac/contracts

      drac costs --home ~/drac/contracts --by document --by stage
    """
    state = existing_home(home).path / STATE_FOLDER
    if not (state / DATABASE_FILE).is_file():
        out.print("no model was ever called from this home")
        return
    database = Database(state / DATABASE_FILE)
    records = Ledger(database, Clock()).records()
    write_parquet(records, state / LEDGER_FILE)
    database.close()
    for group in [tuple(by)] if by else [(By.STAGE,), (By.MODEL,), (By.DAY,)]:
        out.print(_table(group, records))
    total = sum(r["cost_usd"] for r in records)
    out.print(
        f"total ${total:.4f} · {counted(sum(r['outcome'] != REUSED for r in records), 'call')} ·"
        f" {state / LEDGER_FILE}"
    )
    if unsure := [r for r in records if r["estimated"]]:
        out.print(
            f"of it ${sum(r['cost_usd'] for r in unsure):.4f} estimated:"
            f" {counted(len(unsure), 'call')} timed out or"
            f" {'was' if len(unsure) == 1 else 'were'} cut off after being sent, counted with the"
            " most they can have cost"
        )
    unpriced = sorted({r["model"] for r in records if r["priced"] == UNPRICED})
    if unpriced:
        out.print(
            f"no price is known of {', '.join(unpriced)}: write prices.toml into the home", style="yellow"
        )


def _table(group: tuple[By, ...], records: list[dict[str, Any]]) -> Table:
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for r in records:
        rows[tuple(_key(r, name) for name in group)].append(r)
    table = Table()
    for name in group:
        table.add_column(name, overflow="fold")
    for name in (
        "calls",
        "failed",
        "refused",
        "reused",
        "pages",
        "tokens in",
        "tokens out",
        "seconds",
        "USD",
    ):
        table.add_column(name, justify="right")
    for key in sorted(rows):
        some = rows[key]
        made = [r for r in some if r["outcome"] != REUSED]
        good = [r for r in made if r["status"] == 200]
        table.add_row(
            *(escape(k) for k in key),
            str(len(made)),
            str(len(made) - len(good)),
            str(sum(r["verdict"] not in ("", "accepted") for r in good)),
            str(len(some) - len(made)),
            str(sum(r["pages"] for r in good)),
            f"{sum(r['input_tokens'] for r in made):,}",
            f"{sum(r['output_tokens'] for r in made):,}",
            f"{sum(r['latency_seconds'] for r in made):.1f}",
            f"{sum(r['cost_usd'] for r in some):.4f}",
        )
    return table
