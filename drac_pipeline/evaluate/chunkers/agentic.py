"""Agentic chunking: chunks whose text a model wrote, from files or written now."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from drac_pipeline.errors import ConfigError, ConversionFailed
from drac_pipeline.evaluate.chunk_set import read_chunk_set, read_lines
from drac_pipeline.evaluate.chunkers.protocol import Chunker, NotApplicable, Piece
from drac_pipeline.evaluate.corpus import CorpusDocument, plain_stem

CACHE = "evaluation/agentic"  # in the home: what a model wrote is paid for once
_NAMES = ("file_name", "filename", "document")


class Agentic(Chunker):
    """Chunks written by a model."""

    kind: ClassVar[str] = "agentic"
    about: ClassVar[str] = "agentic: a model writes the chunks' texts; loaded from files, or asked now"
    reference: str = Field(
        default="",
        description="chunks made before: `parsed-chunks` of RAG-Multi-Corpus, .parquet or .jsonl",
    )
    by: Literal["", "model"] = Field(default="", description="`model`: the model of drac.toml writes them")

    @property
    def label(self) -> str:
        """Says who wrote it."""
        return "agentic" if self.reference else "agentic (model)"

    @property
    def parallel(self) -> int:
        """Model calls wait for the network."""
        return 1 if self.reference else 4

    def check(self) -> None:
        """Either files or a model."""
        if bool(self.reference) == bool(self.by):
            raise ConfigError(
                "agentic: name chunks made before (`agentic:reference=PATH`), or have the model of drac.toml"
                " write them (`agentic:by=model`), which costs the whole text in output tokens"
            )
        if self.reference:
            _references(self.reference)

    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """The chunks made before, or what the model writes."""
        return self._loaded(document) if self.reference else self._written(document)

    def _loaded(self, document: CorpusDocument) -> list[Piece]:
        found = _references(self.reference).get(plain_stem(document.key), {})
        if len(found) > 1:  # the same name in several files or organizations
            near = [o for o in found if _near(o, document.key)]
            found = {o: found[o] for o in near} if len(near) == 1 else found
        if len(found) != 1:
            several = f"in several files: {', '.join(found)}" if found else "not there"
            raise NotApplicable(f"its chunks are {several} in {self.reference}")
        return [Piece(t) for texts in found.values() for t in texts]

    def _written(self, document: CorpusDocument) -> list[Piece]:
        from drac_pipeline.llm.open import STATE_FOLDER, open_service
        from drac_pipeline.llm.prompts import AGENTIC, prompt
        from drac_pipeline.llm.results import ResultCache, key_of
        from drac_pipeline.plan.agentic import chunk_by_rewriting

        home, model = document.home, document.home.config.model
        identity = model.for_plans().model_dump_json()
        texts = [f"{e.kind} {e.level} {e.text}" for e in document.elements]
        key = key_of(prompt(AGENTIC).version, identity, *texts)
        cache = ResultCache(home.path / CACHE)
        kept = cache.get(key)
        if kept is not None:
            return [Piece(t) for t in kept["texts"]]
        chosen = model.plan_model or model.model
        service = open_service(model, home.path / STATE_FOLDER, "evaluate", chosen)
        made = chunk_by_rewriting(document.key, document.elements, model, service)
        if made.failed or not made.texts:
            raise ConversionFailed(f"the model wrote no chunks of {'; '.join(made.failed) or 'it'}")
        cache.put(key, {"texts": made.texts, "lost": made.lost, "invented": made.invented})
        return [Piece(t) for t in made.texts]


@lru_cache(maxsize=4)
def _references(path: str) -> dict[str, dict[str, list[str]]]:
    """Texts by a document's plain name and the file or organization they come from."""
    root = Path(path)
    if not root.exists():
        raise ConfigError(f"agentic:reference={path}: no such file or folder")
    endings = (".json", ".jsonl", ".parquet")
    files = sorted(f for f in root.rglob("*") if f.suffix in endings) if root.is_dir() else [root]
    out: dict[str, dict[str, list[str]]] = {}
    for file in files:
        if file.suffix == ".parquet":
            made = read_chunk_set(file)
            rows = zip(made.documents, made.organizations, made.texts, strict=True)
            for document, organization, text in rows:
                out.setdefault(plain_stem(document), {}).setdefault(organization or file.stem, []).append(
                    text
                )
            continue
        for name, texts in _records(file):
            out.setdefault(plain_stem(name), {}).setdefault(file.stem, []).extend(texts)
    if not out:
        raise ConfigError(f"agentic:reference={path}: no chunks there")
    return out


def _records(file: Path) -> list[tuple[str, list[str]]]:
    """Name and texts of each record of a JSON array or of JSON lines."""
    lines = read_lines(file)
    raw = "\n".join(lines)
    try:
        found: list[Any] = (
            json.loads(raw)
            if raw.lstrip().startswith("[")
            else [json.loads(line) for line in lines if line.strip()]
        )
    except ValueError as e:
        raise ConfigError(f"{file}: not valid JSON: {e}") from e
    out = []
    for number, record in enumerate(found, 1):
        name = next((record[n] for n in _NAMES if n in record), None) if isinstance(record, dict) else None
        texts = record.get("chunks", [record.get("text")]) if isinstance(record, dict) else None
        if not isinstance(name, str) or not isinstance(texts, list):
            raise ConfigError(f"{file}, record {number}: needs `file_name` and `chunks` (or `text`)")
        out.append((name, [t for t in texts if isinstance(t, str)]))
    return out


def _near(origin: str, key: str) -> bool:
    """Whether an origin's first word begins one of the key's folders: `aventro_chunks`, `Aventro Motors/`."""
    word = origin.replace("_", " ").split()[0].casefold() if origin.strip("_ ") else ""
    return any(folder.casefold().startswith(word) for folder in key.split("/")[:-1]) if word else False
