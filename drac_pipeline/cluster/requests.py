"""What is asked of the cluster for a document: CPUs and memory by its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from drac_pipeline.config import DracConfig
from drac_pipeline.store import Manifest

PAGE_BYTES = 50_000  # of a document whose pages are not counted yet
_STEP = 256 << 20  # bytes: requests of few sizes, so that a worker is handed from document to document


@dataclass(frozen=True, slots=True)
class Request:
    """CPUs (parts of one are fine) and bytes of memory."""

    cpus: float
    memory: int

    def fits(self, room: Request) -> bool:
        """Whether a node of that size could ever take it."""
        return self.cpus <= room.cpus and self.memory <= room.memory


def request_for(manifest: Manifest | None, config: DracConfig, *, most_memory: bool = False) -> Request:
    """What a document asks for by its settings; with `most_memory` all that it may take."""
    size, pages = 0, 0.0
    if manifest is not None:
        size = manifest.source.size
        known = manifest.stages.get("normalized_pdf")
        pages = known.counts.get("pages", 0) if known else size / PAGE_BYTES
    m, most = config.map, config.limits.worker_memory_bytes
    cpus = m.cpus_per_document
    if config.converts_by_model or config.plans_by_model:
        cpus = m.cpus_per_model_document
    elif m.pages_per_cpu:
        limit = max(cpus, m.max_cpus_per_document)
        if config.limits.pages_in_parallel:
            limit = max(cpus, min(limit, config.limits.pages_in_parallel))
        cpus = min(limit, cpus + int(pages // m.pages_per_cpu))
        cpus = cpus if cpus <= 1 else float(int(cpus))
    memory = most if most_memory else m.memory_per_document + int(size / 1e6 * m.memory_per_megabyte)
    return Request(cpus, min(most, math.ceil(memory / _STEP) * _STEP))


def fitted(request: Request, nodes: Sequence[Request]) -> Request:
    """The request, or where no node could ever take it what the roomiest one can."""
    if not nodes or any(request.fits(n) for n in nodes):
        return request
    roomiest = max(nodes, key=lambda n: (min(n.memory, request.memory), min(n.cpus, request.cpus)))
    cpus = min(request.cpus, roomiest.cpus)
    return Request(cpus if cpus <= 1 else float(int(cpus)), min(request.memory, roomiest.memory))
