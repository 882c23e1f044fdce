"""A foreign program that waits in the background for the documents of this process.

It saves the start of a program a document. It ends with this process, however that ends (see `Tool`),
and is replaced after so many documents, and whenever it is not to be trusted any more.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import shutil
import tempfile
import threading
from pathlib import Path

from drac_pipeline.normalize.process import Tool


class Kept:
    """The base of those that keep a program: one document at a time, others wait for `_lock`.

    `recycle` is the number of documents after which the program is replaced.
    """

    recycle = 50

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._home: Path | None = None
        self._tool: Tool | None = None
        self._served = 0
        self._owner = os.getpid()

    def close(self) -> None:
        """End the background process; the next document starts one anew."""
        with self._lock:
            self._stop()

    def _usable(self) -> bool:
        """True if a program runs that has not served enough; one that has is ended."""
        if self._tool and (not self._tool.running() or self._served >= self.recycle):
            self._stop()
        return self._tool is not None

    def _new_home(self, prefix: str) -> Path:
        """A folder for the program, deleted with it. Not below the working folder: a socket's path must
        fit into 108 bytes."""
        _alive.add(self)
        self._served = 0
        self._home = Path(tempfile.mkdtemp(prefix=prefix)).absolute()
        return self._home

    def _stop(self) -> None:
        if self._owner != os.getpid():  # a fork's copy: the process is the parent's
            return
        if self._tool:
            self._tool.kill()
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)
        self._tool = self._home = None
        _alive.discard(self)


_alive: set[Kept] = set()


def close_kept() -> None:
    """End every program that waits in the background."""
    for kept in list(_alive):
        kept.close()


atexit.register(close_kept)
# The children of multiprocessing end without atexit, but with its finalizers.
multiprocessing.util.Finalize(None, close_kept, exitpriority=10)
