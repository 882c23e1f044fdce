"""A PostgreSQL server of Debian's packages in a folder of its own, for the tests that need one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "p%ss:w@rd/9"  # what has to be escaped in an address


@dataclass
class Postgres:
    """A running server; `environment` is what `deploy/postgres/dagster.yaml` reads."""

    folder: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DRAC_PG_HOST": "127.0.0.1",
            "DRAC_PG_PORT": str(self.port),
            "DRAC_PG_USER": "drac",
            "DRAC_PG_PASSWORD": PASSWORD,
            "DRAC_PG_DB": "drac",
        }

    def query(self, sql: str, database: str = "drac") -> list[tuple[Any, ...]]:
        """The rows of a query, or none for a statement without."""
        import psycopg2

        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user="drac", password=PASSWORD, dbname=database
        )
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def empty(self) -> None:
        """Take every row out of Dagster's tables, so that the next test finds a new instance."""
        found = self.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        kept = {"alembic_version", "secondary_indexes", "instance_info"}
        if names := [name for (name,) in found if name not in kept]:
            self.query(f"TRUNCATE {', '.join(names)} RESTART IDENTITY")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off"
        options += f" -c unix_socket_directories={self.folder}"
        _run("pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-w", "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: `immediate` is a crash."""
        _run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", command="stop")


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server with a user and a database `drac`; gone at the end."""
    folder = Path(
        tempfile.mkdtemp(prefix="drac-pg-")
    )  # its user has to get there: not below pytest's folders
    try:
        (folder / "password").write_text(PASSWORD)
        if (user := _user()) is not None:
            for path in (folder, folder / "password"):
                shutil.chown(path, user)
        auth = ["--auth=scram-sha-256", "--username=drac", f"--pwfile={folder / 'password'}"]
        _run("initdb", "-D", str(folder / "data"), "--no-sync", "--encoding=UTF8", "--no-locale", *auth)
        server = Postgres(folder, _free_port())
        server.start()
        try:
            server.query("CREATE DATABASE drac", database="postgres")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def postgres_program(name: str) -> str:
    """Where a program of the server is. Debian keeps them out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    program = str(found[-1]) if found else shutil.which(name)
    assert program, "no PostgreSQL: scripts/setup.sh dev installs it (Debian package postgresql)"
    return program


def _user() -> str | None:
    """Who runs the server: it refuses to be run by root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(program: str, *arguments: str, command: str = "") -> None:
    told = [command] if command else ["start"] if program == "pg_ctl" else []
    done = subprocess.run(
        [postgres_program(program), *told, *arguments],
        user=_user(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{program} {told}: exit code {done.returncode}"


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
