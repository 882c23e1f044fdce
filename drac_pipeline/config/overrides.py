"""Settings that may differ by document: `[[section.override]]`, one mechanism for all sections."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    create_model,
    field_serializer,
    field_validator,
)

from drac_pipeline.config.base import Settings, check_globs
from drac_pipeline.globs import glob_pattern

OVERRIDE = "override"


def _a_glob(text: str) -> str:
    check_globs([text])
    return text


class Override(BaseModel):
    """Other values of a section for the documents whose key matches the glob `match`, and those alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    match: str
    settings: dict[str, Any]

    def holds_for(self, key: str) -> bool:
        """Whether the document of this key is one of them."""
        return bool(glob_pattern(self.match).fullmatch(unicodedata.normalize("NFC", key)))


class _Written(BaseModel):
    """An override as drac.toml has it; each section's own has the section's settings beside `match`."""

    model_config = ConfigDict(extra="forbid")
    match: Annotated[str, AfterValidator(_a_glob)]


class ByDocument(Settings):
    """A section of which some documents may have other settings. `for_all` names those of its settings
    that hold for all documents."""

    for_all: ClassVar[frozenset[str]] = frozenset()
    override: list[Override] = Field(default=[])

    @classmethod
    def may_differ(cls) -> list[str]:
        """The names of the settings that an override may set."""
        return [n for n in cls.model_fields if n != OVERRIDE and n not in cls.for_all]

    @field_validator(OVERRIDE, mode="before")
    @classmethod
    def _checked(cls, given: object) -> object:
        """Each value by the rules of the section, so that an error names its key."""
        if not isinstance(given, list) or any(isinstance(one, Override) for one in given):
            return given
        a_list: Any = GenericAlias(list, (_written(cls),))
        form: TypeAdapter[list[_Written]] = TypeAdapter(a_list)
        written = form.validate_python(given)
        return [
            Override(
                match=w.match,
                settings={n: getattr(w, n) for n in cls.may_differ() if n in w.model_fields_set},
            )
            for w in written
        ]

    def disagreement(self, beside: Collection[str] = ()) -> str:
        """The same for the section as it is, and as each override makes it."""
        if told := super().disagreement(beside):
            return told
        for one in self.override:
            made = self.model_copy(update={**one.settings, OVERRIDE: []})
            if told := made.disagreement(one.settings):
                return f"with the override for {one.match!r}, {told}"
        return ""

    @field_serializer(OVERRIDE)
    def _as_written(self, overrides: list[Override], info: Any) -> list[dict[str, Any]]:
        return [
            {
                "match": one.match,
                **self.model_copy(update={**one.settings, OVERRIDE: []}).model_dump(
                    mode=info.mode, include=set(one.settings)
                ),
            }
            for one in overrides
        ]

    def changed_for(self, key: str) -> dict[str, Override]:
        """Each setting that is another one for the document of this key, with the override that says so:
        of several that match, the last one that sets it."""
        return {name: one for one in self.override if one.holds_for(key) for name in one.settings}

    def for_document(self, key: str) -> Self:
        """The section for the document of this key: overrides applied, and none left."""
        if not self.override:
            return self
        return self.with_changes(self.changed_for(key))

    def with_changes(self, changed: Mapping[str, Override]) -> Self:
        """The section with these settings from these overrides, and no override left."""
        return self.model_copy(update={OVERRIDE: [], **{n: o.settings[n] for n, o in changed.items()}})

    def values(self, name: str) -> list[Any]:
        """What the setting may be for any document: its value, and those of the overrides."""
        return [getattr(self, name), *(o.settings[name] for o in self.override if name in o.settings)]


@cache
def _written(section: type[ByDocument]) -> type[_Written]:
    fields: dict[str, Any] = {
        n: (section.model_fields[n].annotation, section.model_fields[n]) for n in section.may_differ()
    }
    return create_model(f"{section.__name__}Override", __base__=_Written, **fields)
