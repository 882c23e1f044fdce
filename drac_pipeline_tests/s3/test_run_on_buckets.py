"""A corpus in a bucket, its store in another: killed in the middle, finished, followed, searched, shown."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dagster import EnvVar, job, op
from dagster_aws.s3 import S3Resource

from drac_pipeline.cli import main
from drac_pipeline.defs.buckets import BucketHomeResource
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.s3.bucket import Bucket
from drac_pipeline.store import Home
from drac_pipeline_tests.s3.server import Proxy, Request

ROOT = Path(__file__).parents[2]
ACTIONS = {  # what Amazon's policies call what the API's operations need
    "GetObject": "s3:GetObject",
    "HeadObject": "s3:GetObject",
    "ListObjectsV2": "s3:ListBucket",
    "PutObject": "s3:PutObject",
    "CopyObject": "s3:PutObject",
    "CreateMultipartUpload": "s3:PutObject",
    "UploadPart": "s3:PutObject",
    "CompleteMultipartUpload": "s3:PutObject",
    "DeleteObject": "s3:DeleteObject",
    "DeleteObjects": "s3:DeleteObject",
    "ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "AbortMultipartUpload": "s3:AbortMultipartUpload",
}


def drac(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    assert isinstance(stop.value.code, int)
    return stop.value.code


def stores(proxy: Proxy, operation: str) -> list[str]:
    """The objects of the store that an operation was asked of."""
    return [r.key for r in proxy.requests if r.operation == operation and r.key.startswith("kept/")]


def killed_when(proxy: Proxy, due: Callable[[Request], bool], *arguments: object) -> int:
    """Run the command as a process of its own and kill it and all it started at the first request that is
    `due`; gives its exit code."""
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()", *map(str, arguments)]
    none = subprocess.DEVNULL
    process = subprocess.Popen(command, start_new_session=True, stdout=none, stderr=none)

    def fault(request: Request) -> str | None:
        if due(request):
            os.killpg(process.pid, signal.SIGKILL)
            return "drop"
        return None

    proxy.fault = fault
    try:
        return process.wait(120)
    finally:
        proxy.fault = None


def test_a_corpus_in_a_bucket_from_a_killed_run_to_search(
    tmp_path, corpus, bucket: Bucket, proxy: Proxy, capsys
):
    home, source = tmp_path / "home", f"s3://{bucket.name}/documents in"
    for path in corpus.rglob("*.pdf"):
        bucket.upload(f"documents in/{path.relative_to(corpus)}", path)
    home.mkdir()
    (home / "drac.toml").write_text(
        f'[store]\nurl = "s3://{bucket.name}/kept"\nendpoint_url = "{proxy.url}"\nattempts = 2\n'
    )
    proxy.requests.clear()
    run = ("run", source, "--home", home)
    assert killed_when(proxy, lambda r: "/chunk_plan/" in r.key, *run) == -signal.SIGKILL
    opened = Home(home)
    assert any(
        m.stages.keys() < {"chunk_plan"} or "chunk_plan" not in m.stages for m in opened.store.manifests()
    )
    assert list(bucket.list("kept/leases/"))

    assert drac(*run) == 0 and "3 done" in capsys.readouterr().out
    assert not list(bucket.list("kept/leases/"))
    named = {f"{r.version}/{f}" for m in opened.store.manifests() for r in m.stages.values() for f in r.files}
    assert {"/".join(o.key.split("/")[-2:]) for o in bucket.list("kept/documents/")} == named

    proxy.requests.clear()
    assert drac(*run) == 0 and "nothing to do" in capsys.readouterr().out
    assert not stores(proxy, "PutObject")
    assert not [k for k in stores(proxy, "GetObject") if k.startswith("kept/documents/")]
    assert not [r for r in proxy.requests if r.operation == "GetObject" and "documents in" in r.key]

    bucket.copy("documents in/manual.pdf", "documents in/two pages.pdf")
    bucket.copy("documents in/manual.pdf", "documents in/extra.pdf")
    bucket.delete("documents in/notes/site visit.pdf")
    proxy.fault = lambda r: (
        "slow down" if re.match(r"kept/documents/../two-pages.*/markdown/", r.key) else None
    )
    assert drac(*run) == 1
    told = capsys.readouterr()
    assert re.search(r"two pages.pdf .*throttled: PUT", re.sub(r"\s*[│\n]\s*", " ", told.out))
    assert "1 done" in told.out and "1 retired" in told.err
    failure = opened.store.manifests_of(["two pages.pdf"])["two pages.pdf"].failure
    assert failure is not None and (failure.stage, failure.kind) == ("markdown", "throttled")
    proxy.fault = None
    assert drac(*run) == 0 and "1 done, 2 unchanged" in capsys.readouterr().out

    assert drac("search", "which valve first", "--home", home, "-k", "1") == 0
    assert f"s3://{bucket.name}/documents%20in/" in capsys.readouterr().out
    for command in (("inspect", "manual.pdf"), ("status",), ("export", "chunks", tmp_path / "chunks.jsonl")):
        assert drac(*command, "--home", home) == 0, capsys.readouterr()
    assert drac("export", "markdown", tmp_path / "md", "--home", home) == 0
    assert drac("clean", "--home", home) == 0 and drac("config", "check", "--home", home) == 0
    assert "Open the inlet valve." in (tmp_path / "md" / "manual.pdf.md").read_text()

    wanted = {ACTIONS[o] for o in proxy.operations()}
    page = (ROOT / "docs" / "object-storage.md").read_text(encoding="utf-8")
    assert wanted <= set(re.findall(r"s3:\w+", page))
    assert set(re.findall(r"s3:\w+", page)) <= set(ACTIONS.values())


def test_a_home_with_buckets_is_reached_by_the_resource_of_dagster(tmp_path, bucket, proxy, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("STORE_KEY", "of the deployment")
    (tmp_path / "drac.toml").write_text(f'[store]\nurl = "s3://{bucket.name}/kept"\nregion = "eu-west-1"\n')
    s3 = S3Resource(
        endpoint_url=proxy.url, aws_access_key_id=EnvVar("STORE_KEY"), aws_secret_access_key="secret"
    )

    @op
    def look(home: HomeResource) -> str:
        opened = home.open()
        assert not opened.store.has_documents()
        options = opened.connection.lance_options()
        assert options["aws_access_key_id"] == "of the deployment" and options["aws_endpoint"] == proxy.url
        return options["aws_region"]

    @job(resource_defs={"home": BucketHomeResource(path=str(tmp_path), s3=s3)})
    def looking() -> None:
        look()

    assert looking.execute_in_process().output_for_node("look") == "eu-west-1"


def test_definitions_of_a_home_without_buckets_have_no_such_resource(tmp_path):
    code = "from drac_pipeline.defs.definitions import defs; import sys;"
    code += "print(sorted(defs.resources), 'boto3' in sys.modules)"
    told = []
    for settings in ("", '[store]\nurl = "s3://bucket/kept"\n'):
        (tmp_path / "drac.toml").write_text(settings)
        environment = {**os.environ, "DRAC_HOME": str(tmp_path)}
        told.append(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).strip())
    assert told == ["['home'] False", "['home', 's3'] True"]
