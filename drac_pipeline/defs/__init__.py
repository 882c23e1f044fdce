"""The Dagster shell around the library: `definitions.py` puts it together.

Kept empty, since `dagster.yaml` loads a storage class from this package in every process.
"""
