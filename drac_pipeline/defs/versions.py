"""Code versions as Dagster compares them: a stage's own, and a digest of those it builds on.

Dagster looks at an asset's own code version only. Without the digest a changed planner setting
would leave `chunks` looking up to date until its plan is made again. It also knows one version an
asset, where settings may differ by document: see `made_versions`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline import STAGES, STAGES_BY_NAME, code_version
from drac_pipeline.pipeline.stage import SOURCE
from drac_pipeline.store import Manifest


def defined_versions(config: DracConfig) -> dict[str, str]:
    """What each stage's version is with these settings; those of single documents are not in it."""
    config = config.for_all_others()
    return _with_ancestors({s.name: code_version(s, config) for s in STAGES})


def made_versions(manifest: Manifest, config: DracConfig) -> dict[str, str]:
    """What the versions were that a document's outputs were made with.

    True of a stage just made or found fresh; its parents may have moved on since, otherwise. What was
    made with the document's own settings as they are has the version that the asset has: Dagster knows
    one version an asset, whatever settings `config` has for single documents.
    """
    others, own = config.for_all_others(), config.for_document(manifest.document_key)
    out = {}
    for name, record in manifest.stages.items():
        made = record.code_version
        if stage := STAGES_BY_NAME.get(name):
            defined, wanted = code_version(stage, others), code_version(stage, own)
            if made == wanted:
                made = defined
            elif made == defined:
                made = f"{made}-of-others"  # with the settings of others; it has its own now
        out[name] = made
    return _with_ancestors(out)


def _with_ancestors(own: Mapping[str, str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for stage in STAGES:
        if stage.name in own:
            above = [out.get(p, "") for p in stage.parents if p != SOURCE]
            digest = hashlib.sha256("\n".join(above).encode()).hexdigest()[:8]
            out[stage.name] = f"{own[stage.name]}.{digest}" if above else own[stage.name]
    return out
