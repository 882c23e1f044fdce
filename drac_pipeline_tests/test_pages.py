"""Pages of one document over processes: the same results, and nothing left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from drac_pipeline import cores
from drac_pipeline.config import ConvertConfig, RenderConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.pages import Crew, helped_by, map_pages
from drac_pipeline.render import render_pages
from drac_pipeline_tests.convert.scans import letter, printed, scans

ROOM = 1 << 40  # bytes: this process holds what the tests before left in it, which counts


def slow(folder: Path) -> Callable[[int], tuple[int, int]]:
    """A page and who did it; each process notes that it did one."""

    def read(n: int) -> tuple[int, int]:
        time.sleep(0.05)
        (folder / f"{n}").write_text(str(os.getpid()))
        return n, os.getpid()

    return read


def failing(bad: int, main: int = 0) -> Callable[[int], int]:
    """Fails at a page: with an error, or (given the main process) by the death of a helper."""

    def read(n: int) -> int:
        time.sleep(0.05)
        if n == bad:
            if not main:
                raise ValueError(f"page {n}")
            if os.getpid() != main:
                os.kill(os.getpid(), signal.SIGKILL)
        return n * n

    return read


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_results_come_in_order_from_several_processes_that_end_with_the_call(tmp_path):
    hired: list[int] = []
    left: list[int] = []
    told: list[tuple[int, int]] = []
    crew = Crew(3, ROOM, hired=hired.append, left=left.append, progress=lambda a, b: told.append((a, b)))
    numbers = list(range(80))
    with helped_by(crew):
        done = map_pages(slow, (tmp_path,), numbers, slow(tmp_path))
    assert [n for n, _ in done] == numbers
    assert len(hired) == 2
    assert {pid for _, pid in done} == {os.getpid(), *hired}
    assert sorted(left) == sorted(hired)
    assert not any(alive(pid) for pid in hired)
    assert told[-1] == (80, 80)


@pytest.mark.parametrize("most", [1, 3])
def test_an_error_of_a_page_is_raised_here(most):
    hired: list[int] = []
    with helped_by(Crew(most, ROOM, hired=hired.append)), pytest.raises(ValueError, match="page 30"):
        map_pages(failing, (30,), range(60), failing(30))
    assert len(hired) == most - 1
    assert not any(alive(pid) for pid in hired)


def test_a_page_whose_helper_dies_is_done_all_the_same():
    me, died = os.getpid(), 0
    for bad in range(20, 24):  # which of them a helper meets is chance
        hired: list[int] = []
        with helped_by(Crew(2, ROOM, hired=hired.append)):
            done = map_pages(failing, (bad, me), range(40), failing(bad, me))
        assert done == [n * n for n in range(40)]
        died += len(hired) - 1  # another is hired where one died
    assert died > 0


def test_without_a_crew_pages_stay_in_this_process(tmp_path):
    assert {pid for _, pid in map_pages(slow, (tmp_path,), range(4), slow(tmp_path))} == {os.getpid()}


def test_memory_bounds_the_helpers(tmp_path):
    hired: list[int] = []
    with helped_by(Crew(4, memory_bytes=400_000_000, hired=hired.append)):
        map_pages(slow, (tmp_path,), range(10), slow(tmp_path))
    assert not hired


def test_helpers_use_free_cores_only(tmp_path, monkeypatch):
    monkeypatch.setattr(cores, "usable", lambda: 2)
    monkeypatch.setattr("drac_pipeline.pages.PATIENCE", 0.0)
    where = tmp_path / "cores"
    work = tmp_path / "work"
    work.mkdir()
    hired: list[int] = []
    crew = Crew(memory_bytes=ROOM, where=where, hired=hired.append)
    with cores.at_work(where), helped_by(crew):
        with cores.at_work(where):  # another document has the other core
            assert cores.count(where) == 2
            map_pages(slow, (work,), range(20), slow(work))
            assert not hired
        map_pages(slow, (work,), range(40), slow(work))
        assert len(hired) == 1
    assert cores.count(where) == 0


def test_a_process_that_is_gone_does_not_count(tmp_path):
    (tmp_path / "old").write_text("")
    os.utime(tmp_path / "old", (0, 0))
    assert cores.count(tmp_path) == 0
    assert not (tmp_path / "old").exists()
    assert cores.count(tmp_path / "nowhere") == 0


def test_scans_and_images_are_the_same_whatever_the_parallelism(tmp_path):
    pdf = tmp_path / "scan.pdf"
    pdf.write_bytes(scans(*[printed(letter)] * 4))
    results, images = [], []
    for most in (1, 3):
        hired: list[int] = []
        with helped_by(Crew(most, ROOM, hired=hired.append)):
            results.append(convert_pdf(pdf, ConvertConfig()))
            out = tmp_path / f"images-{most}"
            render_pages(pdf, out, RenderConfig(window=2))
            images.append([p.read_bytes() for p in sorted(out.iterdir())])
        assert len(hired) == 2 * (most - 1)
    assert results[0].markdown.count("<!-- page") == 4
    assert results[0] == results[1]
    assert images[0] == images[1]
    assert len(images[0]) == 4


class Unreadable:
    """Pickles, and cannot be read again."""

    def __reduce__(self):
        return _refuse, ()


def _refuse() -> None:
    raise MemoryError("no room for a result")


def sealed(main: int) -> Callable[[int], object]:
    """Results of helpers cannot be unpickled."""

    def read(n: int) -> object:
        time.sleep(0.05)
        return n * n if os.getpid() == main else Unreadable()

    return read


def test_a_result_that_cannot_be_read_costs_no_page():
    me = os.getpid()
    hired: list[int] = []
    with helped_by(Crew(2, ROOM, hired=hired.append)):
        assert map_pages(sealed, (me,), range(60), sealed(me)) == [n * n for n in range(60)]
    assert hired
