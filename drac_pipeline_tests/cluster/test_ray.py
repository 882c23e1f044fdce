"""Documents over the nodes of a Ray cluster: two on this machine, each with processes of its own."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drac_pipeline.cli import main
from drac_pipeline.cluster.books import Bookkeeper
from drac_pipeline.config import DracConfig
from drac_pipeline.errors import ClusterError
from drac_pipeline.llm.books import DATABASE_FILE, LEDGER_FILE, Account
from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan, page_table
from drac_pipeline.llm.ledger import Ledger, Purpose
from drac_pipeline.llm.protocol import ModelUnavailable
from drac_pipeline.pipeline import find_work
from drac_pipeline.pipeline.pool import Task, map_documents
from drac_pipeline.pipeline.progress import PageProgress, listening_to_pages
from drac_pipeline.s3.connection import Connection
from drac_pipeline.store import Home
from drac_pipeline_tests.cluster.conftest import NODE
from drac_pipeline_tests.convert.scans import letter, printed, scans
from drac_pipeline_tests.s3.server import s3_server

LONG = ["<h1>Part</h1><p>Text of a page that takes a while to draw.</p>"] * 40


def settings(cluster, **other: object) -> DracConfig:
    own = {"engine": "ray", "address": cluster.address, **other.pop("map", {})}  # type: ignore[arg-type]
    return DracConfig.model_validate({"map": own, **other})


def tasks_of(home: Home, root: Path, stages: list[str] | None = None) -> list[Task]:
    return [(w.key, stages) for w in find_work(home, root, DracConfig()).work]


def made(home: Home) -> dict[str, str]:
    """The hash of each file of each output."""
    found = {}
    for m in home.store.manifests():
        for stage, record in m.stages.items():
            for name in record.files:
                data = home.store.path(m.document_key, stage, name, m).read_bytes()
                found[f"{m.document_key} {stage} {name}"] = hashlib.sha256(data).hexdigest()
    return found


def test_work_lands_on_both_nodes_and_comes_out_as_on_one_machine(tmp_path, cluster, make_pdf, caplog):
    root = tmp_path / "corpus"
    for n in range(7):
        make_pdf(root / f"{n}.pdf", *[f"<h1>Part {p}</h1><p>Text {n}.</p>" for p in range(12)])
    (root / "scan.pdf").write_bytes(scans(printed(letter)))
    spread, local = Home(tmp_path / "spread"), Home(tmp_path / "local")
    caplog.set_level(logging.DEBUG)
    outcomes = list(map_documents(spread.store, tasks_of(spread, root), settings(cluster)))
    assert sorted(o.key for o in outcomes) == [*(f"{n}.pdf" for n in range(7)), "scan.pdf"]
    assert [o.failure for o in outcomes] == [None] * 8
    nodes = {m.split(": begun on ")[1] for m in caplog.messages if ": begun on " in m}
    assert len(nodes) == 2
    said = {(r.document, r.stage) for r in caplog.records if getattr(r, "node", "") in nodes}
    assert {o.key for o in outcomes} == {key for key, _ in said}
    assert ("scan.pdf", "markdown") in said
    list(map_documents(local.store, tasks_of(local, root), DracConfig()))
    assert made(spread) == made(local)


def test_pages_of_one_document_are_read_on_both_nodes(tmp_path, cluster):
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "scan.pdf").write_bytes(scans(*[printed(letter)] * 20))
    spread, local = Home(tmp_path / "spread"), Home(tmp_path / "local")
    raylets = {n.all_processes["raylet"][0].process.pid for n in cluster.list_all_nodes()}
    seen: set[int] = set()

    def look(progress: PageProgress) -> None:
        if progress.stage == "markdown":
            seen.update(a for pid in _working_on(spread) for a in _ancestors(pid) if a in raylets)

    with listening_to_pages(look):
        [outcome] = map_documents(spread.store, tasks_of(spread, root), settings(cluster))
    assert outcome.failure is None
    assert seen == raylets
    list(map_documents(local.store, tasks_of(local, root), DracConfig()))
    assert made(spread) == made(local)


def test_a_lost_node_loses_no_document(tmp_path, cluster, make_pdf):
    root = tmp_path / "corpus"
    for n in range(6):
        make_pdf(root / f"{n}.pdf", *LONG)
    home = Home(tmp_path / "home")
    third = cluster.add_node(**NODE)
    lost: list[int] = []

    def lose() -> None:
        raylet = third.all_processes["raylet"][0].process.pid
        await_(lambda: [p for p in _working_on(home) if raylet in _ancestors(p)])
        lost.extend(_working_on(home))
        cluster.remove_node(third, allow_graceful=False)

    loser = threading.Thread(target=lose)
    loser.start()
    outcomes = list(map_documents(home.store, tasks_of(home, root), settings(cluster)))
    loser.join()
    assert lost, "the node was not seen at work: the test did not test"
    assert sorted(o.key for o in outcomes) == [f"{n}.pdf" for n in range(6)]
    assert [o.failure for o in outcomes] == [None] * 6


def test_a_document_that_takes_its_worker_along_fails_alone(tmp_path, cluster, make_pdf):
    root = tmp_path / "corpus"
    make_pdf(root / "bad.pdf", *LONG * 3)
    for n in range(3):
        make_pdf(root / f"{n}.pdf", "<h1>Part</h1><p>Text.</p>")
    home = Home(tmp_path / "home")
    killed: set[int] = set()
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.05):
            for pid in _titled("ray::drac bad.pdf"):
                if pid not in killed and _working_on(home):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    config = settings(cluster, map={"tries": 2})
    outcomes = {o.key: o for o in map_documents(home.store, tasks_of(home, root), config)}
    done.set()
    killer.join()
    assert len(killed) == 2
    assert [k for k, o in sorted(outcomes.items()) if o.failure is None] == ["0.pdf", "1.pdf", "2.pdf"]
    failure = outcomes["bad.pdf"].failure
    assert failure is not None
    assert failure.kind == "worker died"
    assert "lost 2 times" in failure.cause
    manifest = home.store.manifest("bad.pdf")
    assert manifest is not None and manifest.failure == failure


@pytest.mark.parametrize(
    ("limits", "kind", "setting"),
    [
        ({"document_seconds": 10}, "timed out", "limits.document_seconds"),
        ({"worker_memory_bytes": 420_000_000}, "too large", "limits.worker_memory_bytes"),
    ],
)
def test_limits_hold_there(tmp_path, cluster, make_pdf, limits, kind, setting):
    root = tmp_path / "corpus"
    make_pdf(root / "short.pdf", "<h1>Part</h1><p>Text.</p>")
    (root / "scan.pdf").write_bytes(scans(*[printed(letter)] * 20))
    home = Home(tmp_path / "home")
    config = settings(cluster, limits=limits)
    outcomes = {o.key: o for o in map_documents(home.store, tasks_of(home, root), config)}
    assert outcomes["short.pdf"].failure is None
    failure = outcomes["scan.pdf"].failure
    assert failure is not None
    assert failure.kind == kind
    assert setting in failure.remedy


def test_pages_are_told_and_an_interrupt_stops_the_cluster(tmp_path, cluster):
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "scan.pdf").write_bytes(scans(*[printed(letter)] * 24))
    home = Home(tmp_path / "home")
    seen: list[PageProgress] = []

    def stop(progress: PageProgress) -> None:
        seen.append(progress)
        if progress.stage == "markdown":
            assert _working_on(home)
            raise KeyboardInterrupt

    with listening_to_pages(stop), pytest.raises(KeyboardInterrupt):
        list(map_documents(home.store, tasks_of(home, root), settings(cluster)))
    assert all(p.key == "scan.pdf" and 0 < p.done <= p.total == 24 for p in seen)
    await_(lambda: not _working_on(home))


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_an_interrupted_run_stops_the_cluster(tmp_path, cluster, sent, code):
    """The command, and with it the Dagster run that it is."""
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "scan.pdf").write_bytes(scans(*[printed(letter)] * 24))
    home = Home(tmp_path / "home")
    home.path.mkdir()
    (home.path / "drac.toml").write_text(f'[map]\nengine = "ray"\naddress = "{cluster.address}"\n')
    command = [
        sys.executable,
        "-c",
        "from drac_pipeline.cli import main; main()",
        "run",
        str(root),
        "--home",
        str(home.path),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        await_(lambda: _working_on(home) or run.poll() is not None)
        run.send_signal(sent)
        told = run.communicate(timeout=120)[1]
    assert run.returncode == code, told
    await_(lambda: not _working_on(home))


def test_a_node_that_is_not_fit_is_named(tmp_path, cluster, corpus):
    from drac_pipeline.cluster.connect import connected
    from drac_pipeline.cluster.nodes import check_nodes, cluster_nodes, seen_by_nodes

    home = Home(tmp_path / "home")
    tasks = tasks_of(home, corpus)
    with connected(settings(cluster).map), seen_by_nodes(home.store, tasks, DracConfig()) as good:
        assert good.sources == (str(corpus),)
        nodes = cluster_nodes()
        check_nodes(nodes, good)
        bad = replace(
            good,
            code="another",
            python="3.9.1",
            packages={"pymupdf": "1.0"},
            token=(str(tmp_path / "nowhere"), ""),
            sources=("/not/mounted",),
        )
        check_nodes(nodes, replace(good, token=("", "")))  # as with a store that is no folder
        with pytest.raises(ClusterError) as e:
            check_nodes(nodes, bad)
    for node in nodes:
        lines = [line for line in str(e.value).splitlines() if node.name in line]
        assert len(lines) == 5
        for told in (
            "has Python",
            "has other code",
            "the driver 1.0",
            "does not see the store",
            "/not/mounted",
        ):
            assert any(told in line for line in lines)


def test_a_node_that_joins_later_and_is_not_fit_gets_no_document(tmp_path, cluster, make_pdf, caplog):
    other = tmp_path / "other" / "pymupdf-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: pymupdf\nVersion: 0.0.1\n")
    path = os.pathsep.join([str(other.parent), os.environ.get("PYTHONPATH", "")])
    root = tmp_path / "corpus"
    for n in range(8):
        make_pdf(root / f"{n}.pdf", *LONG)
    home = Home(tmp_path / "home")
    joined: list[Any] = []
    outcomes = []
    # two at once fill the two good nodes; from the first that is done on, a third node has room
    for outcome in map_documents(home.store, tasks_of(home, root), settings(cluster)):
        outcomes.append(outcome)
        if not joined:
            joined.append(cluster.add_node(**NODE, env_vars={"PYTHONPATH": path}))
    cluster.remove_node(joined[0])
    assert [o.failure for o in outcomes] == [None] * 8
    [line] = [m for m in caplog.messages if "is left out" in m]
    assert "has pymupdf 0.0.1, the driver" in line


def test_the_settings_are_checked_against_the_cluster(tmp_path, cluster, corpus, capfd):
    home = Home(tmp_path / "home")
    tasks_of(home, corpus)
    lines = f'[map]\nengine = "ray"\naddress = "{cluster.address}"\n'
    (home.path / "drac.toml").write_text(lines)
    with contextlib.suppress(SystemExit):
        main(["config", "check", "--home", str(home.path)])
    assert "2 nodes can work" in capfd.readouterr().out
    (home.path / "drac.toml").write_text(lines.replace(cluster.address, "127.0.0.1:1"))
    with pytest.raises(SystemExit) as e:
        main(["config", "check", "--home", str(home.path)])
    assert e.value.code == 2
    assert "no Ray cluster" in capfd.readouterr().err


def test_without_a_cluster_it_says_so(tmp_path, corpus):
    pytest.importorskip("ray")
    home = Home(tmp_path / "home")
    tasks = tasks_of(home, corpus)
    config = DracConfig.model_validate({"map": {"engine": "ray", "address": "127.0.0.1:1"}})
    with pytest.raises(ClusterError, match=r"map.address = '127.0.0.1:1': no Ray cluster"):
        list(map_documents(home.store, tasks, config))


def await_(holds: Callable[[], object], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "did not come about in time"
        time.sleep(0.05)


def _working_on(home: Home) -> list[int]:
    """Processes that are not this one's own and have a workspace or lock of the home open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            open_files = [str(fd.readlink()) for fd in (process / "fd").iterdir()]
        except OSError:
            continue
        if int(process.name) != os.getpid() and any(f"{home.path}/store/documents" in f for f in open_files):
            found.append(int(process.name))
    return found


def _ancestors(pid: int) -> list[int]:
    found = []
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(pid)
    return found


def _titled(start: str) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            title = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if title.startswith(start):
            found.append(int(process.name))
    return found


def test_quota_and_ledger_hold_over_all_nodes(tmp_path, cluster, make_pdf, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a key that nodes were not started with")
    root = tmp_path / "corpus"
    for n in range(4):
        make_pdf(root / f"{n}.pdf", *(f"<h1>Doc {n}{k}</h1><p>Text {n}{k} of it.</p>" for k in range(4)))
    home = Home(tmp_path / "home")
    brain = Brain(page_table(sorted(root.rglob("*.pdf"))))
    with Double(brain, faults=FaultPlan(), latency=0.2) as server:
        model = {"provider": "openai", "endpoint_url": f"{server.url}/v1", "model": "m"}
        quota = {"pages_per_call": 1, "calls_in_parallel": 3}
        config = settings(cluster, convert={"mode": "model"}, model={**model, **quota})
        outcomes = list(map_documents(home.store, tasks_of(home, root), config))
        assert [o.failure for o in outcomes] == [None] * 4
        assert server.pages == 16
        assert server.most_flying == 3, "of four documents on two nodes"
        records = Ledger(Database(home.store.state / DATABASE_FILE), Clock()).records()
        assert len(records) == 16
        assert {r["outcome"] for r in records} == {"ok"}
        assert {r["document"] for r in records} == {f"{n}.pdf" for n in range(4)}
        assert len({r["run"] for r in records}) == 1
        assert (home.store.state / LEDGER_FILE).is_file()


def test_what_a_lost_document_held_is_free(tmp_path):
    """The actor's class, as the actor runs it."""

    async def story() -> None:
        keeper = Bookkeeper(str(tmp_path / "model"))
        account = Account("run", "service", ceiling=2, failures=3, rest=60, per_run=0, per_day=0)

        async def ask(attempt: int, part: str, name: str, *args: object) -> Any:
            return await keeper.call(attempt, account, part, name, args, {})

        inside = await ask(1, "gate", "enter", 2)
        call = await ask(1, "ledger", "begin", Purpose("a.pdf", "markdown", "1", "p"), "x", "m", "c", 1, 0.5)
        waits = asyncio.create_task(ask(2, "gate", "enter", 2))
        drops_out = asyncio.create_task(ask(3, "gate", "enter", 1))
        await asyncio.sleep(0.2)
        assert not waits.done()
        await keeper.gone(3)
        with pytest.raises(asyncio.CancelledError):
            await drops_out
        await keeper.gone(1)
        assert await waits != inside
        [record] = await ask(2, "ledger", "records")
        assert (record["id"], record["outcome"], record["cost_usd"]) == (call, "interrupted", 0.5)
        for _ in range(3):
            await ask(2, "gate", "failed")
        with pytest.raises(ModelUnavailable):
            await ask(2, "gate", "enter", 1)

    asyncio.run(story())


def test_a_bucket_keeps_the_artifacts_of_all_nodes(tmp_path, cluster, corpus, monkeypatch):
    with s3_server() as port:
        keys = {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        for name, value in keys.items():  # nodes were started without
            monkeypatch.setenv(name, value)
        url = f"http://127.0.0.1:{port}"
        Connection(endpoint_url=url, attempts=3, timeout=10).client().create_bucket(Bucket="drac")
        home = Home(tmp_path / "home")
        home.path.mkdir()
        (home.path / "drac.toml").write_text(
            f'[store]\nurl = "s3://drac/home"\nendpoint_url = "{url}"\n'
            f'[map]\nengine = "ray"\naddress = "{cluster.address}"\nenvironment = {list(keys)}\n'
        )
        outcomes = list(map_documents(home.store, tasks_of(home, corpus), home.config))
        assert sorted(o.key for o in outcomes) == ["manual.pdf", "notes/site visit.pdf", "two pages.pdf"]
        assert [o.failure for o in outcomes] == [None] * 3
        local = Home(tmp_path / "local")
        list(map_documents(local.store, tasks_of(local, corpus), DracConfig()))
        assert made(home) == made(local)
        without = home.config.model_copy(
            update={"map": home.config.map.model_copy(update={"environment": []})}
        )
        with pytest.raises(ClusterError, match="cannot read the store s3://drac/home: "):
            list(map_documents(home.store, [("manual.pdf", None)], without, force=True))
