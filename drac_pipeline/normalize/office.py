"""Office documents by headless LibreOffice, made dependable.

LibreOffice exits 0 without a result for files it cannot read, hangs on a few, and
two of it must not share a profile. So: a private profile, hard limits, the output
checked, and one more try in a fresh process with a fresh profile.

A process converts many documents, so by default one LibreOffice waits in the
background (`OfficeConverter`) and each document is handed to it; that saves the start
(about a second). It is replaced after a failure that was its own and not the document's.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import CorruptDocument, DocumentError, DocumentTooLarge, MissingTool, StageTimeout
from drac_pipeline.normalize.kept import Kept
from drac_pipeline.normalize.office_profile import write_keeper, write_profile
from drac_pipeline.normalize.process import Tool, clean_environment, run_tool, session_pids

_START_SECONDS = 60.0
_OPENED_SECONDS = 10.0
_COMMON = ("--headless", "--norestore", "--nologo", "--nolockcheck", "--nodefault", "--nofirststartwizard")


def find_office(command: str = "soffice") -> str:
    """The path of LibreOffice. Raises MissingTool."""
    names = [command] if command != "soffice" else ["soffice", "libreoffice"]
    for name in names:
        if found := shutil.which(name):
            return found
    mac = Path("/Applications/LibreOffice.app/Contents/MacOS/soffice")
    if command == "soffice" and mac.exists():
        return str(mac)
    raise MissingTool(
        f"LibreOffice ({command}) is not installed",
        remedy="Install it (Debian: apt install libreoffice-writer-nogui libreoffice-calc-nogui"
        " libreoffice-impress-nogui), or set normalize.office_command.",
    )


@functools.lru_cache(maxsize=4)
def office_version(soffice: str) -> str:
    """For the record, e.g. `LibreOffice 7.4.7.2`."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([soffice, "--version"], capture_output=True, text=True, timeout=30, check=False)
        if m := re.match(r"(LibreOffice(?:Dev)? [\d.]+)", done.stdout):
            return m.group(1)
    return "LibreOffice"


class OfficeConverter(Kept):
    """Converts one document at a time (others wait) under limits of time and memory.

    `warm=False` starts LibreOffice anew for each document.
    """

    def __init__(
        self,
        command: str = "soffice",
        *,
        timeout: float = 300.0,
        memory_bytes: int = 4 << 30,
        warm: bool = True,
    ) -> None:
        super().__init__()
        self.soffice = find_office(command)
        self.timeout = timeout
        self.memory_bytes = memory_bytes
        self._warm = warm and Path("/proc/self/fd").is_dir()
        self._socket: Path | None = None  # in /tmp, whatever TMPDIR says; a killed process leaves it behind

    @property
    def version(self) -> str:
        """For the record, e.g. `LibreOffice 7.4.7.2`."""
        return office_version(self.soffice)

    def convert(self, source: Path, workdir: Path, *, to: str = "pdf", retry: bool = True) -> Path:
        """The file that LibreOffice makes of `source`, in `workdir`.

        `to` is what `--convert-to` takes. Raises CorruptDocument where there is no
        result, StageTimeout, DocumentTooLarge (memory).
        """
        workdir.mkdir(parents=True, exist_ok=True)
        with self._lock:
            try:
                return self._first(source, workdir, to)
            except CorruptDocument:
                if not retry:
                    raise
            except DocumentError as e:
                self._stop()
                if not retry or not isinstance(e, StageTimeout):
                    raise
            result = self._cold(source, workdir, to)
            self._stop()  # what failed on a document that is well is not to be trusted
            return result

    def _first(self, source: Path, workdir: Path, to: str) -> Path:
        if not self._warm:
            return self._cold(source, workdir, to)
        server, home = self._serve()
        self._served += 1
        command = self._command(home / "profile", to, source, workdir)
        env = clean_environment(home, home)
        with Tool(command, cwd=workdir, log=workdir / "office.log", env=env, isolate=False) as client:
            client.wait(self.timeout, self.memory_bytes, server)
        return self._result(source, workdir, to, "")

    def _cold(self, source: Path, workdir: Path, to: str) -> Path:
        home = Path(tempfile.mkdtemp(prefix="office-", dir=workdir))
        try:
            write_profile(home / "profile")
            done = run_tool(
                self._command(home / "profile", to, source, workdir),
                cwd=workdir,
                log=workdir / "office.log",
                env=clean_environment(home, home),
                timeout=self.timeout,
                memory_bytes=self.memory_bytes,
            )
            return self._result(source, workdir, to, done.output)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def _command(self, profile: Path, to: str, source: Path, workdir: Path) -> list[str]:
        install = f"-env:UserInstallation={profile.absolute().as_uri()}"
        return [self.soffice, install, *_COMMON, "--convert-to", to, "--outdir", str(workdir), str(source)]

    def _result(self, source: Path, workdir: Path, to: str, output: str) -> Path:
        suffix = re.split(r"[:\s]", to, maxsplit=1)[0]
        result = workdir / f"{source.stem}.{suffix}"
        if result.is_file() and result.stat().st_size:
            return result
        if "std::bad_alloc" in output:
            raise DocumentTooLarge("LibreOffice ran out of memory", remedy="Split the document.")
        raise CorruptDocument(
            "LibreOffice cannot read it", remedy="Open it in the program that made it and save it again."
        )

    def _serve(self) -> tuple[Tool, Path]:
        """The background LibreOffice and its home, started if none runs or it has served enough."""
        if self._usable() and self._tool and self._home:
            return self._tool, self._home
        home = self._new_home("drac-office-")
        write_profile(home / "profile")
        install = f"-env:UserInstallation={(home / 'profile').as_uri()}"
        self._tool = server = Tool(
            [self.soffice, install, *_COMMON, str(write_keeper(home))],
            cwd=home,
            log=home / "server.log",
            env=clean_environment(home, home),
            scratch=home,
        )
        started = time.monotonic()
        while not (self._socket and _has_opened(server.process.pid)):
            waited = time.monotonic() - started
            if not server.running() or waited > _START_SECONDS:
                raise StageTimeout(f"LibreOffice did not start: {server.output().strip()[-300:]}")
            if self._socket and waited > _OPENED_SECONDS:
                break
            time.sleep(0.05)
            self._socket = self._socket or _socket(server.process.pid)
        return server, home

    def _stop(self) -> None:
        super()._stop()
        if self._socket and not self._tool:
            self._socket.unlink(missing_ok=True)
            self._socket = None


_shared: dict[tuple[int, str, float, int], OfficeConverter] = {}


def office_converter(config: NormalizeConfig) -> OfficeConverter:
    """The converter that all documents of this process share (one per set of limits)."""
    key = (os.getpid(), config.office_command, config.timeout_seconds, config.max_memory_bytes)
    if key not in _shared:
        _shared[key] = OfficeConverter(
            config.office_command, timeout=config.timeout_seconds, memory_bytes=config.max_memory_bytes
        )
    return _shared[key]


def _socket(leader: int) -> Path | None:
    """LibreOffice's single-instance socket, once a process of the session holds it."""
    for pid in session_pids(leader):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/net/unix").read_text(errors="replace").splitlines()
            sockets = {x[6]: x[7] for x in map(str.split, lines) if len(x) > 7 and "SingleOfficeIPC_" in x[7]}
            held = {str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()} if sockets else set()
            for inode, path in sockets.items():
                if f"socket:[{inode}]" in held:
                    return Path(path)
    return None


def _has_opened(leader: int) -> bool:
    """True once the writer's code is loaded: LibreOffice is then opening the document that keeps
    it alive, and looks at requests when it has done so. Asked earlier, it would end after the first."""
    for pid in session_pids(leader):
        with contextlib.suppress(OSError):
            if "libswlo" in Path(f"/proc/{pid}/maps").read_text(errors="replace"):
                return True
    return False
