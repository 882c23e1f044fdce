"""The ways of chunking by name, and chunking a corpus by one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pydantic import ValidationError

from drac_pipeline.config.wrong import what_is_wrong
from drac_pipeline.errors import ConfigError, DocumentError, DracError, explain
from drac_pipeline.evaluate.chunk_set import ChunkSet
from drac_pipeline.evaluate.chunkers.agentic import Agentic
from drac_pipeline.evaluate.chunkers.protocol import Chunker, NotApplicable, Piece
from drac_pipeline.evaluate.chunkers.structured import Drac, Headings
from drac_pipeline.evaluate.chunkers.web import Wrac
from drac_pipeline.evaluate.chunkers.windows import Fixed, Recursive
from drac_pipeline.evaluate.corpus import CorpusDocument
from drac_pipeline.llm.protocol import BudgetExceeded, ModelUnavailable
from drac_pipeline.store import ArtifactMissing

CHUNKERS: dict[str, type[Chunker]] = {c.kind: c for c in (Drac, Fixed, Recursive, Headings, Wrac, Agentic)}


def chunker(spec: str) -> Chunker:
    """The chunker that `name` or `name:option=value,option=value` describes. Raises ConfigError."""
    name, _, rest = spec.strip().partition(":")
    if name not in CHUNKERS:
        raise ConfigError(f"no such way of chunking: {name!r}; there are {', '.join(CHUNKERS)}")
    options: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in rest.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise ConfigError(f"{spec!r}: write options as name=value, not {part!r}")
        options[key.strip()] = value.strip()
    try:
        made = CHUNKERS[name].model_validate(options)
    except ValidationError as e:
        wrong = "; ".join(what_is_wrong(e, CHUNKERS[name]))
        known = ", ".join(CHUNKERS[name].model_fields) or "none"
        raise ConfigError(f"{spec!r}: {wrong} (options of {name}: {known})") from e
    made.check()
    return made


def chunk_corpus(
    way: Chunker,
    documents: Sequence[CorpusDocument],
    on_document: Callable[[str], None] = lambda _: None,
) -> ChunkSet:
    """The chunk set of a corpus. A document that fails is named with the cause and the others go on;
    where the model is out of reach or the budget spent, the rest fails for that reason."""
    began = time.monotonic()
    out = ChunkSet(way.label, about=way.about)
    stopped = ""

    def one(document: CorpusDocument) -> list[Piece] | DracError:
        nonlocal stopped
        if stopped:
            return ConfigError(stopped)
        try:
            return way.chunk(document)
        except (ModelUnavailable, BudgetExceeded) as e:
            stopped = str(e)
            return e
        except DracError as e:
            return e
        except Exception as e:  # whatever one rival does on one document, the comparison goes on
            return ConfigError(f"{type(e).__name__}: {e}")
        finally:
            on_document(document.key)

    with ThreadPoolExecutor(max(1, way.parallel)) as pool:
        for document, made in zip(documents, pool.map(one, documents), strict=True):
            if isinstance(made, NotApplicable):
                out.skipped[document.key] = _told(made)
            elif isinstance(made, DracError):
                # what a stage left unmade, its failure explains best; any other cause is the rival's own
                stage = document.failure if isinstance(made, ArtifactMissing) else ""
                out.failed[document.key] = stage or _told(made)
            else:
                for piece in made:
                    out.add(document.key, document.organization, piece.text, piece.breadcrumb)
    out.seconds = time.monotonic() - began
    return out


def _told(e: DracError) -> str:
    return explain(e.kind, e.cause, e.remedy) if isinstance(e, DocumentError) else str(e)
