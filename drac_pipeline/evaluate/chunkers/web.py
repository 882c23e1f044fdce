"""W-RAC: web pages straight to elements, without a PDF, and a plan over their ids."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from drac_pipeline.assemble import assemble
from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.chunkers.protocol import Chunker, NotApplicable, Piece
from drac_pipeline.evaluate.corpus import CorpusDocument, plain_stem
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import complete, plan_local
from drac_pipeline.plan.policy import policy_of
from drac_pipeline.section import sections
from drac_pipeline.web import convert_web

_ENDINGS = (".html", ".htm", ".xhtml")


class Wrac(Chunker):
    """Web pages planned by ids."""

    kind: ClassVar[str] = "wrac"
    about: ClassVar[str] = "W-RAC: web pages read from their HTML, chunks planned by ids"
    html: str = Field(
        default="", description="folder with the same documents as HTML, for those that are no web pages"
    )
    planner: Literal["", "local", "model"] = Field(default="", description="who plans; empty: as drac.toml")

    @property
    def parallel(self) -> int:
        """Model calls wait for the network."""
        return 4 if self.planner == "model" else 1

    def check(self) -> None:
        """The folder has to be there."""
        if self.html and not Path(self.html).is_dir():
            raise ConfigError(f"wrac:html={self.html}: no such folder")

    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """The chunks of the page, or of the page of that name in the folder `html`."""
        config = document.home.config.for_document(document.key)
        converted = convert_web(self._page(document), "html", config.convert)
        elements = parse_markdown(converted.markdown, converted.spans)
        cut = sections(elements, config.section)
        policy, counter = policy_of(config, document.key)
        if (self.planner or config.plan.planner) == "model":
            from drac_pipeline.llm.open import STATE_FOLDER, open_service
            from drac_pipeline.plan.llm import plan_by_model

            model = config.model.plan_model or config.model.model
            service = open_service(config.model, document.home.path / STATE_FOLDER, "evaluate", model)
            config = config.model_copy(update={"plan": policy})
            planned, _ = plan_by_model(document.key, elements, cut, config, service, counter)
        else:
            planned = plan_local(document.key, elements, cut, policy, counter)
        plan = complete(elements, planned, policy, counter)
        chunks = assemble(document.key, document.fingerprint, elements, plan)
        return [Piece(c.text, c.breadcrumb) for c in chunks]

    def _page(self, document: CorpusDocument) -> bytes:
        own = document.own_file
        if own.format == "html" and own.original is not None:
            return own.original.read_bytes()
        if self.html:
            found = _pages(self.html).get(plain_stem(document.key), [])
            folders = {f.casefold() for f in Path(document.key).parts[:-1]}
            near = [len(folders & {f.casefold() for f in p.parts[:-1]}) for p in found]
            best = [p for p, n in zip(found, near, strict=True) if n == max(near)]
            if len(best) == 1:
                return best[0].read_bytes()
            if best:
                raise NotApplicable(f"several pages of this name: {best[0]}, {best[1]}")
        raise NotApplicable(
            f"a document of format {own.format}, not a web page",
            remedy="" if self.html else "Name a folder of its HTML: `wrac:html=FOLDER`.",
        )


@lru_cache(maxsize=4)
def _pages(folder: str) -> dict[str, list[Path]]:
    """The web pages under a folder by their plain name."""
    out: dict[str, list[Path]] = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() in _ENDINGS:
            out.setdefault(plain_stem(path.name), []).append(path)
    return out
