"""One partition a document; its key is the document key."""

from dagster import DynamicPartitionsDefinition

DOCUMENTS = "documents"
documents = DynamicPartitionsDefinition(name=DOCUMENTS)
