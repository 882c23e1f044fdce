"""Code versions as Dagster compares them: a stage's own, and a digest of those it builds on.

Dagster looks at an asset's own code version only. Without the digest a changed planner setting
would leave `chunks` looking up to date until its plan is made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline import STAGES, code_version
from drac_pipeline.pipeline.stages import SOURCE
from drac_pipeline.store import Manifest


def defined_versions(config: DracConfig) -> dict[str, str]:
    """What each stage's version is with these settings."""
    return _with_ancestors({s.name: code_version(s, config) for s in STAGES})


def made_versions(manifest: Manifest) -> dict[str, str]:
    """What the versions were that a document's outputs were made with.

    True of a stage just made or found fresh; its parents may have moved on since, otherwise.
    """
    return _with_ancestors({name: record.code_version for name, record in manifest.stages.items()})


def _with_ancestors(own: Mapping[str, str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for stage in STAGES:
        if stage.name in own:
            above = [out.get(p, "") for p in stage.parents if p != SOURCE]
            digest = hashlib.sha256("\n".join(above).encode()).hexdigest()[:8]
            out[stage.name] = f"{own[stage.name]}.{digest}" if above else own[stage.name]
    return out
