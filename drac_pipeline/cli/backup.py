"""`drac backup` and `drac restore`: a home, as it was, in another place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from drac_pipeline.backup import latest_snapshot, make_backup, restore_backup, snapshots
from drac_pipeline.backup.repository import Snapshot
from drac_pipeline.cli.console import HomeOption, NewHomeOption, err, existing_home, out, progress_bar
from drac_pipeline.counted import counted
from drac_pipeline.pipeline.condition import corpus_size
from drac_pipeline.store import Home


def backup(
    folder: Annotated[
        Path, typer.Argument(help="Folder of the backups, best on another disk.", show_default=False)
    ],
    home: HomeOption,
    keep: Annotated[
        int,
        typer.Option("--keep", min=0, help="Delete all but the newest N backups there; 0 keeps all."),
    ] = 0,
    show: Annotated[
        bool, typer.Option("--list", "-l", help="List the backups there are; make none.")
    ] = False,
) -> None:
    """Back up a home: artifacts, settings, Dagster instance, ledger and index, as they are now.

    Runs may go on meanwhile. Each backup is a whole home in a folder named by its time; files that are as
    in the backup before are shared with it (hard links), so a second backup takes the room of what is new.
    An instance in PostgreSQL is dumped with pg_dump. The sources are not in it.

    Examples:

      drac backup /mnt/backup/contracts --home ~/drac/contracts --keep 14

      drac restore /mnt/backup/contracts --home ~/drac/restored
    """
    if show:
        found = snapshots(folder)
        if not found:
            err.print(f"no backups in {escape(str(folder))}", soft_wrap=True)
        for s in found:
            told = f"{s.made_at}  {corpus_size(s.documents, s.retired)}, {decimal(s.size)},"
            told += f" {decimal(s.new_size)} new, drac_pipeline {s.release}, of {s.home}"
            out.print(told, markup=False)
        return
    opened = existing_home(home)
    from drac_pipeline.defs.instance_backup import dump_instance

    deleted: list[Snapshot] = []
    with progress_bar() as bar:
        task = bar.add_task("Backing up", total=None, note="")
        made = make_backup(
            opened,
            folder,
            keep=keep,
            dump_database=lambda target: dump_instance(opened, target),
            on_document=lambda key: bar.update(task, advance=1, note=key[-60:]),
            on_delete=deleted.append,
        )
    told = f"{corpus_size(made.documents, made.retired)}, {counted(made.files, 'file')}, {decimal(made.size)}"
    out.print(f"{told}, of which {decimal(made.new_size)} are new: {made.path}", markup=False, soft_wrap=True)
    for old in deleted:
        out.print(f"deleted, as --keep {keep} says: {old.path}", markup=False, soft_wrap=True)
    if made.artifacts:
        err.print(
            f"artifacts are in {escape(made.artifacts)} and not in the backup: have that place keep versions"
        )


def restore(
    folder: Annotated[
        Path, typer.Argument(help="A backup, or the folder of backups: then the newest.", show_default=False)
    ],
    home: NewHomeOption,
) -> None:
    """Make a home of a backup. The home must be a new or an empty folder; the backup stays as it is.

    Runs that were going on when the backup was made show as failed; `drac run SOURCE --home HOME` does what
    is left, which is nothing where none was. A dump of PostgreSQL is loaded into the database that DRAC_PG_…
    in the environment name, which must hold no events.
    """
    from drac_pipeline.defs.instance_backup import check_loadable, end_runs_of_backup, load_instance

    snapshot = latest_snapshot(folder)
    if snapshot and snapshot.database:
        check_loadable(Home(snapshot.path))
    done = restore_backup(folder, home)
    if done.snapshot.database:
        try:
            load_instance(done.home, done.home.path / done.snapshot.database)
        except BaseException:
            shutil.rmtree(done.home.path)  # it was empty before: nothing but the copy is in it
            raise
    cut_off = end_runs_of_backup(done.home)
    was = done.snapshot
    out.print(
        f"{corpus_size(was.documents, was.retired)} as of {was.made_at} restored to {done.home.path}",
        markup=False,
        soft_wrap=True,
    )
    if cut_off:
        err.print(
            f"[yellow]{counted(cut_off, 'run was', 'runs were')} going on then[/]; `drac run` takes"
            " up what they left"
        )
    if done.damaged:
        keys = escape(", ".join(done.damaged[:5]))
        told = (
            f"[yellow]{counted(len(done.damaged), 'document lacks', 'documents lack')} files[/]"
            f" in the backup ({keys})"
        )
        err.print(f"{told}; `drac run` makes them again")
