"""The store in a bucket against the store in a folder: real runs of the sample corpus, one after the other.

    PYTHONPATH=. python benchmarks/object_store.py [--runs 2] [--endpoint http://127.0.0.1:9000]

Without an endpoint a server is started on loopback (moto; its work is on the same cores and counts against
the bucket). Of each kind the quickest run counts. Prints the ratio (bound: 1.25), the requests for each
document, and what a run with nothing to do asks for.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from drac_pipeline.s3.bucket import Bucket
from drac_pipeline.s3.connection import Connection
from drac_pipeline_tests.s3.server import Proxy, proxy_to

ROOT = Path(__file__).parents[1]
BOUND = 1.25
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextlib.contextmanager
def server() -> Iterator[str]:
    """A server in a process of its own; gives its address."""
    port = 9400 + os.getpid() % 400
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def drac_run(home: Path, settings: str = "") -> float:
    """Seconds that a run of the sample corpus into `home` takes."""
    home.mkdir(exist_ok=True)
    if settings:
        (home / "drac.toml").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()"]
    began = time.monotonic()
    subprocess.run(
        [*command, "run", str(ROOT / "data" / "corpus"), "--home", str(home)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.monotonic() - began


def counted(proxy: Proxy, home: Path, settings: str) -> Counter[str]:
    """The requests of a run, index apart."""
    proxy.requests.clear()
    drac_run(home, settings)
    return Counter(r.operation for r in proxy.requests if "/index/" not in f"{r.key}/")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--endpoint", default="")
    asked = parser.parse_args()
    os.environ.update({k: os.environ.get(k, v) for k, v in ENVIRONMENT.items()})
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        endpoint = asked.endpoint or stack.enter_context(server())
        bucket = Bucket(f"bench-{int(time.time())}", Connection(endpoint_url=endpoint, attempts=8))
        bucket.connection.client().create_bucket(Bucket=bucket.name)

        def settings(prefix: str, url: str = endpoint) -> str:
            return f'[store]\nurl = "s3://{bucket.name}/{prefix}"\nendpoint_url = "{url}"\n'

        local, remote = [], []
        for n in range(asked.runs):
            local.append(drac_run(folder / f"local-{n}"))
            remote.append(drac_run(folder / f"bucket-{n}", settings(f"home-{n}")))
            print(f"run {n + 1}: folder {local[-1]:.1f} s, bucket {remote[-1]:.1f} s", flush=True)
        ratio = min(remote) / min(local)
        told = "within" if ratio <= BOUND else "over"
        print(f"bucket/folder {ratio:.2f}, {told} the bound of {BOUND}")
        if asked.endpoint:
            return
        proxy = stack.enter_context(proxy_to(int(endpoint.rpartition(":")[2])))
        documents = sum(p.is_file() for p in (ROOT / "data" / "corpus").rglob("*"))
        first = counted(proxy, folder / "counted", settings("counted", proxy.url))
        each = {k: round(n / documents, 1) for k, n in first.items()}
        print(f"requests for each of {documents} documents: {each}")
        print("requests of a run with nothing to do:", dict(counted(proxy, folder / "counted", "")))


if __name__ == "__main__":
    main()
