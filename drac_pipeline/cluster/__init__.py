"""Documents, and pages of long ones, over the nodes of a Ray cluster: docs/ray.md.

Each node works on a document as this machine would, in a process of its own under the same limits
(`drac_pipeline.pipeline.pool`), held by a Ray task that asked for CPUs and memory by the document's
size. Nothing here is imported before `map.engine = "ray"`.
"""
