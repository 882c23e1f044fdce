"""Where documents come from: list them, name them, fingerprint them."""

from drac_pipeline.sources.fingerprint import FingerprintCache
from drac_pipeline.sources.folder import FolderSource
from drac_pipeline.sources.keys import artifact_dirname, document_key, path_of_key
from drac_pipeline.sources.source import Skipped, Source, SourceEntry

__all__ = [
    "FingerprintCache",
    "FolderSource",
    "Skipped",
    "Source",
    "SourceEntry",
    "artifact_dirname",
    "document_key",
    "path_of_key",
]
