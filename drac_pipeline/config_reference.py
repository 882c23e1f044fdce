"""The reference of all settings as Markdown, made from the schema, so that it cannot lag behind."""

from __future__ import annotations

import json

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from drac_pipeline.config import CONFIG_FILE, ByDocument, DracConfig
from drac_pipeline.config.kinds import kind_of
from drac_pipeline.config.overrides import OVERRIDE

INTRO = f"""# Configuration

All settings of a home stand in `{CONFIG_FILE}` in it; what is not set has the default below. `drac config
check` says whether the file is right and what the machine lacks for it; `drac config show` prints what holds.
Keys of services come from the environment, never from the file: `[model] api_key_env` names the variable for
OpenAI-compatible services, AWS credentials are found as every AWS program finds them. Passwords of encrypted
documents do stand there: keep the file private where you use them.

Settings marked *how* say how, how long or with what a stage may work, and not what it makes: a change of
theirs makes nothing stale. Any other change re-runs exactly the stages that the section names.

## Settings for some documents

Sections with `[[section.override]]` may have other settings for the documents whose key matches a glob,
written as in `[source]`; of several that match, the last one that sets a setting counts. A change makes only
these documents stale, and only from the stage on that the section names. `drac config show --document KEY`
prints what holds for a document, and from where.

```toml
[[convert.override]]
match = "scans/**"
ocr_dpi = 300

[[normalize.override]]
match = "*.payroll.xlsx"
passwords = ["…"]

[[limits.override]]
match = "archive/"
document_seconds = 14400
```

## Environment

| environment | |
|---|---|
| `DRAC_HOME` | the home that commands use without `--home` |
| `DRAC_CORPUS` | the corpus, where that home is a deployment of many; before it comes `--corpus` |
| `DRAC_LOG_FORMAT`, `DRAC_LOG_LEVEL` | before `[logs] format` and `level` |
| `DAGSTER_HOME` | the home, or deployment, of Dagster's UI and daemon; `drac` sets it for its own runs |
"""

STAGES_OF = {
    "source": "which files are documents; nothing is stale, documents come and go",
    "normalize": "re-runs `normalized_pdf` and all that follows",
    "render": "re-runs `page_images` and all that follows",
    "convert": "re-runs `markdown` and all that follows",
    "limits": "*how* only",
    "map": "*how* only",
    "section": "re-runs `chunk_plan` and what follows",
    "plan": "re-runs `chunk_plan` and what follows",
    "model": "re-runs `markdown` where pages go to a model, `chunk_plan` where a model plans",
    "embed": "re-runs `chunk_embeddings`, and `chunk_plan` where plans count its tokens",
}


def config_reference() -> str:
    """The whole reference, a section a table, each with its default and what it may be."""
    parts = [INTRO]
    for name, section in DracConfig.model_fields.items():
        model = section.annotation
        assert isinstance(model, type)
        assert issubclass(model, BaseModel)
        parts.append(_section(name, model))
    return "\n".join(parts)


def _section(name: str, model: type[BaseModel]) -> str:
    about = " ".join((model.__doc__ or "").split("\n\n")[0].split())
    stages = STAGES_OF.get(name, "nothing is stale")
    lines = [f"## [{name}]", "", f"{about} A change: {stages}.", ""]
    lines += ["| key | default | may be | |", "|---|---|---|---|"]
    operational: frozenset[str] = getattr(model, "operational", frozenset())
    for key, field in model.model_fields.items():
        if key == OVERRIDE:
            continue
        told = (field.description or "").replace("|", "\\|")
        if key in operational:
            told = f"*how*; {told}" if told else "*how*"
        lines.append(f"| `{key}` | {_default(field)} | {kind_of(field)} |{told and f' {told}'} |")
    if issubclass(model, ByDocument):
        told = f"`[[{name}.{OVERRIDE}]]`: other settings for the documents whose key matches `match`."
        if model.for_all:
            kept = ", ".join(f"`{n}`" for n in model.model_fields if n in model.for_all)
            told += f" The same for all documents: {kept}."
        lines += ["", told]
    return "\n".join(lines) + "\n"


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if field.is_required():
        return "to be given"
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`".replace("|", "\\|")
