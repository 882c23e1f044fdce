"""`drac clean`: delete what killed runs have left."""

from __future__ import annotations

from typing import Annotated

import typer

from drac_pipeline.cli.console import HomeOption, existing_home, out
from drac_pipeline.counted import counted


def clean(
    home: HomeOption,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Say what it would delete.")] = False,
    older_than_hours: Annotated[
        float, typer.Option(min=1.0, help="Younger files stay: a run may be about to name them.")
    ] = 24.0,
) -> None:
    """Delete files of the store that no document's manifest names, and find outputs that are missing.

    Runs tidy up after themselves, and after killed runs of the documents they work on; this goes over the
    whole store, in a folder or a bucket. Missing outputs are made again by the next `drac run`.

    Examples:

      drac clean --home ~/drac/contracts --dry-run
    """
    from drac_pipeline.store.sweep import sweep  # imports an SDK

    found = sweep(existing_home(home).store, older_than_hours * 3600, dry=dry_run)
    done = "would be deleted" if dry_run else "deleted"
    out.print(f"{counted(found.files, 'file')} of {found.size / 1e6:.1f} MB that nothing names {done}")
    if found.uploads:
        out.print(f"{counted(found.uploads, 'unfinished upload')} ended")
    for key, stage in sorted(found.lost):
        out.print(f"missing: {stage} of {key}; the next `drac run` makes it", markup=False)
