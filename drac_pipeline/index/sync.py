"""Keep the vector index in step with the chunks.

The index is declared state: what it should hold follows from the documents' manifests, so one look
says what to add, replace and remove, whatever happened since the last one. A run that is killed in
the middle leaves some documents behind, and the next look finds them. New rows of a document
replace its old ones in one commit, and a table of another embedder goes only when every document
is in the new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.parquet as pq

from drac_pipeline.config import DracConfig
from drac_pipeline.index.table import ChunkTables, row_schema
from drac_pipeline.model import embedder_of
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, EMBEDDINGS_FILE
from drac_pipeline.pipeline.stage import code_version
from drac_pipeline.pipeline.stages import STAGES_BY_NAME
from drac_pipeline.s3.address import is_bucket_address
from drac_pipeline.store import Home, Manifest, StageRecord

STAGE = "chunk_embeddings"
INDEX_FOLDER = "index"
_FILES = (("chunks", CHUNKS_FILE), (STAGE, EMBEDDINGS_FILE))
ROWS_AT_ONCE = 4000


@dataclass(frozen=True)
class IndexState:
    """What the index holds and what it should hold. Keys of documents: `behind` have other chunks than
    their rows say or none, `surplus` have rows and should not, `waiting` have chunks without vectors
    of this embedder yet. `finished` is false where a sync ended before its rows were indexed by words."""

    embedder: str = ""
    documents: int = 0
    chunks: int = 0
    behind: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    finished: bool = True

    @property
    def in_step(self) -> bool:
        """Whether the index holds the chunks of every document, and no others, and finds them by words."""
        return self.finished and not (self.behind or self.surplus or self.waiting)


@dataclass(frozen=True)
class Synced:
    """What a sync did, and how the index is now: `keys` are the documents whose rows it wrote."""

    state: IndexState
    keys: list[str] = field(default_factory=list)
    removed: int = 0
    seconds: float = 0.0

    @property
    def written(self) -> int:
        """How many documents it wrote."""
        return len(self.keys)


def index_uri(home: Home) -> str:
    """Where the index of a home lies: `[index] uri`, else `index` beside the artifacts in a bucket, else
    the home's folder `index`."""
    if home.config.index.uri:
        return home.config.index.uri
    store = home.config.store.url
    return f"{store}/{INDEX_FOLDER}" if store else str(home.path / INDEX_FOLDER)


def chunk_tables(home: Home) -> ChunkTables:
    """The tables of a home's index. Raises StorageError where it is in a bucket without credentials,
    ConfigError where another corpus's is in the same place."""
    home.check_apart()
    uri = index_uri(home)
    return ChunkTables(uri, home.connection.lance_options if is_bucket_address(uri) else None)


def index_state(home: Home) -> IndexState:
    """Compare index and chunks, document by document."""
    manifests = with_chunks(home)
    embedder = current_embedder(manifests, home.config)
    table = chunk_tables(home).open(embedder) if embedder else None
    state = _compare(manifests, embedder, table.documents() if table else {})
    return replace(state, finished=table is None or table.finished)


def sync_index(home: Home, on_documents: Callable[[int, int], None] | None = None) -> Synced:
    """Bring the index in step with the chunks there are; `on_documents(done, of)` hears how far it is.

    Processes wait for one another where the home is on this machine.
    """
    began = time.monotonic()
    with home.store.exclusive("index"):
        manifests = with_chunks(home)
        embedder = current_embedder(manifests, home.config)
        tables = chunk_tables(home)
        others = set(tables.names()) - {embedder}
        if not embedder:  # no vectors at all: then no rows either
            for name in others if not manifests else ():
                tables.drop(name)
            return Synced(_compare(manifests, "", {}), seconds=time.monotonic() - began)
        dimensions = next(_dimensions(m) for m in manifests if _embedder(m) == embedder)
        table = tables.open_or_create(embedder, dimensions)
        there = table.documents()
        state = _compare(manifests, embedder, there)
        known = {m.document_key: m for m in manifests}
        changed = [known[k] for k in state.behind if k in there]
        new = [known[k] for k in state.behind if k not in there]
        done = 0
        for part in (*_batches(changed), *_batches(new)):
            home.store.fetch((m, s, f) for m in part for s, f in _FILES)
            rows = pa.concat_tables([_rows(home, m) for m in part])
            if part[0].document_key in there:
                table.replace([m.document_key for m in part], rows)
            else:
                table.add(rows)
            done += len(part)
            if on_documents:
                on_documents(done, len(state.behind))
        table.remove(state.surplus)
        if done or state.surplus or not table.finished:  # one before this may have been killed
            table.finish()
        after = _compare(manifests, embedder, table.documents())
        if not after.waiting:
            for name in others:
                tables.drop(name)
    return Synced(after, state.behind, len(state.surplus), time.monotonic() - began)


def current_embedder(manifests: list[Manifest], config: DracConfig) -> str:
    """The embedder of the vectors made with these settings, or of the newest where none are."""
    made = [(m.document_key, m.stages[STAGE]) for m in manifests if STAGE in m.stages]

    def fitness(one: tuple[str, StageRecord]) -> tuple[bool, str]:
        key, record = one
        wanted = code_version(STAGES_BY_NAME[STAGE], config.for_document(key))
        return record.code_version == wanted, record.made_at

    return str(max(made, key=fitness)[1].facts["embedder"]) if made else ""


def _compare(manifests: list[Manifest], embedder: str, there: dict[str, tuple[str, int]]) -> IndexState:
    due = {
        m.document_key: (m.stages[STAGE].data_version, _n_chunks(m))
        for m in manifests
        if is_ready(m, embedder)
    }
    wanted = {key: rows for key, rows in due.items() if rows[1]}
    known = {m.document_key for m in manifests}
    return IndexState(
        embedder=embedder,
        documents=len(there),
        chunks=sum(n for _, n in there.values()),
        behind=sorted(k for k, rows in wanted.items() if there.get(k) != rows),
        # of a document whose new vectors are not there yet, the old rows stay until they are
        surplus=sorted(k for k in there if k not in wanted and (k in due or k not in known)),
        waiting=sorted(m.document_key for m in manifests if m.document_key not in due),
    )


def with_chunks(home: Home) -> list[Manifest]:
    """The documents that have chunks, by key."""
    return sorted((m for m in home.store.manifests() if "chunks" in m.stages), key=lambda m: m.document_key)


def is_ready(manifest: Manifest, embedder: str) -> bool:
    """True where the vectors are of the chunks there are now, and of this embedder."""
    record = manifest.stages.get(STAGE)
    fresh = record and record.inputs.get("chunks") == manifest.stages["chunks"].data_version
    return bool(fresh) and _embedder(manifest) == embedder


def _embedder(manifest: Manifest) -> str:
    record = manifest.stages.get(STAGE)
    return str(record.facts.get("embedder", "")) if record else ""


def _dimensions(manifest: Manifest) -> int:
    return int(manifest.stages[STAGE].facts["dimensions"])


def _n_chunks(manifest: Manifest) -> int:
    return int(manifest.stages[STAGE].counts["chunks"])


def _rows(home: Home, manifest: Manifest) -> pa.Table:
    key = manifest.document_key
    chunks = pq.read_table(home.store.path(key, "chunks", CHUNKS_FILE, manifest))
    vectors = pq.read_table(home.store.path(key, STAGE, EMBEDDINGS_FILE, manifest))
    schema = row_schema(vectors.schema.field("vector").type.list_size, embedder_of(vectors.schema))
    made_of = pa.array([manifest.stages[STAGE].data_version] * chunks.num_rows, pa.string())
    columns = {"made_of": made_of, "vector": vectors.column("vector")}
    return pa.table(
        {n: columns[n] if n in columns else chunks.column(n) for n in schema.names}, schema=schema
    )


def _batches(manifests: list[Manifest]) -> Iterator[list[Manifest]]:
    part: list[Manifest] = []
    rows = 0
    for manifest in manifests:
        part.append(manifest)
        rows += _n_chunks(manifest)
        if rows >= ROWS_AT_ONCE:
            yield part
            part, rows = [], 0
    if part:
        yield part
