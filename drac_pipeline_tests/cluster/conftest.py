"""A Ray cluster of two nodes on this machine, started for these tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NODE: dict[str, Any] = {"num_cpus": 1, "memory": 4_000_000_000, "object_store_memory": 80_000_000}


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """The cluster; `cluster.address` is where drivers find it. Not connected to."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'drac_pipeline[ray]'")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray._common.utils import get_ray_address_file
    from ray.cluster_utils import Cluster

    # The address goes there whatever `temp_dir` says, and where no Ray ever ran that folder is missing.
    Path(get_ray_address_file(None)).parent.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="r")  # sockets in it have names of at most 107 letters
    with pytest.MonkeyPatch.context() as here:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):  # what nodes get, settings give them
            here.delenv(name, raising=False)
        started = Cluster(
            initialize_head=True, head_node_args={**NODE, "include_dashboard": False, "temp_dir": folder}
        )
        started.add_node(**NODE)
    yield started
    with contextlib.suppress(Exception):
        started.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
