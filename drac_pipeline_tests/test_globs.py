"""Globs on document keys."""

import pytest

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.globs import glob_pattern


@pytest.mark.parametrize(
    ("glob", "key", "fits"),
    [
        ("*.pdf", "a/b/c.pdf", True),
        ("a/*.pdf", "a/b/c.pdf", False),
        ("a/**/c.pdf", "a/c.pdf", True),
        ("drafts/", "drafts/x/y.docx", True),
        ("[ab].pdf", "b.pdf", True),
        ("[!ab].pdf", "b.pdf", False),
        ("[^a].pdf", "^.pdf", True),
        ("[^a].pdf", "b.pdf", False),
        ("a?c.pdf", "a/c.pdf", False),
    ],
)
def test_what_a_glob_fits(glob: str, key: str, fits: bool) -> None:
    assert bool(glob_pattern(glob).fullmatch(key)) == fits


@pytest.mark.parametrize("glob", ["a[!].pdf", "[z-a].pdf"])
def test_what_is_no_glob_is_said(glob: str) -> None:
    with pytest.raises(ConfigError, match="is no glob"):
        glob_pattern(glob)
    for setting in ({"source": {"exclude": [glob]}}, {"plan": {"override": [{"match": glob}]}}):
        with pytest.raises(ValueError, match="is no glob"):
            DracConfig.model_validate(setting)
