"""What deploy/ holds for an operator, as far as it can be tried without his machines: the commands of the
units are started, run launchers are built from their dagster.yaml and given a run, policies are held against
the calls that the code makes."""

from __future__ import annotations

import configparser
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from dagster import DagsterInstance, DagsterRun
from dagster._core.launcher import LaunchRunContext

from drac_pipeline.cli import main
from drac_pipeline.defs.definitions import defs
from drac_pipeline.defs.launch import code_of
from drac_pipeline.llm import bedrock
from drac_pipeline.store import Home
from drac_pipeline_tests.postgres import Postgres
from drac_pipeline_tests.s3.server import proxy_to, s3_server
from drac_pipeline_tests.test_docs import free_port

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent
# which permission each call needs, where it is not the call's own name
PERMISSIONS = {
    "bedrock-runtime:Converse": ["bedrock:InvokeModel"],
    "s3:ListObjectsV2": ["s3:ListBucket"],
    "s3:HeadBucket": ["s3:ListBucket"],
    "s3:HeadObject": ["s3:GetObject"],
    "s3:DeleteObjects": ["s3:DeleteObject"],
    "s3:CopyObject": ["s3:GetObject", "s3:PutObject"],
    "s3:CreateMultipartUpload": ["s3:PutObject"],
    "s3:UploadPart": ["s3:PutObject"],
    "s3:UploadPartCopy": ["s3:GetObject", "s3:PutObject"],
    "s3:CompleteMultipartUpload": ["s3:PutObject"],
    "s3:ListMultipartUploads": ["s3:ListBucketMultipartUploads"],
    "ecs:RunTask": ["ecs:RunTask", "ecs:TagResource", "iam:PassRole"],
}


# ---- one host


def units() -> dict[str, configparser.ConfigParser]:
    found = {}
    for path in sorted((DEPLOY / "host").glob("*.service")):
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        parser.optionxform = str  # type: ignore[method-assign,assignment]
        parser.read(path)
        found[path.stem] = parser
    return found


def command_of(unit: configparser.ConfigParser, replaced: dict[str, str]) -> list[str]:
    command = unit["Service"]["ExecStart"]
    for old, new in replaced.items():
        assert old in command or old.startswith("optional "), f"{old} not in {command}"
        command = command.replace(old, new)
    return shlex.split(command)


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed here")
    for path in (DEPLOY / "host").glob("drac-*.*"):
        if path.suffix in (".service", ".timer"):
            text = path.read_text().replace("/opt/drac/bin", str(BIN))
            (tmp_path / path.name).write_text(text)
    made = sorted(p.name for p in tmp_path.iterdir())
    assert len(made) == 6
    done = subprocess.run(
        ["systemd-analyze", "verify", *made], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    own = [line for line in done.stderr.splitlines() if "drac-" in line]
    assert (done.returncode, own) == (0, [])


def test_every_service_runs_as_a_user_that_may_write_to_its_folder_only() -> None:
    found = units()
    assert set(found) == {"drac-code", "drac-webserver", "drac-daemon", "drac-inspect", "drac-backup"}
    for name, unit in found.items():
        service = unit["Service"]
        assert service["User"] == "drac", name
        assert service["NoNewPrivileges"] == "true" and service["ProtectSystem"] == "strict", name
        assert service["EnvironmentFile"] == "/etc/drac/drac.env", name
        assert "Environment" not in service, name  # secrets are in the file, which others cannot read
        assert (BIN / Path(shlex.split(service["ExecStart"])[0]).name).exists(), name
        if "--serve" not in service["ExecStart"] and "-p" in shlex.split(service["ExecStart"]):
            assert "-h 127.0.0.1" in service["ExecStart"], name  # neither has accounts


def test_the_services_of_a_host_find_one_another(tmp_path: Path) -> None:
    """Code server, web server and daemon are started as the units say; the web server shows the assets."""
    home = tmp_path / "home"
    home.mkdir()
    source = tmp_path / "source"
    source.mkdir()
    (source / "note.txt").write_text("The valve is closed.")
    # The first run comes before the services, as deploy/README.md says: it makes Dagster's databases, which
    # several that start at once would get in each other's way at.
    subprocess.run([BIN / "drac", "run", source, "--home", home], check=True, env=env_of(home))
    code, web = str(free_port()), str(free_port())
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text((DEPLOY / "host" / "workspace.yaml").read_text().replace("4266", code))
    found = units()
    bin_, there = "/opt/drac/bin", "/etc/drac/workspace.yaml"
    commands = {
        "code": command_of(found["drac-code"], {bin_: str(BIN), "4266": code}),
        "daemon": command_of(found["drac-daemon"], {bin_: str(BIN), there: str(workspace)}),
        "web": command_of(found["drac-webserver"], {bin_: str(BIN), there: str(workspace), "3000": web}),
    }
    with services(commands, home, tmp_path):
        query = "{ workspaceOrError { ... on Workspace { locationEntries { name loadStatus } } }"
        query += " assetNodes { id }"
        query += ' instance { daemonHealth { daemonStatus(daemonType: "SENSOR") { healthy } } } }'

        def up() -> bool:
            answer = ask(int(web), query)
            entries = answer["workspaceOrError"].get("locationEntries", [])
            loaded = [e["name"] for e in entries if e["loadStatus"] == "LOADED"]
            healthy = answer["instance"]["daemonHealth"]["daemonStatus"]["healthy"]
            return loaded == ["drac_pipeline"] and len(answer["assetNodes"]) >= 9 and bool(healthy)

        wait_until(up, tmp_path)


def env_of(home: Path) -> dict[str, str]:
    return {**os.environ, "DAGSTER_HOME": str(home), "DRAC_HOME": str(home), "PYTHONPATH": str(ROOT)}


@contextmanager
def services(commands: dict[str, list[str]], home: Path, folder: Path) -> Iterator[None]:
    env = env_of(home)
    started = []
    try:
        for name, command in commands.items():
            with (folder / f"{name}.log").open("wb") as log:
                started.append(
                    subprocess.Popen(
                        command, env=env, cwd=folder, stdout=log, stderr=log, start_new_session=True
                    )
                )
        yield
    finally:
        for process in started:
            os.killpg(process.pid, 9)
            process.wait()


def ask(port: int, query: str) -> dict[str, Any]:
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]


def wait_until(holds: Callable[[], bool], folder: Path, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except (OSError, KeyError, TypeError):
            pass
        logs = "\n".join(p.read_text()[-1500:] for p in folder.glob("*.log"))
        assert time.monotonic() < end, logs
        time.sleep(0.3)


# ---- run launchers


@contextmanager
def instance_of(config: Path, folder: Path) -> Iterator[DagsterInstance]:
    home = folder / "home"
    home.mkdir()
    shutil.copy(config, home / "dagster.yaml")
    with DagsterInstance.from_config(str(home)) as instance:
        yield instance


def a_run(instance: DagsterInstance) -> DagsterRun:
    code = code_of(Home(Path("nowhere")))
    return instance.create_run_for_job(
        defs.resolve_job_def("ingest"),
        job_code_origin=code.python_origin("ingest"),
        remote_job_origin=code.remote_origin("ingest"),
    )


def test_a_run_on_kubernetes_gets_what_it_needs(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubernetes = pytest.importorskip("kubernetes")
    import dagster_k8s.launcher
    from dagster_k8s.client import DagsterKubernetesClient

    jobs: list[Any] = []
    # there is no cluster here: what would be sent to one is looked at
    monkeypatch.setattr(dagster_k8s.launcher, "load_kubernetes_config", lambda **_: None)
    monkeypatch.setattr(
        DagsterKubernetesClient,
        "create_namespaced_job_with_retries",
        lambda _, body, **__: jobs.append(body),
    )
    monkeypatch.setenv("DRAC_IMAGE", "drac:1")
    with instance_of(DEPLOY / "kubernetes" / "dagster.yaml", tmp_path) as instance:
        instance.run_launcher.launch_run(LaunchRunContext(a_run(instance), workspace=None))
    (job,) = [kubernetes.client.ApiClient().sanitize_for_serialization(j) for j in jobs]
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "drac:1" and container["args"][:3] == ["dagster", "api", "execute_run"]
    assert job["spec"]["backoffLimit"] == 0
    mounts = {m["mountPath"]: m["name"] for m in container["volumeMounts"]}
    assert mounts["/var/lib/drac/home"] == "home" and mounts["/documents"] == "documents"
    assert "/var/lib/drac/home/dagster.yaml" in mounts
    assert set(mounts.values()) <= {v["name"] for v in pod["volumes"]}
    assert pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert {"secretRef": {"name": "drac-secrets"}} in container["envFrom"]
    assert os.environ["DRAC_PG_PASSWORD"] not in json.dumps(job)
    assert postgres.port


def test_kubernetes_manifests_hang_together() -> None:
    """Of each object the fields are known ones, and what it names is there."""
    kubernetes = pytest.importorskip("kubernetes")
    from dagster_k8s.models import k8s_model_from_dict, k8s_snake_case_dict

    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "drac.yaml").read_text()))
    names = {(d["kind"], d["metadata"]["name"]) for d in documents}
    assert len(names) == len(documents) == 16
    made_by_hand = {("ConfigMap", "drac-dagster"), ("Secret", "drac-secrets")}  # README.md says how
    for d in documents:
        assert d["metadata"]["namespace"] == "drac"
        model = getattr(kubernetes.client, f"V1{d['kind']}")
        if d["kind"] not in ("ConfigMap", "Role", "Ingress"):  # their keys are data, or have dots
            k8s_model_from_dict(model, k8s_snake_case_dict(model, d))
        text = json.dumps(d)
        for kind, pattern in (
            ("PersistentVolumeClaim", r'"claimName": "([^"]+)'),
            ("ConfigMap", r'"configMap(?:Ref)?": {"name": "([^"]+)'),
            ("Secret", r'"secretRef": {"name": "([^"]+)'),
        ):
            for name in re.findall(pattern, text):
                assert (kind, name) in names | made_by_hand, (d["metadata"]["name"], name)
        pod = d["spec"]["template"]["spec"] if d["kind"] == "Deployment" else None
        if pod:
            mounted = {m["name"] for c in pod["containers"] for m in c["volumeMounts"]}
            assert mounted == {v["name"] for v in pod["volumes"]}
            for c in pod["containers"]:
                assert (BIN / c["args"][0]).exists()


def test_a_run_on_ecs_is_started_with_the_permissions_given(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto import mock_aws

    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DRAC_RUN_TASK", "drac-run")
    calls = record_calls(monkeypatch)
    assert postgres.port
    with mock_aws():
        ecs, ec2 = boto3.client("ecs"), boto3.client("ec2")
        ecs.create_cluster(clusterName="drac")
        for name in ("services-task", "run-task"):
            ecs.register_task_definition(**json.loads((DEPLOY / "ecs" / f"{name}.json").read_text()))
        subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
        network = {
            "awsvpcConfiguration": {"subnets": [subnet], "securityGroups": [], "assignPublicIp": "DISABLED"}
        }
        daemon = ecs.run_task(
            cluster="drac", taskDefinition="drac-services", launchType="FARGATE", networkConfiguration=network
        )["tasks"][0]
        calls.clear()
        with (
            metadata_of(daemon["taskArn"], monkeypatch),
            instance_of(DEPLOY / "ecs" / "dagster.yaml", tmp_path) as instance,
        ):
            run = a_run(instance)
            instance.run_launcher.launch_run(LaunchRunContext(run, workspace=None))
            launcher: Any = instance.run_launcher
            launcher.check_run_worker_health(instance.get_run_by_id(run.run_id))
            assert launcher.terminate(run.run_id)
            (arn,) = [a for a in ecs.list_tasks(cluster="drac")["taskArns"] if a != daemon["taskArn"]] or [""]
        assert "ecs:RunTask" in calls and arn is not None
    calls.discard("ecs:ListTasks")  # this test's own
    assert needed(calls) <= allowed("ecs-launcher-policy.json")


@contextmanager
def metadata_of(task: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The address where a container of ECS learns which task it is in."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            told = {"Cluster": "drac", "TaskARN": task, "Name": "daemon"}
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Tests need no log."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("ECS_CONTAINER_METADATA_URI_V4", f"http://127.0.0.1:{server.server_address[1]}")
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


# ---- permissions


def record_calls(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every call to AWS that is made from now on, as `service:Operation`."""
    calls: set[str] = set()
    stock = boto3.Session.__init__

    def init(self: boto3.Session, *args: Any, **kwargs: Any) -> None:
        stock(self, *args, **kwargs)
        self.events.register(
            "before-call", lambda model, **_: calls.add(f"{model.service_model.service_name}:{model.name}")
        )

    bedrock._session.cache_clear()  # of tests before this one
    monkeypatch.setattr(boto3.Session, "__init__", init)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    return calls


def needed(calls: set[str]) -> set[str]:
    return {permission for call in calls for permission in PERMISSIONS.get(call, [call])}


def allowed(policy: str) -> set[str]:
    """The actions of a policy; they are named one by one, for resources that are named."""
    actions: set[str] = set()
    for statement in json.loads((DEPLOY / "aws" / policy).read_text())["Statement"]:
        assert statement["Effect"] == "Allow"
        named = statement["Action"]
        actions |= {named} if isinstance(named, str) else set(named)
        resources = (
            statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        )
        reading = all(
            fnmatchcase(a.split(":")[1], "Describe*") for a in ([named] if isinstance(named, str) else named)
        )
        assert reading or "*" not in resources, statement["Sid"]
    assert not any("*" in a for a in actions)
    return actions


def test_the_policy_for_models_allows_what_is_called_and_no_more(
    tmp_path: Path, make_pdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drac_pipeline.llm.doubles import Brain, Double, page_table
    from drac_pipeline.pipeline import find_work, process_document

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "double")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    calls = record_calls(monkeypatch)
    make_pdf(tmp_path / "documents" / "a.pdf", "<h1>Lease</h1><p>The rent is 900 EUR a month.</p>")
    with Double(Brain(page_table([tmp_path / "documents" / "a.pdf"]))) as double:
        home = Home(tmp_path / "home")
        home.path.mkdir()
        (home.path / "drac.toml").write_text(
            '[convert]\nmode = "model"\n[plan]\nplanner = "model"\n'
            f'[model]\nprovider = "bedrock"\nregion = "eu-west-1"\nendpoint_url = "{double.url}"\n'
        )
        (work,) = find_work(home, tmp_path / "documents", home.config).work
        outcome = process_document(home.store, work.key, home.config, run="r")
        assert outcome.failure is None
    assert needed(calls) == allowed("bedrock-policy.json") == {"bedrock:InvokeModel"}


def test_the_policy_for_buckets_allows_what_is_called_and_no_more(
    tmp_path: Path, make_pdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home with store, index and source in buckets: first run, changed, removed; also what LanceDB asks."""
    for name, value in {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}.items():
        monkeypatch.setenv(name, value)
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")  # restored when the test ends
        monkeypatch.delenv(name)
    with s3_server() as port, proxy_to(port) as proxy:
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}")  # past the proxy
        for bucket in ("drac-artifacts", "company-documents"):
            client.create_bucket(Bucket=bucket)
        home = tmp_path / "home"
        home.mkdir()
        (home / "drac.toml").write_text(
            f'[store]\nurl = "s3://drac-artifacts/contracts"\nendpoint_url = "{proxy.url}"\n'
            "[refresh]\nkeep_removed_days = 0\nmax_removed_share = 1\n"
        )
        for name in ("a", "b"):
            path = make_pdf(tmp_path / f"{name}.pdf", f"<h1>{name}</h1><p>The rent is 900 EUR a month.</p>")
            client.upload_file(str(path), "company-documents", f"contracts/{name}.pdf")
        assert drac("run", "s3://company-documents/contracts", home) == 0
        path = make_pdf(tmp_path / "a.pdf", "<h1>a</h1><p>The rent is 950 EUR a month.</p>")
        client.upload_file(str(path), "company-documents", "contracts/a.pdf")
        client.delete_object(Bucket="company-documents", Key="contracts/b.pdf")
        assert drac("run", "s3://company-documents/contracts", home) == 0
        assert drac("search", "rent", home) == 0
        client.create_multipart_upload(Bucket="drac-artifacts", Key="contracts/documents/cut-off")
        store: Any = Home(home).store
        assert store.bucket.abort_uploads("contracts/", -1) == 1
        asked = list(proxy.requests)
    calls = {f"s3:{r.operation}" for r in asked}
    outside = {str(r) for r in asked if not r.key.startswith("contracts")}
    assert outside <= {"DeleteObjects "}  # whose keys are in its body
    assert needed(calls) == allowed("s3-policy.json")


def drac(command: str, argument: str, home: Path) -> int:
    with pytest.raises(SystemExit) as end:
        main([command, argument, "--home", str(home)])
    return int(end.value.code or 0)
