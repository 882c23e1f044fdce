"""Where documents come from: list them, name them, fingerprint them."""

from drac_pipeline.sources.fingerprint import FingerprintCache
from drac_pipeline.sources.folder import FolderSource, Skipped, SourceEntry
from drac_pipeline.sources.keys import artifact_dirname, document_key, path_of_key

__all__ = [
    "FingerprintCache",
    "FolderSource",
    "Skipped",
    "SourceEntry",
    "artifact_dirname",
    "document_key",
    "path_of_key",
]
