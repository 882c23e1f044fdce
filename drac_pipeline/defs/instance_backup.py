"""What a backup has to know of the Dagster instance: a database server's dump, and runs cut off."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from dagster import DagsterRunStatus, RunsFilter
from dagster._core.instance.ref import InstanceRef
from sqlalchemy import URL, make_url

from drac_pipeline.defs.launch import open_instance
from drac_pipeline.defs.names import corpus_tags
from drac_pipeline.errors import ConfigError, DracError
from drac_pipeline.store import Home

DUMP_FILE = "dagster.pgdump"
CUT_OFF = (
    "This run was going on when the backup was made; the next `drac run` or `ingest` takes up what it left."
)


def dump_instance(home: Home, folder: Path) -> str:
    """Dump the PostgreSQL database of the home's instance into `folder`; gives the file's name, or ""
    where the instance is in files.

    Raises ConfigError where `pg_dump` is missing, DracError where it fails.
    """
    url = database_url(home)
    if url is None:
        return ""
    _postgres("pg_dump", url, "--format=custom", "--no-owner", f"--file={folder / DUMP_FILE}")
    return DUMP_FILE


def check_loadable(home: Home) -> URL:
    """The PostgreSQL database that the home's `dagster.yaml` names, if a dump may be loaded into it.

    Raises ConfigError where that is none, or holds events already.
    """
    url = database_url(home)
    if url is None:
        raise ConfigError(f"{home.path / 'dagster.yaml'} names no PostgreSQL database to load the dump into")
    if _has_events(url):
        where = f"database {url.database!r} on {url.host}"
        raise ConfigError(f"{where} holds events already; name an empty one (DRAC_PG_DB)")
    return url


def load_instance(home: Home, dump: Path) -> None:
    """Load a dump into the PostgreSQL database that the home's `dagster.yaml` names; the dump goes.

    Raises ConfigError as `check_loadable`, DracError where `pg_restore` fails.
    """
    url = check_loadable(home)
    _postgres("pg_restore", url, "--no-owner", "--clean", "--if-exists", "--exit-on-error", str(dump))
    dump.unlink()


def end_runs_of_backup(home: Home) -> int:
    """Mark the runs as failed that were going on when the backup was made; gives how many."""
    unfinished = [
        DagsterRunStatus.QUEUED,
        DagsterRunStatus.NOT_STARTED,
        DagsterRunStatus.STARTING,
        DagsterRunStatus.STARTED,
        DagsterRunStatus.CANCELING,
    ]
    with open_instance(home, end_dead_runs=False) as instance:
        runs = instance.get_runs(RunsFilter(statuses=unfinished, tags=corpus_tags(home.corpus)))
        for run in runs:
            instance.report_run_failed(run, CUT_OFF)
        return len(runs)


def database_url(home: Home) -> URL | None:
    """Where PostgreSQL holds the runs of the home's instance, or None where they are in files."""
    if not (home.path / "dagster.yaml").is_file():
        return None
    data = InstanceRef.from_dir(str(home.path)).run_storage_data
    if data is None:
        return None
    if "postgres" not in data.module_name and "Postgres" not in data.class_name:
        return None
    from dagster_postgres.utils import pg_url_from_config

    return make_url(pg_url_from_config(_resolved(data.config_dict)))


def _resolved(value: object):
    """The configuration with what it takes from the environment."""
    if isinstance(value, dict):
        if set(value) == {"env"}:
            name = str(value["env"])
            if not os.environ.get(name):
                raise ConfigError(f"dagster.yaml: the environment has no {name}")
            return os.environ[name]
        return {k: _resolved(v) for k, v in value.items()}
    return value


def _has_events(url: URL) -> bool:
    import sqlalchemy as db

    engine = db.create_engine(url)
    try:
        with engine.connect() as conn:
            if not db.inspect(conn).has_table("event_logs"):
                return False
            return conn.execute(db.text("SELECT 1 FROM event_logs LIMIT 1")).first() is not None
    finally:
        engine.dispose()


def _postgres(program: str, url: URL, *arguments: str) -> None:
    if shutil.which(program) is None:
        raise ConfigError(f"{program} is not installed; it comes with the Debian package postgresql-client")
    # the password by the environment: others see the arguments of a process
    named = {"PGHOST": url.host, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password}
    env = {**os.environ, **{k: str(v) for k, v in named.items() if v}}
    done = subprocess.run(
        [program, "--no-password", f"--dbname={url.database}", *arguments],
        env=env,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise DracError(f"{program}: {(done.stderr.strip().splitlines() or ['failed without a word'])[-1]}")
