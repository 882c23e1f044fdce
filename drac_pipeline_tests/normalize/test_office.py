"""LibreOffice made dependable: kept warm, replaced after failure, killed when it hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drac_pipeline.errors import CorruptDocument, StageTimeout
from drac_pipeline.normalize.office import OfficeConverter
from drac_pipeline.normalize.process import session_pids
from drac_pipeline_tests.normalize.conftest import (
    alive,
    assert_ends_with_its_worker,
    make_docx,
    pdf_text,
    wait_for,
)


def fake_office(folder: Path, script: str) -> str:
    path = folder / "soffice"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.office
def test_one_libreoffice_serves_many_documents_and_leaves_nothing(tmp_path: Path) -> None:
    converter = OfficeConverter()
    first = converter.convert(make_docx(tmp_path / "a.docx", "first"), tmp_path / "out")
    assert converter._tool and converter._home and converter._socket
    server, home, socket = converter._tool.process.pid, converter._home, converter._socket
    second = converter.convert(make_docx(tmp_path / "b.docx", "second"), tmp_path / "out")
    assert converter._tool.process.pid == server
    assert (pdf_text(first), pdf_text(second)) == ("first", "second")
    converter.close()
    assert not home.exists()
    assert not socket.exists()
    assert not alive(server)


@pytest.mark.office
def test_a_bad_document_does_not_cost_the_running_libreoffice(tmp_path: Path) -> None:
    converter = OfficeConverter()
    converter.convert(make_docx(tmp_path / "a.docx"), tmp_path / "out")
    assert converter._tool
    server = converter._tool.process.pid
    (tmp_path / "bad.docx").write_bytes(b"PK\x03\x04 no zip at all")
    with pytest.raises(CorruptDocument):
        converter.convert(tmp_path / "bad.docx", tmp_path / "out")
    converter.convert(make_docx(tmp_path / "c.docx"), tmp_path / "out")
    assert converter._tool.process.pid == server
    converter.close()


@pytest.mark.office
def test_a_killed_libreoffice_is_started_anew(tmp_path: Path) -> None:
    converter = OfficeConverter()
    converter.convert(make_docx(tmp_path / "a.docx"), tmp_path / "out")
    assert converter._tool
    for pid in session_pids(converter._tool.process.pid):
        os.kill(pid, 9)
    converter.convert(make_docx(tmp_path / "b.docx", "after"), tmp_path / "out")
    assert pdf_text(tmp_path / "out" / "b.pdf") == "after"
    converter.close()


@pytest.mark.office
def test_it_dies_with_a_killed_worker(tmp_path: Path) -> None:
    source = make_docx(tmp_path / "a.docx")
    code = f"""
import pathlib, time
from drac_pipeline.normalize.office import OfficeConverter
c = OfficeConverter()
c.convert(pathlib.Path({str(source)!r}), pathlib.Path({str(tmp_path)!r}))
print(c._tool.process.pid, c._home, flush=True)
time.sleep(20)
"""
    assert_ends_with_its_worker(code)


def test_a_hanging_program_is_killed_with_all_it_started_and_tried_once_more(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    command = fake_office(tmp_path, f"echo $$ >> {log}; sleep 300 & echo $! >> {log}; wait")
    converter = OfficeConverter(command, timeout=0.5, warm=False)
    with pytest.raises(StageTimeout, match=r"0\.5 seconds"):
        converter.convert(make_docx(tmp_path / "a.docx"), tmp_path / "out")
    pids = [int(x) for x in log.read_text().split()]
    assert len(pids) == 4  # two tries, each with a child
    wait_for(lambda: not any(alive(p) for p in pids))


def test_a_first_failure_is_mended_by_the_second_try(tmp_path: Path) -> None:
    mark = tmp_path / "tried"
    command = fake_office(
        tmp_path, f'if [ -e {mark} ]; then echo done > "{tmp_path}/out/a.pdf"; else touch {mark}; fi'
    )
    result = OfficeConverter(command, warm=False).convert(make_docx(tmp_path / "a.docx"), tmp_path / "out")
    assert result.read_text() == "done\n"


def test_exit_code_zero_without_a_result_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorruptDocument):
        OfficeConverter(fake_office(tmp_path, "exit 0"), warm=False).convert(
            tmp_path / "a.docx", tmp_path / "out"
        )
