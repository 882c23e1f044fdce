"""Documents over processes, workers that die included."""

import os
import signal
import threading
import time
from pathlib import Path

import pymupdf
import pytest

from drac_pipeline import cores
from drac_pipeline.config import ConvertConfig, DracConfig, LimitsConfig
from drac_pipeline.pipeline import find_work
from drac_pipeline.pipeline.pool import CRASHED, count_workers, died, map_documents
from drac_pipeline.pipeline.progress import PageProgress, listening_to_pages
from drac_pipeline.store import Home
from drac_pipeline_tests.convert.scans import letter, printed, scans


def test_every_document_comes_back_once(tmp_path, corpus):
    home = Home(tmp_path / "home")
    tasks = [(w.key, None) for w in find_work(home, corpus, home.config).work]
    outcomes = list(map_documents(home.store, tasks, home.config, workers=2))
    assert sorted(o.key for o in outcomes) == ["manual.pdf", "notes/site visit.pdf", "two pages.pdf"]
    assert all(o.failure is None for o in outcomes)


def test_long_documents_come_first(tmp_path, make_pdf):
    root = tmp_path / "corpus"
    for n in (1, 3, 2):
        make_pdf(root / f"{n}.pdf", *[f"<h1>Part {p}</h1><p>Text {n}.</p>" for p in range(n)])
    home = Home(tmp_path / "home")
    tasks = [(w.key, ["normalized_pdf"]) for w in find_work(home, root, home.config).work]
    list(map_documents(home.store, tasks, home.config, workers=1))
    again = map_documents(home.store, [(k, None) for k, _ in tasks], home.config, workers=1)
    assert [o.key for o in again] == ["3.pdf", "2.pdf", "1.pdf"]


def test_there_are_as_many_workers_as_memory_for_them(monkeypatch):
    config = DracConfig.model_validate({"convert": {"mode": "model"}})
    monkeypatch.setattr(cores, "usable", lambda: 2)
    for free, workers in ((10**12, 15), (3 * 10**9, 5), (10**8, 2)):
        monkeypatch.setattr(cores, "free_memory", lambda free=free: free)
        assert count_workers(config) == workers
    own = DracConfig.model_validate({"convert": {"mode": "model"}, "model": {"documents_in_parallel": 9}})
    assert count_workers(own) == 9
    assert count_workers(DracConfig()) == 2


def test_a_killed_worker_costs_no_document(tmp_path, make_pdf):
    root = tmp_path / "corpus"
    for n in range(6):
        make_pdf(root / f"{n}.pdf", *[f"<h1>Part {p}</h1><p>Text {n}.</p>" for p in range(30)])
    home = Home(tmp_path / "home")
    tasks = [(w.key, None) for w in find_work(home, root, home.config).work]
    killed: list[int] = []
    killer = threading.Thread(target=_kill_one_worker, args=(home, killed))
    killer.start()
    outcomes = list(map_documents(home.store, tasks, home.config, workers=2))
    killer.join()
    assert killed, "no worker was seen at work: the test did not test"
    assert sorted(o.key for o in outcomes) == [f"{n}.pdf" for n in range(6)]
    assert all(o.failure is None for o in outcomes)


@pytest.mark.parametrize(
    ("limits", "kind", "cause", "setting"),
    [
        ({"document_seconds": 1.5}, "timed out", "not done after 1.5 seconds", "limits.document_seconds"),
        (
            {"worker_memory_bytes": 1_000_000},  # less than Python itself takes
            "too large",
            "it takes more than 0.001 GB of memory",
            "limits.worker_memory_bytes",
        ),
    ],
)
def test_a_document_beyond_a_limit_fails_alone(tmp_path, make_pdf, limits, kind, cause, setting):
    root = tmp_path / "corpus"
    make_pdf(root / "long.pdf", *["<h1>Part</h1><p>Text.</p>"] * 400)
    home = Home(tmp_path / "home")
    tasks = [(w.key, None) for w in find_work(home, root, home.config).work]
    config = DracConfig(limits=LimitsConfig.model_validate(limits))
    [outcome] = map_documents(home.store, tasks, config)
    failure = outcome.failure
    assert failure is not None
    assert (failure.kind, failure.cause) == (kind, cause)
    assert setting in failure.remedy
    manifest = home.store.manifest("long.pdf")
    assert manifest is not None
    assert manifest.failure == failure
    # with the usual limits it goes through, on what is left of the attempt
    [again] = map_documents(home.store, tasks, DracConfig())
    assert again.failure is None


@pytest.fixture
def long_scan(tmp_path):
    """A home with one scan of many pages to do."""
    path = tmp_path / "corpus" / "scan.pdf"
    path.parent.mkdir()
    path.write_bytes(scans(*[printed(letter)] * 24))
    return Home(tmp_path / "home"), find_work(Home(tmp_path / "home"), path.parent, DracConfig()).work


def test_a_document_that_is_killed_takes_its_helpers_with_it(long_scan):
    home, work = long_scan
    before = _workers()
    seen: list[PageProgress] = []
    # at 400 dpi its pages take far longer than the limit, and the limit far longer than the first of them
    slow = ConvertConfig(ocr_dpi=400)
    config = DracConfig(convert=slow, limits=LimitsConfig(document_seconds=12, pages_in_parallel=3))
    with listening_to_pages(seen.append):
        [outcome] = map_documents(home.store, [(w.key, None) for w in work], config)
    assert outcome.failure is not None
    assert outcome.failure.kind == "timed out"
    assert seen, "the limit came before its pages: the test did not test"
    assert all(p.key == "scan.pdf" and 0 < p.done <= p.total == 24 for p in seen)
    assert _gone(before)


def test_cancelling_leaves_no_helper(long_scan):
    home, work = long_scan
    before = _workers()

    def stop(progress: PageProgress) -> None:
        if progress.stage == "markdown" and len(_workers() - before) > 1:
            raise KeyboardInterrupt

    config = DracConfig(limits=LimitsConfig(pages_in_parallel=3))
    with listening_to_pages(stop), pytest.raises(KeyboardInterrupt):
        list(map_documents(home.store, [(w.key, None) for w in work], config))
    assert _gone(before)


def _workers() -> set[int]:
    """Workers and helpers: children of this process's fork server, which is kept for the next pool."""
    me = str(os.getpid())
    return {pid for pid in _descendants(os.getpid()) if _stat(pid)[1:2] != [me]}


def _gone(before: set[int]) -> bool:
    """Whether all have ended, after a moment, but those of `before` (an office kept warm by another test)."""
    deadline = time.monotonic() + 10
    while any(_stat(pid)[:1] not in ([], ["Z"]) for pid in _workers() - before):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _stat(pid: int) -> list[str]:
    """State, parent and more of a process, as the system lists them."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _kill_one_worker(home: Home, killed: list[int]) -> None:
    """Kill the process that has a workspace open, once."""
    deadline = time.monotonic() + 60
    while not killed and time.monotonic() < deadline:
        for pid in _descendants(os.getpid()):
            if _works_on(pid, home):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return
        time.sleep(0.01)


def _descendants(root: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(_stat(int(stat.parent.name))[1])
        except IndexError:
            continue
    found: list[int] = []
    for pid in parents:
        at = pid
        while at in parents and at != root:
            at = parents[at]
        if at == root and pid != root:
            found.append(pid)
    return found


def _works_on(pid: int, home: Home) -> bool:
    try:
        return any(str(home.path) in str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_documents_are_real(tmp_path, make_pdf):
    """The maker above gives what the tests think it gives."""
    with pymupdf.open(make_pdf(tmp_path / "x.pdf", "<p>a</p>", "<p>b</p>")) as doc:
        assert doc.page_count == 2


def test_a_document_deleted_meanwhile_fails_alone(tmp_path, corpus):
    home = Home(tmp_path / "home")
    tasks = [(w.key, ["normalized_pdf"]) for w in find_work(home, corpus, home.config).work]
    home.store.forget("manual.pdf")  # as another process does with one that was renamed
    done = {o.key: o for o in map_documents(home.store, tasks, home.config)}
    assert len(done) == 3
    failure = done["manual.pdf"].failure
    assert failure is not None and "left this home" in failure.cause
    assert [k for k, o in done.items() if o.failure] == ["manual.pdf"]


def test_each_death_of_a_worker_counts_as_an_attempt(tmp_path, corpus):
    home = Home(tmp_path / "home")
    find_work(home, corpus, home.config)
    for n in (1, 2, 3):
        failure = died(home.store, ("manual.pdf", None), CRASHED, home.config).failure
        assert failure is not None and (failure.stage, failure.attempts) == ("normalized_pdf", n)
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None and manifest.failure == failure
