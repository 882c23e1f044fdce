"""How long a real `dagster-webserver` takes for what the pages of the UI ask: the asset graph, the asset page
with its partitions, the page of a partition, the launchpad of the job."""

import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measured import BIN

ASSET = "assetNodeOrError(assetKey: {path: [$asset]}) { ... on AssetNode { id %s } }"
STATUSES = (
    "partitionKeysByDimension { name type partitionKeys } assetPartitionStatuses { ... on"
    " DefaultPartitionStatuses { materializedPartitions materializingPartitions failedPartitions } }"
)
GRAPH = (
    "query($assets: [AssetKeyInput!]!) { assetNodes(assetKeys: $assets, loadMaterializations: true) { id"
    " partitionStats { numMaterialized numMaterializing numPartitions numFailed }"
    " assetMaterializations(limit: 1) { timestamp runId } } assetsLatestInfo(assetKeys: $assets) { id } }"
)
QUERIES = {
    "asset graph, all stages: partition counts": GRAPH,
    "asset page: keys and statuses": "query($asset: String!) { " + ASSET % STATUSES + " }",
    "asset page: newest keys": "query($asset: String!) { "
    + ASSET % "partitionKeyConnection(limit: 120, ascending: false) { results }"
    + " }",
    "check page: statuses": "query($asset: String!, $check: String!) { "
    + ASSET
    % (
        "assetCheckOrError(checkName: $check) { ... on AssetCheck { name partitionStatuses { ... on"
        " AssetCheckDefaultPartitionStatuses { succeededPartitions failedPartitions inProgressPartitions"
        " skippedPartitions executionFailedPartitions } } } }"
    )
    + " }",
    "a partition: history": "query($asset: String!, $key: String!) { assetOrError(assetKey: {path: [$asset]})"
    " { ... on Asset { id assetEventHistory(partitions: [$key], limit: 1000, eventTypeSelectors:"
    " [MATERIALIZATION, OBSERVATION]) { results { ... on MaterializationEvent { runId label } } } } } }",
    "a partition: stale or not": "query($asset: String!, $key: String!) { "
    + ASSET % "staleStatus(partition: $key) staleCauses(partition: $key) { reason }"
    + " }",
    "asset graph: stale or not": "query($assets: [AssetKeyInput!]!) { assetNodes(assetKeys: $assets)"
    " { id staleStatus staleCauses { reason } } }",
    "launchpad: keys of the job": "query($job: PipelineSelector!) { pipelineOrError(params: $job) { ... on"
    " Pipeline { id partitionKeysOrError { ... on PartitionKeys { partitionKeys } } } } }",
}
ASSETS = [
    "source_document", "normalized_pdf", "page_images", "markdown", "elements", "chunk_plan", "chunks",
    "chunk_embeddings",
]  # fmt: skip
CHECK = ("chunks", "verbatim")
PATIENCE_SECONDS = 240


@contextmanager
def webserver(home: Path) -> Iterator[tuple[int, int]]:
    """A web server on the home: its port and process id, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [BIN / "dagster-webserver", "-m", "drac_pipeline.defs.definitions", "-p", str(port)]
    env = {**os.environ, "DAGSTER_HOME": str(home), "DRAC_HOME": str(home)}
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            end = time.monotonic() + PATIENCE_SECONDS
            while True:
                try:
                    if ask(port, "{ assetNodes { id } }")["assetNodes"]:
                        break
                except OSError:
                    pass
                if time.monotonic() > end or server.poll() is not None:
                    log.seek(0)
                    raise SystemExit(f"dagster-webserver does not answer: {log.read()[-2000:]!r}")
                time.sleep(0.5)
            yield port, server.pid
        finally:
            server.terminate()
            server.wait()


def ask(port: int, query: str, **variables: Any) -> dict[str, Any]:
    """The answer to a GraphQL query; an error in it ends the benchmark."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", body, headers)
    with urllib.request.urlopen(request, timeout=600) as reply:
        found = json.load(reply)
    if found.get("errors"):
        raise SystemExit(f"{query}: {found['errors'][0]['message']}")
    return found["data"]


def timed(home: Path, rounds: int = 3) -> dict[str, tuple[float, float, float, int]]:
    """Per query: seconds of the first time, median of the next, CPU seconds of the web server for one of
    these, and bytes of the answer. Also `memory of the web server`, in MB, as its first figure."""
    out: dict[str, tuple[float, float, float, int]] = {}
    with webserver(home) as (port, pid):
        asset = {"asset": "chunks"}
        keys = ask(port, QUERIES["asset page: newest keys"], **asset)["assetNodeOrError"]
        variables = {
            "assets": [{"path": [a]} for a in ASSETS],
            "asset": "chunks",
            "check": CHECK[1],
            "key": keys["partitionKeyConnection"]["results"][0],
            "job": {
                "pipelineName": "ingest",
                "repositoryName": "__repository__",
                "repositoryLocationName": "drac_pipeline.defs.definitions",
            },
        }
        for name, query in QUERIES.items():
            wanted = {n: v for n, v in variables.items() if f"${n}:" in query}
            seconds, size, spent = [], 0, 0.0
            for n in range(rounds + 1):
                cpu, began = cpu_seconds(pid), time.monotonic()
                size = len(json.dumps(ask(port, query, **wanted)))
                seconds.append(time.monotonic() - began)
                spent = cpu_seconds(pid) - cpu if n == rounds else 0.0
            out[name] = (seconds[0], statistics.median(seconds[1:]), spent, size)
        status = Path(f"/proc/{pid}/status").read_text()
        out["memory of the web server"] = (int(status.split("VmHWM:")[1].split()[0]) / 1024, 0.0, 0.0, 0)
    return out


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
