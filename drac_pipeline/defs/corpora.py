"""The corpora of a deployment, each as a code location of its own.

`workspace.yaml` of the deployment names `corpus_NAME` of this module for each; the deployment is the folder
that DAGSTER_HOME names. A process that loads one corpus reads nothing of the others but their settings.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import yaml
from dagster import Definitions

from drac_pipeline.corpora import open_corpus
from drac_pipeline.defs.definitions import make_definitions
from drac_pipeline.defs.names import CORPORA, corpus_attribute, corpus_of_attribute
from drac_pipeline.errors import ConfigError
from drac_pipeline.store.corpora import Deployment


def __getattr__(name: str) -> Definitions:
    if not (corpus := corpus_of_attribute(name)):
        raise AttributeError(name)
    folder = os.environ.get("DAGSTER_HOME")
    if not folder:
        raise ConfigError("set DAGSTER_HOME to the folder of the deployment, which has corpora.toml")
    return corpus_definitions(Path(folder), corpus)


@cache
def corpus_definitions(deployment: Path, name: str) -> Definitions:
    """What Dagster sees of one corpus. Raises ConfigError where there is none of that name, its settings are
    wrong, or its places are also another's."""
    home = open_corpus(Deployment(deployment), name)
    return make_definitions(home.config, home.sources(), name, str(home.path))


def workspace(names: list[str]) -> str:
    """The text of a deployment's `workspace.yaml`."""
    targets = [
        {"python_module": {"module_name": CORPORA, "attribute": corpus_attribute(n), "location_name": n}}
        for n in names
    ]
    head = "# A code location a corpus; `drac corpus add` and `remove` write this file.\n"
    return head + yaml.safe_dump({"load_from": targets}, sort_keys=False)
