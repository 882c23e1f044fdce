"""The embedded default: all-MiniLM-L6-v2 by ONNX Runtime, without a network.

Each text goes through the model alone: a text's vector then depends on nothing but the text, and
on two cores this is as fast as batches, which pad short texts to the length of long ones.
"""

from __future__ import annotations

import multiprocessing
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from drac_pipeline import cores
from drac_pipeline.index.embedder import TooLong, fitting, mean_of_parts, normalized
from drac_pipeline.index.model_files import MODEL, find_model

DIMENSIONS = 384
MAX_TOKENS = 256  # what the model was trained for; it has positions for 512
MOST_TOKENS = 512
_READ_AS = "no-signs"  # how texts are read: vectors of texts read otherwise are not compared


class MiniLM:
    """`threads` texts are embedded at a time; 0: as many as this process may use cores, and one in
    a worker process, which shares the machine with others of its kind. Raises ConfigError."""

    dimensions = DIMENSIONS

    def __init__(
        self,
        *,
        folder: str = "",
        max_tokens: int = MAX_TOKENS,
        too_long: TooLong = "split",
        threads: int = 0,
    ) -> None:
        from tokenizers import Tokenizer

        files = find_model(folder)
        self.name = f"{MODEL}/{files.variant}/{_READ_AS}"
        self.max_tokens = min(max_tokens, MOST_TOKENS)
        self.too_long: TooLong = too_long
        self._weights = files.weights
        self._tokenizer = Tokenizer.from_str(files.tokenizer.decode())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._threads = threads or _usable_cores()

    @cached_property
    def _session(self) -> Any:
        """The model itself, made with the first text: who only counts tokens, or finds all vectors kept,
        does without."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(self._weights, options, providers=["CPUExecutionProvider"])

    def count_tokens(self, text: str) -> int:
        """Word pieces, with the two that the model adds."""
        return len(self._ids(text))

    def _ids(self, text: str) -> list[int]:
        """The text in word pieces, its currency signs and pictograms read as blanks: the model takes
        texts that share ₹ or ✔ for alike, and every price list was near every question of prices."""
        ids: list[int] = self._tokenizer.encode(_without_signs(text)).ids
        return ids

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        """Vectors of texts to be found: len(texts) × 384."""
        return self._embed(texts, self.too_long)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """Vectors of questions; one that is too long is cut."""
        return self._embed(texts, "cut")

    def _embed(self, texts: list[str], too_long: TooLong) -> np.ndarray:
        parts: list[list[int]] = []
        owners: list[int] = []
        for i, text in enumerate(texts):
            for part in fitting(text, self.count_tokens, self.max_tokens, too_long):
                parts.append(self._ids(part)[: self.max_tokens])
                owners.append(i)
        if not parts:
            return np.zeros((0, DIMENSIONS), np.float32)
        _ = self._session  # made before threads ask for it
        if self._threads > 1 and len(parts) > 1:
            with ThreadPoolExecutor(self._threads) as pool:  # the runtime lets go of the interpreter
                vectors = list(pool.map(self._run, parts))
        else:
            vectors = [self._run(ids) for ids in parts]
        return mean_of_parts(np.stack(vectors), owners, [len(p) for p in parts], len(texts))

    def _run(self, ids: list[int]) -> np.ndarray:
        """Mean of the token vectors, length 1: the pooling the model was trained with."""
        row = np.array([ids], np.int64)
        feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        hidden: Any = self._session.run(None, feed)[0]
        return normalized(hidden[0].mean(axis=0))


def _without_signs(text: str) -> str:
    return "".join(" " if unicodedata.category(c) in ("Sc", "So") else c for c in text)


def _usable_cores() -> int:
    return 1 if multiprocessing.parent_process() else cores.usable()
