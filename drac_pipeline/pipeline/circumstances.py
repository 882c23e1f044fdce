"""What decides whether a stage can do its work, and is no part of what it makes: limits, passwords, programs.

A change here makes no good output stale. What failed, or was made as well as could be, may now succeed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from pydantic import SecretStr

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import MissingTool
from drac_pipeline.normalize.browser import find_browser
from drac_pipeline.normalize.office import find_office

_BEAR_ON = {
    "normalized_pdf": ("normalize", "limits"),
    "page_images": ("render", "limits"),
    "markdown": ("normalize", "convert", "model", "limits"),
    "chunk_plan": ("section", "plan", "model", "embed", "limits"),
    "chunk_embeddings": ("embed", "model", "limits"),
}
_RUN_PROGRAMS = frozenset({"normalized_pdf", "markdown"})


def circumstances(stage: str, config: DracConfig) -> str:
    """Twelve hex digits: all settings that bear on the stage, also those that say how long or with what it
    may work, and for stages that start programs which of these are installed. `config` is the document's
    own."""
    return _digest(config, _BEAR_ON.get(stage, ("limits",)), {"override"}, stage in _RUN_PROGRAMS)


def all_circumstances(config: DracConfig) -> str:
    """The same for all settings and programs together, those of single documents too."""
    return _digest(config, sorted(type(config).model_fields), set(), True)


def _digest(config: DracConfig, sections: Iterable[str], without: set[str], programs: bool) -> str:
    values: list[object] = [getattr(config, name).model_dump(exclude=without) for name in sections]
    if programs:
        values.append(_programs(config))
    text = json.dumps(values, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def _programs(config: DracConfig) -> list[bool]:
    found = []
    for find, command in (
        (find_office, config.normalize.office_command),
        (find_browser, config.normalize.browser_command),
    ):
        try:
            find(command)
            found.append(True)
        except MissingTool:
            found.append(False)
    return found
