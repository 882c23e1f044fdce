"""The nodes of the cluster: which there are, and whether they are fit for a run."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import pickle
import platform
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from drac_pipeline.cluster.connect import ray  # isort: skip  # says so where there is no Ray

from ray import cloudpickle, exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from drac_pipeline.cluster import fitness
from drac_pipeline.cluster.fitness import Expected
from drac_pipeline.cluster.requests import Request
from drac_pipeline.config import DracConfig
from drac_pipeline.errors import ClusterError
from drac_pipeline.pipeline.pool import Task
from drac_pipeline.store import LocalStore, Store
from drac_pipeline.store.manifest import path_of_text

log = logging.getLogger(__name__)

_NODE_SECONDS = 120.0  # a node has for saying whether it is fit; its first process imports everything
_TOKEN = ".node-check-"
_LOOKED_AT = 2000  # documents whose sources a node has to see


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the cluster that has CPUs."""

    id: str
    name: str
    room: Request


def cluster_nodes() -> list[Node]:
    """The nodes that could work, of the cluster that this process is connected to."""
    found = []
    for node in ray.nodes():
        has = node["Resources"]
        if node["Alive"] and has.get("CPU", 0) > 0:
            name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']}, {node['NodeID'][:8]})"
            room = Request(has["CPU"], int(has.get("memory", 0)))
            found.append(Node(node["NodeID"], name, room))
    return found


def check_nodes(nodes: Sequence[Node], expected: Expected) -> None:
    """Raises ClusterError where a node is not fit, which it names, each with all that is wrong there.

    Warns where the file system of the store does not hold locks between machines.
    """
    cloudpickle.register_pickle_by_value(fitness)  # for nodes where it is not there to import
    try:
        looks = {}
        for node in nodes:
            there = NodeAffinitySchedulingStrategy(node.id, soft=False)
            options: Any = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
            ask = ray.remote(fitness.look).options(**options).remote(expected)
            locks = ray.remote(fitness.locks_hold).options(**options).remote(expected.token[0])
            looks[node.name] = ask, locks
    finally:
        cloudpickle.unregister_pickle_by_value(fitness)
    wrong: dict[str, list[str]] = {}
    for name, (ask, locks) in looks.items():
        try:
            if found := ray.get(ask, timeout=_NODE_SECONDS):
                wrong[name] = found
            elif not ray.get(locks, timeout=_NODE_SECONDS):
                log.warning(
                    "the file system of %s does not hold locks on node %s: let no two runs work on this"
                    " home at once (docs/ray.md)",
                    expected.store,
                    name,
                )
        except exceptions.GetTimeoutError:
            wrong[name] = [f"has not answered within {_NODE_SECONDS:g} seconds"]
        except exceptions.RuntimeEnvSetupError as e:
            wrong[name] = [f"cannot set up map.runtime_env: {first_line(e)}"]
        except exceptions.RayTaskError as e:
            wrong[name] = [f"cannot be looked at: {e.cause or first_line(e)}"]
        except exceptions.RayError as e:
            log.warning("node %s was lost while it was looked at: %s", name, first_line(e))
    if wrong:
        raise ClusterError(told_unfit(wrong))


def fit_as_here(config: DracConfig) -> Expected:
    """What nodes have to have as this process has it, whatever the documents."""
    return replace(fitness.expected_here(), environment=_environment(config))


@contextlib.contextmanager
def seen_by_nodes(store: Store, tasks: Sequence[Task], config: DracConfig) -> Iterator[Expected]:
    """What nodes have to have for these tasks. In a folder a file says that it is the same one, and is
    locked here inside the block."""
    known = list(store.manifests_of(key for key, _ in tasks[-_LOOKED_AT:]).values())
    roots = dict.fromkeys(m.source.root for m in known if "://" not in m.source.root)
    probe = pickle.dumps((store, known[0].document_key, known[0].source.fingerprint)) if known else b""
    expected = replace(
        fit_as_here(config),
        store=store.address,
        probe=probe,
        sources=tuple(str(path_of_text(root)) for root in roots),
    )
    if not isinstance(store, LocalStore):
        yield expected
        return
    with _token(store.root) as token:
        yield replace(expected, token=token)


@contextlib.contextmanager
def _token(store: Path) -> Iterator[tuple[str, str]]:
    """The name and content of a file in the store that is locked here."""
    store.mkdir(parents=True, exist_ok=True)
    for left in store.glob(f"{_TOKEN}*"):  # of drivers that were killed
        with contextlib.suppress(OSError), left.open("r+") as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    path = store / f"{_TOKEN}{uuid.uuid4().hex}"
    content = f"{platform.node()} {os.getpid()}"
    with path.open("w") as f:
        try:
            f.write(content)
            f.flush()
            fcntl.flock(f, fcntl.LOCK_EX)
            yield str(path), content
        finally:
            path.unlink(missing_ok=True)


def told_unfit(wrong: dict[str, list[str]]) -> str:
    """The message of a ClusterError: each node by its name, with all that is wrong there."""
    lines = [f"  node {name} {told}" for name, found in sorted(wrong.items()) for told in found]
    return "nodes of the cluster are not fit for this run:\n" + "\n".join(lines)


def first_line(error: Exception) -> str:
    """What an error of Ray says first; the rest is a trace."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def calls_services(config: DracConfig) -> bool:
    """Whether documents may call a model or an embedding service."""
    return config.converts_by_model or config.plans_by_model or config.embed.provider != "local"


def _environment(config: DracConfig) -> dict[str, str | None]:
    """What bears on what is made, or has to be there, and Ray or the node sets otherwise."""
    names = ["OMP_NUM_THREADS", *config.map.environment]
    if calls_services(config):
        names += [n for n in (config.model.api_key_env, config.embed.api_key_env) if n in os.environ]
    return {n: os.environ.get(n) for n in names}
