"""The Dagster side of a deployment of many corpora: its instance, and what is left of a corpus taken away."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import yaml
from dagster import AssetKey, DagsterInstance, RunsFilter

from drac_pipeline.defs.corpora import workspace
from drac_pipeline.defs.names import UNFINISHED, corpus_tags, partition_set
from drac_pipeline.store.corpora import Deployment, write_whole

_TEMPLATE = Path(__file__).with_name("dagster.yaml")
RUNS_AT_ONCE = 4
RUNS_OF_A_CORPUS = 1
_HEAD = """\
# The Dagster instance of all corpora of this deployment: DAGSTER_HOME names this folder. Yours to edit.
#   concurrency        so many runs at once, and of one corpus no more than `limit`: none holds up the others
#   run_coordinator    tags each run with its corpus, and lets corpora take turns
#   sensors, schedules side by side: a source that answers slowly keeps no other corpus waiting
"""


def write_instance(deployment: Deployment) -> None:
    """Write `dagster.yaml`, where there is none, and `workspace.yaml` for the corpora there are, unless it
    names servers that somebody runs."""
    path = deployment.path / "dagster.yaml"
    if not path.exists():
        write_whole(path, instance_settings())
    listed = deployment.path / "workspace.yaml"
    if not listed.exists() or "grpc_server" not in listed.read_text(encoding="utf-8"):
        write_whole(listed, workspace(deployment.names()))


def instance_settings() -> str:
    """The text of a deployment's `dagster.yaml`: that of a home, with a queue that tells corpora apart."""
    settings = yaml.safe_load(_TEMPLATE.read_text(encoding="utf-8"))
    limit = {"key": "drac/corpus", "value": {"applyLimitPerUniqueValue": True}, "limit": RUNS_OF_A_CORPUS}
    settings["concurrency"] = {
        "runs": {"max_concurrent_runs": RUNS_AT_ONCE, "tag_concurrency_limits": [limit]}
    }
    settings["run_coordinator"] = {
        "module": "drac_pipeline.defs.run_coordinator",
        "class": "CorpusRunCoordinator",
    }
    for name in ("sensors", "schedules"):
        settings[name] = {"use_threads": True, "num_workers": 4}
    return _HEAD + yaml.safe_dump(settings, sort_keys=False)


@contextlib.contextmanager
def open_deployment(deployment: Deployment) -> Iterator[DagsterInstance]:
    """The Dagster instance of all its corpora."""
    with DagsterInstance.from_config(str(deployment.path)) as instance:
        yield instance


def unfinished_runs(instance: DagsterInstance, name: str) -> list[str]:
    """The ids of a corpus's runs that are going on or queued."""
    filters = RunsFilter(tags=corpus_tags(name), statuses=UNFINISHED)
    return [run.run_id for run in instance.get_runs(filters)]


def forget_corpus(instance: DagsterInstance, name: str) -> int:
    """Take out of the instance what it knows of a corpus: runs with their logs, assets, partitions. Gives how
    many runs there were."""
    runs = instance.get_runs(RunsFilter(tags=corpus_tags(name)))
    for run in runs:
        instance.delete_run(run.run_id)
    keys = [k for k in instance.all_asset_keys() if len(k.path) > 1 and k.path[0] == name]
    if keys:
        instance.wipe_assets(sorted(keys, key=AssetKey.to_user_string))
    for key in instance.get_dynamic_partitions(partition_set(name)):
        instance.delete_dynamic_partition(partition_set(name), key)
    return len(runs)
