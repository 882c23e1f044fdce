"""What is measured in a process of its own: `python parts.py PART SOURCE HOME`.

stages   find the work and go through the stages, without Dagster and without index
floor    list and stat every file of the source, and every manifest of the store
fill     fill the event log
tick     a tick of the sensor where nothing has changed since the last one
look     a tick that takes a full look
listing  the list page of `drac inspect --serve`
"""

import json
import os
import sys
import time
from pathlib import Path

from drac_pipeline.store import Home


def stages(source: Path, home: Home) -> None:
    from drac_pipeline.pipeline import find_work
    from drac_pipeline.pipeline.pool import map_documents

    tasks = [(w.key, None) for w in find_work(home, source, home.config).work]
    failed = [o.key for o in map_documents(home.store, tasks, home.config) if o.failure]
    assert not failed, failed


def floor(source: Path, home: Home) -> None:
    seen = 0
    for folder, _, names in os.walk(source):
        seen += sum(os.stat(f"{folder}/{name}").st_size >= 0 for name in names)  # noqa: PTH116
    for bucket in os.scandir(home.path / "store" / "documents"):
        for document in os.scandir(bucket.path):
            seen += os.stat(f"{document.path}/manifest.json").st_size > 0  # noqa: PTH116
    print(seen)


def fill(source: Path, home: Home) -> None:  # noqa: ARG001
    from filled_log import fill as fill_log

    print(fill_log(home))


def tick(source: Path, home: Home, *, known: bool = True) -> None:  # noqa: ARG001
    from drac_pipeline.defs.launch import open_instance
    from drac_pipeline.defs.refresh import refresh_tick
    from drac_pipeline.pipeline.look import glance

    cursor = json.dumps({"seen": glance(home).digest, "until": time.time() + 3600}) if known else None
    with open_instance(home) as instance:
        found = refresh_tick(instance, home, "sensor", cursor)
    print(found.skip, found.log)


def look(source: Path, home: Home) -> None:
    tick(source, home, known=False)


def listing(source: Path, home: Home) -> None:  # noqa: ARG001
    from drac_pipeline.inspection.serve import _listing

    print(len(_listing(home)))


if __name__ == "__main__":
    part, where, at = sys.argv[1:]
    globals()[part](Path(where), Home(Path(at)))
