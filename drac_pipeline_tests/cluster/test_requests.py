"""What is asked of a cluster for a document."""

from __future__ import annotations

import pytest

from drac_pipeline.cluster.requests import Request, fitted, request_for
from drac_pipeline.config import DracConfig, load_config
from drac_pipeline.errors import ConfigError
from drac_pipeline.store import Manifest, SourceRecord, StageRecord

STEP = 256 << 20


def document(size: int, pages: int = 0) -> Manifest:
    source = SourceRecord(root="/s", path="/s/a.pdf", fingerprint="f", size=size)
    record = StageRecord(
        version="v", data_version="d", code_version="c", inputs={}, files=[], made_at="", seconds=0,
        counts={"pages": pages},
    )  # fmt: skip
    return Manifest(document_key="a.pdf", source=source, stages={"normalized_pdf": record} if pages else {})


def test_cpus_follow_pages_and_memory_follows_bytes():
    config = DracConfig()
    assert request_for(document(1_000), config) == Request(1.0, 4 * STEP)
    assert request_for(None, config) == Request(1.0, 4 * STEP)
    assert request_for(document(1_000, pages=250), config).cpus == 3
    assert request_for(document(1_000, pages=9999), config).cpus == 4  # max_cpus_per_document
    assert request_for(document(10_000_000), config).cpus == 3  # of so many bytes there are 200 pages
    assert request_for(document(50_000_000), config).memory == 8 * STEP  # 2 GB
    most = config.limits.worker_memory_bytes
    assert request_for(document(900_000_000), config).memory == most
    assert request_for(document(1_000), config, most_memory=True).memory == most


def test_settings_bound_what_is_asked_for():
    by_model = DracConfig.model_validate({"convert": {"mode": "model"}})
    assert request_for(document(1_000, pages=500), by_model).cpus == 0.25
    one_by_one = DracConfig.model_validate({"limits": {"pages_in_parallel": 1}})
    assert request_for(document(1_000, pages=500), one_by_one).cpus == 1
    part = DracConfig.model_validate({"map": {"cpus_per_document": 0.5}})
    assert request_for(document(1_000), part).cpus == 0.5
    assert request_for(document(1_000, pages=150), part).cpus == 1  # above one they are whole


def test_what_no_node_can_grant_is_lowered():
    nodes = [Request(2, 8 * STEP), Request(8, 4 * STEP)]
    assert fitted(Request(2, 8 * STEP), nodes) == Request(2, 8 * STEP)
    assert fitted(Request(4, 16 * STEP), nodes) == Request(2, 8 * STEP)
    assert fitted(Request(16, STEP), nodes) == Request(8, STEP)
    assert fitted(Request(1, STEP), [Request(0.5, STEP)]) == Request(0.5, STEP)
    assert fitted(Request(16, STEP), []) == Request(16, STEP)  # nobody knows yet


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('address = "ray://10.0.0.1:10001"', "Ray Client"),
        ('address = ""', "address of a running cluster"),
        ("cpus_per_document = 1.5", "a whole number"),
        ('engine = "dask"', "map.engine"),
    ],
)
def test_wrong_settings_are_named(tmp_path, line, told):
    (tmp_path / "drac.toml").write_text(f"[map]\n{line}\n")
    with pytest.raises(ConfigError, match=told):
        load_config(tmp_path)
