"""A home of many documents without the hours of making them.

A few documents go through the stages for real. Every other document gets their outputs: files that do not
name a document are linked, chunks and vectors are written anew with texts and ids of their own. What
lists, compares, indexes, reports and searches sees what it would see after a real run.
"""

import hashlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from corpus import KINDS, make_corpus, sentences, write_document

from drac_pipeline.pipeline import find_work
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, EMBEDDINGS_FILE
from drac_pipeline.pipeline.pool import map_documents
from drac_pipeline.pipeline.stage import code_version
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.sources.fingerprint import FingerprintCache, hash_file
from drac_pipeline.sources.keys import document_key
from drac_pipeline.store import Home, Manifest, SourceRecord, StageRecord

OWN = ("chunks", "chunk_embeddings")  # name their document


def make_home(work: Path, number: int, *, linked: bool = False) -> tuple[Path, Home]:
    """Source and home of `number` documents below `work`, made where they are not there yet. With
    `linked`, outputs are links to folders of the first few documents, and the vectors are theirs: for
    what only looks at manifests and whether files are there."""
    root = work / ("linked" if linked else "made")
    source, home = root / f"source-{number}", Home(root / f"home-{number}")
    done = home.path / "made"
    versions = " ".join(code_version(s, home.config) for s in STAGES)
    if done.exists():
        if done.read_text() != versions:  # made by other code: to this one, its outputs are those it makes
            _call_made_by_this_code(home)
            done.write_text(versions)
        return source, home
    models = _models(work)
    with FingerprintCache(home.fingerprint_cache) as cache:
        for n in range(number):
            kind = KINDS[n % len(KINDS)]
            kind = "txt" if kind == "docx" and linked else kind
            path = write_document(source, n, kind)
            fingerprint, stat = hash_file(path)
            cache.put(path, stat, fingerprint)
            key = document_key(path.relative_to(source))
            record = SourceRecord(
                root=str(source),
                path=str(path),
                fingerprint=fingerprint,
                size=stat.st_size,
                modified=stat.st_mtime,
            )
            _make_document(home, key, record, *models[kind], linked=linked)
            if n % 10_000 == 9_999:
                print(f"  {n + 1:,} documents made", flush=True)
    home.remember_source(source)
    done.write_text(versions)
    return source, home


def _call_made_by_this_code(home: Home) -> None:
    versions = {s.name: code_version(s, home.config) for s in STAGES}
    for manifest in list(home.store.manifests()):
        stages = {n: r.model_copy(update={"code_version": versions[n]}) for n, r in manifest.stages.items()}
        text = manifest.model_copy(update={"stages": stages}).model_dump_json(indent=1)
        (home.store.document_dir(manifest.document_key) / "manifest.json").write_text(text, encoding="utf-8")


def _models(work: Path) -> dict[str, tuple[Home, Manifest]]:
    """A document of each kind that went through the stages."""
    home = Home(work / "models" / "home")
    source = work / "models" / "source"
    make_corpus(source, len(KINDS))
    tasks = [(w.key, None) for w in find_work(home, source, home.config).work]
    failed = [o.key for o in map_documents(home.store, tasks, home.config) if o.failure]
    assert not failed, failed
    return {m.document_key.rsplit(".", 1)[1]: (home, m) for m in home.store.manifests()}


def _make_document(
    home: Home, key: str, source: SourceRecord, model_home: Home, model: Manifest, *, linked: bool
) -> None:
    folder = home.store.document_dir(key)
    folder.mkdir(parents=True, exist_ok=True)
    origin = model_home.store.document_dir(model.document_key)
    stages: dict[str, StageRecord] = {}
    changed: dict[str, str] = {}
    for name, record in model.stages.items():
        inputs = {p: changed.get(p, v) for p, v in record.inputs.items()}
        if "source" in inputs:
            inputs["source"] = source.fingerprint
        if name in OWN:
            changed[name] = hashlib.sha256(f"{key}{name}".encode()).hexdigest()[:32]
            record = record.model_copy(update={"data_version": changed[name]})
        stages[name] = record.model_copy(update={"inputs": inputs})
        target = folder / name
        if linked:
            target.symlink_to(origin / name)
        elif name in OWN:
            (target / record.version).mkdir(parents=True)
        else:
            shutil.copytree(origin / name, target, copy_function=lambda s, t: Path(t).hardlink_to(s))
    if not linked:
        stages.update(_own_chunks(key, origin, folder, stages))
    manifest = Manifest(document_key=key, source=source, stages=stages)
    (folder / "manifest.json").write_text(manifest.model_dump_json(indent=1), encoding="utf-8")


def _own_chunks(
    key: str, origin: Path, folder: Path, stages: dict[str, StageRecord]
) -> Iterator[tuple[str, StageRecord]]:
    """Chunks and vectors with texts of their own."""
    chance = random.Random(key)
    numbers = np.random.default_rng(chance.getrandbits(64))
    versions = {n: stages[n].version for n in OWN}
    chunks = pq.read_table(origin / "chunks" / versions["chunks"] / CHUNKS_FILE)
    n = chunks.num_rows
    ids = [hashlib.sha256(f"{key}{i}".encode()).hexdigest()[:32] for i in range(n)]
    columns = {
        "chunk_id": ids,
        "document_key": [key] * n,
        "text": [sentences(chance, 4, 8) for _ in range(n)],
    }
    for name, values in columns.items():
        at = chunks.schema.get_field_index(name)
        chunks = chunks.set_column(
            at, chunks.schema.field(at), pa.array(values, chunks.schema.field(at).type)
        )
    vectors = pq.read_table(origin / "chunk_embeddings" / versions["chunk_embeddings"] / EMBEDDINGS_FILE)
    width = vectors.schema.field("vector").type.list_size
    made = numbers.standard_normal((n, width)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    for name, values in {"chunk_id": pa.array(ids), "vector": list(made)}.items():
        at = vectors.schema.get_field_index(name)
        vectors = vectors.set_column(
            at, vectors.schema.field(at), pa.array(values, vectors.schema.field(at).type)
        )
    for stage, table, file in (
        ("chunks", chunks, CHUNKS_FILE),
        ("chunk_embeddings", vectors, EMBEDDINGS_FILE),
    ):
        path = folder / stage / versions[stage] / file
        pq.write_table(table, path)
        yield stage, stages[stage].model_copy(update={"sizes": {file: path.stat().st_size}})
