"""The document that a person means by its key, its file, or a part of its key."""

from __future__ import annotations

from collections.abc import Mapping

from drac_pipeline.errors import ConfigError
from drac_pipeline.sources.address import source_address
from drac_pipeline.store import Manifest

LISTED = "`drac status --all` lists the keys"
_MOST_NAMED = 10


class NoSuchDocument(ConfigError):
    """Nothing in the home is called so."""


def find_key(text: str, manifests: Mapping[str, Manifest]) -> str:
    """The key that `text` means: the key itself, the path of its file, the end of the key, or any part of it
    that only one has, whatever its case.

    Raises NoSuchDocument where none fits, ConfigError where several do.
    """
    if text in manifests:
        return text
    place, part = _place(text), text.casefold()
    ways = (
        lambda m: m.source.place == place,
        lambda m: m.document_key.casefold().endswith(f"/{part}") or m.document_key.casefold() == part,
        lambda m: part in m.document_key.casefold(),
    )
    for fits in ways:
        found = sorted(m.document_key for m in manifests.values() if fits(m))
        if len(found) == 1:
            return found[0]
        if found:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            some = ", ".join(map(repr, found[:_MOST_NAMED]))
            raise ConfigError(f"{text!r} fits {len(found)} documents: {some}{more}; give more of the key")
    raise NoSuchDocument(f"no document of this home is {text!r}; {LISTED}")


def _place(text: str) -> str:
    try:
        return str(source_address(text))
    except ConfigError:  # looks like an address and is none
        return ""
