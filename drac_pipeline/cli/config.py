"""`drac config`: whether the settings are right, what holds, and what may be set."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.markup import escape

from drac_pipeline.cli.console import HomeOption, err, out, settled_home
from drac_pipeline.cli.documents import LISTED, NoSuchDocument, find_key
from drac_pipeline.cli.help import Commands
from drac_pipeline.cli.on_home import on_home
from drac_pipeline.config import (
    CONFIG_FILE,
    ByDocument,
    DracConfig,
    ModelConfig,
    Override,
    Settings,
    by_document,
)
from drac_pipeline.config.overrides import OVERRIDE
from drac_pipeline.config_reference import config_reference
from drac_pipeline.counted import counted
from drac_pipeline.errors import ClusterError, DracError
from drac_pipeline.export import write_atomically
from drac_pipeline.index.service_embedder import service_settings
from drac_pipeline.normalize.browser import find_browser
from drac_pipeline.pipeline import STAGES, code_version
from drac_pipeline.pipeline.condition import corpus_size
from drac_pipeline.sources.open import open_source
from drac_pipeline.store import Home
from drac_pipeline.store.home_format import HOME_FILE

_UNUSED = (False, "--home: nothing was ever run there, and it has no settings: is the path right?")

config_app = Commands(no_args_is_help=True, help="Check, show and explain the settings of a home.")


@config_app.command()
@on_home
def check(home: HomeOption) -> None:
    """Say whether drac.toml is right, and what this machine lacks for it; exit code 2 if something is wrong.

    Wrong keys and values are named with the way to mend them. Sources, programs, credentials and folders that
    the settings ask for are looked for; no model is called and nothing is written.
    """
    opened = settled_home(home)
    config = opened.config  # a wrong file ends here, with each wrong key in a line
    path = opened.path / CONFIG_FILE
    out.print(
        f"{path}: right" if path.is_file() else f"{path}: not there, so all defaults hold", markup=False
    )
    stored = _store(opened)
    unused = [] if path.is_file() or (opened.path / HOME_FILE).is_file() else [_UNUSED]
    problems = [
        *unused,
        *stored,
        *_sources(opened),
        *([] if stored else _overrides(opened)),
        *_programs(config),
        *_credentials(config),
        *_folders(opened, config),
        *([] if stored else _cluster(opened)),
    ]
    for wrong, told in problems:
        err.print(f"[bold red]wrong:[/] {told}" if wrong else f"[yellow]note:[/] {told}")
    if any(wrong for wrong, _ in problems):
        raise typer.Exit(2)
    out.print("nothing is wrong" if not problems else "nothing is wrong; see the notes")


@config_app.command()
@on_home
def show(
    home: HomeOption,
    document: Annotated[
        str,
        typer.Option(
            "--document", "-d", help="Only what holds for this document: its key, file, or a part of the key."
        ),
    ] = "",
) -> None:
    """Print the settings that hold, defaults included, as TOML; what drac.toml sets is marked.

    With --document, the sections that may differ by document, as they are for this one: each setting says
    whether it is the default, from drac.toml, or from which override; then the stages that this makes others
    than those of most documents.
    """
    opened = settled_home(home)
    config = opened.config
    if document:
        document = _meant(opened, document)
    for name in by_document() if document else DracConfig.model_fields:
        section: Settings = getattr(config, name)
        out.print(f"[{name}]", markup=False)
        changed: dict[str, Override] = {}
        if document and isinstance(section, ByDocument):
            changed = section.changed_for(document)
            section = section.for_document(document)
        overrides: list[dict[str, object]] = []
        for key, value in section.model_dump(mode="json").items():
            if key == OVERRIDE:
                overrides = value
            elif value is not None:
                mark = "  # set in drac.toml" if key in section.model_fields_set else ""
                if key in changed:
                    which = getattr(config, name).override.index(changed[key]) + 1
                    mark = f"  # [[{name}.{OVERRIDE}]] number {which}, match = {_toml(changed[key].match)}"
                shown = _toml(_without_secrets(section, key, value))
                out.print(f"{key} = {shown}{mark}", markup=False, soft_wrap=True)
        for one in overrides:
            out.print(f"[[{name}.{OVERRIDE}]]", markup=False)
            for key, value in one.items():
                out.print(f"{key} = {_toml(value)}", markup=False, soft_wrap=True)
        out.print()
    if document:
        _tell_of_document(opened, document)


def _meant(opened: Home, text: str) -> str:
    """The key that is meant; one that the home does not know yet as it is."""
    try:
        key = find_key(text, {m.document_key: m for m in opened.store.manifests()})
    except NoSuchDocument:
        err.print(f"[yellow]note:[/] this home has no document {escape(repr(text))}; {LISTED}")
        return text
    if key != text:
        err.print(f"[yellow]note:[/] taken for {escape(repr(key))}")
    return key


def _tell_of_document(opened: Home, key: str) -> None:
    own, others = opened.config.for_document(key), opened.config.for_all_others()
    stages = [s.name for s in STAGES if code_version(s, own) != code_version(s, others)]
    told = f"made otherwise than without overrides: {', '.join(stages)}" if stages else "no stage is made"
    out.print(f"# {told}{'' if stages else ' otherwise than without overrides'}", markup=False)


@config_app.command()
def reference(
    file: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; else printed.", show_default=False)
    ] = None,
) -> None:
    """Print every setting with its default, what it may be and what it does, as Markdown."""
    if file is None:
        out.print(config_reference(), markup=False, soft_wrap=True)
    else:
        write_atomically(file, config_reference().encode("utf-8"))


def _sources(opened: Home) -> list[tuple[bool, str]]:
    found = []
    for source in opened.sources():
        try:
            open_source(source, opened.config.source, opened.remote)
        except DracError as e:
            found.append(
                (True, f"{e}; its documents are kept. Take its line out of sources.txt to forget it.")
            )
    return found


def _overrides(opened: Home) -> list[tuple[bool, str]]:
    """Those that no document of the home has anything of."""
    manifests = list(opened.store.manifests(retired=True))
    keys = [m.document_key for m in manifests if not m.retired]
    all_told = corpus_size(len(keys), len(manifests) - len(keys))
    found = []
    for name in by_document():
        for n, one in enumerate(getattr(opened.config, name).override):
            where = f"{name}.{OVERRIDE}.{n}"
            if not one.settings:
                found.append((False, f"{where}: it sets nothing; add a setting, or take it out"))
            elif keys and not any(map(one.holds_for, keys)):
                glob = escape(repr(one.match))
                found.append((False, f"{where}.match: {glob} matches none of the {all_told}"))
    return found


def _store(opened: Home) -> list[tuple[bool, str]]:
    if not opened.config.store.url:
        return []
    try:
        opened.store.has_documents()
    except DracError as e:
        return [(True, f"store.url: {e}")]
    return []


def _programs(config: DracConfig) -> list[tuple[bool, str]]:
    found = []
    n = config.normalize
    if shutil.which(n.office_command) is None:
        told = f"normalize.office_command: {n.office_command!r} is not installed: office files fail"
        found.append((n.office_command != "soffice", f"{told}. Install LibreOffice or set another command."))
    try:
        find_browser(n.browser_command)
    except DracError:
        told = "normalize.browser_command: no Chromium or Chrome found: web pages get no pictures"
        found.append((bool(n.browser_command), f"{told}. Install chromium or set its path."))
    return found


def _credentials(config: DracConfig) -> list[tuple[bool, str]]:
    found = []
    if config.converts_by_model or config.plans_by_model:
        found += _account("model", config.model)
    if config.embeds_by_service:
        found += _account("embed", service_settings(config.embed, config.model))
    return found


def _account(section: str, settings: ModelConfig) -> list[tuple[bool, str]]:
    """What the settings of a service lack, as `section` names them."""
    if settings.provider == "openai":
        if not os.environ.get(settings.api_key_env) and not settings.endpoint_url:
            return [(True, f"{section}.api_key_env: the environment has no {settings.api_key_env}")]
        return []
    import boto3
    from botocore.exceptions import BotoCoreError

    try:
        session = boto3.Session(profile_name=settings.profile or None, region_name=settings.region or None)
        found = []
        if session.region_name is None:
            found.append(
                (True, f"{section}.region: neither the settings nor the AWS environment name a region")
            )
        if session.get_credentials() is None:
            found.append(
                (True, f"{section}: no AWS credentials; set AWS_PROFILE or give this machine a role")
            )
        return found
    except BotoCoreError as e:
        return [(True, f"{section}.profile: {e}")]


def _cluster(opened: Home) -> list[tuple[bool, str]]:
    config = opened.config
    if config.map.engine != "ray":
        return []
    try:
        from drac_pipeline.cluster.connect import connected
        from drac_pipeline.cluster.nodes import check_nodes, cluster_nodes, fit_as_here, seen_by_nodes

        with contextlib.ExitStack() as stack:
            stack.enter_context(connected(config.map))
            expected = fit_as_here(config)
            if opened.store.has_documents():
                some = [(m.document_key, None) for m in itertools.islice(opened.store.manifests(), 100)]
                expected = stack.enter_context(seen_by_nodes(opened.store, some, config))
            nodes = cluster_nodes()
            check_nodes(nodes, expected)
    except ClusterError as e:
        return [(True, escape(str(e)))]
    if not nodes:
        return [(False, "map.engine: the cluster has no node with CPUs yet")]
    out.print(
        f"map.engine: {counted(len(nodes), 'node')} can work: {', '.join(n.name for n in nodes)}",
        markup=False,
    )
    return []


def _folders(opened: Home, config: DracConfig) -> list[tuple[bool, str]]:
    found = []
    at = opened.path
    while not at.exists():
        at = at.parent
    if not os.access(at, os.W_OK):
        found.append((True, f"{opened.path} cannot be written to"))
    free = shutil.disk_usage(at).free
    if free < config.normalize.max_bytes:
        told = f"{free / 1e9:.1f} GB are free where the home lies, less than one document may have"
        found.append((False, f"{told} (normalize.max_bytes)"))
    return found


def _without_secrets(section: BaseModel, key: str, value: object) -> object:
    """The value, its secret parts as asterisks; pydantic has done that with passwords already."""
    extra = type(section).model_fields[key].json_schema_extra
    if value and isinstance(extra, dict) and extra.get("secret"):
        return "**********"
    if isinstance(value, str):
        return re.sub(r"(://)[^/@\s]+@", r"\1**********@", value)
    return value


def _toml(value: object) -> str:
    """A value as TOML writes it: JSON's form serves for texts, numbers and lists of them."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
