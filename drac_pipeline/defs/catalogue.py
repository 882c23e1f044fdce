"""The catalogue of everything Dagster sees, one line each, made from the definitions.

python -m drac_pipeline.defs.catalogue docs/catalogue.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from dagster import AssetCheckSpec, AssetSpec, Definitions

from drac_pipeline.defs.events import SOURCE_KEY, asset_key
from drac_pipeline.pipeline import STAGES

INTRO = """# Catalogue

Everything the Dagster UI shows, one line each. `drac_pipeline/defs/` defines it, `docs/operating.md` says how
to use it. The assets that are partitioned have one partition a document.
"""


def catalogue(defs: Definitions) -> str:
    """Assets, checks, jobs, sensors and schedules of `defs` as Markdown tables."""
    order = [SOURCE_KEY, *(asset_key(s.name) for s in STAGES)]
    specs = sorted(
        defs.resolve_all_asset_specs(),
        key=lambda s: (order.index(s.key) if s.key in order else len(order), s.key),
    )
    repository = defs.get_repository_def()
    checks = repository.asset_graph.asset_check_keys
    parts = [INTRO]
    parts += _table("Assets", ("asset", "partitioned", ""), map(_asset, specs))
    found = [repository.asset_graph.get_check_spec(key) for key in sorted(checks)]
    parts += _table("Checks", ("check", "on", "stops the document", ""), map(_check, found))
    jobs = [j for j in repository.get_all_jobs() if not j.name.startswith("__")]
    parts += _table("Jobs", ("job", ""), sorted((f"`{j.name}`", _line(j.description)) for j in jobs))
    sensors = repository.sensor_defs
    parts += _table("Sensors", ("sensor", ""), sorted((f"`{s.name}`", _line(s.description)) for s in sensors))
    schedules = sorted((f"`{s.name}`", _line(s.description)) for s in repository.schedule_defs)
    parts += _table("Schedules", ("schedule", ""), schedules)
    return "\n".join(parts) + "\n"


def _asset(spec: AssetSpec) -> tuple[str, ...]:
    partitioned = "by document" if spec.partitions_def else ""
    return f"`{spec.key.to_user_string()}`", partitioned, _line(spec.description)


def _check(spec: AssetCheckSpec) -> tuple[str, ...]:
    on, stops = spec.asset_key.to_user_string(), "yes" if spec.blocking else "no"
    return f"`{spec.name}`", f"`{on}`", stops, _line(spec.description)


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = ["", f"## {title}", "", _row(head), _row(("---",) * len(head))]
    return lines + [_row(r) for r in rows]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    from drac_pipeline.defs.definitions import defs as all_defs

    Path(sys.argv[1]).write_text(catalogue(all_defs), encoding="utf-8")
