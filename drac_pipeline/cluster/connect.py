"""The connection of this process to a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import drac_pipeline
from drac_pipeline.config.map import MapConfig
from drac_pipeline.errors import ClusterError

try:
    import ray
    from ray._private import services
except ImportError as e:
    raise ClusterError(
        'map.engine = "ray" needs Ray, which is not installed here: pip install "drac_pipeline[ray]"'
    ) from e

NAMESPACE = "drac"
_KNOCK_SECONDS = 10.0


@contextlib.contextmanager
def connected(config: MapConfig) -> Iterator[None]:
    """This process is a driver of the cluster inside the block. Raises ClusterError where there is none.

    A program that has connected itself keeps its connection. Ray's own handler of SIGTERM is not kept:
    Dagster ends a run by it, and has one of its own.
    """
    if ray.is_initialized():
        yield
        return
    _reach(config.address)
    before = signal.getsignal(signal.SIGTERM)
    quiet = logging.getLogger("ray")
    level = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        ray.init(
            address=config.address,
            namespace=NAMESPACE,
            runtime_env=runtime_env(config),
            configure_logging=False,
            log_to_driver=False,  # what workers log comes by the board, with its document
        )
    except Exception as e:  # Ray raises many kinds, of which some say the cause
        raise ClusterError(_told(config.address, e)) from e
    finally:
        quiet.setLevel(level)
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
    try:
        yield
    finally:
        ray.shutdown()


def runtime_env(config: MapConfig) -> dict[str, Any] | None:
    """The environment that workers get, None where the settings ask for none."""
    env = dict(config.runtime_env)
    if config.send_code:
        package = Path(drac_pipeline.__file__).parent
        env["py_modules"] = [str(package), *env.get("py_modules", [])]
    return env or None


def _reach(address: str) -> None:
    """Raises ClusterError where nobody listens: Ray itself would knock for five minutes."""
    try:
        found = services.canonicalize_bootstrap_address_or_die(address)
        host, _, port = found.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()
    except Exception as e:  # an address that is none, a host that is not known, a port where nobody is
        raise ClusterError(_told(address, e)) from e


def _told(address: str, error: Exception) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    cause = " ".join(lines[:6]) or type(error).__name__
    where = address if address != "auto" else os.environ.get("RAY_ADDRESS", "") or "auto"
    return (
        f"map.address = {where!r}: no Ray cluster that this process could join: {cause.rstrip('.')}."
        " Start one with `ray start --head`, or give the address of its head, host:port."
    )
